"""review: the drafts that wait for a person's yes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

import click

from memdir.app import App
from memdir.core import dates, frontmatter
from memdir.core.capturing import Origin
from memdir.core.draft import HELD, Draft, Wishes
from memdir.core.drafting import set_reasons
from memdir.core.errors import BadInput
from memdir.core.held import APPROVED, Held
from memdir.flows import reviewing as flow
from memdir.flows.reviewing import Settled
from memdir.surfaces.cli.answers import (
    Fields,
    advised,
    change_fields,
    done_lines,
    dry_files,
    finding_fields,
    finding_lines,
)
from memdir.surfaces.cli.editor import edit_text
from memdir.surfaces.cli.inputs import read_draft, read_text
from memdir.surfaces.cli.saving import ANYWAY
from memdir.surfaces.cli.screen import Screen
from memdir.surfaces.cli.session import Session, command
from memdir.surfaces.cli.visible import count, line

LIST, SHOW, APPROVE, EDIT, REJECT = "list", "show", "approve", "edit", "reject"
ID_COLUMNS, TYPE_COLUMNS = 12, 10


@command("review", "memdir review approve 3f9c2ab41d07", changes=True)
@click.argument(
    "action", type=click.Choice((LIST, SHOW, APPROVE, EDIT, REJECT)), default=LIST, metavar="ACTION"
)
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "every", is_flag=True, help="Every draft that waits.")
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
    anyway: bool,
    type: str | None,
    name: str | None,
    description: str | None,
    body_file: str | None,
) -> int:
    """Decide on drafts that wait for a yes: list, show, approve, edit or reject them.

    What capture learned from a tool or from the agent alone is held here, and no agent ever
    sees it. `show` prints the change it would make and where it comes from. `approve` saves it
    like any other memory, `edit` changes it first, by options or in your editor, `reject` lets go
    of it for good. The start of an ID will do.
    """
    app = session.app
    given = {"type": type, "name": name, "description": description, "body": body_file}
    edits = {field: text for field, text in given.items() if text is not None}
    if edits and action != EDIT:
        raise click.UsageError("--type, --name, --description and --body-file belong to edit.")
    if action != LIST and not ids and not every:
        raise click.UsageError(f"Which one? memdir review {action} ID, or --all.")
    chosen = flow.find_held(app, ids, every or action == LIST)
    if action in (LIST, SHOW):
        return _look(session, app, chosen, Wishes(anyway), action == SHOW or bool(ids))
    if action == EDIT:
        if len(chosen) != 1:
            raise BadInput("edit takes one draft at a time", next="memdir review edit ID")
        return _edit(session, app, chosen[0], edits)
    approve = action == APPROVE
    found = flow.approve(app, chosen, Wishes(anyway)) if approve else flow.reject(app, chosen)
    return _tell(session, app, found)


def _look(session: Session, app: App, chosen: Sequence[Held], wishes: Wishes, whole: bool) -> int:
    screen = session.screen
    broken = app.inbox().broken()
    fields: Fields = {
        "held": [held_fields(held) for held in chosen],
        "findings": [finding_fields(finding) for finding in broken],
        "store": app.store.root,
    }
    if not whole:
        lines = _list_lines(screen, app, chosen)
    else:
        found = [Settled(held, "", flow.preview(app, held, wishes)) for held in chosen]
        fields["changes"] = [change_fields(c) for one in found for c in one.done.changes]
        fields["files"] = [file for one in found for file in dry_files(one.done)]
        lines = [text for one in found for text in _whole_lines(screen, app, one)]
    screen.answer(fields, [*lines, *finding_lines(screen, broken)])
    return int(bool(broken))


def _edit(session: Session, app: App, held: Held, edits: dict[str, str]) -> int:
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
    changed = flow.rewrite(app, held, replace(draft, **options))  # type: ignore[arg-type]
    screen = session.screen
    lines = _list_lines(screen, app, [changed])[2:]
    would = "would be changed" if app.dry_run else "changed; it still waits"
    told = [f"{held.id} {would}", *lines]
    fields = {"held": [held_fields(changed)], "store": app.store.root, "dry_run": app.dry_run}
    screen.answer(fields, told)
    return 0


def _by_hand(app: App, draft: Draft, id: str) -> Draft:
    head = [("name", draft.name), ("description", draft.description), ("type", draft.type)]
    fields = [(key, value) for key, value in head if value] + list(draft.extra)
    text = frontmatter.write(fields, set_reasons(draft.body, draft.why, draft.how))
    limit = app.config.options.max_file_bytes
    edited = edit_text(f"{id}.md", frontmatter.encode(text), limit)
    read, _ = read_draft(frontmatter.decode(edited), "the edited draft")
    kept = {"source": draft.source, "day": draft.day, "expected": draft.expected}
    return replace(read, **kept)  # type: ignore[arg-type]


def _tell(session: Session, app: App, found: Sequence[Settled]) -> int:
    """What became of each, then what of it still waits."""
    screen = session.screen
    fields: Fields = {
        "held": [{**held_fields(one.held), "change": one.how or HELD} for one in found],
        "changes": [change_fields(c) for one in found for c in one.done.changes],
        "remarks": [text for one in found for text in one.done.remarks],
        "waiting": len(app.inbox().list()),
        "store": app.store.root,
        "dry_run": app.dry_run,
        "files": [file for one in found for file in dry_files(one.done)],
    }
    would = "would be " if app.dry_run else ""
    lines = []
    for one in found:
        style = "green" if one.how else "yellow"
        told = f"{would if one.how else ''}{one.how or 'still waits'}: {flow.title(one.held)}"
        lines += screen.block(one.held.id, told, "", style)
        if one.done.changes:
            said = done_lines(screen, advised(screen, one.done))
            lines += [f"  {text}" if text else "" for text in said]
    approved = [one for one in found if one.how == APPROVED and one.done.changes]
    if approved and not app.dry_run and app.history.on:
        lines.append("Take it back: " + screen.advise("memdir undo"))
    screen.answer(fields, lines or ["nothing waits for a review"])
    return int(any(not one.how for one in found))


def held_fields(held: Held) -> Fields:
    """One draft that waits, as a program gets it."""
    draft = held.catch.draft
    day = draft.day.isoformat() if draft and draft.day else ""
    return {
        "id": held.id,
        "time": dates.iso_time(held.time),
        "draft": {**asdict(draft), "day": day, "extra": dict(draft.extra)} if draft else None,
        "forget": held.catch.forget,
        "origin": asdict(held.catch.origin),
        "reason": held.reason,
    }


def _list_lines(screen: Screen, app: App, held: Sequence[Held]) -> list[str]:
    if not held:
        return ["nothing waits for a review"]
    lines = [f"{count(len(held), 'draft')} for you to decide on", ""]
    for one in held:
        age = dates.age_words(dates.age_days(one.time, app.now()))
        type = one.catch.draft.type if one.catch.draft else "forget"
        row = ((one.id, "bold"), age, type, flow.title(one))
        lines += screen.table([row], (ID_COLUMNS, len(age), TYPE_COLUMNS))
        lines += screen.block("", f"{one.reason} ({_where(one.catch.origin)})", "    ")
    step = "memdir review show ID, then approve, edit or reject"
    return [*lines, "", *screen.block("Next:", screen.advise(step), "")]


def _where(origin: Origin) -> str:
    who = " ".join(filter(None, (origin.who, origin.tool))) or "unknown"
    session = f", session {origin.session[:8]}" if origin.session else ""
    return f"said by {who}{session}"


def _whole_lines(screen: Screen, app: App, one: Settled) -> list[str]:
    """One draft with all that is known of it, and the change that it would make."""
    held, origin = one.held, one.held.catch.origin
    age = dates.age_words(dates.age_days(held.time, app.now()))
    lines = [f"{screen.paint(held.id, 'bold')}  {line(flow.title(held))}"]
    told = {"held": f"{dates.iso_time(held.time)} ({age})", "because": held.reason}
    told |= {"client": origin.client, "session": origin.session, "message": origin.message}
    told |= {"said by": origin.who, "tool": origin.tool, "words": origin.quote}
    for label, text in told.items():
        if text:
            lines += screen.block(f"{label + ':':9}", text)
    lines += ["", "Approved, this would happen:"]
    lines += done_lines(screen, advised(screen, one.done))
    return [*lines, ""]
