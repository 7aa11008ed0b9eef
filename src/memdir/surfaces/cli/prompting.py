"""prompt: what tells an agent how to use its memory."""

from __future__ import annotations

import os
from dataclasses import replace

import click

from memdir import flows
from memdir.app import App
from memdir.core.memory import TEAM as FOLDER
from memdir.core.prompting import MODES, TEAM
from memdir.surfaces.cli.answers import Fields
from memdir.surfaces.cli.session import Session, command
from memdir.surfaces.cli.visible import visible

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
    answer = flows.prompt(_apps(session, mode or ""), mode or "", indexes=not behaviour)
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
