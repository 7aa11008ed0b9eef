"""Capture."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

import click

from memdir.capture.capture import capture
from memdir.capture.inbox import draft_id
from memdir.capture.plan import ACTOR, CLIENT, Outcome, Request
from memdir.capture.progress import HELD, REFUSED, SAVED, Entry
from memdir.capture.sessions import find_project, open_reader
from memdir.capture.signals import Catch
from memdir.cli.command import Session, command
from memdir.cli.output import DRY_RUN, Answer, Fields, Screen, local_time, pick
from memdir.config.config import Config
from memdir.errors import BadInput, Missing
from memdir.format.draft import RETIRED
from memdir.store import registry
from memdir.text.secrets import before_secrets
from memdir.text.terminal import count, cut

FAMILY = "transcripts"
MAX_COLUMNS = 400  # of each text in a dry run


@command("capture", "memdir capture --transcript SESSION.jsonl --dry-run", changes=True)
@click.option("--transcript", metavar="FILE", required=True, help="The client's transcript.")
@click.option(
    "--client", metavar="CLIENT", default=CLIENT, help=f"The client that wrote it ({CLIENT})."
)
@click.option("--model", metavar="MODEL", help="Use this model, within the budget.")
@click.option("--no-model", is_flag=True, help="Use no model, whatever the settings say.")
def learn(
    session: Session, transcript: str, client: str, model: str | None, no_model: bool
) -> Answer:
    """What a person asked to remember is saved at once; other finds are held for a review, unless a
    model is set. Memories go to the project of the conversation, unless you name another. A dry
    run shows the drafts; it calls no model unless --model names one.
    """
    if model and no_model:
        raise click.UsageError("give --model or --no-model, not both")
    known = [name.replace("_", "-") for name in registry.members(FAMILY, session.config.own)]
    if client.replace("_", "-") not in known:
        raise BadInput(f"there is no client {client[:40]!r}", next=f"use one of {', '.join(known)}")
    path = os.path.abspath(transcript)
    # A session of opencode is called `opencode.db/<session>`.
    if not os.path.exists(path) and not os.path.isfile(os.path.dirname(path)):
        raise Missing(f"there is no transcript {path}", path=path, next="check its spelling")
    request = Request(path, client=client.replace("_", "-"), model="" if no_model else model)
    chosen = _where_it_was_said(session, request)
    app = replace(chosen.app, actor=ACTOR)
    outcome = capture(app, request, open_reader(app, client, path))
    lines = [*_lines(session.screen, outcome, app.dry_run)]
    lines += session.screen.blocks("note:", outcome.remarks)
    if outcome.received or chosen is not session:
        lines += session.screen.block("project", session.short(_project(chosen.config)))
    entries = {
        kind: [_entry(entry, outcome.things.get(entry.id)) for entry in outcome.of(kind)]
        for kind in (SAVED, REFUSED, HELD)
    }
    declared = f"received {SAVED} {REFUSED} {HELD} waiting tokens reason remarks"
    more = {"dry_run": app.dry_run, "store": app.store.root}
    fields = pick(outcome, declared, **entries, **more)
    return Answer(fields, lines, int(outcome.unreadable), DRY_RUN if app.dry_run else "")


def _where_it_was_said(session: Session, request: Request) -> Session:
    asked = session.asked
    if asked.dir is not None or asked.project is not None or session.names_scope:
        return session
    project, problem = find_project(session.app, request)
    if problem:
        here = session.short(_project(session.config))
        session.screen.tell(f"{problem}; its memories go to {here}")
    return session.at(project=project) if project else session


def _project(config: Config) -> str:
    """Project directory; for any other store, the store itself."""
    own = config.scope.kind == "project" and not config.foreign
    return config.project_root if own else config.store


def _entry(entry: Entry, catch: Catch | None) -> Fields:
    id = draft_id(catch) if catch and entry.what == HELD else entry.id
    fields = pick(entry, "id name reason", id=id)
    if catch and catch.draft:
        fields["draft"] = pick(catch.draft, "type description body why how")
    elif catch:
        fields["forget"] = catch.forget
    return fields


def _lines(screen: Screen, outcome: Outcome, dry_run: bool) -> Iterator[str]:
    if not outcome.received:
        yield from screen.block("", f"nothing captured: {outcome.reason}", "")
        return
    tokens = f"{outcome.tokens:,} tokens used" if outcome.tokens else "no model tokens used"
    yield f"{count(outcome.received, 'item')} captured, {tokens}"
    for kind, style in ((SAVED, "green"), (HELD, "yellow"), (REFUSED, "red")):
        for entry in outcome.of(kind):
            catch = outcome.things.get(entry.id)
            # A request to forget retires a memory and saves none.
            retired = kind == SAVED and entry.reason == RETIRED
            label = f"{'would be ' if dry_run else ''}{RETIRED if retired else kind:7}"
            name = entry.name or (draft_id(catch) if catch else "")
            text = f"{name}: {entry.reason}" if entry.reason and not retired else name
            yield from screen.block(label, text, style=style)
            yield from _draft_lines(screen, catch) if dry_run and catch else []
    if outcome.waiting:
        again = f"; next try after {local_time(outcome.after)}" if outcome.after else ""
        yield from screen.block("waiting", f"{outcome.waiting}: {outcome.reason}{again}")


def _draft_lines(screen: Screen, catch: Catch) -> Iterator[str]:
    rows = [("", f"forget: {catch.forget}")]
    if draft := catch.draft:
        body = " ".join(before_secrets(draft.body).split())
        rows = [("", f"{draft.type}: {cut(body, MAX_COLUMNS)}"), ("Why:", draft.why)]
        rows.append(("How to apply:", draft.how))
    for label, text in rows:
        yield from screen.block(label, text, "      ") if text else []
