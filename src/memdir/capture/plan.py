"""Each thing saved, held, refused or retired; survives a kill."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memdir.capture.agent import UNUSABLE, Captured
from memdir.capture.forget import met, taken_back_later
from memdir.capture.inbox import open_inbox
from memdir.capture.origin import quote, signed
from memdir.capture.progress import (
    HELD,
    PATIENCE,
    RECEIVED,
    REFUSED,
    SAVED,
    Captures,
    Done,
    Entry,
    Item,
    Plan,
    Progress,
    decided,
    pause,
)
from memdir.capture.route import undone_on
from memdir.capture.signals import Catch, Origin, Signal
from memdir.clients.conversation import Cursor, Said, Stretch
from memdir.errors import BadInput, Conflict, MemdirError, Missing
from memdir.format import draft as draft_module
from memdir.format.draft import RETIRED, Draft, Wishes, check, hash_of
from memdir.hot.log import log
from memdir.hot.memory import stem
from memdir.hot.recall import SURE
from memdir.models.budget import LedgerBroken, OverBudget, OverRun
from memdir.models.ledger import open_model
from memdir.models.model import ModelFailed
from memdir.store.changes import rebuild_index, retire, save
from memdir.store.look import find_all
from memdir.store.writer import App
from memdir.text.secrets import find_secrets

# What a stretch of a conversation comes to: drafts of a model, or mechanical ones.

PURPOSE = "capture"
MANIFEST = 20  # memories that a model is shown
ASKED_CHARACTERS = 8_000  # of what was said, to find them
UNTIL_END = "the model reads a conversation when it ends"
TURN_SECONDS = 30.0  # most are done in one or two, and the worker lives for four


@dataclass(frozen=True)
class Choice:
    """The catches; `left`: something has to wait for a model, until `after` where that is known.

    `done` is what was asked for and is among the catches although the rest waits. `waits`: the
    model was not even asked.
    """

    catches: tuple[Catch, ...] = ()
    left: bool = False
    done: tuple[Done, ...] = ()
    tokens: int = 0
    reason: str = ""
    after: float = 0.0
    waits: bool = False


@dataclass(frozen=True)
class Told:
    """A stretch of a conversation; `waits` is why the model is not asked yet.

    `given_up` is why it failed the last time, where it is not asked any more. While the
    conversation goes on, `ends` is False: the model reads it once, at its end.
    """

    session: str
    client: str
    stretch: Stretch
    known: Progress
    waits: str = ""
    given_up: str = ""
    ends: bool = True


def choose(app: App, told: Told, model: str | None) -> Choice:
    """notice → (a model, within the budget) → drafts; what was done already is left out"""
    from memdir.capture.signals import is_worth_reading, notice

    said, known = told.stretch.said, told.known
    signals = [one for one in notice(said) if not _was_done(one, known.done)]
    options = app.config.options
    named = (options.capture_model or options.model) if model is None else model
    if not signals and not (named and is_worth_reading(said, ())):
        return Choice()
    origin = Origin(client=told.client, session=told.session)
    if not named:
        why = f"the model failed {PATIENCE} times ({told.given_up})" if told.given_up else ""
        found = _mechanical(signals, said, origin)
        return Choice(_sign(_held(found, why) if why else found, said), reason=why)
    at_once = _at_once(signals, said, origin)
    if not at_once.left:  # only requests, which need no model
        return replace(at_once, done=())
    if not told.ends:
        return replace(at_once, reason=UNTIL_END, waits=True)
    if told.waits:
        return replace(at_once, reason=told.waits, after=known.after, waits=True)
    try:
        captured = _ask(app, named, signals, said, origin)
    except OverRun as error:  # to wait would not help
        why = f"no model was asked: {error.message} (budget.run_tokens)"
        _log(app, why)
        return Choice(_sign(_held(_mechanical(signals, said, origin), why), said), reason=why)
    except (OverBudget, ModelFailed, LedgerBroken, BadInput) as error:
        if model and isinstance(error, BadInput):
            raise  # whoever named it just now is told at once
        after = _tomorrow(app.now()) if isinstance(error, OverBudget) else 0.0
        return replace(at_once, reason=error.message, after=after)
    return _drafted(app, told, captured, signals, origin)


def basis(app: App) -> str:
    """What decides whether a model answers, as far as a person sets it: once changed, try again."""
    one = app.config.options
    limits = one.session_tokens, one.day_tokens, one.run_tokens
    return " ".join([one.capture_model or one.model, one.model_base_url, *map(str, limits)])


def _drafted(
    app: App, told: Told, captured: Captured, signals: Sequence[Signal], origin: Origin
) -> Choice:
    """The model's drafts; a signal that it left open is taken in the words of the conversation.

    It left none open that said to the end what is worth keeping, in drafts that can be saved.
    """
    asked = [one for one in signals if one.asked_for]
    own = _mechanical(asked, told.stretch.said, origin)  # they may be among its drafts
    problems = ["" if one in own else _problem(app, one) for one in captured.catches]
    taken = [one for one, why in zip(captured.catches, problems, strict=True) if not why]
    lost = [one for one in captured.catches if one not in taken]
    # Of a run that broke off, or of which nothing can be used, all the rest is open.
    theirs = [one for one in taken if one not in own]
    whole = bool(captured.reason) or not theirs
    left = [
        one
        for one in signals
        if not met(one, signals, taken) and (whole or met(one, signals, lost))
    ]
    why = captured.reason or next((f"{UNUSABLE}: {one}" for one in problems if one), "")
    if why:
        _log(app, why)
        found = _mechanical(left, told.stretch.said, origin)
        taken += _held([one for one in found if one not in taken], why)
    catches = [one for one in taken if not _repeats(one, told.known.done)]
    return Choice(_sign(catches, told.stretch.said), tokens=captured.usage.total, reason=why)


def _problem(app: App, catch: Catch) -> str:
    """Why the writer would not take a draft; empty where it would."""
    if catch.draft is None:
        return ""
    if find_secrets(catch.draft.body):
        return "a draft holds what looks like a secret"
    try:
        check(catch.draft, app.rules())
    except BadInput as error:
        return error.message
    return ""


def _held(catches: Sequence[Catch], why: str) -> list[Catch]:
    """With the reason why no model has seen to them; what was asked for is saved all the same."""
    return [replace(one, hold=f"{why}; {one.hold}") if one.hold else one for one in catches]


def _log(app: App, why: str) -> None:
    if not app.dry_run:
        log(app.config.state_dir, PURPOSE, why)


def _ask(
    app: App, named: str, signals: Sequence[Signal], said: Sequence[Said], origin: Origin
) -> Captured:
    from memdir.capture.agent import capture
    from memdir.capture.agent_tools import ProjectReader

    run = app.config.options.run_tokens
    model = open_model(app, PURPOSE, origin.session, named=named, run=run)
    text = "\n".join(one.quote for one in signals)[:ASKED_CHARACTERS]
    found = app.search.find(text, MANIFEST)
    captured = capture(
        said,
        signals,
        origin,
        [hit.memory for hit in found.hits[:MANIFEST]],
        model,
        ProjectReader(app.config.checkout, app.config.store),
        total=found.searched,
        tokens=run,
        seconds=TURN_SECONDS,
    )
    model.produced(captured.produced)
    return captured


def _at_once(signals: Sequence[Signal], said: Sequence[Said], origin: Origin) -> Choice:
    """No model for now: what somebody asked for is done all the same, the rest waits."""
    from memdir.capture.signals import is_worth_reading

    asked = [one for one in signals if one.asked_for]
    done = tuple(Done(one.said.id, quote(one.quote)) for one in asked)
    left = len(asked) < len(signals) or is_worth_reading(said, signals)
    return Choice(_sign(_mechanical(asked, said, origin), said), left, done)


def _mechanical(
    signals: Sequence[Signal], said: Sequence[Said], origin: Origin
) -> tuple[Catch, ...]:
    from memdir.capture.drafts import catches

    return tuple(catches(signals, said, origin))


def _sign(catches: Sequence[Catch], said: Sequence[Said]) -> tuple[Catch, ...]:
    """Every draft says in its header where it comes from; none repeats a secret."""
    from memdir.capture.drafts import refuse_secrets

    return tuple(
        replace(one, draft=signed(one.draft, one.origin)) if one.draft and not one.refuse else one
        for one in refuse_secrets(catches, said)
    )


def _was_done(signal: Signal, done: Sequence[Done]) -> bool:
    return any(one.message == signal.said.id and one.quote == quote(signal.quote) for one in done)


def _repeats(catch: Catch, done: Sequence[Done]) -> bool:
    """True for a model's draft of what was saved at once, unless it is the better text of it."""
    said = quote(catch.origin.quote)
    for one in done:
        same = one.quote and said and (one.quote in said or said in one.quote)
        if one.message == catch.origin.message and same:
            return not (catch.draft and one.name and catch.draft.name == one.name)
    return False


