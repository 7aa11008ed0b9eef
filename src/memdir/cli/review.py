"""Review of drafts, and of memories from a repository or a team."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial

import click

from memdir.capture import review as review_module
from memdir.capture.inbox import APPROVED, REJECTED, Held, held_title, open_inbox
from memdir.capture.review import Settled
from memdir.capture.signals import Origin
from memdir.cli import output, save
from memdir.cli.command import Session, command, read_text_option
from memdir.cli.output import CHANGE, Answer, Fields, Screen, changed_file_fields, pick, pick_all
from memdir.clients.conversation import AGENT, PERSON, TOOL
from memdir.errors import BadInput, MemdirError, Missing
from memdir.format.draft import ANYWAY as INSIST
from memdir.format.draft import HELD, Draft, Wishes
from memdir.hot import acceptance, safe
from memdir.hot.place import RECORDS
from memdir.store.accept import UNVERIFIED, Source, Waiting, find_source_in_store, keep_decision
from memdir.store.writer import App
from memdir.text.terminal import cut_text, one_line, plural, visible_text

LIST, SHOW, APPROVE, EDIT = "list", "show", "approve", "edit"
ACCEPT, REJECT, RESTORE = "accept", "reject", "restore"
ACTIONS = (LIST, SHOW, APPROVE, ACCEPT, EDIT, REJECT, RESTORE)
ROWS = 50  # memories listed per source
SHORTEST_ID = 4
LOG = "log"  # client of drafts that come from a log
NOTHING = "nothing waits for a review"
HELD_DRAFT = "id time draft forget=catch.forget origin reason"
SOURCE = "id scope from=app.config.origin store=app.store.root memories"
WAITING = "id path=memory.path type=memory.type description=memory.description author"


@command("review", "memdir review approve 3f9c2ab41d07", changes=True)
@click.argument("action", type=click.Choice(ACTIONS), default=LIST, metavar="[ACTION]")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "every", is_flag=True, help="Every waiting draft.")
@click.option("--yes", is_flag=True, help="Needed with --all.")
@click.option(
    "--rejected", is_flag=True, help="With list: what was rejected or expired in the last 30 days."
)
@click.option("--author", is_flag=True, help="With accept: its author's later memories, too.")
@save.anyway_option
@click.option("--type", metavar="TYPE", help="With edit: another type; see: memdir types.")
@click.option("--name", metavar="NAME", help="With edit: the name of the file.")
@click.option("--description", metavar="LINE", help="With edit: one line that says what it is.")
@click.option("--body-file", "body", metavar="FILE", help="With edit: a new text; - is stdin.")
def review_command(
    session: Session,
    action: str,
    ids: tuple[str, ...],
    every: bool,
    yes: bool,
    rejected: bool,
    author: bool,
    anyway: bool,
    **given: str | None,
) -> Answer:
    """ACTION is list, show, approve, accept, edit, reject or restore. Drafts that nobody asked for
    wait here; they are never recalled. `show` prints the change a draft would make and its origin.
    `approve` saves it, `edit` changes it first, `reject` drops it; for 30 days `restore` brings it
    back. The start of an ID is enough; a session's id means all of its drafts. A draft expires
    after 30 days. Memories of a repository or a team wait here, too, until you `accept` them, and
    again after each change; with `--author`, what its author writes from then on is told at once.
    """
    apps = _apps_of_drafts(session, ids)
    app = apps[0]
    edits = {field: text for field, text in given.items() if text is not None}
    for options, owner in ((edits, EDIT), (rejected, LIST), (author, ACCEPT)):
        if options and action != owner:
            raise click.UsageError(f"an option of `{owner}` is given for `{action}`")
    if action != LIST and not ids and not every:
        raise click.UsageError(f"Which one? memdir review {action} ID, or --all.")
    if action == LIST and not ids:
        return _list(session, apps, rejected)
    if action == ACCEPT or (action in (SHOW, REJECT) and ids):
        sources = _choose_sources(session, action, ids, every and yes)
        if sources or action == ACCEPT:
            return _decide(session, action, sources, author)
    find = review_module.find_held_drafts
    if action == RESTORE or rejected:
        find = review_module.find_rejected_drafts
    pairs, wishes = [(it, find(it, ids, every)) for it in apps], Wishes(anyway, offered=(INSIST,))
    chosen = [held for _, some in pairs for held in some]
    if action in (LIST, SHOW):
        return _show(session, pairs, wishes)
    if action == EDIT:
        return _edit(session, app, chosen, edits)
    if every and chosen and not yes and not app.dry_run:
        step = f"look at them (memdir review), then: memdir review {action} --all --yes"
        raise BadInput(
            f"--all means {plural(len(chosen), 'draft')}; nothing was decided", next=step
        )
    ways: dict[str, Callable[[App, Sequence[Held]], list[Settled]]] = {
        APPROVE: partial(review_module.approve_held_drafts, wishes=wishes),
        REJECT: review_module.reject_held_drafts,
        RESTORE: review_module.restore_rejected_drafts,
    }
    items = [item for it, some in pairs for item in ways[action](it, some)]
    return _settled(session, apps, items)


def _apps_of_drafts(session: Session, ids: Sequence[str]) -> list[App]:
    """The store that was asked for, with the project's records if drafts wait for them."""
    apps, asked = [session.app], session.asked
    if asked.scope != "project" or asked.dir is not None or RECORDS not in session.config.scopes:
        return apps
    with suppress(MemdirError):  # a store that cannot be opened is reported elsewhere
        records = session.at(scope=RECORDS).app
        inbox = open_inbox(records)
        known = [held.id for held in (*inbox.list(), *inbox.rejected(records.now()))]
        if ids and all(any(it.startswith(id.lower()) for it in known) for id in ids):
            return [records]
        apps += [records] if known and not ids else []
    return apps


