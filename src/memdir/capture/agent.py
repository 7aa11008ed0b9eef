"""A model drafts memories from a conversation, in at most five turns.

Everything it is shown is marked as data.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from string import Template
from typing import Any, cast

from memdir.capture.agent_tools import READ, Denied, ProjectReader
from memdir.capture.origin import find_draft_origin, reason_to_hold_draft
from memdir.capture.signals import (
    SOURCE,
    Catch,
    Origin,
    Signal,
    day_of_message,
    draft_quote,
    mask_draft_secrets,
    why_draft_removes,
)
from memdir.capture.typed import typed_words
from memdir.clients.conversation import AGENT, PERSON, TOOL, Message
from memdir.errors import BadInput, MemdirError
from memdir.format.draft import HOW, MAX_DESCRIPTION, WHY, Draft, content_hash
from memdir.format.names import check_memory_name, slugify
from memdir.hot import types
from memdir.hot.behaviour import describe_type
from memdir.hot.memory import UNKNOWN, Memory
from memdir.hot.safe import inert, inert_line
from memdir.models.ledger import OverRun, estimate_usage
from memdir.models.model import Answer, BadAnswer, Model, Question, Turn, Usage
from memdir.recall.choose import recall_manifest
from memdir.text.secrets import find_secrets, text_before_secrets

MAX_TURNS = 5
MAX_RETRIES = 1
TURN_SECONDS = 60.0
MAX_ANSWER_TOKENS = 1_200  # some five drafts
MAX_CALLS, MAX_DRAFTS = 8, 10  # of one turn
RESULT_CHARACTERS = 4_000  # of a result; the model must see all of a memory to change it
RESULTS_CHARACTERS = 6_000  # of one turn
CALL_CHARACTERS = 200  # of the call repeated in its result
MAX_MESSAGES = 20
MESSAGES_CHARACTERS = 7_000  # all of them together
CHARACTERS = {PERSON: 1_000, AGENT: 350, TOOL: 140}  # of a message
QUOTE_CHARACTERS = 500  # of a request further down in a message
SEARCHED_CHARACTERS = 20_000  # of a message; nobody types more
LINE_CHARACTERS = 140  # of a memory in the list
MARK_CHARACTERS = 12
CUT = " […]"
UNUSABLE = "the model's answer could not be used"
Proposal = tuple[Draft, int]  # and the number of the message it cites


def _objects(required: str, optional: str) -> dict[str, object]:
    numbers = ("because", "start", "lines")
    kinds = {
        name: {"type": "integer" if name in numbers else "string"}
        for name in f"{required} {optional}".split()
    }
    item = {"type": "object", "properties": kinds, "required": required.split()}
    return {"type": "array", "items": item}


SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "calls": _objects("tool path", "pattern start lines"),
        "drafts": _objects("name type description body because", "why how"),
        "done": {"type": "boolean"},
    },
    "required": ["done"],
}


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
        return text_before_secrets(f"drafted {', '.join(names)}") if names else "nothing"


def ask_capture_agent(
    said: Sequence[Message],
    signals: Sequence[Signal],
    origin: Origin,
    known: Sequence[Memory],
    model: Model,
    reader: ProjectReader,
    *,
    total: int = 0,
    seconds: float = TURN_SECONDS,
) -> Captured:
    """Let the model draft memories, in at most MAX_TURNS turns.

    `known` are related memories, best first, out of `total` in the store. Raises OverBudget or
    ModelFailed if nothing was drafted; otherwise the drafts are kept and `reason` is set.
    """
    run = _Run(said, signals, origin, reader)
    system, user, run.mark = _fill_prompt(run, known, total - len(known))
    question = Question(system, user, SCHEMA, MAX_ANSWER_TOKENS, seconds, more=True)
    while not run.reason and run.turns < MAX_TURNS:
        turn = _take_turn(run, question, model)
        if turn is None:
            break
        question = replace(question, earlier=(*question.earlier, turn))
    return Captured(tuple(run.catches()), run.turns, run.usage, run.reason)


def mask_secrets_in_draft(draft: Draft, *, body: bool = True) -> Draft:
    """Masks secrets in every field; a name with a secret is dropped, so the store picks one."""
    return replace(
        draft,
        body=mask_draft_secrets(draft.body) if body else draft.body,
        name=draft.name if text_before_secrets(draft.name) == draft.name else "",
        description=text_before_secrets(draft.description).rstrip(),
        why=text_before_secrets(draft.why).rstrip(),
        how=text_before_secrets(draft.how).rstrip(),
        extra=tuple((key, text_before_secrets(value).rstrip()) for key, value in draft.extra),
    )


def _take_turn(run: _Run, question: Question, model: Model) -> Turn | None:
    try:
        answer = model.answer(question)
        drafts = _read_drafts(answer)
    except BadAnswer as error:
        run.turns += 1
        run.retries += 1
        run.usage = run.usage.plus(error.usage or estimate_usage(question))
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
    results = run.carry_out(cast("dict[str, Any]", answer.data), drafts)
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


class _Run:
    def __init__(
        self,
        said: Sequence[Message],
        signals: Sequence[Signal],
        origin: Origin,
        reader: ProjectReader,
    ) -> None:
        self.shown = _number_messages(said, signals)
        # Pasted text is not a person's own. Results of calls are added later.
        self.said = [
            item._replace(text=typed_words(item.text)) if item.who == PERSON else item
            for item in said
        ]
        self.signals, self.origin, self.reader = signals, origin, reader
        self.mark = self.reason = ""
        self.turns = self.retries = self.room = 0
        self.usage = Usage()
        self.read: dict[str, bytes] = {}  # memories by name, as the model saw them
        self.drafts: dict[str, Proposal] = {}
        self.unread: dict[str, Proposal] = {}  # drafts that would replace an unread memory

    def carry_out(self, answer: Mapping[str, Any], drafts: Sequence[Proposal]) -> list[str]:
        self.room = RESULTS_CHARACTERS
        calls = [] if answer["done"] else answer.get("calls", [])
        results = [self._call(call) for call in calls[:MAX_CALLS]]
        for draft, because in drafts:
            results += self._take(draft, because)
        return results

    def catches(self) -> Iterator[Catch]:
        for proposal in self.drafts.values():
            yield self._catch(*proposal)
        for name, proposal in self.unread.items():
            yield self._catch(*proposal, f"it would replace {name}, which the model did not read")

    def _call(self, call: Mapping[str, Any]) -> str:
        label = inert_line(json.dumps(call), CALL_CHARACTERS)
        given = {key: call[key] for key in ("path", "pattern", "start", "lines") if key in call}
        try:
            if call["tool"] == READ and (name := self.reader.memory_name(call["path"])):
                return self._show_memory(label, name)
            text = self.reader.call(call["tool"], **given)[:RESULT_CHARACTERS]
        except Denied as reason:
            return self._result(label, f"(denied: {reason})")
        # Nobody asked to remember the content of files: a draft from it is held.
        self.said.append(Message("", TOOL, text, tool=call["tool"]))
        return self._result(label, text)

    def _show_memory(self, label: str, name: str) -> str:
        """A memory that does not fit counts as unread, so it cannot be replaced."""
        data = self.reader.memory(name) or b""
        text = data.decode("utf-8", "replace")
        if len(text) <= min(RESULT_CHARACTERS, self.room) and mask_draft_secrets(text) == text:
            self.read[name] = data
        return self._result(label, text)

    def _result(self, label: str, text: str) -> str:
        limit = max(min(self.room, RESULT_CHARACTERS), 80)
        shown = _cut(inert(mask_draft_secrets(text)).replace(self.mark, "…"), limit)
        self.room -= len(shown)
        return f"[{label}]\n{shown}"

    def _take(self, draft: Draft, because: int) -> list[str]:
        """Before a draft replaces an unread memory, the model is shown that memory."""
        # `-` and `_` count as equal.
        alike = {known.lower().replace("-", "_"): known for known in self.reader.names()}
        name = alike.get(draft.name.lower().replace("-", "_"), draft.name)
        data = self.reader.memory(name) if name else None
        draft = replace(draft, name=name)
        if data is None:
            self.drafts[name or f"\0{len(self.drafts)}"] = draft, because
            return []
        if self.read.get(name) == data:
            self.unread.pop(name, None)
            self.drafts[name] = replace(draft, expected=content_hash(data)), because
            return []
        seen = name in self.unread
        self.unread[name] = draft, because
        label = f"{name} exists; this is its text. Draft it again, whole, if it must change"
        results = [] if seen else [self._show_memory(label, name)]
        if self.read.get(name) == data:  # if it is not drafted again, it needs no change
            del self.unread[name]
        return results

    def _catch(self, draft: Draft, because: int, hold: str = "") -> Catch:
        cited, origin = self.shown.get(because), self.origin
        if cited:
            quote = draft_quote(cited.text)
            origin = replace(origin, message=cited.id, who=cited.who, tool=cited.tool, quote=quote)
        old = self.read.get(draft.name, b"").decode("utf-8", "replace")
        origin = self._rests_on(draft, old, origin)
        hold = (
            hold
            or reason_to_hold_draft(origin)
            or why_draft_removes(draft, old, cited, self.signals)
        )
        draft = replace(draft, source=SOURCE, day=day_of_message(cited))
        # Held drafts are stored without the writer, which would refuse a body with a secret.
        return Catch(origin, mask_secrets_in_draft(draft, body=bool(hold)), hold=hold)

    def _rests_on(self, draft: Draft, old: str, given: Origin) -> Origin:
        """Whose words the draft has; the model's own citation can only lower the trust."""
        if given.who in (AGENT, TOOL):
            return given
        before = {line.strip() for line in old.splitlines()}
        lines = [draft.description] if draft.description not in old else []
        lines += [*draft.body.splitlines(), draft.why, draft.how]
        text = "\n".join(line for line in lines if line.strip() and line.strip() not in before)
        new = "" if draft.name in self.read or draft.name in self.unread else draft.name
        result = find_draft_origin(text, self.said, self.origin, name=new) if text else given
        return given if result.who == given.who == PERSON else result


