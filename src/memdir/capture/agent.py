"""A model drafts, in at most five turns."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from string import Template

from memdir.capture import forget
from memdir.capture.agent_tools import EDIT, NAMES, READ, WRITE, Allowed, Denied, Look, decide
from memdir.capture.drafts import catches
from memdir.capture.forget import UNNAMED, takes_away, unwanted_by
from memdir.capture.origin import SOURCE, quote, rests_on, untrusted
from memdir.capture.signals import Catch, Origin, Signal, day_of, masked
from memdir.capture.typed import own_words
from memdir.clients.conversation import AGENT, PERSON, TOOL, Said
from memdir.errors import BadInput, MemdirError
from memdir.format.draft import HOW, MAX_DESCRIPTION, WHY, Draft, hash_of
from memdir.format.names import check_name, slugify
from memdir.hot import memory, types
from memdir.hot.behaviour import type_line
from memdir.hot.memory import TYPE_KEYS, UNKNOWN, Memory, stem
from memdir.hot.safe import inert, inert_line
from memdir.models.budget import RUN_TOKENS, OverRun, estimate
from memdir.models.model import Answer, BadAnswer, Model, Question, Turn, Usage
from memdir.recall.choose import manifest
from memdir.text.secrets import before_secrets, find_secrets

# What the agent that captures is told: the messages, the memories and results, all as data.

MOST_MESSAGES = 20
MESSAGES_CHARACTERS = 7_000  # all of them together
# Of one message: what was noticed, then by who said it.
NOTICED_CHARACTERS = 1_500
CHARACTERS = {PERSON: 700, AGENT: 350, TOOL: 140}
LOOKED_AT = 20_000  # characters of a message; nobody says more himself
LINE_CHARACTERS = 140  # of a memory in the list
RESULT_CHARACTERS = 2_000
MEMORY_CHARACTERS = 4_000  # of a memory that is read: whoever changes it must know all of it
RESULTS_CHARACTERS = 6_000  # of one turn
WHOLE, WHOLE_CHARACTERS = 3, 1_200  # memories that are given at once, and of each
MARK_CHARACTERS = 12
CUT = " […]"
SPLIT = "\n---\n"
BLOCK = "==="


def numbered(said: Sequence[Said], signals: Sequence[Signal]) -> dict[int, Said]:
    """The messages that are shown, by number: a person's, each with what stands around it.

    Those with a request come first, then the newest; what does not fit is left out.
    """
    asked = {signal.said.id for signal in signals}
    people = [
        number for number, one in enumerate(said, 1) if one.who == PERSON and one.text.strip()
    ]
    people.sort(key=lambda number: (said[number - 1].id in asked, number), reverse=True)
    near = [number + step for number in people or [len(said)] for step in (0, -1, 1)]
    chosen = [n for n in dict.fromkeys(near) if 0 < n <= len(said) and said[n - 1].text.strip()]
    room = MESSAGES_CHARACTERS
    kept: list[int] = []
    for number in chosen[:MOST_MESSAGES]:
        one = said[number - 1]
        room -= min(len(one.text), _limit(one, one.id in asked)) + 20
        if room < 0 and kept:
            break
        kept.append(number)
    return {number: said[number - 1] for number in sorted(kept)}


def messages(shown: dict[int, Said], signals: Sequence[Signal]) -> str:
    """Each message with its number and who said it; of tools an excerpt."""
    lines: list[str] = []
    last = 0
    for number, one in shown.items():
        quotes = [signal.quote for signal in signals if signal.said == one]
        if last and number > last + 1:
            lines.append("…")
        last = number
        limit = _limit(one, bool(quotes))
        text = masked(_around(one.text, quotes[0] if quotes else "", LOOKED_AT))
        text = inert(_around(text, quotes[0] if quotes else "", limit)).strip()
        who = one.who
        if one.who == TOOL:
            who = f"tool {inert_line(one.tool, 40)} (excerpt of {len(one.text):,} characters)"
        lines.append(f"[{number}] {who}: {text}")
    return "\n".join(lines)


def listed(known: Sequence[Memory]) -> str:
    """The lines of the memories that belong to these messages."""
    lines = [_cut(inert_line(manifest([memory])), LINE_CHARACTERS) for memory in known]
    return "\n".join(lines) or "(none)"


def whole(texts: Mapping[str, str]) -> str:
    """Memories that are given as they stand: whoever changes one of them has read it."""
    return "".join(f"\n\n[{inert_line(name)}.md]\n{inert(text)}" for name, text in texts.items())


def noticed(shown: dict[int, Said], signals: Sequence[Signal]) -> str:
    """What was noticed where: `7 correction, 9 remember`."""
    found = [(n, s.kind) for n, one in shown.items() for s in signals if s.said == one]
    return ", ".join(f"[{number}] {kind}" for number, kind in dict.fromkeys(found)) or "nothing"


def fill(words: str, values: dict[str, str], data: Sequence[str]) -> tuple[str, str, str]:
    """The system prompt, the first text, and the mark that stands around data."""
    system, _, given = words.partition(SPLIT)
    # Made of the data itself: nobody who wrote a part of it knows it.
    mark = hashlib.sha256("\0".join(data).encode("utf-8", "replace")).hexdigest()[:MARK_CHARACTERS]
    user = Template(given.strip() + "\n").substitute(values, mark=mark)
    return Template(system.strip() + "\n").substitute(values), user, mark


def section(words: str, heading: str) -> str:
    """A section of the session's prompt, so that both say the same."""
    start = words.index(heading)
    return words[start : words.find(BLOCK, start)].strip()