def _list(session: Session, apps: Sequence[App], rejected: bool) -> Answer:
    app, chosen = apps[0], list[Held]()
    for each in apps:
        if not each.dry_run:
            open_inbox(each).expire(each.now())
        found = review_module.find_rejected_drafts(each, (), every=True) if rejected else None
        chosen += open_inbox(each).look()[0] if found is None else found
    sources = _find_sources(session, rejected=rejected)
    lines = [*_list_lines(session.screen, app, chosen, rejected)] if chosen or not sources else []
    for source in sources:
        lines += [*[""][: len(lines)], *_source_lines(session, source)]
    return _answer(session, app, chosen, lines, sources=_source_fields(sources))


def _answer(
    session: Session, app: App, held: Sequence[Held], lines: list[str], **more: object
) -> Answer:
    broken = open_inbox(app).look()[1]
    fields: Fields = {"held": [_held_fields(item) for item in held]}
    fields |= {"findings": pick_all(broken, output.FINDING), "store": app.store.root, **more}
    return Answer(fields, [*lines, *session.screen.finding_lines(broken)], int(bool(broken)))


def _list_lines(
    screen: Screen, app: App, held: Sequence[Held], rejected: bool = False
) -> Iterator[str]:
    if not held:
        yield "nothing was rejected in the last 30 days" if rejected else NOTHING
        return
    state = "rejected in the last 30 days" if rejected else "waiting for your decision"
    yield f"{plural(len(held), 'draft')} {state}"
    for reason in dict.fromkeys(item.reason for item in held):
        yield from ["", *screen.block("", f"{reason[:1].upper()}{reason[1:]}:", "")]
        for item in held:
            yield from _draft_lines(screen, app, item) if item.reason == reason else ()
    step = "memdir review show ID, then approve, edit or reject"
    step += "; the id of a session means all of its drafts" if len(held) > 1 else ""
    step = "memdir review restore ID puts one back" if rejected else step
    yield from ["", *screen.block("Next:", screen.advise(step), "")]


def _draft_lines(screen: Screen, app: App, item: Held) -> list[str]:
    origin, age = item.catch.origin, safe.age_words(safe.age_days(item.time, app.now()))
    type = item.catch.draft.type if item.catch.draft else "forget"
    where = "a line of your log" if origin.client == LOG else f"from {_speaker(origin)}"
    where += f", session {origin.session[:8]}" if origin.session else ""
    text = cut_text(one_line(review_module.held_draft_text(item)), 2 * screen.columns - 12)
    lines = screen.block(item.id, f"{age}, {type}, {where}", style="bold")
    return lines + screen.block("", text, "    ")


def _speaker(origin: Origin) -> str:
    if origin.who == TOOL:
        return f"the tool {origin.tool}" if origin.tool else "a tool"
    return {PERSON: "you", AGENT: "the agent"}.get(origin.who, "an unknown source")


