"""capture: learn from one conversation, now."""

from __future__ import annotations

import os
from dataclasses import replace

import click

from memdir import registry
from memdir.core.accounts import HELD, REFUSED, SAVED, Entry
from memdir.core.errors import BadInput, Missing
from memdir.flows.capturing import CLIENT, Outcome, Request, capture, open_reader
from memdir.flows.capturing.settling import ACTOR
from memdir.surfaces.cli.answers import Fields, moment
from memdir.surfaces.cli.screen import Screen
from memdir.surfaces.cli.session import Session, command
from memdir.surfaces.cli.visible import count

FAMILY = "transcripts"


@command("capture", "memdir capture --transcript SESSION.jsonl --dry-run", changes=True, bulk=True)
@click.option("--transcript", metavar="FILE", required=True, help="What a client wrote down.")
@click.option("--client", metavar="CLIENT", default=CLIENT, help=f"Who wrote it ({CLIENT}).")
@click.option("--model", metavar="MODEL", help="Ask this one, within the budget.")
@click.option("--no-model", is_flag=True, help="Ask none, whatever the settings say.")
def learn(session: Session, transcript: str, client: str, model: str | None, no_model: bool) -> int:
    """Learn from a conversation what is new since the last time.

    What a person asked to remember is saved at once; what was only noticed is held for a review,
    unless a model is set. A dry run asks no model but the one that is named.
    """
    if model and no_model:
        raise click.UsageError("give --model or --no-model, not both")
    known = [name.replace("_", "-") for name in registry.members(FAMILY)]
    if client.replace("_", "-") not in known:
        raise BadInput(f"there is no client {client[:40]!r}", next=f"use one of {', '.join(known)}")
    path = os.path.abspath(transcript)
    if not os.path.exists(path):
        raise Missing(f"there is no transcript {path}", path=path, next="check its spelling")
    app = replace(session.app, actor=ACTOR)
    wanted = "" if no_model or (app.dry_run and not model) else model
    request = Request(path, client=client.replace("_", "-"), model=wanted)
    outcome = capture(app, request, open_reader(app, client, path))
    session.screen.answer(_fields(outcome, app.dry_run), _lines(session.screen, outcome))
    if app.dry_run:
        session.screen.tell("dry run: nothing was written")
    return 0


def _fields(outcome: Outcome, dry_run: bool) -> Fields:
    return {
        "received": outcome.received,
        **{what: [_entry(one) for one in outcome.of(what)] for what in (SAVED, REFUSED, HELD)},
        "waiting": outcome.waiting,
        "tokens": outcome.tokens,
        "reason": outcome.reason,
        "dry_run": dry_run,
    }


def _entry(one: Entry) -> Fields:
    return {"id": one.id, "name": one.name, "reason": one.reason}


def _lines(screen: Screen, outcome: Outcome) -> list[str]:
    if not outcome.received:
        return [f"nothing to keep: {outcome.reason}"]
    lines = [f"{count(outcome.received, 'thing')} received · {outcome.tokens:,} tokens"]
    for what, style in ((SAVED, "green"), (HELD, "yellow"), (REFUSED, "red")):
        for one in outcome.of(what):
            name = one.name or "(no name)"
            text = f"{name}: {one.reason}" if one.reason else name
            lines += screen.block(f"{what:7}", text, style=style)
    if outcome.waiting:
        again = f"; again from {moment(outcome.after)} on" if outcome.after else ""
        lines += screen.block("waiting", f"{outcome.waiting}: {outcome.reason}{again}")
    return lines