def _fill_prompt(run: _Run, known: Sequence[Memory], rest: int) -> tuple[str, str, str]:
    """System prompt, first message and the mark around data."""
    prompt = files("memdir.capture").joinpath("prompts/capture.md").read_text(encoding="utf-8")
    # The same exclusions as in the session's prompt.
    session = files("memdir.hot").joinpath("prompts/behaviour.md").read_text(encoding="utf-8")
    start = session.index("## What not to save")
    kinds = [kind for kind in map(types.get, types.names()) if not kind.record]
    days = [day for message in run.shown.values() if (day := day_of_message(message))]
    noticed = [
        f"[{number}] {signal.kind}"
        for number, message in run.shown.items()
        for signal in run.signals
        if signal.said == message
    ]
    lines = [_cut(inert_line(recall_manifest([memory])), LINE_CHARACTERS) for memory in known]
    messages, memories = "\n".join(_message_lines(run)), "\n".join(lines) or "(none)"
    # A hash of all the data: the author of a part cannot predict the mark.
    digest = hashlib.sha256(f"{messages}\0{memories}".encode("utf-8", "replace")).hexdigest()
    values = {
        "turns": MAX_TURNS,
        "project": inert_line(run.reader.project) or "none",
        "store": inert_line(run.reader.store),
        "rest": f"({rest} more memories are not listed.)" if rest > 0 else "",
        "messages": messages,
        "memories": memories,
        "mark": digest[:MARK_CHARACTERS],
        "types": "\n".join(map(describe_type, kinds)),
        "reasons": " and ".join(kind.name for kind in kinds if kind.needs_why),
        "excluded": session[start : session.find("===", start)].strip(),
        "day": days[-1].isoformat() if days else "unknown",
        "noticed": ", ".join(dict.fromkeys(noticed)) or "nothing",
    }
    system, _, user = prompt.partition("\n---\n")
    first, second = (Template(part.strip() + "\n").substitute(values) for part in (system, user))
    return first, second, digest[:MARK_CHARACTERS]