def results(pairs: Sequence[tuple[str, str]], mark: str, turn: int, turns: int) -> str:
    """What came of the calls of a turn, as data, and what is expected now."""
    room = RESULTS_CHARACTERS
    parts = []
    for what, text in pairs:
        shown = _cut(inert(masked(text)).replace(mark, "…"), max(min(room, MEMORY_CHARACTERS), 80))
        room -= len(shown)
        parts.append(f"[{inert_line(what, 160)}]\n{shown}")
    inside = "\n".join(parts)
    last = " It is the last one: no more calls." if turn == turns else ""
    return (
        f"<results {mark}>\n{inside}\n</results {mark}>\n\n"
        f"Turn {turn} of {turns}.{last} Draft now what is worth it, with done: true."
    )


def bare(text: str) -> str:
    """A line up to its first secret."""
    return before_secrets(text).rstrip()


def without_secrets(draft: Draft, *, body: bool = True) -> Draft:
    """The draft without secrets in any of its texts; a name with one is the store's to choose."""
    return replace(
        draft,
        body=masked(draft.body) if body else draft.body,
        name=draft.name if bare(draft.name) == draft.name else "",
        description=bare(draft.description),
        why=bare(draft.why),
        how=bare(draft.how),
        extra=tuple((key, bare(value)) for key, value in draft.extra),
    )


def _limit(one: Said, noticed: bool) -> int:
    return NOTICED_CHARACTERS if noticed and one.who != TOOL else CHARACTERS.get(one.who, 0)


def _around(text: str, quote: str, limit: int) -> str:
    """At most so many characters, with the quote among them."""
    if len(text) <= limit:
        return text
    at = max(text.find(quote[:80]) if quote else 0, 0)
    start = max(min(at - limit // 4, len(text) - limit), 0)
    return (CUT.strip() + " " if start else "") + _cut(text[start:], limit)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: max(limit - len(CUT), 0)] + CUT


# One turn of the agent that captures: what it may answer, and what is made of that.

MOST_CALLS = 8  # of one turn
MOST_DRAFTS = 10  # of one turn
BODY_CHARACTERS = 8_000
UNUSABLE = "the model's answer could not be used"

_TEXT = {"type": "string"}
_DRAFT_TEXTS = ("name", "type", "description", "body", "why", "how")
SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "calls": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"tool": _TEXT, "input": {"type": "object"}},
                "required": ["tool", "input"],
            },
        },
        "drafts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": dict.fromkeys(_DRAFT_TEXTS, _TEXT) | {"because": {"type": "integer"}},
                "required": ["name", "type", "description", "body", "because"],
            },
        },
        "forget": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": _TEXT, "because": {"type": "integer"}},
                "required": ["name", "because"],
            },
        },
        "done": {"type": "boolean"},
    },
    "required": ["done"],
}