def _tomorrow(now: float) -> float:
    """The next midnight of the user's day: from then on there is budget again."""
    try:
        today = datetime.datetime.fromtimestamp(now).astimezone()
        night = (today + datetime.timedelta(days=1)).replace(hour=0, minute=0, second=1)
        return night.timestamp()
    except (ValueError, OverflowError, OSError):
        return now + 86_400


# A conversation that should be looked at, and what came of it.

CLIENT = "claude-code"
HANDED_OVER = "library"  # an agent handed the messages over itself: there is no transcript
NOTHING_NEW = "nothing new was said"
NOT_YET = "not this turn: capture.every"
WROTE = "the agent wrote memories itself"
NO_SIGNAL = "nothing worth keeping was said"
WAITS = "it waits for the model"
GONE = "the transcript is gone"
CUT = "so much was said that its oldest part was not read"
LOST = "the place up to which it was read is gone from the transcript: all of it was read again"


@dataclass(frozen=True)
class Request:
    """A conversation that should be looked at.

    `last` is a reply that may not be in the file yet; `turns` have ended since the last request;
    `ends`: it is looked at now, however few turns that were.
    """

    transcript: str
    session: str = ""
    client: str = CLIENT
    last: str = ""
    turns: int = 1
    ends: bool = True
    model: str | None = None  # None: the one of the settings; empty: none