def _held_fields(held: Held, **more: object) -> Fields:
    draft = held.catch.draft
    day = draft.day.isoformat() if draft and draft.day else ""
    values = {**asdict(draft), "day": day, "extra": dict(draft.extra)} if draft else None
    origin, when = asdict(held.catch.origin), safe.iso_time(held.time)
    return pick(held, HELD_DRAFT, time=when, draft=values, origin=origin, **more)


def _change_fields(items: Sequence[Settled]) -> Fields:
    return {
        "changes": pick_all((change for item in items for change in item.done.changes), CHANGE),
        "files": [file for item in items for file in changed_file_fields(item.done.diff)],
    }


def _show(session: Session, pairs: Sequence[tuple[App, Sequence[Held]]], wishes: Wishes) -> Answer:
    screen, items, lines = session.screen, [], list[str]()
    for app, held in [(app, held) for app, some in pairs for held in some]:
        done = review_module.preview_held_draft(app, held, wishes)
        items.append(Settled(held, "", done))
        origin, age = held.catch.origin, safe.age_words(safe.age_days(held.time, app.now()))
        lines += screen.block(held.id, held_title(held.catch), "", "bold")
        rows = {
            "held": f"{safe.iso_time(held.time)} ({age})",
            "because": held.reason,
            "client": origin.client,
            "session": origin.session,
            "message": origin.message,
            "said by": _speaker(origin),
            "words": origin.quote,
        }
        change = screen.done_lines(screen.advised(done))
        change = change[:-2] if done.dry_run else change  # without the note on the dry run
        lines += [*screen.labelled(rows, 9), "", "If approved:", *change, ""]
    chosen = [item.held for item in items]
    return _answer(session, pairs[0][0], chosen, lines, **_change_fields(items))


def _edit(session: Session, app: App, chosen: Sequence[Held], edits: dict[str, str]) -> Answer:
    if len(chosen) != 1:
        raise BadInput("edit takes one draft at a time", next="memdir review edit ID")
    held = chosen[0]
    draft = held.catch.draft or Draft("")
    if held.catch.draft is None and [*edits] != ["name"]:
        raise BadInput(
            "this draft retires a memory: only its name can be changed",
            next=f"memdir review edit {held.id} --name NAME",
        )
    if not edits:
        hint = "give --type, --name, --description or --body-file"
        raise BadInput("nothing to change was given", next=hint)
    if "body" in edits:
        limit = app.config.options.max_body_bytes
        body = read_text_option(edits["body"], limit, "the text")
        draft = replace(draft, body=body, why="", how="")
    options = {field: text for field, text in edits.items() if field != "body"}
    changed = review_module.rewrite_held_draft(app, held, replace(draft, **options))  # type: ignore[arg-type]
    result = "would be changed" if app.dry_run else "changed; it still waits"
    result = "is unchanged; it still waits" if changed == held else result
    lines = [*_list_lines(session.screen, app, [changed])][2:]
    fields = {"held": [_held_fields(changed)], "store": app.store.root, "dry_run": app.dry_run}
    return Answer(fields, [f"{held.id} {result}", *lines])


def _settled(session: Session, apps: Sequence[App], items: Sequence[Settled]) -> Answer:
    screen, lines, app = session.screen, list[str](), apps[0]
    fields: Fields = {
        "held": [_held_fields(item.held, change=item.how or HELD) for item in items],
        **_change_fields(items),
        "remarks": [text for item in items for text in item.done.remarks],
        "waiting": sum(len(open_inbox(it).list()) for it in apps),
        "store": app.store.root,
        "dry_run": app.dry_run,
    }
    for item in items:
        would = "would be " if app.dry_run and item.how else ""
        text = f"{would}{item.how or 'still waits'}: {held_title(item.held.catch)}"
        lines += screen.block(item.held.id, text, "", "green" if item.how else "yellow")
        if item.done.changes:
            change = screen.done_lines(screen.advised(item.done))
            lines += [f"  {text}" if text else "" for text in change]
    approved = any(item.how == APPROVED and item.done.changes for item in items)
    if approved and app.history.on and not app.dry_run:  # rejecting does not change the store
        scope = RECORDS if app.config.layout == RECORDS else ""
        lines += screen.block("Undo it:", screen.advise("memdir undo", scope), "")
    if any(item.how == REJECTED for item in items) and not app.dry_run:
        lines += screen.block("Put it back:", screen.advise("memdir review restore ID"), "")
    return Answer(fields, lines or [NOTHING], int(any(not item.how for item in items)))


