"""Capture, extract."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

import click

from memdir.capture.capture import capture
from memdir.capture.extract import HOLD, LEFT, SAVE, Extraction, Item, extract_past_sessions
from memdir.capture.inbox import held_draft_id
from memdir.capture.plan import ACTOR, CLIENT, Captured, Outcome, Request
from memdir.capture.progress import HELD, REFUSED, SAVED
from memdir.capture.route import (
    CLAUDE_MD,
    KNOWLEDGE,
    MEMORY,
    ORDER,
    SKIP,
    VALUE,
    write_capture_patches,
)
from memdir.capture.sessions import capture_reader, find_session_project
from memdir.capture.signals import Catch
from memdir.cli import output
from memdir.cli.command import Session, command
from memdir.config.config import Config
from memdir.errors import BadInput, Missing
from memdir.format.draft import RETIRED, describe_body
from memdir.hot import safe
from memdir.store import registry
from memdir.store.writer import App
from memdir.text.secrets import text_before_secrets
from memdir.text.terminal import cut_text, one_line, plural

FAMILY = "transcripts"
MAX_COLUMNS = 400  # of each text in a dry run


@command("capture", "memdir capture --transcript SESSION.jsonl --dry-run", changes=True)
@click.option("--transcript", metavar="FILE", required=True, help="The client's transcript.")
@click.option("--client", metavar="CLIENT", default=CLIENT, help=f"Who wrote it ({CLIENT}).")
@click.option("--model", metavar="MODEL", help="Use this model, within the budget.")
@click.option("--no-model", is_flag=True, help="Use no model, whatever the settings say.")
def learn_command(
    session: Session, transcript: str, client: str, model: str | None, no_model: bool
) -> output.Answer:
    """What a person asked to remember is saved at once; other finds are held for a review, unless a
    model is set. Memories go to the project of the conversation, unless you name another. A dry
    run shows the drafts; it calls no model unless --model names one.
    """
    if model and no_model:
        raise click.UsageError("give --model or --no-model, not both")
    client = client.replace("_", "-")
    known = [name.replace("_", "-") for name in registry.members(FAMILY, session.config.own)]
    if client not in known:
        raise BadInput(f"there is no client {client[:40]!r}", next=f"use one of {', '.join(known)}")
    path = os.path.abspath(transcript)
    # A session of opencode is called `opencode.db/<session>`.
    if not os.path.exists(path) and not os.path.isfile(os.path.dirname(path)):
        raise Missing(f"there is no transcript {path}", path=path, next="check its spelling")
    request = Request(path, client=client, model="" if no_model else model)
    chosen, asked = session, session.asked
    if asked.dir is None and asked.project is None and not session.names_scope:
        project, problem = find_session_project(session.app, request)
        if problem:
            here = session.short(_project(session.config))
            session.screen.tell(f"{problem}; its memories go to {here}")
        chosen = session.at(project=project) if project else session
    app = replace(chosen.app, actor=ACTOR)
    outcome = capture(app, request, capture_reader(app, client, path))
    lines = [*_capture_lines(session.screen, outcome, app.dry_run)]
    lines += session.screen.blocks("note:", outcome.remarks)
    if outcome.received or chosen is not session:
        lines += session.screen.block("project", session.short(_project(chosen.config)))
    entries = {
        kind: [_entry(entry) for entry in outcome.captured(kind)] for kind in (SAVED, REFUSED, HELD)
    }
    declared = f"received {SAVED} {REFUSED} {HELD} waiting tokens reason remarks"
    more = {"dry_run": app.dry_run, "store": app.store.root}
    fields = output.pick(outcome, declared, **entries, **more)
    return output.Answer(
        fields, lines, int(outcome.unreadable), output.DRY_RUN if app.dry_run else ""
    )


def _project(config: Config) -> str:
    """Project directory; for any other store, the store itself."""
    own = config.scope.kind == "project" and not config.foreign
    return config.project_root if own else config.store


def _entry(entry: Captured) -> output.Fields:
    fields = output.pick(entry, "id name reason")
    if entry.draft:
        fields["draft"] = output.pick(entry.draft, "type description body why how")
    elif entry.forget:
        fields["forget"] = entry.forget
    return fields


def _capture_lines(screen: output.Screen, outcome: Outcome, dry_run: bool) -> Iterator[str]:
    if not outcome.received:
        yield from screen.block("", f"nothing captured: {outcome.reason}", "")
        return
    tokens = f"{outcome.tokens:,} tokens used" if outcome.tokens else "no model tokens used"
    yield f"{plural(outcome.received, 'item')} captured, {tokens}"
    for kind, style in ((SAVED, "green"), (HELD, "yellow"), (REFUSED, "red")):
        for entry in outcome.of(kind):
            catch = outcome.things.get(entry.id)
            # A request to forget retires a memory and saves none.
            retired = kind == SAVED and entry.reason == RETIRED
            label = f"{'would be ' if dry_run else ''}{RETIRED if retired else kind:7}"
            name = entry.name or (held_draft_id(catch) if catch else "")
            text = f"{name}: {entry.reason}" if entry.reason and not retired else name
            yield from screen.block(label, text, style=style)
            yield from _draft_lines(screen, catch) if dry_run and catch else []
    if outcome.waiting:
        again = f"; next try after {output.show_local_time(outcome.after)}" if outcome.after else ""
        yield from screen.block("waiting", f"{outcome.waiting}: {outcome.reason}{again}")


def _draft_lines(screen: output.Screen, catch: Catch) -> Iterator[str]:
    rows = [("", f"forget: {catch.forget}")]
    if draft := catch.draft:
        body = " ".join(text_before_secrets(draft.body).split())
        rows = [("", f"{draft.type}: {cut_text(body, MAX_COLUMNS)}"), ("Why:", draft.why)]
        rows.append(("How to apply:", draft.how))
    for label, text in rows:
        yield from screen.block(label, text, "      ") if text else []


ITEM = "destination=routed.to outcome name reason draft forget origin project store"
HEADS = {
    VALUE: "Values",
    MEMORY: "Memories",
    CLAUDE_MD: "CLAUDE.md, as a patch",
    KNOWLEDGE: "docs/knowledge, as a patch",
    SKIP: "Left out",
}
STYLES = {SAVE: "green", HOLD: "yellow", LEFT: "red"}
FEW = 12  # items shown one by one
OUTCOME = 8  # columns
INDENT = " " * (OUTCOME + 3)


@command("extract", "memdir extract --last 5 --dry-run", changes=True)
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@click.option("--last", type=click.IntRange(0), default=0, metavar="N", help="Only the newest N.")
@click.option("--model/--no-model", default=False, help="Let the model draft; this costs tokens.")
@click.option("--yes", is_flag=True, help="Also save what you said, but did not ask to remember.")
@click.option("--patches", metavar="DIR", help="Write the patches there for git apply.")
def extract_command(
    session: Session, sessions: Sequence[str], patches: str | None, **options: Any
) -> output.Answer:
    """What you asked to remember is saved; other finds wait in memdir review. What every
    conversation needs becomes a patch for CLAUDE.md, what people should read a patch for
    docs/knowledge; memdir applies neither. SESSION is an id or a file; without one, all sessions of
    this project are read. A second run finds nothing new.
    """
    app, screen = session.app, session.screen
    try:
        made = extract_past_sessions(app, sessions, **options)
    except Missing as error:
        if files := [path for path in sessions if os.path.isfile(path)]:
            step = f"memdir capture --transcript {screen.advise.word(files[0])}"
            error.message = f"{files[0]} is not a session of this project or client"
            error.next = f"{step} reads it by itself"
        raise
    written: list[str] = []
    if patches and not app.dry_run:
        written = write_capture_patches(patches, made.patches)
    left = any(item.outcome == LEFT for item in made.items)
    things = Counter(item.session.path for item in made.items)
    fields: output.Fields = {
        "before": made.before,
        "after": made.after,
        "changes": [
            output.pick(change, output.CHANGE, store=app.store.root) for change in made.changes
        ],
        "batch": made.batch if made.changes and not app.dry_run else "",
        "lost": made.lost,
        "routed": [_item_fields(app, made, item) for item in made.items],
        "patches": [
            output.pick(
                patch, "project=root path diff=text file", file=written[number] if written else ""
            )
            for number, patch in enumerate(made.patches)
        ],
        "sessions": len(made.sessions),
        "looked_at": [
            past._asdict() | {"modified": safe.iso_time(past.modified), "things": things[past.path]}
            for past in made.sessions
        ],
        "waiting": [{"session": id, "reason": reason} for id, reason in made.waiting.items()],
        "tokens": made.tokens,
        "remarks": made.remarks,
        "dry_run": app.dry_run,
        "files": [file for done in made.done for file in output.changed_file_fields(done.diff)],
    }
    return output.Answer(
        fields, _extract_lines(session, made, written), int(bool(made.lost) or left)
    )


def _item_fields(app: App, made: Extraction, item: Item) -> output.Fields:
    catch, draft = item.routed.catch, None
    if catch.draft:
        # Cut at the first secret: text that was refused must not be printed.
        texts = {
            name: text_before_secrets(getattr(catch.draft, name))
            for name in ("body", "description", "why", "how")
        }
        day = catch.draft.day.isoformat() if catch.draft.day else ""
        draft = output.pick(catch.draft, "name type day", day=day, **texts)
    return output.pick(
        item,
        ITEM,
        reason=item.reason or item.routed.reason,
        draft=draft,
        forget=catch.forget,
        origin={**asdict(catch.origin), "transcript": item.session.path},
        project=made.root,
        store=app.store.root,
    )


def _extract_lines(session: Session, made: Extraction, files: Sequence[str]) -> Iterator[str]:
    screen, dry = session.screen, session.asked.dry_run
    read = plural(len(made.sessions), "session")
    text = f"{read} read: nothing to keep" if made.sessions else "this project has no sessions yet"
    if made.items:
        outcomes = Counter(item.outcome for item in made.items)
        parts = ", ".join(f"{number:,} {outcome}" for outcome, number in outcomes.items())
        parts = f"{'would be: ' if dry else ''}{parts}"
        text = f"{plural(len(made.items), 'item')} in {read}; {parts}"
    yield from screen.block("", text, "")
    for destination in ORDER:
        items = [item for item in made.items if item.routed.to == destination]
        yield from _group(screen, destination, items, dry)
    for patch in made.patches:
        yield from ["", screen.paint(f"For {session.short(patch.root)}", "bold")]
        yield from screen.diff_lines(patch.text.rstrip("\n"))
    waits = [f"session {id}: {reason}" for id, reason in made.waiting.items()][:FEW]
    notes = screen.blocks("waits:", waits, style="yellow")
    notes += screen.blocks("note:", [screen.advise(text) for text in made.remarks[:FEW]])
    notes += screen.blocks("lost:", made.lost, style="red")
    yield from ["", screen.paint("Notes", "bold"), *notes] if notes else []
    if not dry:
        steps = [*_next(session, made, files)]
        yield from ["", "Next:", *steps] if steps else []
        return
    for done in made.done:
        yield from screen.dry_lines(done)[:-2]
    yield from ["", output.DRY_RUN]


def _group(
    screen: output.Screen, destination: str, items: Sequence[Item], dry: bool
) -> Iterator[str]:
    """A dry run shows the whole text of held items: no review has them yet."""
    if items:
        yield from ["", screen.paint(HEADS[destination], "bold")]
    for item in items[:FEW]:
        draft, forget = item.routed.catch.draft, item.routed.catch.forget
        day = draft.day.isoformat() if draft and draft.day else safe.iso_day(item.session.modified)
        title = describe_body(draft.description or draft.body) if draft else f"forget: {forget}"
        label, style = f"{item.outcome:{OUTCOME}}", STYLES.get(item.outcome, "")
        yield from screen.block(label, f"{day}: {title}", style=style)
        if destination == SKIP or item.outcome in (HOLD, LEFT):
            yield from screen.block("", screen.advise(item.reason), INDENT)
        if dry and item.outcome == HOLD:
            parts = (draft.body, f"Why: {draft.why}" if draft.why else "") if draft else ()
            text = " ".join(" ".join(text_before_secrets(part).split()) for part in parts).strip()
            yield from screen.block("", f'"{text}"', INDENT)
    yield from screen.more_lines(len(items), FEW)


def _next(session: Session, made: Extraction, files: Sequence[str]) -> Iterator[str]:
    screen = session.screen
    if held := sum(item.outcome == HOLD for item in made.items):
        verb = "waits" if held == 1 else "wait"
        step = screen.advise("memdir review")
        yield from screen.block("", f"{held:,} {verb} for you: {step}")
    for patch, file in zip(made.patches, files, strict=False):
        yield f"  Apply to {one_line(patch.path)}:"
        word = screen.advise.word
        step = f"git -C {word(patch.root)} apply {word(os.path.abspath(file))}"
        yield one_line(f"    {step}")
    if made.patches and not files:
        step = screen.advise("memdir extract --patches DIR")
        yield from screen.block("", f"Write the patches: {step}")
    if made.changes:
        undo = screen.advise("memdir undo")
        yield from screen.block("", f"Undo all of it: {undo} --batch {made.batch}")