@dataclass(frozen=True)
class Outcome:
    """What came of it; after `after` it is worth another try. `things` are by the ids of `decided`.

    `unreadable`: not one line of the transcript is what the client writes. `remarks` are what a
    person should know of how it was read.
    """

    decided: tuple[Entry, ...] = ()
    waiting: int = 0
    tokens: int = 0
    reason: str = ""
    after: float = 0.0
    things: Mapping[str, Catch] = field(default_factory=dict)
    unreadable: bool = False
    remarks: tuple[str, ...] = ()

    def of(self, what: str) -> list[Entry]:
        """What was decided in that way."""
        return [one for one in self.decided if one.what == what]

    @property
    def received(self) -> int:
        """Everything that was decided on, and what still waits."""
        return len(self.decided) + self.waiting


def report(decided: Sequence[Entry], most: int = 5) -> str:
    """One line for the user; empty where nothing happened."""
    done = [one for one in decided if one.what == SAVED]
    held = sum(one.what == HELD for one in decided)
    parts = [
        _named(verb, [one.name for one in done if (one.reason == RETIRED) is retired], most)
        for verb, retired in (("saved", False), (RETIRED, True))
    ]
    parts += [f"{held} held (memdir review)"] if held else []
    return "memdir: " + ", ".join(filter(None, parts)) if any(parts) else ""