def _find_sources(session: Session, *, rejected: bool = False) -> list[Source]:
    asked, known = session.asked, session.config.scopes
    names = [str(session.config.scope)]
    if asked.scope == "project" and asked.dir is None:
        names = [name for name in known if os.path.isdir(known[name])]
    sources: dict[tuple[str, str], Source] = {}
    for name in names:
        with suppress(MemdirError):  # a store that cannot be opened is reported elsewhere
            app = session.at(scope=name).app
            if not app.config.origin:
                continue
            source = find_source_in_store(name, app, rejected=rejected)
            if source and source.waiting:
                sources.setdefault((app.store.root, app.config.layout), source)
    return list(sources.values())


def _choose_sources(session: Session, action: str, ids: Sequence[str], every: bool) -> list[Source]:
    """Sources of these ids; empty if the ids are drafts."""
    known = _find_sources(session)
    if action == ACCEPT and every:
        return known
    if action == ACCEPT and not ids:
        raise BadInput("--all means everything that waits", next="memdir review accept --all --yes")
    known += _find_sources(session, rejected=True) if action != REJECT else []
    chosen: dict[int, list[Waiting]] = {}
    for id in ids:
        matches = [
            (number, item)
            for number, source in enumerate(known)
            for item in source.waiting
            if len(id) >= SHORTEST_ID and (item.id.startswith(id) or source.id.startswith(id))
        ]
        if not matches and action == ACCEPT:
            raise Missing(
                f"no memory of a repository or a team waits with the id {id[:40]!r}",
                next="memdir review lists what waits; a changed memory has a new id",
            )
        if not matches and chosen:
            raise BadInput("decide on drafts and on memories of others separately")
        for number, item in matches:
            chosen.setdefault(number, []).append(item)
    return [replace(known[n], waiting=tuple(dict.fromkeys(some))) for n, some in chosen.items()]


def _decide(
    session: Session, action: str, chosen: Sequence[Source], author: bool = False
) -> Answer:
    store, sources = session.config.store, _source_fields(chosen)
    fields: Fields = {"held": [], "store": store, "sources": sources}
    items = [item for source in chosen for item in source.waiting]
    lines: list[str] = []
    if action == SHOW:
        for item in items:
            who = f" · by {one_line(item.author)}" if item.author else ""
            lines += [f"{item.id} · {item.scope} · {one_line(item.memory.path)}{who}", ""]
            lines += [*visible_text(item.memory.head).strip("\n").split("\n"), ""]
        return Answer(fields, lines)
    decision = acceptance.ACCEPTED if action == ACCEPT else acceptance.REJECTED
    people: dict[str, None] = {}
    for source in chosen:
        people |= dict.fromkeys(keep_decision(source.app, source.waiting, decision, authors=author))
    dry_run = session.asked.dry_run
    would = "would be " if dry_run else ""
    lines = [f"{would}{decision}: {one_line(item.memory.path)}" for item in items]
    for name in people:
        text = f"from now on, what {one_line(name)} writes is {would}accepted"
        if UNVERIFIED in name:
            text += f"; whoever may push can use this name ({UNVERIFIED})"
        lines += session.screen.block("", text, "")
    fields |= {"authors": [*people]} if author else {}
    return Answer({**fields, "decision": decision, "dry_run": dry_run}, lines or [NOTHING])


def _source_lines(session: Session, source: Source) -> Iterator[str]:
    screen = session.screen
    many = plural(len(source.waiting), "memory", "memories")
    root = session.short(source.app.store.root)
    text = f"{many} from {source.app.config.origin} ({root}), not yet shown to agents:"
    yield from screen.block(source.id, text, "", "bold")
    for item in source.waiting[:ROWS]:
        who = f"by {item.author}" if item.author else "author unknown"
        yield from screen.block(item.id, f"{item.memory.type}, {item.memory.path}, {who}")
        yield from screen.block("", item.memory.description, "    ")
    yield from screen.more_lines(len(source.waiting), ROWS)
    steps = f"memdir review show ID, then accept ID or reject ID; {source.id} means all of them"
    yield from screen.block("Next:", screen.advise(steps), "")


def _source_fields(sources: Sequence[Source]) -> list[Fields]:
    return [pick(s, SOURCE, memories=pick_all(s.waiting, WAITING)) for s in sources]