def _number_messages(said: Sequence[Message], signals: Sequence[Signal]) -> dict[int, Message]:
    """The messages to show, by number: those of a person, with their neighbours.

    Messages with a request come first, then the newest, as long as they fit.
    """
    asked = {signal.said.id for signal in signals}
    people = [number for number, item in enumerate(said, 1) if item.who == PERSON and item.text]
    people.sort(key=lambda number: (said[number - 1].id in asked, number), reverse=True)
    near = [number + step for number in people or [len(said)] for step in (0, -1, 1)]
    chosen = [n for n in dict.fromkeys(near) if 0 < n <= len(said) and said[n - 1].text.strip()]
    room, kept = MESSAGES_CHARACTERS, list[int]()
    for number in chosen[:MAX_MESSAGES]:
        message = said[number - 1]
        room -= min(len(message.text), CHARACTERS[message.who]) + 20
        if room < 0 and kept:
            break
        kept.append(number)
    return {number: said[number - 1] for number in sorted(kept)}


def _message_lines(run: _Run) -> Iterator[str]:
    last = 0
    for number, message in run.shown.items():
        if last and number > last + 1:
            yield "…"
        last = number
        text = _cut(mask_draft_secrets(message.text[:SEARCHED_CHARACTERS]), CHARACTERS[message.who])
        for signal in run.signals:
            if signal.said == message and signal.quote not in text:
                text += "\n" + _cut(mask_draft_secrets(signal.quote), QUOTE_CHARACTERS)
        text = inert(text).strip()
        who = f"tool {inert_line(message.tool, 40)}" if message.who == TOOL else message.who
        yield f"[{number}] {who}: {text}"


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: max(limit - len(CUT), 0)] + CUT


def _read_drafts(answer: Answer) -> list[Proposal]:
    proposed = cast("dict[str, Any]", answer.data).get("drafts", [])
    drafts = [_proposal(item) for item in proposed if item["body"].strip()]
    if proposed and not drafts:
        raise BadAnswer(f"{answer.model}: its drafts are empty", usage=answer.usage)
    return drafts[:MAX_DRAFTS]


def _proposal(item: Mapping[str, Any]) -> Proposal:
    body, kind = item["body"].strip(), item["type"].strip().lower()
    draft = Draft(
        body=body,
        type=kind if kind in types.names() else UNKNOWN,
        name=_name(item["name"]),
        description=_one_line(item["description"]),
        # Do not repeat reasons that are in the body.
        why="" if WHY.lower() in body.lower() else _one_line(item.get("why", "")),
        how="" if HOW.lower() in body.lower() else _one_line(item.get("how", "")),
    )
    return draft, item["because"]


def _name(text: str) -> str:
    """A valid file name; empty lets the store choose."""
    name = text.strip().removesuffix(".md")
    if find_secrets(name):
        return ""  # in lower case no rule would recognize the secret
    for candidate in (name, slugify(name)):
        try:
            return check_memory_name(candidate)
        except BadInput:
            continue
    return ""


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:MAX_DESCRIPTION]
