"""The plan of one capture: each item is saved, held, refused or retired; survives a kill."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from memdir.capture import route, signals
from memdir.capture.inbox import HELD_LINE, held_draft_id, held_title, open_inbox
from memdir.capture.progress import (
    DECISIONS,
    HELD,
    RECEIVED,
    REFUSED,
    SAVED,
    Captures,
    Entry,
    Item,
    Plan,
    Progress,
)
from memdir.clients.conversation import PERSON, Message
from memdir.errors import BadInput, Conflict, MemdirError, Missing
from memdir.format import draft as drafts
from memdir.format.draft import RETIRED, Draft, Wishes, content_hash
from memdir.hot.disk import read_start
from memdir.hot.memory import INDEX, SOURCE_KEYS, decode, read_header, stem
from memdir.hot.place import is_below
from memdir.store.changes import rebuild_memory_index, retire_memories, save_memory
from memdir.store.ports import name_few_store_paths
from memdir.store.save import find_in_store
from memdir.store.writer import CLAUDE_MD, App

CLIENT = "claude-code"
ACTOR = "capture"
MARK = "metadata.capture"  # header key: the item that became this memory
ID_CHARACTERS = 12
MAX_NAMED = 5  # memories in the line for the user
MAX_CANDIDATES = 3  # memories the person may have meant
MAX_SEARCHED = 20  # memories with words of a request to forget
LATER = "it was to be forgotten later on"
BEFORE = "what it takes back was not saved yet"
SETTLED = "a review has settled it already"
NOTHING_NEAR = "no memory says anything like it"
BY_AGENT = "the agent saved it itself"
SAVED_SHARE, SAME_SHARE = 0.5, 0.8  # of a request's words in a memory that the agent wrote
SAVED_SECONDS = 60.0  # after the last message of a turn
MAX_SAVED_BYTES = 16 * 1024  # compared of a memory


@dataclass(frozen=True)
class Request:
    """`turns`: ended since the last request.

    `ends`: read it now, however few turns there were.
    """

    transcript: str
    session: str = ""
    client: str = CLIENT
    turns: int = 1
    ends: bool = True
    model: str | None = None  # None: the configured one; empty: none
    handed_over: frozenset[str] = frozenset()  # messages that the agent keeps as records


@dataclass(frozen=True)
class Captured:
    """One thing that was saved, refused or held; `forget` stands in place of a draft."""

    id: str
    name: str
    reason: str
    draft: Draft | None = None
    forget: str = ""


@dataclass(frozen=True)
class Outcome:
    """What came of it; worth another try after `after`. `things` are by the ids of `decided`.

    `unreadable`: not one line of the transcript is what the client writes. `remarks` say how it
    was read.
    """

    decided: tuple[Entry, ...] = ()
    waiting: int = 0
    tokens: int = 0
    reason: str = ""
    after: float = 0.0
    things: Mapping[str, signals.Catch] = field(default_factory=dict)
    unreadable: bool = False
    remarks: tuple[str, ...] = ()
    store: str = ""

    @property
    def saved(self) -> list[Captured]:
        """Memories made, changed or retired."""
        return self.captured(SAVED)

    @property
    def refused(self) -> list[Captured]:
        return self.captured(REFUSED)

    @property
    def held(self) -> list[Captured]:
        """What waits for `memdir review`."""
        return self.captured(HELD)

    def captured(self, what: str) -> list[Captured]:
        entries = []
        for entry in self.of(what):
            catch = self.things.get(entry.id)
            id = held_draft_id(catch) if catch and what == HELD else entry.id
            thing = (catch.draft, catch.forget) if catch else (None, "")
            entries.append(Captured(id, entry.name, entry.reason, *thing))
        return entries

    def __repr__(self) -> str:
        told = [f"{it.what} {it.name or it.reason}" for it in self.decided]
        return f"<Outcome: {', '.join(told) or self.reason}>"

    def of(self, what: str) -> list[Entry]:
        return [entry for entry in self.decided if entry.what == what]

    @property
    def received(self) -> int:
        """Everything that was decided on, and what still waits."""
        return len(self.decided) + self.waiting


def capture_report_lines(outcome: Outcome) -> list[str]:
    """What was saved, and what waits: a line each, since a review makes the second one untrue."""
    parts = []
    for verb, retired in (("saved", False), (RETIRED, True)):
        names = [item.name for item in outcome.of(SAVED) if (item.reason == RETIRED) is retired]
        if names:
            noun = "memory" if len(names) == 1 else "memories"
            listed = ", ".join(names[:MAX_NAMED]) + (", …" if len(names) > MAX_NAMED else "")
            parts.append(f"{verb} {len(names)} {noun} ({listed})")
    lines = ["memdir: " + ", ".join(parts)] if parts else []
    held = [item for item in outcome.of(HELD) if item.id in outcome.things]
    titles = [f'"{held_title(outcome.things[item.id])}"' for item in held]
    if titles:
        more = f" and {len(titles) - MAX_NAMED} more" if len(titles) > MAX_NAMED else ""
        lines.append(HELD_LINE + ", ".join(titles[:MAX_NAMED]) + more)
    return lines


def plan_drafts(
    app: App,
    progress: Progress,
    said: Sequence[Message],
    catches: Sequence[signals.Catch],
    waiting: Sequence[str],
    *,
    left: bool,
    reason: str,
) -> Plan:
    """Decide everything, save nothing; the same things have the same ids each time.

    `waiting`: things of this session that wait; `left`: a model must still see it.
    """
    run = _hash(progress.session, progress.cursor.id, said[0].id if said else "")
    caught = {_id(progress.session, catch): catch for catch in catches}
    if left:
        # Requests saved at once get their own ids; the waiting item keeps its id.
        ids, waits, dropped = [*caught], waiting[:1] or [f"{run}-waits"], waiting[1:]
    else:
        ids = [*waiting, *[*caught][len(waiting) :]]
        waits, dropped = [], waiting[len(caught) :]
    items = [_item(app, id, catch) for id, catch in zip(ids, caught.values(), strict=False)]
    by_agent = find_requests_agent_saved(app, said, [*caught.values()])
    for index, path in by_agent.items():
        items[index] = replace(items[index], refuse=f"{BY_AGENT} ({path})")
    # A draft and a later request to forget it cancel out.
    later = _taken_back_later([*caught.values()], said)
    for index, item in enumerate(items):
        if index in later and not item.refuse:
            items[index] = replace(item, refuse=LATER)
        elif index in later.values() and not item.target:
            items[index] = replace(item, refuse=BEFORE)
    return Plan(
        f"capture-{_hash(run, *ids)}", progress, tuple(items), tuple(waits), tuple(dropped), reason
    )


def leave_out_decided_captures(
    app: App, captures: Captures, session: str, catches: Sequence[signals.Catch]
) -> tuple[list[signals.Catch], str]:
    """What was not decided on yet, and why the rest is left out."""
    decided = {entry.id: entry for entry in captures.journal.read()[1] if entry.what in DECISIONS}
    new = [catch for catch in catches if _id(session, catch) not in decided]
    old = [catch for catch in catches if _id(session, catch) in decided]
    undone = route.find_undone_captures(app) if old and not new else []
    reasons = (route.why_not_capture_again(catch, undone) for catch in old)
    return new, next(filter(None, reasons), "it was captured before" if old else "")


def find_requests_agent_saved(
    app: App, said: Sequence[Message], catches: Sequence[signals.Catch]
) -> dict[int, str]:
    """By the number of a request, the memory in which the agent saved it in the same turn.

    A memory has at least half of the words and all numbers of its request; only one that has
    nearly all of them can be the memory of two.
    """
    result: dict[int, str] = {}
    for turn in _split_turns(said) if catches else ():
        ids = {item.id for item in turn}
        mine = {
            index: signals.forget_words(catch.draft.body)
            for index, catch in enumerate(catches)
            if catch.draft and catch.origin.message in ids
        }
        words = {path: _words_of(path) for path in _files_saved(app, turn)} if mine else {}
        pairs = [(_share(mine[at], words[path]), at, path) for at in mine for path in words]
        taken = set[str]()
        for share, index, path in sorted(pairs, reverse=True):
            gone = words[path] is None and len(mine) == 1
            fits = share >= SAME_SHARE or (share >= SAVED_SHARE and path not in taken)
            if index not in result and (gone or fits):
                result[index] = os.path.basename(path)
                taken.add(path)
    return result


def drop_turns_with_saves(app: App, said: Sequence[Message]) -> list[Message]:
    """Without the turns in which the agent wrote memories itself."""
    return [item for turn in _split_turns(said) if not _wrote_memories(app, turn) for item in turn]


def _split_turns(said: Sequence[Message]) -> list[list[Message]]:
    turns: list[list[Message]] = [[]]
    for message in said:
        if message.who == PERSON:
            turns.append([])
        turns[-1].append(message)
    return turns


def _wrote_memories(app: App, turn: Sequence[Message]) -> list[str]:
    roots = {app.config.store, *app.config.scopes.values()}
    roots |= {os.path.realpath(root) for root in roots}
    written = dict.fromkeys(os.path.normpath(path) for message in turn for path in message.wrote)
    return [path for path in written if any(is_below(path, root) for root in roots)]


def _files_saved(app: App, turn: Sequence[Message]) -> list[str]:
    """What the agent wrote in a turn, with a tool of its client or through a command of ours."""
    files = dict.fromkeys(_wrote_memories(app, turn))
    times = [item.time for item in turn if item.time]
    for root in {app.config.store, *app.config.scopes.values()} if times else ():
        for folder, folders, names in os.walk(root):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for path in (os.path.join(folder, name) for name in names):
                with suppress(OSError):
                    if times[0] <= os.stat(path).st_mtime <= max(times) + SAVED_SECONDS:
                        files[path] = None
    return [path for path in files if path.endswith((".md", ".json")) and not path.endswith(INDEX)]


def _words_of(path: str) -> frozenset[str] | None:
    """None for a file that is gone; nothing of what capture itself saved counts."""
    try:
        text = decode(read_start(path, MAX_SAVED_BYTES)[0])
    except OSError:
        return None
    own = read_header(text).get(*SOURCE_KEYS) == signals.SOURCE
    return frozenset() if own else signals.forget_words(f"{os.path.basename(path)}\n{text}")


def _share(wanted: frozenset[str], words: frozenset[str] | None) -> float:
    numbers = {word for word in wanted if any(map(str.isdigit, word))}
    if not wanted or words is None or not numbers <= words:
        return 0.0
    return len(wanted & words) / len(wanted)


def _taken_back_later(catches: Sequence[signals.Catch], said: Sequence[Message]) -> dict[int, int]:
    wishes = [index for index, catch in enumerate(catches) if catch.forget and not catch.hold]
    when = signals.order_captured_requests(catches, said) if wishes else []
    return {
        index: wish
        for index, catch in enumerate(catches)
        for wish in wishes
        if catch.draft and when[index] < when[wish]
        if signals.forgets_draft(catches[wish].forget, catch.draft)
    }


def _id(session: str, catch: signals.Catch) -> str:
    """The session does not count: a fork of it has the same messages."""
    origin, draft = catch.origin, catch.draft
    texts = (draft.type, draft.name, draft.body) if draft else ("", "", catch.forget)
    return _hash(origin.client, origin.message or session, *texts)


def _hash(*texts: str) -> str:
    return content_hash("\0".join(texts).encode("utf-8", "backslashreplace"))[:ID_CHARACTERS]


def _item(app: App, id: str, catch: signals.Catch) -> Item:
    """The memory to retire is looked up now: after a kill it might be gone."""
    draft = catch.draft
    if catch.refuse or catch.hold:
        refuse, known = catch.refuse, list[route.Text]()
        if draft and not refuse:  # a person is not asked about what stands somewhere already
            known = [*route.list_known_texts(app), route.Text(CLAUDE_MD, app.rules().claude_md)]
        where = route.Known(known).where(catch)
        return Item(id, catch, refuse=refuse or (f"{where} says it already" if where else ""))
    if draft:
        # A plan never holds a secret, whatever the settings allow.
        refuse = drafts.why_refuse_draft(draft, app.rules(), Wishes(anyway=True))
        bare = signals.Catch(replace(catch.origin, quote=""), Draft("", draft.type))
        return Item(id, bare, refuse=refuse) if refuse else Item(id, catch)
    try:
        return Item(id, catch, find_in_store(app.store, [catch.forget])[0].path)
    except MemdirError:  # not the name of a memory
        hits = app.search.find(catch.forget, MAX_SEARCHED).hits
    near, meant, wish = list[str](), list[str](), signals.forget_words(catch.forget)
    for memory in (hit.memory for hit in hits):
        with suppress(MemdirError):
            text = decode(app.store.read(memory.path))
            if _share(wish, signals.forget_words(f"{memory.path}\n{text}")) >= SAVED_SHARE:
                near.append(memory.path)
            about = Draft(text, name=stem(memory.path), description=memory.description)
            if signals.forgets_draft(catch.forget, about):  # it has every telling word
                meant.append(memory.path)
    if len(meant) == 1:
        return Item(id, catch, meant[0])
    if not near:
        skipped = [it.path for it in app.store.scan().findings if it.kind == "unreadable"]
        if not skipped:
            return Item(id, catch, refuse=NOTHING_NEAR)
        hold = (
            f"no memory says anything like it, but {name_few_store_paths(skipped)} cannot be read"
        )
        return Item(id, replace(catch, hold=hold))
    hint = f"it may mean: {', '.join((meant or near)[:MAX_CANDIDATES])}"
    return Item(id, replace(catch, hold=f"it is not clear which memory is meant; {hint}"))


def carry_out_drafts(app: App, captures: Captures, plan: Plan, again: bool = False) -> Outcome:
    """announce → receive → settle each → cursor → finish

    A killed run is repeated: a saved memory has the item's id in its header, so nothing is saved
    twice; a retired memory is gone, and a held draft is in the inbox.
    """
    things = {item.id: item.catch for item in plan.items}
    if app.dry_run:
        decided = tuple(_settle(app, item, again) for item in plan.items)
        return Outcome(decided, reason=plan.reason, things=things)
    if not again:
        captures.announce(plan)
    journal, now, session = captures.journal, app.now(), plan.progress.session
    app = replace(app, actor=ACTOR, batch=plan.batch)
    before = journal.read()[1]
    known = {entry.id for entry in before}
    settled = {entry.id: entry for entry in before if entry.what in DECISIONS}
    reasons = {**dict.fromkeys(things, ""), **dict.fromkeys(plan.waits, plan.reason)}
    new = [(id, why) for id, why in reasons.items() if id not in known]
    journal.add([Entry(id, RECEIVED, now, session, reason=why) for id, why in new])
    for item in plan.items:
        if item.id not in settled:
            settled[item.id] = replace(_settle(app, item, again), session=session)
            journal.add([settled[item.id]])
    decided = tuple(settled[item.id] for item in plan.items)
    left = [id for id in plan.dropped if id not in settled]
    dropped = [Entry(id, REFUSED, now, session, reason=plan.reason) for id in left]
    journal.add(dropped)
    if again and app.store.exists():
        rebuild_memory_index(app)  # the killed run may have saved a memory without its pointer
    captures.keep(plan.progress)
    captures.finish()
    return Outcome((*decided, *dropped), len(plan.waits), reason=plan.reason, things=things)


def _settle(app: App, item: Item, again: bool) -> Entry:
    catch = item.catch
    entry = Entry(item.id, REFUSED, app.now(), reason=item.refuse)
    try:
        if item.refuse:
            return entry
        if catch.hold:
            return _hold(app, catch, entry)
        if catch.draft is not None:
            return _save(app, item, catch.draft, entry, again)
        # A missing path is fine: it was to be removed.
        if app.store.exists(item.target):
            retire_memories(app, [item.target], reason="asked for in a conversation")
        return replace(entry, what=SAVED, name=stem(item.target), reason=RETIRED)
    except (BadInput, Conflict, Missing) as error:  # does not stop the others
        return replace(entry, reason=error.message)


def _hold(app: App, catch: signals.Catch, entry: Entry) -> Entry:
    name = catch.draft.name if catch.draft else ""
    if not app.dry_run:
        if open_inbox(app).was_settled(held_draft_id(catch)):
            return replace(entry, name=name, reason=SETTLED)
        held = open_inbox(app).hold(catch, catch.hold, app.now())
        name = name or held.id
    return replace(entry, what=HELD, name=name, reason=catch.hold)


def _save(app: App, item: Item, draft: Draft, entry: Entry, again: bool) -> Entry:
    if again and app.store.exists():
        for memory in app.store.scan().memories:
            if item.id in memory.head and memory.values.get(MARK) == item.id:
                return replace(entry, what=SAVED, name=stem(memory.path))
    if reason := route.why_not_capture_again(item.catch, route.find_undone_captures(app)):
        return replace(entry, reason=reason)
    extra = (*(pair for pair in draft.extra if pair[0] != MARK), (MARK, item.id))
    [change, *_] = save_memory(app, replace(draft, extra=extra), Wishes()).changes
    if change.changed:
        return replace(entry, what=SAVED, name=change.name)
    return replace(entry, name=change.name, reason=change.reason)