@dataclass(frozen=True)
class Captured:
    """What came of a conversation.

    `reason` is why it ended before the model was done: then what has no draft is still open.
    `denied` are the calls that were not carried out, each with its reason.
    """

    catches: tuple[Catch, ...]
    turns: int = 0
    usage: Usage = field(default_factory=Usage)
    denied: tuple[str, ...] = ()
    reason: str = ""

    @property
    def produced(self) -> str:
        """In a few words, for the ledger."""
        names = [one.draft.name or "a new one" for one in self.catches if one.draft]
        said = [f"drafted {', '.join(names)}"] if names else []
        said += [f"to be retired: {one.forget}" for one in self.catches if one.forget]
        return before_secrets("; ".join(said)) or "nothing"


@dataclass(frozen=True)
class Wanted:
    """A draft as a model words it; `because` is the number of the message that it rests on."""

    draft: Draft
    because: int = 0


@dataclass(frozen=True)
class Step:
    """What a model wants of one turn: calls as pairs of a tool and its input."""

    calls: tuple[tuple[str, Mapping[str, object]], ...] = ()
    drafts: tuple[Wanted, ...] = ()
    unwanted: tuple[tuple[str, int], ...] = ()  # names to be forgotten, with their messages
    done: bool = True


def parse(data: object) -> Step:
    """The step of an answer that fits the schema; more than it may ask for is left out.

    Fails where it drafts something, and not one of the drafts says anything.
    """
    said = data if isinstance(data, dict) else {}
    calls = [(one["tool"], one["input"]) for one in said.get("calls") or []]
    drafts = [_wanted(one) for one in said.get("drafts") or [] if one["body"].strip()]
    pairs = [(_line(one["name"]), one["because"]) for one in said.get("forget") or []]
    unwanted = [(name, because) for name, because in pairs if name]
    if (said.get("drafts") or said.get("forget")) and not (drafts or unwanted):
        raise BadAnswer("its drafts are empty")
    return Step(
        tuple(calls[:MOST_CALLS]),
        tuple(drafts[:MOST_DRAFTS]),
        tuple(unwanted[:MOST_DRAFTS]),
        said.get("done") is True,
    )


def written(name: str, content: str, because: object) -> Wanted:
    """What a Write makes of a memory: its header and its text, as a draft."""
    document = memory.read(content)
    said = {
        "name": name,
        "type": document.get(*TYPE_KEYS),
        "description": document.get("description"),
        "body": document.body,
        "because": because if type(because) is int else 0,
    }
    return _wanted(said)


def new_lines(draft: Draft, old: str) -> str:
    """What a draft says that did not stand there before."""
    before = {line.strip() for line in old.splitlines()}
    lines = [draft.description, *draft.body.splitlines(), draft.why, draft.how]
    new = [line for line in lines if line.strip() and line.strip() not in before]
    return "\n".join(line for line in new if not (line == draft.description and line in old))


def _wanted(said: Mapping[str, object]) -> Wanted:
    texts = {key: str(said.get(key) or "") for key in _DRAFT_TEXTS}
    body = texts["body"].strip()[:BODY_CHARACTERS]
    kind = texts["type"].strip().lower()
    # Reasons that stand in the body would be said twice.
    why = "" if WHY.lower() in body.lower() else _line(texts["why"])
    how = "" if HOW.lower() in body.lower() else _line(texts["how"])
    draft = Draft(
        body=body,
        type=kind if kind in types.names() else UNKNOWN,
        name=_name(texts["name"]),
        description=_line(texts["description"]),
        why=why,
        how=how,
    )
    because = said.get("because")
    return Wanted(draft, because if type(because) is int else 0)


def _name(text: str) -> str:
    """A name that a file can have; empty leaves the choice to the store."""
    name = text.strip().removesuffix(".md")
    if find_secrets(name):
        return ""  # in small letters nobody would know it again
    try:
        return check_name(name)
    except BadInput:
        pass
    try:
        return check_name(slugify(name))
    except BadInput:
        return ""


def _line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:MAX_DESCRIPTION]


# A run of the agent that captures: what it has come to so far.

ROOM_BESIDE = 100  # characters