def _named(verb: str, names: Sequence[str], most: int) -> str:
    if not names:
        return ""
    noun = "memory" if len(names) == 1 else "memories"
    told = ", ".join(names[:most]) + (", …" if len(names) > most else "")
    return f"{verb} {len(names)} {noun} ({told})"


# The plan of one capture: each thing gets its id, and what is to be retired its path.

ID_CHARACTERS = 12
NEAR = 3  # candidates that a person is told of
LATER = "it was to be forgotten later on"
BEFORE = "what it takes back was not saved yet"
CLEARLY = 1.5  # times the score of the next one: then it is clear which memory is meant


def make_plan(
    app: App,
    progress: Progress,
    known: Progress,
    stretch: Stretch,
    chosen: Choice,
    waiting: Sequence[str],
) -> Plan:
    """Everything of it decided but the saving; the same things have the same ids each time."""
    first = stretch.said[0].id if stretch.said else ""
    run = _hash(known.session, known.cursor.id, first)
    batch = f"capture-{run}"
    caught = {_id(known.session, catch): catch for catch in chosen.catches}
    back = taken_back_later([*caught.values()], stretch.said)
    if chosen.left:
        # What is done at once has ids of its own: the waiting thing keeps its.
        items = [_item(app, id, catch) for id, catch in caught.items()]
        waits = waiting[:1] or [f"{run}-waits"]
        dropped = waiting[1:]
    else:
        free = [*waiting]
        items = [_item(app, free.pop(0) if free else id, catch) for id, catch in caught.items()]
        waits, dropped = [], free
    items = [_in_order(item, at, back) for at, item in enumerate(items)]
    reason = chosen.reason or "nothing worth keeping was found in it"
    return Plan(batch, progress, tuple(items), tuple(waits), tuple(dropped), reason)


def _in_order(item: Item, at: int, back: dict[int, int]) -> Item:
    """What was said last counts: of a draft and a later wish to forget it, nothing is left."""
    if at in back and not item.refuse:
        return replace(item, refuse=LATER)
    if at in back.values() and not item.target:
        return replace(item, refuse=BEFORE)
    return item


def _id(session: str, catch: Catch) -> str:
    """By what was said and where: a fork of a session, or one read again, has the same messages."""
    origin, draft = catch.origin, catch.draft
    texts = (draft.type, draft.name, draft.body) if draft else ("", "", catch.forget)
    return _hash(origin.client, origin.message or session, *texts)


def _hash(*texts: str) -> str:
    return hash_of("\0".join(texts).encode("utf-8", "backslashreplace"))[:ID_CHARACTERS]


def _item(app: App, id: str, catch: Catch) -> Item:
    """What is to be retired is looked for now: later it would be gone, if a killed run did it."""
    draft = catch.draft
    if catch.refuse:
        return Item(id, catch, refuse=catch.refuse)
    if draft and not catch.hold:
        # Whoever insists on everything still gets a refusal for a secret: no plan may hold it.
        refuse = draft_module.refusal(draft, app.rules(), Wishes(anyway=True))
        if refuse:
            bare = Draft("", draft.type)
            return Item(id, Catch(replace(catch.origin, quote=""), bare), refuse=refuse)
    if not catch.forget or catch.hold:
        return Item(id, catch)
    if path := _called(app, catch.forget):
        return Item(id, catch, path)
    hits = app.search.find(catch.forget, NEAR + 1).hits
    sure = [hit for hit in hits if hit.sure >= SURE]
    if sure and (len(sure) == 1 or sure[0].score >= CLEARLY * sure[1].score):
        return Item(id, catch, sure[0].memory.path)
    near = ", ".join(hit.memory.path for hit in hits[:NEAR])
    said = f"it may mean: {near}" if near else "no memory fits"
    return Item(id, replace(catch, hold=f"it is not clear which memory is meant; {said}"))


