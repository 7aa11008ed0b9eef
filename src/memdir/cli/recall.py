"""Search, recall, prompt, verify."""

from __future__ import annotations

import os
from collections.abc import Iterator

import click

from memdir.cli.command import STDIN, Session, command, read_text_option
from memdir.cli.output import FINDING, Answer, Cell, Fields, Screen, pick, pick_all, short_age
from memdir.hot import safe
from memdir.hot.acceptance import NOT_YET
from memdir.hot.behaviour import MODES, TEAM
from memdir.hot.memory import TEAM as FOLDER
from memdir.hot.recall import SURE, UNSURE
from memdir.store.writer import App
from memdir.text.terminal import (
    cut_text_middle,
    one_line,
    plural,
    text_width,
    visible_text,
    wrap_text,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.recall.answer import Recall


PROJECT, ALL = "project", "all"


@command("prompt", "memdir prompt --mode team")
@click.option("--mode", type=click.Choice(MODES), help="Default: team if it exists, else normal.")
@click.option("--behaviour", is_flag=True, help="Without the index: some clients load it.")
def prompt_command(session: Session, mode: str | None, behaviour: bool) -> Answer:
    """It says where memory is, what to save and how, when to use it and how far to trust it; then
    comes the index. Mode `team` has two directories, mode `log` appends to one file a day. Prints
    nothing if memory is off.
    """
    from memdir.recall.answer import render_memory_prompt as make_prompt

    # The store to write to comes first, then the team's and the others.
    apps = dict(session.apps())
    if session.config.scope.kind in (PROJECT, ALL):
        project = apps.pop(PROJECT) if PROJECT in apps else session.at(scope=PROJECT).app
        apps = {PROJECT: project, **apps}
        team = mode == TEAM or (not mode and os.path.isdir(session.config.scopes[FOLDER]))
        if team and FOLDER not in apps:
            apps[FOLDER] = session.at(scope=FOLDER).app
    answer = make_prompt([*apps.items()], mode or "", indexes=not behaviour)
    lines = visible_text(answer.text).split("\n") if answer.text else []
    remark = f"memory is off (by {session.config.enabled_by}): memdir where"
    return Answer(pick(answer, "text tokens mode"), lines, remark="" if answer.text else remark)


MAX_MEMORIES = 50
MAX_PROMPT_BYTES = 8 * 1024 * 1024
WORDS_SHOWN = 6
NAME_SHARE = 0.4  # of the line's width
RECALLED = "path scope store from=from_ score shown text verdicts why"


@command("recall", 'memdir recall "how do we cut a release?" --explain', dashes=True)
@click.argument("words", metavar="PROMPT", nargs=-1, required=True)
@click.option("--k", type=click.IntRange(1, MAX_MEMORIES), default=5, help="In full at most (5).")
@click.option("--explain", is_flag=True, help="Show scores, and the words that matched.")
@click.option("--session", "session_id", metavar="ID", help="Tell this session nothing twice.")
@click.option("--always", is_flag=True, help="Show the closest even if nothing matches well.")
@click.option("--model", is_flag=True, help="Let the configured model choose; this costs tokens.")
def recall_command(
    session: Session,
    words: tuple[str, ...],
    k: int,
    explain: bool,
    session_id: str | None,
    always: bool,
    model: bool,
) -> Answer:
    """PROMPT may be `-` for standard input. Memories that match come in full, the next best as one
    line each; nothing is printed if none matches. All scopes are searched unless --scope names
    one. What is `not accepted yet` comes from others and is shown only to you: memdir review.
    """
    from memdir.audit.ages import find_age_starts
    from memdir.recall.answer import recall as find_in_store

    text = " ".join(words)
    text = read_text_option(STDIN, MAX_PROMPT_BYTES, "the prompt") if text == STDIN else text
    apps, screen = _searched_apps(session), session.screen
    answer = find_in_store(
        apps,
        text,
        session=session_id or "",
        limit=k,
        abstain=not always,
        model=model or None,
        ages=find_age_starts,
        verify=True,
        waiting=True,
    )
    if answer.selection:
        screen.tell(f"chosen without the model: {answer.selection}")
    lines = visible_text(answer.text).split("\n") if answer.text else []
    if screen.is_terminal:  # elsewhere exactly what an agent is told
        lines = [part for line in lines for part in _fit(line, screen.columns)]
    if explain:
        lines += [*[""][: len(lines)], *_explain(screen, answer)]
    fields = pick(
        answer,
        "memories pointers abstained reason text characters near selected_by selection searched "
        "milliseconds findings",
        memories=pick_all(answer.memories, RECALLED),
        pointers=pick_all(answer.pointers, RECALLED),
        near=pick_all(answer.near, RECALLED),
        milliseconds=round(answer.milliseconds, 2),
        findings=pick_all(answer.findings, FINDING),
    )
    remark = f"nothing recalled: {answer.reason}; try --explain, or --always to see the closest"
    return Answer(fields, lines, remark="" if answer.text or explain else remark)


def _fit(line: str, columns: int) -> list[str]:
    return wrap_text(line, columns) if text_width(line) > columns else [line]


def _searched_apps(session: Session) -> list[tuple[str, App]]:
    named = session.names_scope
    return [
        (scope, app)
        for scope, app in (session if named else session.at(scope=ALL)).apps()
        if named or not scope.startswith("agent:")  # other agents' memories are private
    ]


FOUND = ("memory", "type", "age", "scope", "description")
FOUND_SHARE = 0.27  # of the line's width, for the name
MAX_FOUND, MAX_ROWS = 1_000, 20


@command("search", "memdir search release freeze", dashes=True)
@click.argument("words", metavar="WORDS...", nargs=-1, required=True)
def search_command(session: Session, words: tuple[str, ...]) -> Answer:
    """Lists what has one of the WORDS, your own memories first, also where an agent would be told
    nothing. All scopes and the records are searched unless --scope names one.
    """
    from memdir.recall.answer import recall as find_in_store
    from memdir.recall.answer import recalled_memory

    apps, screen = _searched_apps(session), session.screen
    answer = find_in_store(
        apps, " ".join(words), limit=0, pointers=MAX_FOUND, abstain=False, waiting=True
    )
    every = [item for item in answer.found.pointers if item.words]
    found = every[:MAX_ROWS]
    now, widest = apps[0][1].now() if apps else 0.0, int(screen.columns * FOUND_SHARE)
    rows: list[list[Cell]] = []
    for item in found:
        memory, waits = item.memory, f"{NOT_YET}: " * (NOT_YET in item.giver)
        name = memory.path.removesuffix(".md").removesuffix(".json")
        age = short_age(safe.age_days(memory.clock, now))
        label = cut_text_middle(one_line(name), widest), "bold"
        rows.append([label, memory.type, age, item.scope, waits + memory.description])
    fields: Fields = {
        "memories": [pick(recalled_memory(item, now), RECALLED) for item in found],
        "searched": answer.found.searched,
        "milliseconds": round(answer.milliseconds, 2),
        "findings": pick_all(answer.found.findings, FINDING),
    }
    lines = screen.table(rows, headings=FOUND)
    lines += screen.more_lines(len(every), MAX_ROWS)
    none = f"none of {plural(answer.found.searched, 'memory', 'memories')} has one of these words"
    return Answer(fields, lines, remark="" if rows else none)


def _explain(screen: Screen, answer: Recall) -> Iterator[str]:
    injected, found = answer.injected, answer.found
    searched = plural(found.searched, "memory", "memories")
    yield from screen.block("", f"{searched} searched in {answer.milliseconds:.1f} ms", "")
    if found.abstained:
        yield from screen.block("", f"nothing recalled: {answer.reason}", "")
    given = (("whole", injected.bodies), ("line", injected.pointers), ("no", found.near))
    rows = []
    for shown, item in [(shown, item) for shown, items in given for item in items]:
        words = ", ".join(list(item.words)[:WORDS_SHOWN]) or "none: a rule for any task"
        rows.append((item.memory.path, f"{item.score:.2f}", f"{item.sure:.2f}", shown, words))
    if rows:
        headings = ("memory", "score", "sure", "given", "words that matched")
        yield from screen.table(rows, (int(screen.columns * NAME_SHARE),), headings)
        yield from screen.block(
            "", f"Shown in full from score {SURE:g}, as one line from {UNSURE:g}. Words are stems."
        )
    odd = [finding for finding in found.findings if finding.kind != "catalog-made"]
    yield from ["", *screen.finding_lines(odd)] if odd else []