@dataclass
class Run:
    """What a conversation has come to so far."""

    shown: dict[int, Said]
    said: list[Said]  # all of it, and what was looked at since
    origin: Origin
    look: Look
    signals: Sequence[Signal] = ()
    mark: str = ""
    turns: int = 0
    retries: int = 0
    usage: Usage = field(default_factory=Usage)
    cached: int = 0
    reason: str = ""
    room: int = RESULTS_CHARACTERS  # for what is told of this turn
    read: dict[str, bytes] = field(default_factory=dict)  # memories by name, as they were shown
    drafts: dict[str, Wanted] = field(default_factory=dict)
    unread: dict[str, Wanted] = field(default_factory=dict)  # they would replace what was not read
    unwanted: dict[str, int] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)  # of them, those that it was shown since
    denied: list[str] = field(default_factory=list)

    def captured(self) -> Captured:
        """All of it, each with the message it rests on."""
        catches = [self._catch(one, "") for one in self.drafts.values()]
        for name, one in self.unread.items():
            catches.append(
                self._catch(one, f"it would replace {name}, which the model did not read")
            )
        catches += [self._unwanted(name, because) for name, because in self.unwanted.items()]
        denied = tuple(map(bare, self.denied))
        return Captured(tuple(catches), self.turns, self.usage, denied, self.reason)

    def _unwanted(self, name: str, because: int) -> Catch:
        """What is to be forgotten; at once only where a person named it."""
        standing = self._standing(name)
        text = (self.look.memory(standing) or b"").decode("utf-8", "replace")
        asked = unwanted_by(standing, text, self.look.names(), self.signals)
        if asked is not None and masked(name) == name:
            return Catch(replace(self._from(asked.said), quote=quote(asked.quote)), forget=name)
        origin = self._origin(because)
        hold = untrusted(origin) or UNNAMED.format(masked(name))
        return Catch(origin, forget=masked(name), hold=hold)

    def _catch(self, wanted: Wanted, hold: str) -> Catch:
        origin, cited = self._rests_on(wanted), self.shown.get(wanted.because)
        old = self.read.get(wanted.draft.name, b"").decode("utf-8", "replace")
        hold = hold or untrusted(origin) or takes_away(wanted.draft, old, cited, self.signals)
        draft = replace(wanted.draft, source=SOURCE, day=day_of(cited))
        # What is held is written down before the writer sees it, who refuses a body with a secret.
        return Catch(origin, without_secrets(draft, body=bool(hold)), hold=hold)

    def _rests_on(self, wanted: Wanted) -> Origin:
        """Whose words a draft has. What the model says of it counts only against it."""
        given = self._origin(wanted.because)
        if given.who in (AGENT, TOOL):
            return given
        name = wanted.draft.name
        old = self.read.get(name, b"").decode("utf-8", "replace")
        text = new_lines(wanted.draft, old)
        new = "" if name in self.read or name in self.unread else name
        found = rests_on(text, self.said, self.origin, name=new) if text else given
        return given if found.who == given.who == PERSON else found

    def _origin(self, because: int) -> Origin:
        said = self.shown.get(because)
        return self.origin if said is None else self._from(said)

    def _from(self, said: Said) -> Origin:
        words = quote(said.text)
        return replace(self.origin, message=said.id, who=said.who, tool=said.tool, quote=words)

    def take(self, wanted: Wanted) -> str:
        """Keep a draft; what the model must know first, where it would replace something unread."""
        name = self._standing(wanted.draft.name)
        data = self.look.memory(name) if name else None
        wanted = replace(wanted, draft=replace(wanted.draft, name=name))
        if data is None:
            self.drafts[name or f"\0{len(self.drafts)}"] = wanted
            return ""
        if self.read.get(name) != data:
            self.unread[name] = wanted
            return "" if name in self.told else name
        self.unread.pop(name, None)
        self.drafts[name] = replace(wanted, draft=replace(wanted.draft, expected=hash_of(data)))
        return ""

    def _standing(self, name: str) -> str:
        """The name as the store writes it: `-` is `_`."""
        alike = {one.lower().replace("-", "_"): one for one in self.look.names()}
        return alike.get(name.lower().replace("-", "_"), name)

    def show(self, name: str) -> str:
        """A memory as a whole, so that it may be changed; one that is too long stays unread."""
        self.told.add(name)
        data = self.look.memory(name) or b""
        text = data.decode("utf-8", "replace")
        if len(text) <= min(MEMORY_CHARACTERS, self.room - ROOM_BESIDE) and masked(text) == text:
            self.read[name] = data
        self.room -= min(len(text), MEMORY_CHARACTERS)
        return text

    def give(self, names: Iterable[str]) -> dict[str, str]:
        """The first of these memories as they stand, where they are short: a turn less to pay."""
        texts: dict[str, str] = {}
        for name in names:
            data = self.look.memory(name) or b""
            text = data.decode("utf-8", "replace")
            if 0 < len(text) <= WHOLE_CHARACTERS and masked(text) == text and len(texts) < WHOLE:
                self.read[name], texts[name] = data, text
        return texts

    def saw(self, text: str, tool: str) -> None:
        """What was looked at is nobody's wish: a draft of it is held."""
        self.room -= len(text)
        self.said.append(Said("", TOOL, text, tool=tool))

    def drop_unread(self, before: dict[str, Wanted]) -> None:
        """Whoever has seen what stands there and drafts it no more has thought better of it."""
        for name, wanted in before.items():
            if name in self.told and self.unread.get(name) is wanted:
                del self.unread[name]


