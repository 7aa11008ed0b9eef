"""verify: what memories say of the code, against the code."""

from __future__ import annotations

from collections import Counter

import click

from memdir import flows
from memdir.core.claim import NOT_A_CLAIM, STALE, TRUE, UNKNOWN, Judged
from memdir.surfaces.cli.answers import Fields
from memdir.surfaces.cli.screen import Screen
from memdir.surfaces.cli.session import Session, command
from memdir.surfaces.cli.visible import count, cut_middle, line

ORDER = (STALE, UNKNOWN, TRUE, NOT_A_CLAIM)
STYLES = {STALE: "red", UNKNOWN: "yellow", TRUE: "green", NOT_A_CLAIM: "dim"}
SAID = {STALE: "stale", UNKNOWN: "unknown", TRUE: "true", NOT_A_CLAIM: "no claim"}
FEW = 5  # line numbers of one claim
LABEL = 9  # columns of a verdict
Memory = tuple[str, str, list[Judged]]  # scope, path, its claims
SPAN_SHARE = 0.7  # of the line that the text of a claim may take


@command("verify", "memdir verify auth-flow --check", bulk=True)
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--all", "whole", is_flag=True, help="List every claim, not only stale ones.")
@click.option("--check", is_flag=True, help="Exit code 1 when a claim is stale.")
def verify(session: Session, names: tuple[str, ...], whole: bool, check: bool) -> int:
    """Check what memories say of the code: paths, symbols, commands, branches, commits.

    `stale` needs evidence that it once was true: a removed or renamed file, a symbol that left
    the code. What is merely not found is `unknown`. Files that a memory names are compared with
    the names that git tracks, never opened. URLs are not visited.
    """
    if names:
        found = [(str(session.config.scope), flows.verify(session.app, names))]
    else:
        found = [(scope, flows.verify(app)) for scope, app in session.apps()]
    memories = [
        (scope, path, judged) for scope, one in found for path, judged in one.memories.items()
    ]
    counts = Counter(one.verdict for _, _, judged in memories for one in judged)
    remarks = list(dict.fromkeys(text for _, one in found for text in one.remarks))
    fields: Fields = {
        "claims": [_fields(scope, path, one) for scope, path, judged in memories for one in judged],
        "counts": {verdict: counts[verdict] for verdict in ORDER},
        "files": len(memories),
        "remarks": remarks,
    }
    lines: list[str] = []
    if not session.screen.json:
        lines = _lines(session.screen, memories, counts, whole or bool(names))
        for text in remarks:
            lines += session.screen.block("remark:", text, "", "yellow")
    session.screen.answer(fields, lines)
    return int(check and counts[STALE] > 0)


def _fields(scope: str, path: str, judged: Judged) -> Fields:
    claim = judged.claim
    return {
        "path": path,
        "line": claim.line,
        "text": claim.text,
        "kind": claim.kind,
        "verdict": judged.verdict,
        "reason": judged.reason,
        "place": judged.place,
        "column": claim.column,
        "scope": scope,
    }


def _lines(screen: Screen, memories: list[Memory], counts: Counter[str], whole: bool) -> list[str]:
    lines: list[str] = []
    scoped = len({scope for scope, _, _ in memories}) > 1
    for scope, path, judged in sorted(memories, key=lambda one: (_fresh(one[2]), one[1])):
        shown = judged if whole else [one for one in judged if one.verdict == STALE]
        if shown:
            title = f"{scope}: {path}" if scoped else path
            lines += [screen.paint(text, "bold") for text in screen.block("", title, "")]
            lines += [*_claims(screen, shown), ""]
    total, files = count(sum(counts.values()), "claim"), count(len(memories), "file")
    parts = ", ".join(f"{counts[verdict]:,} {SAID[verdict]}" for verdict in ORDER)
    return [*lines, *screen.block("", f"{total} in {files}: {parts}", "")]


def _fresh(judged: list[Judged]) -> bool:
    return all(one.verdict != STALE for one in judged)


def _claims(screen: Screen, judged: list[Judged]) -> list[str]:
    """The worst first; what is said several times stands once, with all of its lines."""
    places: dict[tuple[int, str, str], list[int]] = {}
    for one in judged:
        key = ORDER.index(one.verdict), one.claim.text, one.reason
        places.setdefault(key, []).append(one.claim.line)
    lines: list[str] = []
    for (verdict, text, reason), found in sorted(
        places.items(), key=lambda one: (one[0][0], one[1])
    ):
        label = f"{SAID[ORDER[verdict]]:{LABEL}}"
        numbers = ", ".join(map(str, dict.fromkeys(found[:FEW]))) + (" …" if found[FEW:] else "")
        span = cut_middle(line(text), int(screen.columns * SPAN_SHARE))
        said = f"{numbers}: {span} – {reason}"
        lines += screen.block(label, said, style=STYLES[ORDER[verdict]])
    return lines