def _called(app: App, name: str) -> str:
    """The one memory that has that very name; empty where it is no name."""
    try:
        return find_all(app.store, [name])[0].path
    except MemdirError:
        return ""


# Carry out the plan of a capture: save, hold or retire each thing, and write down what it became.
#
# A killed run is repeated: what it saved carries the id of the thing in its header, so nothing is
# saved twice; what it retired is gone; what it held is there.

ACTOR = "capture"
MARK = "metadata.capture"  # in the header: the thing that became this memory


def carry_out(app: App, captures: Captures, plan: Plan, again: bool = False) -> list[Entry]:
    """receive → settle each → cursor → the plan is done; what was decided, in order"""
    journal, now = captures.journal, app.now()
    app = replace(app, actor=ACTOR, batch=plan.batch)
    _, before = journal.read()
    known = {one.id for one in before}
    session, why = plan.progress.session, plan.reason
    came = [(item.id, "") for item in plan.items] + [(id, why) for id in plan.waits]
    new = [(id, reason) for id, reason in came if id not in known]
    journal.add([Entry(id, RECEIVED, now, session, "", reason) for id, reason in new])
    settled = decided(before)
    done = [settled[item.id] for item in plan.items if item.id in settled]
    for item in plan.items:
        if item.id not in settled:
            entry = replace(_settle(app, item, again), session=session)
            journal.add([entry])
            done.append(entry)
    dropped = [
        Entry(id, REFUSED, now, session, "", why) for id in plan.dropped if id not in settled
    ]
    journal.add(dropped)
    if again and app.store.exists():
        rebuild_index(app)  # the killed run may have saved a memory without its line
    captures.keep(_with_names(plan.progress, plan.items, done))
    captures.finish()
    return done + dropped


def try_out(app: App, plan: Plan) -> list[Entry]:
    """What would be decided; nothing is written."""
    return [_settle(app, item, False) for item in plan.items]


def _settle(app: App, item: Item, again: bool) -> Entry:
    catch = item.catch
    entry = Entry(item.id, REFUSED, app.now())
    try:
        if item.refuse:
            return replace(entry, reason=item.refuse)
        if catch.hold:
            return _hold(app, item, entry)
        if catch.draft is not None:
            return _save(app, item, catch.draft, entry, again)
        return _retire(app, item, entry)
    except (BadInput, Conflict, Missing) as error:  # this one cannot be taken; the others can
        return replace(entry, reason=error.message)


def _hold(app: App, item: Item, entry: Entry) -> Entry:
    catch = item.catch
    name = catch.draft.name if catch.draft else ""
    if not app.dry_run:
        held = open_inbox(app).hold(catch, catch.hold, app.now())
        try:
            open_inbox(app).read(held.id)
        except Missing:
            return replace(entry, name=name, reason="a review has settled it already")
        name = name or held.id
    return replace(entry, what=HELD, name=name, reason=catch.hold)


def _save(app: App, item: Item, draft: Draft, entry: Entry, again: bool) -> Entry:
    if again:
        for path in _marked(app, item.id):
            return replace(entry, what=SAVED, name=stem(path))
    if day := undone_on(app, item.catch):
        return replace(entry, reason=f"it was saved before and undone ({day})")
    extra = (*(pair for pair in draft.extra if pair[0] != MARK), (MARK, item.id))
    [change, *_] = save(app, replace(draft, extra=extra), Wishes()).changes
    if change.changed:
        return replace(entry, what=SAVED, name=change.name)
    return replace(entry, name=change.name, reason=change.reason)


def _retire(app: App, item: Item, entry: Entry) -> Entry:
    """A path that is gone by now is what was wanted, whoever did it."""
    if app.store.exists(item.target):
        retire(app, [item.target], reason="asked for in a conversation")
    return replace(entry, what=SAVED, name=stem(item.target), reason=RETIRED)


def _marked(app: App, id: str) -> Iterator[str]:
    """The memory that this very thing became."""
    if not app.store.exists():
        return
    for memory in app.store.scan().memories:
        if id in memory.head and memory.values.get(MARK) == id:
            yield memory.path


