"""Capture: learn from one conversation, now."""

from __future__ import annotations

import os
from dataclasses import replace

import click
from click.core import ParameterSource

from memdir.capture.capture import capture, open_reader, project_of
from memdir.capture.inbox import id_of
from memdir.capture.plan import ACTOR, CLIENT, Outcome, Request
from memdir.capture.progress import HELD, REFUSED, SAVED, Entry
from memdir.capture.signals import Catch
from memdir.cli.command import Session, command
from memdir.cli.output import Fields, Screen, moment
from memdir.config.config import Config
from memdir.errors import BadInput, Missing
from memdir.format.draft import RETIRED
from memdir.store import registry
from memdir.text.secrets import before_secrets
from memdir.text.terminal import count, cut

FAMILY = "transcripts"
SHOWN = ("type", "description", "body", "why", "how")  # of a draft
MOST_COLUMNS = 400  # of a text that a dry run shows


@command("capture", "memdir capture --transcript SESSION.jsonl --dry-run", changes=True, bulk=True)
@click.option("--transcript", metavar="FILE", required=True, help="What a client wrote down.")
@click.option("--client", metavar="CLIENT", default=CLIENT, help=f"Who wrote it ({CLIENT}).")
@click.option("--model", metavar="MODEL", help="Ask this one, within the budget.")
@click.option("--no-model", is_flag=True, help="Ask none, whatever the settings say.")
def learn(session: Session, transcript: str, client: str, model: str | None, no_model: bool) -> int:
    """Learn from a conversation what is new since the last time.

    What a person asked to remember is saved at once; what was only noticed is held for a review,
    unless a model is set. It goes to the project in which it was said, unless you name another.
    A dry run shows the drafts; it asks no model but the one that is named.
    """
    if model and no_model:
        raise click.UsageError("give --model or --no-model, not both")
    known = [name.replace("_", "-") for name in registry.members(FAMILY, session.config.own)]
    if client.replace("_", "-") not in known:
        raise BadInput(f"there is no client {client[:40]!r}", next=f"use one of {', '.join(known)}")
    path = os.path.abspath(transcript)
    if not os.path.exists(path) and not os.path.isfile(os.path.dirname(path)):  # a table has many
        raise Missing(f"there is no transcript {path}", path=path, next="check its spelling")
    request = Request(path, client=client.replace("_", "-"), model="" if no_model else model)
    chosen = _where_it_was_said(session, request)
    app = replace(chosen.app, actor=ACTOR)
    outcome = capture(app, request, open_reader(app, client, path))
    fields = _fields(outcome, app.dry_run) | {"store": app.store.root}
    lines = _lines(session.screen, outcome, app.dry_run)
    for remark in outcome.remarks:
        lines += session.screen.block("note:", remark)
    if outcome.received or chosen is not session:
        lines += session.screen.block("project", session.short(_project(chosen.config)))
    session.screen.answer(fields, lines)
    if app.dry_run:
        session.screen.tell("dry run: nothing was written")
    return int(outcome.unreadable)


def _where_it_was_said(session: Session, request: Request) -> Session:
    """The project of the conversation, unless a person says which store is meant."""
    asked, source = session.asked, click.get_current_context().get_parameter_source("scope")
    named = asked.dir is not None or asked.project is not None
    if named or source is not ParameterSource.DEFAULT:
        return session
    project, problem = project_of(session.app, request)
    if problem:
        here = session.short(_project(session.config))
        session.screen.tell(f"{problem}; what it says goes to {here}")
    if not project:
        return session
    asked = replace(asked, project=project)
    return Session(session.screen, asked, asked.config())


def _project(config: Config) -> str:
    """The directory whose memories these are; a store that somebody named has none."""
    own = config.scope.kind == "project" and not config.foreign
    return config.project_root if own else config.store


def _fields(outcome: Outcome, dry_run: bool) -> Fields:
    return {
        "received": outcome.received,
        **{
            what: [_entry(one, outcome.things.get(one.id)) for one in outcome.of(what)]
            for what in (SAVED, REFUSED, HELD)
        },
        "waiting": outcome.waiting,
        "tokens": outcome.tokens,
        "reason": outcome.reason,
        "remarks": list(outcome.remarks),
        "dry_run": dry_run,
    }


def _entry(one: Entry, catch: Catch | None) -> Fields:
    id = id_of(catch) if catch and one.what == HELD else one.id
    fields: Fields = {"id": id, "name": one.name, "reason": one.reason}
    if catch and catch.draft:
        fields["draft"] = {name: getattr(catch.draft, name) for name in SHOWN}
    elif catch:
        fields["forget"] = catch.forget
    return fields


def _lines(screen: Screen, outcome: Outcome, dry_run: bool) -> list[str]:
    if not outcome.received:
        return screen.block("", f"nothing to keep: {outcome.reason}", "")
    lines = [f"{count(outcome.received, 'thing')} received · {outcome.tokens:,} tokens"]
    for what, style in ((SAVED, "green"), (HELD, "yellow"), (REFUSED, "red")):
        for one in outcome.of(what):
            catch = outcome.things.get(one.id)
            lines += _told(screen, one, catch, style, dry_run)
            lines += _text(screen, catch) if dry_run and catch else []
    if outcome.waiting:
        again = f"; again from {moment(outcome.after)} on" if outcome.after else ""
        lines += screen.block("waiting", f"{outcome.waiting}: {outcome.reason}{again}")
    return lines


def _told(screen: Screen, one: Entry, catch: Catch | None, style: str, dry_run: bool) -> list[str]:
    """What became of one thing; a memory that a person wanted gone was not saved but retired."""
    retired = one.what == SAVED and one.reason == RETIRED
    would, what = "would be " if dry_run else "", RETIRED if retired else one.what
    name = one.name or (id_of(catch) if catch else "")
    text = f"{name}: {one.reason}" if one.reason and not retired else name
    return screen.block(f"{would}{what:7}", text, style=style)


def _text(screen: Screen, catch: Catch) -> list[str]:
    """The draft as a short block: its type, its text, its reasons."""
    draft = catch.draft
    if draft is None:
        return screen.block("", f"to be forgotten: {catch.forget}", "      ")
    body = " ".join(before_secrets(draft.body).split())
    rows = [("", f"{draft.type}: {cut(body, MOST_COLUMNS)}"), ("Why:", draft.why)]
    rows.append(("How to apply:", draft.how))
    return [text for label, said in rows if said for text in screen.block(label, said, "      ")]