# capture: let a model draft what later conversations need to know of this one.

WORDS = "prompts/capture.md"
SESSION_WORDS = "prompts/behaviour.md"
EXCLUDED = "## What not to save"
TURNS = 5
SECONDS = 60.0  # for one turn
MAX_TOKENS = 1_200  # of one answer: some five drafts
LEAST_TOKENS = 300  # an answer with less room would break off
RETRIES = 1
NOTHING_YET = '{"done": false}'
SHOWN_BYTES = 200  # of a call that is told


def capture(
    said: Sequence[Said],
    signals: Sequence[Signal],
    origin: Origin,
    known: Sequence[Memory],
    model: Model,
    look: Look,
    *,
    total: int = 0,
    tokens: int = RUN_TOKENS,
    seconds: float = SECONDS,
) -> Captured:
    """What the model drafts of it, in at most 5 turns and within so many tokens.

    `known` are the memories that belong to these messages, best first, of `total` in the store.
    Fails with OverBudget or ModelFailed where nothing came of it and it may be tried again;
    once something was drafted, that stays and the reason is told.
    """
    shown = numbered(said, signals)
    # What a person pasted is not what they said.
    own = [one._replace(text=own_words(one.text)) if one.who == PERSON else one for one in said]
    run = Run(shown, own, origin, look, signals)
    given = run.give(stem(one.path) for one in known if "/" not in one.path)
    memories = listed(known) + whole(given)
    question, run.mark = _question(shown, signals, memories, total - len(known), look, seconds)
    while run.reason == "" and run.turns < TURNS:
        told = _turn(run, question, model, tokens)
        if told is None:
            break
        question = replace(question, earlier=(*question.earlier, told))
    return _with_asked_for(run.captured(), said, signals, origin)


def _with_asked_for(
    captured: Captured, said: Sequence[Said], signals: Sequence[Signal], origin: Origin
) -> Captured:
    """What somebody asked for in so many words counts, also where the model passed it over."""
    done = captured.catches
    missed = [one for one in signals if one.asked_for and not forget.met(one, signals, done)]
    return replace(captured, catches=(*captured.catches, *catches(missed, said, origin)))


def _turn(run: Run, question: Question, model: Model, tokens: int) -> Turn | None:
    """Ask once and carry out what the answer wants; None when there is nothing more to say."""
    try:
        answer, step = _ask(model, _within(question, run, tokens))
    except BadAnswer as error:
        run.turns += 1
        run.retries += 1
        run.usage = run.usage.plus(error.usage or estimate(question))
        if run.retries > RETRIES:
            run.reason = f"{UNUSABLE}: {error.message}"
            return None
        return Turn(NOTHING_YET, "That answer did not fit: one JSON object, as described.")
    except MemdirError as error:
        # What can be done later is done later, unless something would be drafted twice then.
        later = not run.turns if isinstance(error, OverRun) else not (run.drafts or run.unwanted)
        if later:
            raise
        run.reason = error.message
        return None
    run.turns += 1
    run.usage = run.usage.plus(answer.usage)
    run.cached = answer.usage.cached_tokens
    before, run.room = dict(run.unread), RESULTS_CHARACTERS
    pairs = _carry_out(run, step)
    run.drop_unread(before)
    if not pairs:
        return None
    if run.turns == TURNS:
        run.reason = f"the model was not done after {TURNS} turns"
        return None
    told = results(pairs, run.mark, run.turns + 1, TURNS)
    return Turn(json.dumps(answer.data), told)


def _ask(model: Model, question: Question) -> tuple[Answer, Step]:
    """An answer, and what it wants; one that nobody can use is paid for all the same."""
    answer = model.answer(question)
    try:
        return answer, parse(answer.data)
    except BadAnswer as error:
        raise BadAnswer(f"{answer.model}: {error.message}", usage=answer.usage) from None