def _with_names(progress: Progress, items: Sequence[Item], entries: Sequence[Entry]) -> Progress:
    """What was done at once knows the memory it became, so that a model may improve that one."""
    named = {one.id: one.name for one in entries if one.what == SAVED}
    by_message = {item.catch.origin.message: named.get(item.id, "") for item in items}
    done = tuple(
        one if one.name else replace(one, name=by_message.get(one.message, ""))
        for one in progress.done
    )
    return replace(progress, done=done)


# From how far a conversation was known to how far it is known now.


@dataclass(frozen=True)
class Move:
    """One step of a conversation; `size` is that of its transcript now."""

    app: App
    captures: Captures
    known: Progress
    request: Request
    size: int

    def later(self) -> Outcome:
        """Count the turns; the conversation is looked at when there were enough."""
        turns = self.known.turns + self.request.turns
        self._keep(replace(self._here(), turns=turns, size=self.known.size))
        return Outcome(reason=NOT_YET)

    def on(self, cursor: Cursor, reason: str, tokens: int = 0) -> Outcome:
        """There is nothing to do: only the cursor moves, and what waited came to nothing."""
        plan = Plan("", self._at(cursor), dropped=self._waiting(), reason=reason)
        done: Sequence[Entry] = ()
        if plan.dropped and not self.app.dry_run:
            self.captures.announce(plan)
            done = carry_out(self.app, self.captures, plan)
        else:
            self._keep(plan.progress)
        return Outcome(tuple(done), 0, tokens, reason)

    def stay(self, stretch: Stretch) -> Outcome:
        """Nobody can read it: nothing is known but its size, and what waits goes on waiting."""
        client = self.request.client
        reason = f"0 of {stretch.lines:,} lines could be read as a transcript of {client}"
        if self.known.client in ("", client):  # whoever names the wrong client changes nothing
            self._keep(self._here())
        return Outcome(reason=reason, unreadable=True)

    def settle(self, stretch: Stretch, chosen: Choice) -> Outcome:
        """Write the plan down, then carry it out."""
        after, progress = 0.0, self._at(stretch.cursor)
        if chosen.left:  # a model has to see the rest: nothing moves but what was done
            failures = self.known.failures + (not chosen.waits)
            after = chosen.after or self.app.now() + pause(failures)
            progress = replace(
                self._here(),
                cursor=self.known.cursor,
                failures=failures,
                after=after,
                asked=basis(self.app),
                why=chosen.reason,
                done=(*self.known.done, *chosen.done),
            )
            if chosen.reason == UNTIL_END:  # not read as far as its size says
                after, progress = 0.0, replace(progress, size=self.known.size, after=0.0)
        plan = make_plan(self.app, progress, self.known, stretch, chosen, self._waiting())
        if self.app.dry_run:
            done = try_out(self.app, plan)
        else:
            self.captures.announce(plan)
            done = carry_out(self.app, self.captures, plan)
        things = {item.id: item.catch for item in plan.items}
        return Outcome(tuple(done), len(plan.waits), chosen.tokens, chosen.reason, after, things)

    def _here(self) -> Progress:
        """The same place, as it is known now."""
        return replace(
            self.known,
            client=self.request.client,
            path=self.request.transcript,
            size=self.size,
            turns=0,
            time=self.app.now(),
        )

    def _at(self, cursor: Cursor) -> Progress:
        """Further on, with nothing left behind."""
        return replace(
            self._here(), cursor=cursor, failures=0, after=0.0, asked="", why="", done=()
        )

    def _waiting(self) -> tuple[str, ...]:
        """The things of this conversation that wait."""
        account = self.captures.journal.account()
        return tuple(one.id for one in account.waiting if one.session == self.known.session)

    def _keep(self, progress: Progress) -> None:
        if not self.app.dry_run:
            self.captures.keep(progress)
