"""Recall, prompt, verify."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

import click

from memdir.claims.claim import NOT_A_CLAIM, STALE, TRUE, UNKNOWN, Judged
from memdir.cli.command import STDIN, Session, command, read_text
from memdir.cli.output import FINDING, Answer, Fields, Screen, finding_lines, pick, pick_all
from memdir.hot import inject, safe
from memdir.hot.behaviour import MODES, TEAM
from memdir.hot.inject import Recalled
from memdir.hot.memory import TEAM as FOLDER
from memdir.hot.recall import SURE
from memdir.text.terminal import count, cut_middle, line, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.recall.answer import Recall

# prompt: what tells an agent how to use its memory.

PROJECT, ALL = "project", "all"


@command("prompt", "memdir prompt --mode team")
@click.option(
    "--mode", type=click.Choice(MODES), help="Default: team if there is one, else normal."
)
@click.option("--behaviour", is_flag=True, help="Without the index: some clients load it.")
def prompt(session: Session, mode: str | None, behaviour: bool) -> None:
    """Print what tells an agent how to use its memory.

    Where it lies, what to save and what not, how, when to use it and how far to trust it; then
    the index. A team has two directories; a log is only appended to, one file a day. Where memory
    is off, nothing is printed.
    """
    from memdir.recall.answer import render_prompt as make_prompt

    # The store to write to comes first, then the team's and what else was asked for.
    apps = dict(session.apps())
    if session.config.scope.kind in (PROJECT, ALL):
        project = apps.pop(PROJECT) if PROJECT in apps else session.at(scope=PROJECT).app
        apps = {PROJECT: project, **apps}
        team = mode == TEAM or (not mode and os.path.isdir(session.config.scopes[FOLDER]))
        if team and FOLDER not in apps:
            apps[FOLDER] = session.at(scope=FOLDER).app
    answer = make_prompt([*apps.items()], mode or "", indexes=not behaviour)
    lines = session.screen.folded(visible(answer.text))
    session.screen.answer(pick(answer, "text tokens mode"), lines)
    if not answer.text:
        session.screen.tell(f"memory is off (by {session.config.enabled_by}): memdir where")


# recall: what an agent would be told for a prompt, and why.

MAX_MEMORIES = 50
MAX_PROMPT_BYTES = 8 * 1024 * 1024
WORDS_SHOWN = 6
NAME_SHARE = 0.4  # of the line
HEADINGS = ("memory", "score", "sure", "given", "words that matched")
RECALLED = "path=memory.path scope store=root from=giver score shown text verdicts why"


@command("recall", 'memdir recall "how do we cut a release?" --explain', dashes=True)
@click.argument("words", metavar="PROMPT", nargs=-1, required=True)
@click.option(
    "--k", type=click.IntRange(1, MAX_MEMORIES), default=5, help="Given whole at most (5)."
)
@click.option("--explain", is_flag=True, help="Scores, the words that matched, and why not.")
@click.option("--session", "session_id", metavar="ID", help="Tell this session nothing twice.")
@click.option("--always", is_flag=True, help="Answer also when nothing fits well.")
@click.option("--model", is_flag=True, help="Let the model of the settings choose; it costs.")
@click.option("--no-verify", is_flag=True, help="Say what is known; do not look at the code.")
def recall(
    session: Session,
    words: tuple[str, ...],
    k: int,
    explain: bool,
    session_id: str | None,
    always: bool,
    model: bool,
    no_verify: bool,
) -> None:
    """Print exactly what an agent would be told for PROMPT (`-` reads standard input).

    The memories that fit come whole, the next best as one line each, or nothing where none fits.
    Every scope that applies is searched unless --scope names one. What is `not accepted yet`
    comes from others and is shown to you alone: memdir review.
    """
    from memdir.recall.answer import recall as find_memories

    text = " ".join(words)
    text = read_text(STDIN, MAX_PROMPT_BYTES, "the prompt") if text == STDIN else text
    named, screen = session.names_scope, session.screen
    apps = [
        (scope, app)
        for scope, app in (session if named else session.at(scope=ALL)).apps()
        if named or not scope.startswith("agent:")  # an agent's memories are its own
    ]
    answer = find_memories(
        apps,
        text,
        session=session_id or "",
        limit=k,
        abstain=not always,
        model=model,
        verify=not no_verify,
        waiting=True,
    )
    if answer.selected and answer.selected.reason:
        screen.tell(f"chosen without the model: {answer.selected.reason}")
    lines = screen.folded(visible(answer.text))
    if explain:
        lines += [*[""][: len(lines)], *_explain(screen, answer)]
    screen.answer(_recall_fields(answer, apps[0][1].now() if apps else 0.0), lines)
    if not answer.text and not explain:
        screen.tell(f"nothing to tell: {answer.reason}; see --explain and --always")


def _recall_fields(answer: Recall, now: float) -> Fields:
    injected, found = answer.injected, answer.found
    whole = {id(item) for item in injected.bodies}
    return {
        "memories": [_memory_fields(item, id(item) in whole, now) for item in answer.chosen],
        "pointers": [_memory_fields(item, False, now) for item in injected.pointers],
        "abstained": found.abstained,
        "reason": found.reason,
        "text": answer.text,
        "characters": len(answer.text),
        "near": [_memory_fields(item, False, now) for item in found.near],
        "selected_by": answer.selected.by if answer.selected else "local",
        "selection": answer.selected.reason if answer.selected else "",
        "searched": found.searched,
        "milliseconds": round(answer.milliseconds, 2),
        "findings": pick_all(found.findings, FINDING),
    }


def _memory_fields(item: Recalled, whole: bool, now: float) -> Fields:
    return pick(
        item,
        RECALLED,
        score=round(item.score, 4),
        shown="body" if whole else "pointer",
        text=inject.render_body(item, now) if whole else inject.render_pointer(item, now),
        why={
            "sure": round(item.sure, 4),
            "words": {word: round(gain, 4) for word, gain in item.words.items()},
            "type": item.memory.type,
            "age_days": safe.age_days(item.memory.clock, now),
            "note": item.note,
        },
    )


def _explain(screen: Screen, answer: Recall) -> Iterator[str]:
    injected, found = answer.injected, answer.found
    searched = count(found.searched, "memory", "memories")
    yield from screen.block("", f"{searched} searched in {answer.milliseconds:.1f} ms", "")
    if found.abstained:
        yield from screen.block("", f"nothing told: {answer.reason}", "")
    rows = [HEADINGS]
    for given, items in (
        ("whole", injected.bodies),
        ("line", injected.pointers),
        ("no", found.near),
    ):
        for item in items:
            words = ", ".join(list(item.words)[:WORDS_SHOWN]) or "none: a rule for any task"
            rows.append((item.memory.path, f"{item.score:.2f}", f"{item.sure:.2f}", given, words))
    if len(rows) > 1:
        yield from screen.table(rows, (int(screen.columns * NAME_SHARE),))
        yield from screen.block("", f"A match is sure from {SURE} on. Words are shown as stems.")
    odd = [finding for finding in found.findings if finding.kind != "catalog-made"]
    yield from ["", *finding_lines(screen, odd)] if odd else []


# verify: what memories say of the code, against the code.

STYLES = {STALE: "red", UNKNOWN: "yellow", TRUE: "green", NOT_A_CLAIM: "dim"}
LABELS = {STALE: "stale", UNKNOWN: "unknown", TRUE: "true", NOT_A_CLAIM: "no claim"}
ORDER = tuple(LABELS)  # the worst first
FEW = 5  # line numbers of one claim
LABEL = 9  # columns of a verdict
SPAN_SHARE = 0.7  # of the line that the text of a claim may take
CLAIM = (
    "path line=claim.line text=claim.text kind=claim.kind verdict reason place "
    "column=claim.column scope"
)
Checked = list[tuple[str, str, list[Judged]]]  # scope, path, its claims


@command("verify", "memdir verify auth-flow --check", bulk=True)
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--all", "whole", is_flag=True, help="List every claim, not only stale ones.")
@click.option("--check", is_flag=True, help="Exit code 1 when a claim is stale.")
def verify(session: Session, names: tuple[str, ...], whole: bool, check: bool) -> Answer:
    """Check what memories say of the code: paths, symbols, commands, branches, commits.

    `stale` needs evidence that it once was true: a removed or renamed file, a symbol that left
    the code. What is merely not found is `unknown`. Files that a memory names are compared with
    the names that git tracks, never opened. URLs are not visited.
    """
    from memdir.claims.verify import verify as check_claims

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
    total, files = count(sum(counts.values()), "claim"), count(len(memories), "file")
    parts = ", ".join(f"{counts[verdict]:,} {label}" for verdict, label in LABELS.items())
    yield from screen.block("", f"{total} in {files}: {parts}", "")
    for text in remarks:
        yield from screen.block("remark:", text, "", "yellow")


def _claim_lines(screen: Screen, claims: list[Judged]) -> Iterator[str]:
    """The worst first; what is said several times stands once, with all of its lines."""
    places: dict[tuple[int, str, str], list[int]] = {}
    for item in claims:
        key = ORDER.index(item.verdict), item.claim.text, item.reason
        places.setdefault(key, []).append(item.claim.line)
    order = sorted(places.items(), key=lambda pair: (pair[0][0], pair[1]))
    for (verdict, text, reason), lines in order:
        label = f"{LABELS[ORDER[verdict]]:{LABEL}}"
        numbers = ", ".join(map(str, dict.fromkeys(lines[:FEW]))) + (" …" if lines[FEW:] else "")
        span = cut_middle(line(text), int(screen.columns * SPAN_SHARE))
        style = STYLES[ORDER[verdict]]
        yield from screen.block(label, f"{numbers}: {span} – {reason}", style=style)