def _within(question: Question, run: Run, tokens: int) -> Question:
    """The question with as much room for its answer as the run has left."""
    asked = estimate(replace(question, max_tokens=0), run.cached).total
    room = min(MAX_TOKENS, tokens - run.usage.total - asked)
    if room < LEAST_TOKENS:
        raise OverRun(
            f"this run has {max(tokens - run.usage.total, 0):,} of {tokens:,} tokens left",
            next="raise budget.run_tokens in config.toml",
        )
    return replace(question, max_tokens=room)


def _carry_out(run: Run, step: Step) -> list[tuple[str, str]]:
    """Take the drafts, make the calls; what is to be told of them, if there is more to come."""
    pairs: list[tuple[str, str]] = []
    for tool, given in step.calls:
        told = _call(run, tool, given)
        if told and not step.done:
            pairs.append((inert_line(f"{tool} {json.dumps(given)}", SHOWN_BYTES), told))
    for wanted in step.drafts:
        pairs += _unread(run, run.take(wanted))
    run.unwanted.update(step.unwanted)
    return pairs


def _call(run: Run, tool: str, given: dict[str, object] | object) -> str:
    assert isinstance(given, dict)
    decision = decide(tool, given, run.look.places, run.look.resolve)
    if isinstance(decision, Denied):
        run.denied.append(inert_line(f"{tool} {json.dumps(given)}: {decision.reason}", SHOWN_BYTES))
        return f"(denied: {decision.reason})"
    if decision.tool in (WRITE, EDIT):
        return _write(run, decision, given.get("because"))
    name = _memory(decision, run.look.places.store)
    if decision.tool == READ and name:
        return run.show(name)
    text = run.look.run(decision)
    limit = RESULT_CHARACTERS
    text = text if len(text) <= limit else text[:limit] + "\n(cut here)"
    run.saw(text, tool)
    return text


def _write(run: Run, call: Allowed, because: object) -> str:
    """A Write or an Edit is a draft like any other."""
    text = call.text
    if call.tool == EDIT:
        data = run.look.memory(call.name)
        old = (data or b"").decode("utf-8", "replace")
        if not call.old or old.count(call.old) != 1:
            return "(old_string does not stand there exactly once)"
        run.read[call.name] = data or b""  # the rest of it stays as it is
        text = old.replace(call.old, call.text)
    told = _unread(run, run.take(written(call.name, text, because)))
    return told[0][1] if told else ""


def _unread(run: Run, name: str) -> list[tuple[str, str]]:
    if not name:
        return []
    what = f"{name} exists; this is its text. Draft it again, whole, if it must change"
    return [(what, run.show(name))]


def _memory(call: Allowed, store: str) -> str:
    """The name of the memory that a Read is about; empty for any other file, or a part of it."""
    below = call.path.removeprefix(store.rstrip("/") + "/")
    plain = below != call.path and "/" not in below and below.endswith(".md")
    return below.removesuffix(".md") if plain and not call.start and not call.lines else ""


def _question(
    shown: dict[int, Said],
    signals: Sequence[Signal],
    memories: str,
    rest: int,
    look: Look,
    seconds: float,
) -> tuple[Question, str]:
    words = files("memdir.capture").joinpath(WORDS).read_text(encoding="utf-8")
    session_words = files("memdir.hot").joinpath(SESSION_WORDS).read_text(encoding="utf-8")
    kinds = [one for one in map(types.get, types.names()) if not one.record]
    days = [day for one in shown.values() if (day := day_of(one))]
    texts = [messages(shown, signals), memories]
    values = {
        "commands": " ".join(NAMES),
        "turns": str(TURNS),
        "types": "\n".join(map(type_line, kinds)),
        "reasons": " and ".join(one.name for one in kinds if one.needs_why),
        "excluded": section(session_words, EXCLUDED),
        "project": inert_line(look.places.project) or "none",
        "store": inert_line(look.places.store),
        "day": days[-1].isoformat() if days else "unknown",
        "noticed": noticed(shown, signals),
        "messages": texts[0],
        "memories": memories,
        "rest": f"({rest} more memories are not listed.)" if rest > 0 else "",
    }
    system, user, mark = fill(words, values, texts)
    return Question(system, user, SCHEMA, MAX_TOKENS, seconds, more=True), mark
