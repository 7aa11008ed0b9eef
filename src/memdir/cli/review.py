"""Review: the drafts that wait for a person's yes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import click

from memdir.capture import review as review_module
from memdir.capture.inbox import APPROVED, REJECTED, Held, open_inbox
from memdir.capture.review import Settled
from memdir.capture.signals import Origin
from memdir.cli import accept
from memdir.cli.command import Session, command, read_draft, read_text
from memdir.cli.output import (
    Fields,
    Screen,
    advised,
    change_fields,
    done_lines,
    dry_files,
    finding_fields,
    finding_lines,
    held_fields,
)
from memdir.cli.save import ANYWAY, edit_text
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
) -> int:
    """Decide on what waits for a yes: list, show, approve, accept, edit, reject or restore it.

    What was only noticed, or learned from a tool or from the agent alone, is held here; it is
    never recalled or injected. `show` prints the change it would make and where it comes from.
    `approve` saves it like any other memory, `edit` changes it first, by options or in your
    editor. `reject` lets go of it; for 30 days `restore` puts it back. The start of an ID will do.
    Memories of a repository or a team wait here, too, until you `accept` them; changed, again.
    """
    app = session.app
    given = (("type", type), ("name", name), ("description", description), ("body", body_file))
    edits = {field: text for field, text in given if text is not None}
    _check_usage(action, bool(ids) or every, bool(edits), rejected)
    wishes = Wishes(anyway, offered=(INSIST,))
    if action == LIST and not ids:
        return _look(session, app, rejected)
    if (told := accept.answer(session, action, ids, every and yes)) is not None:
        return told
    back = action == RESTORE or rejected
    chosen = (review_module.find_rejected if back else review_module.find_held)(app, ids, every)
    if action in (LIST, SHOW):
        return _look_closely(session, app, chosen, wishes)
    if action == EDIT:
        return _edit(session, app, chosen, edits)
    if every and chosen and not yes and not app.dry_run:
        step = f"look at them (memdir review), then: memdir review {action} --all --yes"
        raise BadInput(f"--all means {count(len(chosen), 'draft')}; nothing was decided", next=step)
    return _tell(session, app, _decide(app, action, chosen, wishes))


def _check_usage(action: str, some: bool, edits: bool, rejected: bool) -> None:
    if edits and action != EDIT:
        raise click.UsageError("--type, --name, --description and --body-file belong to edit.")
    if rejected and action != LIST:
        raise click.UsageError("--rejected belongs to list.")
    if action != LIST and not some:
        raise click.UsageError(f"Which one? memdir review {action} ID, or --all.")


def _decide(app: App, action: str, chosen: Sequence[Held], wishes: Wishes) -> list[Settled]:
    if action == APPROVE:
        return review_module.approve(app, chosen, wishes)
    return (
        review_module.reject(app, chosen)
        if action == REJECT
        else review_module.restore(app, chosen)
    )


def _look(session: Session, app: App, rejected: bool) -> int:
    screen, (held, broken) = session.screen, review_module.look(app)
    chosen = review_module.find_rejected(app, (), every=True) if rejected else held
    sources = accept.sources(session, rejected=rejected)
    lines = _list_lines(screen, app, chosen, rejected) if chosen or not sources else []
    lines += [*[""][: len(lines)], *accept.source_lines(session, sources)] if sources else []
    fields = {**_look_fields(app, chosen, broken), **accept.source_fields(sources)}
    screen.answer(fields, [*lines, *finding_lines(screen, broken)])
    return int(bool(broken))


def _look_closely(session: Session, app: App, chosen: Sequence[Held], wishes: Wishes) -> int:
    """Each with what approving it would change."""
    screen, broken = session.screen, open_inbox(app).look()[1]
    found = [Settled(held, "", review_module.preview(app, held, wishes)) for held in chosen]
    fields = _look_fields(app, chosen, broken)
    fields["changes"] = [change_fields(c) for one in found for c in one.done.changes]
    fields["files"] = [file for one in found for file in dry_files(one.done)]
    lines = [text for one in found for text in _whole_lines(screen, app, one)]
    screen.answer(fields, [*lines, *finding_lines(screen, broken)])
    return int(bool(broken))


def _look_fields(app: App, chosen: Sequence[Held], broken: Sequence[Finding]) -> Fields:
    return {
        "held": [held_fields(held) for held in chosen],
        "findings": [finding_fields(finding) for finding in broken],
        "store": app.store.root,
    }


def _edit(session: Session, app: App, chosen: Sequence[Held], edits: dict[str, str]) -> int:
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
        draft = _by_hand(app, draft, held.id)
    elif "body" in edits:
        limit = app.config.options.max_body_bytes
        draft = replace(draft, body=read_text(edits["body"], limit, "the text"), why="", how="")
    options = {field: text for field, text in edits.items() if field != "body"}
    changed = review_module.rewrite(app, held, replace(draft, **options))  # type: ignore[arg-type]
    screen = session.screen
    lines = _list_lines(screen, app, [changed])[2:]
    told = [f"{held.id} {_edited(app, changed == held)}", *lines]
    fields = {"held": [held_fields(changed)], "store": app.store.root, "dry_run": app.dry_run}
    screen.answer(fields, told)
    return 0


def _edited(app: App, same: bool) -> str:
    if same:
        return "is as it was; it still waits"
    return "would be changed" if app.dry_run else "changed; it still waits"


def _by_hand(app: App, draft: Draft, id: str) -> Draft:
    head = [("name", draft.name), ("description", draft.description), ("type", draft.type)]
    fields = [(key, value) for key, value in head if value] + list(draft.extra)
    text = memory.write(fields, set_reasons(draft.body, draft.why, draft.how))
    limit = app.config.options.max_file_bytes
    given = memory.encode(text)
    edited = edit_text(f"{id}.md", given, limit)
    if edited == given:
        return draft
    read, _ = read_draft(memory.decode(edited), "the edited draft")
    kept = {"source": draft.source, "day": draft.day, "expected": draft.expected}
    return replace(read, **kept)  # type: ignore[arg-type]


def _tell(session: Session, app: App, found: Sequence[Settled]) -> int:
    """What became of each, then what of it still waits."""
    screen = session.screen
    fields: Fields = {
        "held": [{**held_fields(one.held), "change": one.how or HELD} for one in found],
        "changes": [change_fields(c) for one in found for c in one.done.changes],
        "remarks": [text for one in found for text in one.done.remarks],
        "waiting": len(open_inbox(app).list()),
        "store": app.store.root,
        "dry_run": app.dry_run,
        "files": [file for one in found for file in dry_files(one.done)],
    }
    would = "would be " if app.dry_run else ""
    lines = []
    for one in found:
        style = "green" if one.how else "yellow"
        told = (
            f"{would if one.how else ''}{one.how or 'still waits'}: {review_module.title(one.held)}"
        )
        lines += screen.block(one.held.id, told, "", style)
        if one.done.changes:
            said = done_lines(screen, advised(screen, one.done))
            lines += [f"  {text}" if text else "" for text in said]
    lines += [] if app.dry_run else _back_lines(screen, app, found)
    screen.answer(fields, lines or ["nothing waits for a review"])
    return int(any(not one.how for one in found))


def _back_lines(screen: Screen, app: App, found: Sequence[Settled]) -> list[str]:
    """How to take it back: an approval is a change, a rejection is none."""
    lines = []
    if app.history.on and any(one.how == APPROVED and one.done.changes for one in found):
        lines += screen.block("Take it back:", screen.advise("memdir undo"), "")
    rejected = [one.held.id for one in found if one.how == REJECTED]
    if rejected:
        which = rejected[0] if len(rejected) == 1 else "ID"
        lines += screen.block("Put it back:", screen.advise(f"memdir review restore {which}"), "")
    return lines


def _list_lines(
    screen: Screen, app: App, held: Sequence[Held], rejected: bool = False
) -> list[str]:
    """The drafts by the reason why they wait, each with its first words."""
    if not held:
        return ["nothing was rejected of late" if rejected else "nothing waits for a review"]
    what = "that you rejected in the last 30 days" if rejected else "for you to decide on"
    lines = [f"{count(len(held), 'draft')} {what}"]
    by_reason: dict[str, list[Held]] = {}
    for one in held:
        by_reason.setdefault(one.reason, []).append(one)
    for reason, some in by_reason.items():
        lines += ["", *screen.block("", f"{reason[:1].upper()}{reason[1:]}:", "")]
        lines += [text for one in some for text in _draft_lines(screen, app, one)]
    step = "memdir review show ID, then approve, edit or reject"
    step = "memdir review restore ID lets one wait again" if rejected else step
    return [*lines, "", *screen.block("Next:", screen.advise(step), "")]


def _draft_lines(screen: Screen, app: App, one: Held) -> list[str]:
    age = safe.age_words(safe.age_days(one.time, app.now()))
    type = one.catch.draft.type if one.catch.draft else "forget"
    row = ((one.id, "bold"), age, type, _where(one.catch.origin))
    lines = screen.table([row], (ID_COLUMNS, len(age), TYPE_COLUMNS))
    text = screen.block("", review_module.said(one), "    ")
    if len(text) > TEXT_LINES:
        text = [*text[: TEXT_LINES - 1], cut(f"{text[TEXT_LINES - 1]} …", screen.columns)]
    return lines + text


def _where(origin: Origin) -> str:
    who = _who(origin)
    said = f"{who} said it" if who else "nobody knows who said it"
    if origin.who == TOOL:
        said = f"{who} gave it back"
    if origin.client == LOG:
        said = "a line of your log"
    return f"{said}, session {origin.session[:8]}" if origin.session else said


def _who(origin: Origin) -> str:
    """The speaker, as the person at the screen would say it."""
    if origin.who == TOOL:
        return f"the tool {origin.tool}" if origin.tool else "a tool"
    return {PERSON: "you", AGENT: "the agent"}.get(origin.who, "")


def _whole_lines(screen: Screen, app: App, one: Settled) -> list[str]:
    """One draft with all that is known of it, and the change that it would make."""
    held, origin = one.held, one.held.catch.origin
    age = safe.age_words(safe.age_days(held.time, app.now()))
    lines = screen.block(held.id, review_module.title(held), "", "bold")
    told = {"held": f"{safe.iso_time(held.time)} ({age})", "because": held.reason}
    told |= {"client": origin.client, "session": origin.session, "message": origin.message}
    told |= {"said by": _who(origin), "words": origin.quote}
    for label, text in told.items():
        if text:
            lines += screen.block(f"{label + ':':9}", text)
    lines += ["", "Approved, this would happen:"]
    done = done_lines(screen, advised(screen, one.done))
    return [*lines, *(done[:-2] if one.done.dry_run else done), ""]  # nobody asked for a dry run
