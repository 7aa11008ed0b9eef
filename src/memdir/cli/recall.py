"""Recall, prompt, verify."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace

import click
from click.core import ParameterSource

from memdir.claims import verify as verify_module
from memdir.claims.claim import NOT_A_CLAIM, STALE, TRUE, UNKNOWN, Judged
from memdir.cli.command import STDIN, Session, command, read_text
from memdir.cli.output import Fields, Screen, finding_fields, finding_lines
from memdir.hot import inject, safe
from memdir.hot.behaviour import MODES, TEAM
from memdir.hot.inject import Recalled
from memdir.hot.memory import TEAM as FOLDER
from memdir.hot.recall import SURE
from memdir.recall import answer as answer_module
from memdir.recall.answer import Recall
from memdir.recall.choose import LOCAL
from memdir.store.writer import App
from memdir.text.terminal import count, cut_middle, line, visible

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
    answer = answer_module.prompt(_apps(session, mode or ""), mode or "", indexes=not behaviour)
    fields: Fields = {"text": answer.text, "tokens": answer.tokens, "mode": answer.mode}
    session.screen.answer(fields, session.screen.folded(visible(answer.text)))
    if not answer.text:
        session.screen.tell(f"memory is off (by {session.config.enabled_by}): memdir where")


def _apps(session: Session, mode: str) -> list[tuple[str, App]]:
    """The store to write to first, then the team's and what else was asked for."""
    found = dict(session.apps())
    kind = session.config.scope.kind
    if kind not in (PROJECT, ALL):
        return [*found.items()]
    project = found.pop(PROJECT, None) or _at(session, PROJECT)
    wanted = mode == TEAM or (not mode and os.path.isdir(session.config.scopes[FOLDER]))
    if wanted and FOLDER not in found:
        found[FOLDER] = _at(session, FOLDER)
    return [(PROJECT, project), *found.items()]


def _at(session: Session, scope: str) -> App:
    """The store of that scope, also where nothing stands there yet."""
    asked = replace(session.asked, scope=scope)
    return Session(session.screen, asked, asked.config(), session.opened).app


# recall: what an agent would be told for a prompt, and why.

MOST = 50
MOST_BYTES = 8 * 1024 * 1024
WORDS_SHOWN = 6


@command("recall", 'memdir recall "how do we cut a release?" --explain', dashes=True)
@click.argument("words", metavar="PROMPT", nargs=-1, required=True)
@click.option("--k", type=click.IntRange(1, MOST), default=5, help="Given whole at most (5).")
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
    prompt = " ".join(words)
    text = read_text(STDIN, MOST_BYTES, "the prompt") if prompt == STDIN else prompt
    everywhere = _everywhere(session)
    named = everywhere is session
    apps = [(scope, app) for scope, app in everywhere.apps() if named or _ours(scope)]
    answer = answer_module.recall(
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
        session.screen.tell(f"chosen without the model: {answer.selected.reason}")
    fields = _fields(answer, apps[0][1].now() if apps else 0.0)
    lines = session.screen.folded(visible(answer.text))
    if explain:
        lines += ["", *_explained(session, answer)] if lines else _explained(session, answer)
    session.screen.answer(fields, lines)
    if not answer.text and not explain:
        session.screen.tell(f"nothing to tell: {answer.reason}; see --explain and --always")


def _everywhere(session: Session) -> Session:
    """All scopes that apply, unless the person named one."""
    source = click.get_current_context().get_parameter_source("scope")
    if source is not ParameterSource.DEFAULT:
        return session
    asked = replace(session.asked, scope="all")
    return Session(session.screen, asked, asked.config(), session.opened)


def _ours(scope: str) -> bool:
    """An agent's memories are its own."""
    return not scope.startswith("agent:")


def _fields(answer: Recall, now: float) -> Fields:
    whole = {id(one) for one in answer.injected.bodies}
    return {
        "memories": [_memory(one, id(one) in whole, now) for one in answer.chosen],
        "pointers": [_memory(one, False, now) for one in answer.injected.pointers],
        "abstained": answer.found.abstained,
        "reason": answer.found.reason,
        "text": answer.text,
        "characters": len(answer.text),
        "near": [_memory(one, False, now) for one in answer.found.near],
        "selected_by": answer.selected.by if answer.selected else LOCAL,
        "selection": answer.selected.reason if answer.selected else "",
        "searched": answer.found.searched,
        "milliseconds": round(answer.milliseconds, 2),
        "findings": [finding_fields(finding) for finding in answer.found.findings],
    }


def _memory(one: Recalled, whole: bool, now: float) -> Fields:
    return {
        "path": one.memory.path,
        "scope": one.scope,
        "store": one.root,
        "from": one.giver,
        "score": round(one.score, 4),
        "shown": "body" if whole else "pointer",
        "text": inject.body(one, now) if whole else inject.pointer(one, now),
        "verdicts": list(one.verdicts),
        "why": {
            "sure": round(one.sure, 4),
            "words": {word: round(gain, 4) for word, gain in one.words.items()},
            "type": one.memory.type,
            "age_days": safe.age_days(one.memory.clock, now),
            "note": one.note,
        },
    }


def _explained(session: Session, answer: Recall) -> list[str]:
    screen = session.screen
    searched = count(answer.found.searched, "memory", "memories")
    lines = screen.block("", f"{searched} searched in {answer.milliseconds:.1f} ms", "")
    if answer.found.abstained:
        lines += screen.block("", f"nothing told: {answer.reason}", "")
    whole = {id(one) for one in answer.injected.bodies}
    rows = [("memory", "score", "sure", "given", "words that matched")]
    given_as = {id(one): "line" for one in answer.injected.pointers}
    for one in (*answer.injected.bodies, *answer.injected.pointers, *answer.found.near):
        words = ", ".join(list(one.words)[:WORDS_SHOWN]) or "none: a rule for any task"
        given = "whole" if id(one) in whole else given_as.get(id(one), "no")
        rows.append((one.memory.path, f"{one.score:.2f}", f"{one.sure:.2f}", given, words))
    if len(rows) > 1:
        lines += screen.table(rows, (int(screen.columns * 0.4),))
        lines += screen.block("", f"A match is sure from {SURE} on. Words are shown as stems.")
    odd = [one for one in answer.found.findings if one.kind != "catalog-made"]
    lines += ["", *finding_lines(screen, odd)] if odd else []
    return lines


# verify: what memories say of the code, against the code.

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
        found = [(str(session.config.scope), verify_module.verify(session.app, names))]
    else:
        found = [(scope, verify_module.verify(app)) for scope, app in session.apps()]
    memories = [
        (scope, path, judged) for scope, one in found for path, judged in one.memories.items()
    ]
    counts = Counter(one.verdict for _, _, judged in memories for one in judged)
    remarks = list(dict.fromkeys(text for _, one in found for text in one.remarks))
    fields: Fields = {
        "claims": [
            _verifying_fields(scope, path, one)
            for scope, path, judged in memories
            for one in judged
        ],
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


def _verifying_fields(scope: str, path: str, judged: Judged) -> Fields:
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
