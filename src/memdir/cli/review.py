"""Review: the drafts that wait for a person's yes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace

import click

from memdir.capture import review as review_module
from memdir.capture.inbox import APPROVED, REJECTED, Held, open_inbox
from memdir.capture.review import Settled
from memdir.capture.signals import Origin
from memdir.cli import accept
from memdir.cli.command import Session, command, read_text
from memdir.cli.output import (
    CHANGE,
    FINDING,
    Answer,
    Fields,
    Screen,
    advised,
    done_lines,
    dry_files,
    finding_lines,
    pick,
    pick_all,
)
from memdir.cli.save import ANYWAY, edit_text, read_draft
from memdir.clients.conversation import AGENT, PERSON, TOOL
from memdir.errors import BadInput, Finding
from memdir.format.draft import ANYWAY as INSIST
from memdir.format.draft import HELD, Draft, Wishes, set_reasons
from memdir.hot import memory, safe
from memdir.store.writer import App
from memdir.text.terminal import count, cut

LIST, SHOW, APPROVE, EDIT = "list", "show", "approve", "edit"
ACCEPT, REJECT, RESTORE = "accept", "reject", "restore"
ACTIONS = (LIST, SHOW, APPROVE, ACCEPT, EDIT, REJECT, RESTORE)
ID_COLUMNS, TYPE_COLUMNS = 12, 10
TEXT_LINES = 2  # of a draft in the list
LOG = "log"  # the client of what a log says
HELD_DRAFT = "id time draft forget=catch.forget origin reason"


@command("review", "memdir review approve 3f9c2ab41d07", changes=True)
@click.argument("action", type=click.Choice(ACTIONS), default=LIST, metavar="ACTION")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "every", is_flag=True, help="Every draft that waits.")
@click.option("--yes", is_flag=True, help="With --all: really; without it nothing is decided.")
@click.option("--rejected", is_flag=True, help="With list: what was rejected in 30 days.")
@click.option("--anyway", is_flag=True, help=ANYWAY)
@click.option("--type", metavar="TYPE", help="With edit: another type; see: memdir types.")
@click.option("--name", metavar="NAME", help="With edit: the name of the file to be.")
@click.option("--description", metavar="LINE", help="With edit: one line that says what it is.")
@click.option("--body-file", metavar="FILE", help="With edit: a new text; - is stdin.")
def review(
    session: Session,
    action: str,
    ids: tuple[str, ...],
    every: bool,
    yes: bool,
    rejected: bool,
    anyway: bool,
    type: str | None,
    name: str | None,
    description: str | None,
    body_file: str | None,
) -> Answer:
    """Decide on what waits for a yes: list, show, approve, accept, edit, reject or restore it.

    What was only noticed, or learned from a tool or from the agent alone, is held here; it is
    never recalled or injected. `show` prints the change it would make and where it comes from.
    `approve` saves it like any other memory, `edit` changes it first, by options or in your
    editor. `reject` lets go of it; for 30 days `restore` puts it back. The start of an ID will do.
    Memories of a repository or a team wait here, too, until you `accept` them; changed, again.
    """
    app = session.app
    given = {"type": type, "name": name, "description": description, "body": body_file}
    edits = {field: text for field, text in given.items() if text is not None}
    if edits and action != EDIT:
        raise click.UsageError("--type, --name, --description and --body-file belong to edit.")
    if rejected and action != LIST:
        raise click.UsageError("--rejected belongs to list.")
    if action != LIST and not ids and not every:
        raise click.UsageError(f"Which one? memdir review {action} ID, or --all.")
    if action == LIST and not ids:
        return _list(session, app, rejected)
    if answer := accept.answer(session, action, ids, every and yes):
        return answer
    wishes = Wishes(anyway, offered=(INSIST,))
    find = review_module.find_held
    if action == RESTORE or rejected:
        find = review_module.find_rejected
    chosen = find(app, ids, every)
    if action in (LIST, SHOW):
        return _show(session, app, chosen, wishes)
    if action == EDIT:
        return _edit(session, app, chosen, edits)
    if every and chosen and not yes and not app.dry_run:
        step = f"look at them (memdir review), then: memdir review {action} --all --yes"
        raise BadInput(f"--all means {count(len(chosen), 'draft')}; nothing was decided", next=step)
    if action == APPROVE:
        return _settled(session, app, review_module.approve_drafts(app, chosen, wishes))
    settle = review_module.reject_drafts if action == REJECT else review_module.restore_drafts
    return _settled(session, app, settle(app, chosen))


def _list(session: Session, app: App, rejected: bool) -> Answer:
    screen, (held, broken) = session.screen, open_inbox(app).look()
    chosen = review_module.find_rejected(app, (), every=True) if rejected else held
    sources = accept.find_sources(session, rejected=rejected)
    lines = [*_list_lines(screen, app, chosen, rejected)] if chosen or not sources else []
    lines += [*[""][: len(lines)], *accept.source_lines(session, sources)] if sources else []
    fields = {**_list_fields(app, chosen, broken), **accept.source_fields(sources)}
    return Answer(fields, [*lines, *finding_lines(screen, broken)], int(bool(broken)))


def _show(session: Session, app: App, chosen: Sequence[Held], wishes: Wishes) -> Answer:
    """Each with what approving it would change."""
    screen, broken = session.screen, open_inbox(app).look()[1]
    items = [Settled(held, "", review_module.preview_draft(app, held, wishes)) for held in chosen]
    fields = _list_fields(app, chosen, broken) | _change_fields(items)
    lines = [text for item in items for text in _whole_lines(screen, app, item)]
    return Answer(fields, [*lines, *finding_lines(screen, broken)], int(bool(broken)))


def _list_fields(app: App, chosen: Sequence[Held], broken: Sequence[Finding]) -> Fields:
    return {
        "held": [_held_fields(held) for held in chosen],
        "findings": pick_all(broken, FINDING),
        "store": app.store.root,
    }


def _held_fields(held: Held, **more: object) -> Fields:
    """One draft that waits."""
    draft = held.catch.draft
    day = draft.day.isoformat() if draft and draft.day else ""
    values = {**asdict(draft), "day": day, "extra": dict(draft.extra)} if draft else None
    origin = asdict(held.catch.origin)
    when = safe.iso_time(held.time)
    return pick(held, HELD_DRAFT, time=when, draft=values, origin=origin, **more)


def _change_fields(items: Sequence[Settled]) -> Fields:
    return {
        "changes": pick_all((change for item in items for change in item.done.changes), CHANGE),
        "files": [file for item in items for file in dry_files(item.done)],
    }


def _edit(session: Session, app: App, chosen: Sequence[Held], edits: dict[str, str]) -> Answer:
    if len(chosen) != 1:
        raise BadInput("edit takes one draft at a time", next="memdir review edit ID")
    held = chosen[0]
    draft = held.catch.draft or Draft("")
    if held.catch.draft is None and [*edits] != ["name"]:
        raise BadInput(
            "this one asks to put a memory away: only its name can be given",
            next=f"memdir review edit {held.id} --name NAME",
        )
    if not edits:
        draft = _edit_by_hand(app, draft, held.id)
    elif "body" in edits:
        limit = app.config.options.max_body_bytes
        draft = replace(draft, body=read_text(edits["body"], limit, "the text"), why="", how="")
    options = {field: text for field, text in edits.items() if field != "body"}
    changed = review_module.rewrite_draft(app, held, replace(draft, **options))  # type: ignore[arg-type]
    result = "would be changed" if app.dry_run else "changed; it still waits"
    result = "is as it was; it still waits" if changed == held else result
    lines = [*_list_lines(session.screen, app, [changed])][2:]
    fields = {"held": [_held_fields(changed)], "store": app.store.root, "dry_run": app.dry_run}
    return Answer(fields, [f"{held.id} {result}", *lines])


def _edit_by_hand(app: App, draft: Draft, id: str) -> Draft:
    head = [("name", draft.name), ("description", draft.description), ("type", draft.type)]
    fields = [(key, value) for key, value in head if value] + list(draft.extra)
    text = memory.encode(memory.write(fields, set_reasons(draft.body, draft.why, draft.how)))
    edited = edit_text(f"{id}.md", text, app.config.options.max_file_bytes)
    if edited == text:
        return draft
    read, _ = read_draft(memory.decode(edited), "the edited draft")
    return replace(read, source=draft.source, day=draft.day, expected=draft.expected)


def _settled(session: Session, app: App, items: Sequence[Settled]) -> Answer:
    """What became of each, then what of it still waits."""
    changes = _change_fields(items)
    fields: Fields = {
        "held": [_held_fields(item.held, change=item.how or HELD) for item in items],
        "changes": changes["changes"],
        "remarks": [text for item in items for text in item.done.remarks],
        "waiting": len(open_inbox(app).list()),
        "store": app.store.root,
        "dry_run": app.dry_run,
        "files": changes["files"],
    }
    lines = [*_settled_lines(session.screen, app, items)] or ["nothing waits for a review"]
    return Answer(fields, lines, int(any(not item.how for item in items)))


def _settled_lines(screen: Screen, app: App, items: Sequence[Settled]) -> Iterator[str]:
    """Each with its change; then how to take it back: an approval is a change, a no is none."""
    for item in items:
        would = "would be " if app.dry_run and item.how else ""
        text = f"{would}{item.how or 'still waits'}: {review_module.draft_title(item.held)}"
        yield from screen.block(item.held.id, text, "", "green" if item.how else "yellow")
        for change in done_lines(screen, advised(screen, item.done)) if item.done.changes else ():
            yield f"  {change}" if change else ""
    if app.dry_run:
        return
    if app.history.on and any(item.how == APPROVED and item.done.changes for item in items):
        yield from screen.block("Take it back:", screen.advise("memdir undo"), "")
    if rejected := [item.held.id for item in items if item.how == REJECTED]:
        id = rejected[0] if len(rejected) == 1 else "ID"
        yield from screen.block("Put it back:", screen.advise(f"memdir review restore {id}"), "")


def _list_lines(
    screen: Screen, app: App, held: Sequence[Held], rejected: bool = False
) -> Iterator[str]:
    """The drafts by the reason why they wait, each with its first words."""
    if not held:
        yield "nothing was rejected of late" if rejected else "nothing waits for a review"
        return
    state = "that you rejected in the last 30 days" if rejected else "for you to decide on"
    yield f"{count(len(held), 'draft')} {state}"
    for reason in dict.fromkeys(item.reason for item in held):
        yield from ["", *screen.block("", f"{reason[:1].upper()}{reason[1:]}:", "")]
        for item in held:
            yield from _draft_lines(screen, app, item) if item.reason == reason else ()
    step = "memdir review show ID, then approve, edit or reject"
    step = "memdir review restore ID lets one wait again" if rejected else step
    yield from ["", *screen.block("Next:", screen.advise(step), "")]


def _draft_lines(screen: Screen, app: App, item: Held) -> list[str]:
    origin, age = item.catch.origin, safe.age_words(safe.age_days(item.time, app.now()))
    type = item.catch.draft.type if item.catch.draft else "forget"
    speaker = _speaker(origin)
    where = f"{speaker} said it" if speaker else "nobody knows who said it"
    where = f"{speaker} gave it back" if origin.who == TOOL else where
    where = "a line of your log" if origin.client == LOG else where
    where += f", session {origin.session[:8]}" if origin.session else ""
    limits = (ID_COLUMNS, len(age), TYPE_COLUMNS)
    lines = screen.table([((item.id, "bold"), age, type, where)], limits)
    text = screen.block("", review_module.draft_text(item), "    ")
    if len(text) > TEXT_LINES:
        text = [*text[: TEXT_LINES - 1], cut(f"{text[TEXT_LINES - 1]} …", screen.columns)]
    return lines + text


def _speaker(origin: Origin) -> str:
    """The speaker, as the person at the screen would say it."""
    if origin.who == TOOL:
        return f"the tool {origin.tool}" if origin.tool else "a tool"
    return {PERSON: "you", AGENT: "the agent"}.get(origin.who, "")


def _whole_lines(screen: Screen, app: App, item: Settled) -> Iterator[str]:
    """One draft with all that is known of it, and the change that it would make."""
    held, origin = item.held, item.held.catch.origin
    age = safe.age_words(safe.age_days(held.time, app.now()))
    yield from screen.block(held.id, review_module.draft_title(held), "", "bold")
    rows = {
        "held": f"{safe.iso_time(held.time)} ({age})",
        "because": held.reason,
        "client": origin.client,
        "session": origin.session,
        "message": origin.message,
        "said by": _speaker(origin),
        "words": origin.quote,
    }
    for label, text in rows.items():
        yield from screen.block(f"{label + ':':9}", text) if text else ()
    yield from ["", "Approved, this would happen:"]
    lines = done_lines(screen, advised(screen, item.done))
    yield from lines[:-2] if item.done.dry_run else lines  # nobody asked for a dry run
    yield ""
