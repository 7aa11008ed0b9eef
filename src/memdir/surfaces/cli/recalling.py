"""recall: what an agent would be told for a prompt, and why."""

from __future__ import annotations

from dataclasses import replace

import click
from click.core import ParameterSource

from memdir import flows
from memdir.core import dates, injection
from memdir.core.injection import Recalled
from memdir.core.ranking import SURE
from memdir.core.selection import LOCAL
from memdir.flows.recalling import Recall
from memdir.surfaces.cli.answers import Fields, finding_fields, finding_lines
from memdir.surfaces.cli.inputs import STDIN, read_text
from memdir.surfaces.cli.session import Session, command
from memdir.surfaces.cli.visible import count, visible

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
    answer = flows.recall(
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
        "text": injection.body(one, now) if whole else injection.pointer(one, now),
        "verdicts": list(one.verdicts),
        "why": {
            "sure": round(one.sure, 4),
            "words": {word: round(gain, 4) for word, gain in one.words.items()},
            "type": one.memory.type,
            "age_days": dates.age_days(one.memory.clock, now),
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
