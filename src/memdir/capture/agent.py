"""A model drafts memories from a conversation, in at most five turns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memdir.capture.agent_tools import Denied, ProjectReader
from memdir.capture.origin import find_origin, reason_to_distrust
from memdir.capture.question import (
    SCHEMA,
    Proposal,
    cut,
    fill_prompt,
    number_messages,
    read_drafts,
)
from memdir.capture.signals import (
    SOURCE,
    Catch,
    Origin,
    Signal,
    day_of,
    mask_secrets,
    short_quote,
    takes_away,
)
from memdir.capture.typed import own_words
from memdir.clients.conversation import AGENT, PERSON, TOOL, Message
from memdir.errors import MemdirError
from memdir.format.draft import Draft, hash_of
from memdir.hot.memory import Memory, stem
from memdir.hot.safe import inert, inert_line
from memdir.models.ledger import RUN_TOKENS, OverRun, estimate
from memdir.models.model import BadAnswer, Model, Question, Turn, Usage
from memdir.text.secrets import before_secrets

MAX_TURNS = 5
MAX_RETRIES = 1
TURN_SECONDS = 60.0
MAX_ANSWER_TOKENS = 1_200  # some five drafts
MIN_ANSWER_TOKENS = 300  # a shorter answer would be cut off
MAX_CALLS = 8  # of one turn
RESULT_CHARACTERS = 2_000
MEMORY_CHARACTERS = 4_000  # of a memory; the model must see all of it to change it
RESULTS_CHARACTERS = 6_000  # of one turn
MAX_GIVEN, GIVEN_CHARACTERS = 3, 1_200  # memories in the first message, and of each
CALL_CHARACTERS = 200  # of the call repeated in its result
UNUSABLE = "the model's answer could not be used"


@dataclass(frozen=True)
class Captured:
    """`reason`: why the run ended early; messages without a draft are then still open."""

    catches: tuple[Catch, ...]
    turns: int = 0
    usage: Usage = field(default_factory=Usage)
    reason: str = ""

    @property
    def produced(self) -> str:
        names = [catch.draft.name or "a new one" for catch in self.catches if catch.draft]
        return before_secrets(f"drafted {', '.join(names)}") if names else "nothing"


def ask_agent(
    said: Sequence[Message],
    signals: Sequence[Signal],
    origin: Origin,
    known: Sequence[Memory],
    model: Model,
    reader: ProjectReader,
    *,
    total: int = 0,
    tokens: int = RUN_TOKENS,
    seconds: float = TURN_SECONDS,
) -> Captured:
    """Let the model draft memories, in at most MAX_TURNS turns and `tokens` tokens.

    `known` are related memories, best first, out of `total` in the store. Raises OverBudget or
    ModelFailed if nothing was drafted; otherwise the drafts are kept and `reason` is set.
    """
    run = _Run(said, signals, origin, reader)
    rest = total - len(known)
    values = {
        "turns": MAX_TURNS,
        "project": inert_line(reader.project) or "none",
        "store": inert_line(reader.store),
        "rest": f"({rest} more memories are not listed.)" if rest > 0 else "",
    }
    given = run.give_memories(known)
    system, user, run.mark = fill_prompt(run.shown, signals, known, given, values)
    question = Question(system, user, SCHEMA, MAX_ANSWER_TOKENS, seconds, more=True)
    while not run.reason and run.turns < MAX_TURNS:
        turn = _take_turn(run, question, model, tokens)
        if turn is None:
            break
        question = replace(question, earlier=(*question.earlier, turn))
    return Captured(tuple(run.catches()), run.turns, run.usage, run.reason)


def without_secrets(draft: Draft, *, body: bool = True) -> Draft:
    """Masks secrets in every field; a name with a secret is dropped, so the store picks one."""
    return replace(
        draft,
        body=mask_secrets(draft.body) if body else draft.body,
        name=draft.name if before_secrets(draft.name) == draft.name else "",
        description=before_secrets(draft.description).rstrip(),
        why=before_secrets(draft.why).rstrip(),
        how=before_secrets(draft.how).rstrip(),
        extra=tuple((key, before_secrets(value).rstrip()) for key, value in draft.extra),
    )


def _take_turn(run: _Run, question: Question, model: Model, tokens: int) -> Turn | None:
    try:
        answer = model.answer(_fit_budget(question, run, tokens))
        drafts = read_drafts(answer)
    except BadAnswer as error:
        run.turns += 1
        run.retries += 1
        run.usage = run.usage.plus(error.usage or estimate(question))
        if run.retries > MAX_RETRIES:
            run.reason = f"{UNUSABLE}: {error.message}"
            return None
        return Turn('{"done": false}', "That answer did not fit: one JSON object, as described.")
    except MemdirError as error:
        # Try again later, unless that would draft something twice.
        later = not run.turns if isinstance(error, OverRun) else not run.drafts
        if later:
            raise
        run.reason = error.message
        return None
    run.turns += 1
    run.usage = run.usage.plus(answer.usage)
    run.cached = answer.usage.cached_tokens
    results = run.carry_out(answer.data if isinstance(answer.data, dict) else {}, drafts)
    if not results:
        return None
    if run.turns == MAX_TURNS:
        run.reason = f"the model was not done after {MAX_TURNS} turns"
        return None
    last = " It is the last one: no more calls." if run.turns + 1 == MAX_TURNS else ""
    results_text = (
        f"<results {run.mark}>\n" + "\n".join(results) + f"\n</results {run.mark}>\n\n"
        f"Turn {run.turns + 1} of {MAX_TURNS}.{last} Draft now what is worth it, with done: true."
    )
    return Turn(json.dumps(answer.data), results_text)


def _fit_budget(question: Question, run: _Run, tokens: int) -> Question:
    asked = estimate(replace(question, max_tokens=0), run.cached).total
    left = tokens - run.usage.total
    if left - asked < MIN_ANSWER_TOKENS:
        raise OverRun(
            f"this run has {max(left, 0):,} of {tokens:,} tokens left",
            next="raise budget.run_tokens in config.toml",
        )
    return replace(question, max_tokens=min(MAX_ANSWER_TOKENS, left - asked))


class _Run:
    def __init__(
        self,
        said: Sequence[Message],
        signals: Sequence[Signal],
        origin: Origin,
        reader: ProjectReader,
    ) -> None:
        self.shown = number_messages(said, signals)
        # Pasted text is not a person's own. Results of calls are added later.
        self.said = [
            item._replace(text=own_words(item.text)) if item.who == PERSON else item
            for item in said
        ]
        self.signals, self.origin, self.reader = signals, origin, reader
        self.mark = self.reason = ""
        self.turns = self.retries = self.cached = self.room = 0
        self.usage = Usage()
        self.read: dict[str, bytes] = {}  # memories by name, as the model saw them
        self.drafts: dict[str, Proposal] = {}
        self.unread: dict[str, Proposal] = {}  # drafts that would replace an unread memory

    def give_memories(self, known: Sequence[Memory]) -> dict[str, str]:
        texts: dict[str, str] = {}
        for name in (stem(memory.path) for memory in known if "/" not in memory.path):
            data = self.reader.memory(name) or b""
            text = data.decode("utf-8", "replace")
            short = 0 < len(text) <= GIVEN_CHARACTERS and len(texts) < MAX_GIVEN
            if short and mask_secrets(text) == text:
                self.read[name], texts[name] = data, text
        return texts

    def carry_out(self, answer: Mapping[str, object], drafts: Sequence[Proposal]) -> list[str]:
        self.room = RESULTS_CHARACTERS
        calls, results = answer.get("calls"), []
        if isinstance(calls, list) and answer.get("done") is not True:
            results += [self._call(call) for call in calls[:MAX_CALLS]]
        for draft, because in drafts:
            results += self._take(draft, because)
        return results

    def catches(self) -> Iterator[Catch]:
        for proposal in self.drafts.values():
            yield self._catch(*proposal)
        for name, proposal in self.unread.items():
            yield self._catch(*proposal, f"it would replace {name}, which the model did not read")

    def _call(self, call: dict[str, object]) -> str:
        label = inert_line(json.dumps(call), CALL_CHARACTERS)
        given = {key: call[key] for key in ("path", "pattern", "start", "lines") if key in call}
        try:
            whole = call["tool"] == "read" and not call.get("start") and not call.get("lines")
            if whole and (name := self.reader.memory_name(str(call["path"]))):
                return self._show_memory(label, name)
            text = self.reader.call(str(call["tool"]), **given)  # type: ignore[arg-type]
        except Denied as reason:
            return self._result(label, f"(denied: {reason})")
        text = text if len(text) <= RESULT_CHARACTERS else text[:RESULT_CHARACTERS] + "\n(cut here)"
        # Nobody asked to remember the content of files: a draft from it is held.
        self.said.append(Message("", TOOL, text, tool=str(call["tool"])))
        return self._result(label, text)

    def _show_memory(self, label: str, name: str) -> str:
        """A memory that does not fit counts as unread, so it cannot be replaced."""
        data = self.reader.memory(name) or b""
        text = data.decode("utf-8", "replace")
        if len(text) <= min(MEMORY_CHARACTERS, self.room) and mask_secrets(text) == text:
            self.read[name] = data
        return self._result(label, text)

    def _result(self, label: str, text: str) -> str:
        limit = max(min(self.room, MEMORY_CHARACTERS), 80)
        shown = cut(inert(mask_secrets(text)).replace(self.mark, "…"), limit)
        self.room -= len(shown)
        return f"[{label}]\n{shown}"

    def _take(self, draft: Draft, because: int) -> list[str]:
        """Before a draft replaces an unread memory, the model is shown that memory."""
        name = self._stored_name(draft.name)
        data = self.reader.memory(name) if name else None
        draft = replace(draft, name=name)
        if data is None:
            self.drafts[name or f"\0{len(self.drafts)}"] = draft, because
        elif self.read.get(name) == data:
            self.unread.pop(name, None)
            self.drafts[name] = replace(draft, expected=hash_of(data)), because
        else:
            seen = name in self.unread
            self.unread[name] = draft, because
            label = f"{name} exists; this is its text. Draft it again, whole, if it must change"
            results = [] if seen else [self._show_memory(label, name)]
            if self.read.get(name) == data:  # if it is not drafted again, it needs no change
                del self.unread[name]
            return results
        return []

    def _stored_name(self, name: str) -> str:
        """The name as stored: `-` and `_` count as equal."""
        alike = {known.lower().replace("-", "_"): known for known in self.reader.names()}
        return alike.get(name.lower().replace("-", "_"), name)

    def _catch(self, draft: Draft, because: int, hold: str = "") -> Catch:
        cited = self.shown.get(because)
        old = self.read.get(draft.name, b"").decode("utf-8", "replace")
        origin = self._rests_on(draft, old, self._origin(cited))
        hold = hold or reason_to_distrust(origin) or takes_away(draft, old, cited, self.signals)
        draft = replace(draft, source=SOURCE, day=day_of(cited))
        # Held drafts are stored without the writer, which would refuse a body with a secret.
        return Catch(origin, without_secrets(draft, body=bool(hold)), hold=hold)

    def _rests_on(self, draft: Draft, old: str, given: Origin) -> Origin:
        """Whose words the draft has; the model's own citation can only lower the trust."""
        if given.who in (AGENT, TOOL):
            return given
        before = {line.strip() for line in old.splitlines()}
        lines = [draft.description] if draft.description not in old else []
        lines += [*draft.body.splitlines(), draft.why, draft.how]
        text = "\n".join(line for line in lines if line.strip() and line.strip() not in before)
        new = "" if draft.name in self.read or draft.name in self.unread else draft.name
        result = find_origin(text, self.said, self.origin, name=new) if text else given
        return given if result.who == given.who == PERSON else result

    def _origin(self, said: Message | None) -> Origin:
        if said is None:
            return self.origin
        words = short_quote(said.text)
        return replace(self.origin, message=said.id, who=said.who, tool=said.tool, quote=words)
