"""Verify."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import click

from memdir.claims.claim import NOT_A_CLAIM, STALE, TRUE, UNKNOWN, Judged
from memdir.cli.command import Session, command
from memdir.cli.output import Answer, Fields, Screen, pick
from memdir.text.terminal import cut_text_middle, one_line, plural

# Verdict: label and style; worst first.
LABELS = {STALE: "stale", UNKNOWN: "unknown", TRUE: "true", NOT_A_CLAIM: "no claim"}
STYLES = ("red", "yellow", "green", "dim")
ORDER = tuple(LABELS)
FEW = 5  # line numbers shown per claim
LABEL = 9  # columns of a verdict's label
SPAN_SHARE = 0.7  # of the line's width for the text of a claim
CLAIM = (
    "path line=claim.line text=claim.text kind=claim.kind verdict reason place "
    "column=claim.column scope"
)
Checked = list[tuple[str, str, list[Judged]]]  # scope, path, claims


@command("verify", "memdir verify auth-flow --check")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--all", "whole", is_flag=True, help="List every claim, not only stale ones.")
@click.option("--check", is_flag=True, help="Exit with 1 if a claim is stale.")
def verify_command(session: Session, names: tuple[str, ...], whole: bool, check: bool) -> Answer:
    """Checks paths, symbols, commands, branches and commits. `stale` needs evidence that the claim
    once was true: a removed or renamed file, a symbol that left the code. What is just not found
    is `unknown`. File names are compared with those that git tracks; the files are never opened.
    URLs are not visited.
    """
    from memdir.claims.verify import verify_memories as check_claims

    apps = [(str(session.config.scope), session.app)] if names else session.apps()
    results = [(scope, check_claims(app, names)) for scope, app in apps]
    memories = [
        (scope, path, claims)
        for scope, result in results
        for path, claims in result.memories.items()
    ]
    counts = Counter(claim.verdict for *_, claims in memories for claim in claims)
    remarks = list(dict.fromkeys(text for _, result in results for text in result.remarks))
    fields: Fields = {
        "claims": [
            pick(claim, CLAIM, path=path, scope=scope)
            for scope, path, claims in memories
            for claim in claims
        ],
        "counts": {verdict: counts[verdict] for verdict in ORDER},
        "files": len(memories),
        "remarks": remarks,
    }
    lines = _verify_lines(session.screen, memories, counts, remarks, whole or bool(names))
    return Answer(fields, lines, int(check and counts[STALE] > 0))


def _verify_lines(
    screen: Screen, memories: Checked, counts: Counter[str], remarks: list[str], whole: bool
) -> Iterator[str]:
    scoped = len({scope for scope, *_ in memories}) > 1
    shown = []
    for scope, path, claims in memories:
        stale = [claim for claim in claims if claim.verdict == STALE]
        if stale or (whole and claims):
            title = f"{scope}: {path}" if scoped else path
            shown.append((not stale, path, title, claims if whole else stale))
    for _, _, title, claims in sorted(shown, key=lambda item: item[:2]):
        yield from (screen.paint(text, "bold") for text in screen.block("", title, ""))
        yield from _claim_lines(screen, claims)
        yield ""
    total, files = plural(sum(counts.values()), "claim"), plural(len(memories), "file")
    parts = ", ".join(f"{counts[verdict]:,} {label}" for verdict, label in LABELS.items())
    yield from screen.block("", f"{total} in {files}: {parts}", "")
    for text in remarks:
        yield from screen.block("note:", text, "", "yellow")


def _claim_lines(screen: Screen, claims: list[Judged]) -> Iterator[str]:
    places: dict[tuple[int, str, str], list[int]] = {}
    for item in claims:
        key = ORDER.index(item.verdict), item.claim.text, item.reason
        places.setdefault(key, []).append(item.claim.line)
    for (verdict, text, reason), lines in sorted(places.items(), key=lambda i: (i[0][0], i[1])):
        label = f"{LABELS[ORDER[verdict]]:{LABEL}}"
        numbers = ", ".join(map(str, dict.fromkeys(lines[:FEW]))) + (" …" if lines[FEW:] else "")
        span = cut_text_middle(one_line(text), int(screen.columns * SPAN_SHARE))
        yield from screen.block(label, f"{numbers}: {span} – {reason}", style=STYLES[verdict])
