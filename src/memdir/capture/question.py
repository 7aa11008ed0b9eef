"""The question to the capture model, with all content marked as data, and its answer."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from string import Template

from memdir.capture.signals import Signal, day_of, mask_secrets
from memdir.clients.conversation import AGENT, PERSON, TOOL, Message
from memdir.errors import BadInput
from memdir.format.draft import HOW, MAX_DESCRIPTION, WHY, Draft
from memdir.format.names import check_name, slugify
from memdir.hot import types
from memdir.hot.behaviour import type_line
from memdir.hot.memory import UNKNOWN, Memory
from memdir.hot.safe import inert, inert_line
from memdir.models.model import Answer, BadAnswer
from memdir.recall.choose import manifest
from memdir.text.secrets import find_secrets

MAX_MESSAGES = 20
MESSAGES_CHARACTERS = 7_000  # all of them together
REQUEST_CHARACTERS = 1_500  # of a message with a request
CHARACTERS = {PERSON: 700, AGENT: 350, TOOL: 140}
SEARCHED_CHARACTERS = 20_000  # of a message; nobody types more
LINE_CHARACTERS = 140  # of a memory in the list
BODY_CHARACTERS = 8_000
MARK_CHARACTERS = 12
CUT = " […]"
MAX_DRAFTS = 10  # of one turn
DRAFT_TEXTS = ("name", "type", "description", "body", "why", "how")
Proposal = tuple[Draft, int]  # and the number of the message it cites


def _objects(required: str, optional: str = "") -> dict[str, object]:
    names = f"{required} {optional}".split()
    numbers = ("because", "start", "lines")
    kinds = {name: {"type": "integer" if name in numbers else "string"} for name in names}
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


def fill_prompt(
    shown: dict[int, Message],
    signals: Sequence[Signal],
    known: Sequence[Memory],
    whole: Mapping[str, str],
    values: Mapping[str, object],
) -> tuple[str, str, str]:
    """System prompt, first message and the mark around data; `whole`: memories given in full."""
    prompt = files("memdir.capture").joinpath("prompts/capture.md").read_text(encoding="utf-8")
    # The same exclusions as in the session's prompt.
    session = files("memdir.hot").joinpath("prompts/behaviour.md").read_text(encoding="utf-8")
    start = session.index("## What not to save")
    kinds = [kind for kind in map(types.get, types.names()) if not kind.record]
    days = [day for message in shown.values() if (day := day_of(message))]
    lines = [cut(inert_line(manifest([memory])), LINE_CHARACTERS) for memory in known]
    texts = [f"\n\n[{inert_line(name)}.md]\n{inert(text)}" for name, text in whole.items()]
    noticed = [(n, it.kind) for n, message in shown.items() for it in signals if it.said == message]
    data = {
        "messages": "\n".join(_message_lines(shown, signals)),
        "memories": ("\n".join(lines) or "(none)") + "".join(texts),
    }
    # A hash of all the data: the author of a part cannot predict the mark.
    digest = hashlib.sha256("\0".join(data.values()).encode("utf-8", "replace")).hexdigest()
    mark = digest[:MARK_CHARACTERS]
    filled = {
        **values,
        **data,
        "mark": mark,
        "types": "\n".join(map(type_line, kinds)),
        "reasons": " and ".join(kind.name for kind in kinds if kind.needs_why),
        "excluded": session[start : session.find("===", start)].strip(),
        "day": days[-1].isoformat() if days else "unknown",
        "noticed": ", ".join(f"[{n}] {kind}" for n, kind in dict.fromkeys(noticed)) or "nothing",
    }
    system, _, user = prompt.partition("\n---\n")
    first, second = (Template(part.strip() + "\n").substitute(filled) for part in (system, user))
    return first, second, mark


def number_messages(said: Sequence[Message], signals: Sequence[Signal]) -> dict[int, Message]:
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
        room -= min(len(message.text), _limit(message, message.id in asked)) + 20
        if room < 0 and kept:
            break
        kept.append(number)
    return {number: said[number - 1] for number in sorted(kept)}


def _message_lines(shown: dict[int, Message], signals: Sequence[Signal]) -> Iterator[str]:
    last = 0
    for number, message in shown.items():
        words = next((signal.quote for signal in signals if signal.said == message), "")
        if last and number > last + 1:
            yield "…"
        last = number
        text = mask_secrets(_around(message.text, words, SEARCHED_CHARACTERS))
        text = inert(_around(text, words, _limit(message, bool(words)))).strip()
        who = message.who
        if who == TOOL:
            size = f"excerpt of {len(message.text):,} characters"
            who = f"tool {inert_line(message.tool, 40)} ({size})"
        yield f"[{number}] {who}: {text}"


def _limit(message: Message, asked: bool) -> int:
    return REQUEST_CHARACTERS if asked and message.who != TOOL else CHARACTERS.get(message.who, 0)


def _around(text: str, words: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    index = max(text.find(words[:80]) if words else 0, 0)
    start = max(min(index - limit // 4, len(text) - limit), 0)
    return (CUT.strip() + " " if start else "") + cut(text[start:], limit)


def cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: max(limit - len(CUT), 0)] + CUT


def read_drafts(answer: Answer) -> list[Proposal]:
    data = answer.data if isinstance(answer.data, dict) else {}
    proposed = data.get("drafts") or []
    drafts = [_proposal(item) for item in proposed if item["body"].strip()]
    if proposed and not drafts:
        raise BadAnswer(f"{answer.model}: its drafts are empty", usage=answer.usage)
    return drafts[:MAX_DRAFTS]


def _proposal(item: Mapping[str, object]) -> Proposal:
    texts = {key: str(item.get(key) or "") for key in DRAFT_TEXTS}
    body = texts["body"].strip()[:BODY_CHARACTERS]
    kind = texts["type"].strip().lower()
    draft = Draft(
        body=body,
        type=kind if kind in types.names() else UNKNOWN,
        name=_name(texts["name"]),
        description=_one_line(texts["description"]),
        # Do not repeat reasons that are in the body.
        why="" if WHY.lower() in body.lower() else _one_line(texts["why"]),
        how="" if HOW.lower() in body.lower() else _one_line(texts["how"]),
    )
    because = item.get("because")
    return draft, because if type(because) is int else 0


def _name(text: str) -> str:
    """A valid file name; empty lets the store choose."""
    name = text.strip().removesuffix(".md")
    if find_secrets(name):
        return ""  # in lower case no rule would recognize the secret
    for candidate in (name, slugify(name)):
        try:
            return check_name(candidate)
        except BadInput:
            continue
    return ""


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:MAX_DESCRIPTION]
