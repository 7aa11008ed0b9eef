"""One question to a model: which memories is this conversation worth?

The model has no tools. It sees the person's messages, the agent's in short and a list of memories,
all marked as data, and answers with drafts. If one would change a memory, the model is shown that
memory and asked once more.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.resources import files
from string import Template
from typing import Any, cast

from memdir.capture.origin import trace_captured_draft
from memdir.capture.signals import (
    SOURCE,
    Catch,
    Origin,
    day_of_message,
    mask_draft_secrets,
    removes_unmentioned_lines,
)
from memdir.clients.conversation import AGENT, PERSON, Message
from memdir.errors import BadInput, MemdirError
from memdir.format.draft import HOW, MAX_DESCRIPTION, WHY, Draft, content_hash
from memdir.format.names import check_memory_name, slugify
from memdir.hot import types
from memdir.hot.behaviour import describe_type
from memdir.hot.memory import UNKNOWN, Memory, decode
from memdir.hot.safe import inert, inert_line
from memdir.models.model import BadAnswer, Model, Question, Turn, Usage
from memdir.recall.choose import recall_manifest
from memdir.text.secrets import find_secrets, text_before_secrets

MAX_DRAFTS = 5
MAX_ANSWER_TOKENS = 1_200  # of five drafts
MAX_MESSAGES = 40
MESSAGES_CHARACTERS = 7_000  # all of them together
CHARACTERS = {PERSON: 2_000, AGENT: 350}  # of a message
MEMORY_CHARACTERS = 4_000  # the model must see all of a memory to change it
MEMORIES_CHARACTERS = 6_000  # all that it is shown
SEARCHED_CHARACTERS = 20_000  # of a message; nobody types more
LINE_CHARACTERS = 140  # of a memory in the list
MARK_CHARACTERS = 12
CUT = " […] "
NOTHING = Usage()
UNUSABLE = "the model's answer could not be used"
NOBODY_SAID_IT = "the person did not say the words it rests on"
TAKEN_AWAY = "it takes lines away that nobody asked to change"

_TEXTS = {"type": "array", "items": {"type": "string"}}
_REQUIRED = ["name", "type", "description", "body", "quote"]
_DRAFT = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in (*_REQUIRED, "why", "how")},
    "required": _REQUIRED,
}
SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"drafts": {"type": "array", "items": _DRAFT}, "read": _TEXTS},
    "required": ["drafts"],
}


@dataclass(frozen=True)
class Memories:
    """`listed` are the related ones, best first; `read` finds one of the store by its name."""

    listed: Sequence[Memory]
    total: int
    read: Callable[[str], tuple[str, bytes] | None]


@dataclass(frozen=True)
class Drafted:
    """`reason`: why the answer is not complete."""

    catches: tuple[Catch, ...] = ()
    usage: Usage = NOTHING
    reason: str = ""

    @property
    def summary(self) -> str:
        names = [item.draft.name or "a new one" for item in self.catches if item.draft]
        return text_before_secrets(f"drafted {', '.join(names)}") if names else "nothing"


def ask_for_drafts(
    said: Sequence[Message], origin: Origin, memories: Memories, model: Model, seconds: float
) -> Drafted:
    """Raises if the model cannot be asked; a bad answer is a `reason`."""
    system, user, mark = _fill_prompt(said, memories)
    question = Question(system, user, SCHEMA, MAX_ANSWER_TOKENS, seconds, more=True)
    known: dict[str, bytes | None] = {}  # by name; None if it was not shown whole
    drafts: list[tuple[Draft, str]] = []
    usage, reason = Usage(), ""
    try:
        answer = model.answer(question)
        usage, data = answer.usage, cast("dict[str, Any]", answer.data)
        drafts = _read_drafts(data, memories)
        wanted = [*data.get("read", [])[:MAX_DRAFTS], *(draft.name for draft, _ in drafts)]
        known, texts = _show_memories(wanted, memories, mark)
        if known:
            drafts = [(draft, quote) for draft, quote in drafts if draft.name not in known]
            turn = Turn(json.dumps(data), texts)
            answer = model.answer(replace(question, earlier=(turn,)))
            usage = usage.plus(answer.usage)
            drafts += _read_drafts(cast("dict[str, Any]", answer.data), memories)
    except BadAnswer as error:
        usage = usage.plus(error.usage or NOTHING)
        reason = f"{UNUSABLE}: {error.message}"
    except MemdirError as error:
        if not drafts:
            raise
        reason = error.message
    last = {draft.name or f"\0{n}": (draft, quote) for n, (draft, quote) in enumerate(drafts)}
    catches = [_catch(*item, said, origin, known) for item in [*last.values()][:MAX_DRAFTS]]
    return Drafted(tuple(catches), usage, reason)


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


def _show_memories(
    names: Sequence[str], memories: Memories, mark: str
) -> tuple[dict[str, bytes | None], str]:
    """The memories of these names, and the text that shows them to the model."""
    known: dict[str, bytes | None] = {}
    texts, room = [], MEMORIES_CHARACTERS
    for name in names:
        found = memories.read(name)
        if found is None or found[0] in known:
            continue
        text = decode(found[1])
        safe = inert(mask_draft_secrets(text)).replace(mark, "…")
        shown = safe[: min(room, MEMORY_CHARACTERS)]
        room -= len(shown)
        is_whole = shown == safe and mask_draft_secrets(text) == text
        known[found[0]] = found[1] if is_whole else None
        texts.append(f"[{inert_line(found[0])}]\n{shown}")
    told = f"<memories {mark}>\n" + "\n".join(texts) + f"\n</memories {mark}>\n\n"
    return known, told + "Draft those that must change, with their whole new text, and no others."


def _catch(
    draft: Draft,
    quote: str,
    said: Sequence[Message],
    origin: Origin,
    known: Mapping[str, bytes | None],
) -> Catch:
    old = known.get(draft.name)
    before = decode(old) if old else ""
    lines = {line.strip() for line in before.splitlines()}
    parts = [draft.description, *draft.body.splitlines(), draft.why, draft.how]
    new = "\n".join(part for part in parts if part.strip() not in lines)
    title = "" if draft.name in known else draft.name
    traced = trace_captured_draft(new, title, quote, said, origin)
    if traced is None:
        return Catch(origin, Draft("", draft.type, draft.name), refuse=NOBODY_SAID_IT)
    message, origin, hold = traced
    if draft.name in known:
        unread = f"it would replace {draft.name}, which the model did not see whole"
        hold = hold or ("" if old else unread)
        taken = old and removes_unmentioned_lines(draft, before, message)
        hold = hold or (TAKEN_AWAY if taken else "")
        draft = replace(draft, expected=content_hash(old) if old else None)
    draft = replace(draft, source=SOURCE, day=day_of_message(message))
    # Held drafts are stored without the writer, which would refuse a body with a secret.
    return Catch(origin, mask_secrets_in_draft(draft, body=bool(hold)), hold=hold)


def _fill_prompt(said: Sequence[Message], memories: Memories) -> tuple[str, str, str]:
    """System prompt, message and the mark around data."""
    prompt = files("memdir.capture").joinpath("prompts/capture.md").read_text(encoding="utf-8")
    # The same exclusions as in the session's prompt.
    session = files("memdir.hot").joinpath("prompts/behaviour.md").read_text(encoding="utf-8")
    start = session.index("## What not to save")
    kinds = [kind for kind in map(types.get, types.names()) if not kind.record]
    days = [day for message in said if (day := day_of_message(message))]
    lines = [_cut(inert_line(recall_manifest([item])), LINE_CHARACTERS) for item in memories.listed]
    messages, listed = "\n".join([*_message_lines(said)][::-1]), "\n".join(lines) or "(none)"
    rest = memories.total - len(memories.listed)
    # A hash of all the data: the author of a part cannot predict the mark.
    digest = hashlib.sha256(f"{messages}\0{listed}".encode("utf-8", "replace")).hexdigest()
    values = {
        "drafts": MAX_DRAFTS,
        "rest": f"({rest} more memories are not listed.)" if rest > 0 else "",
        "messages": messages,
        "memories": listed,
        "mark": digest[:MARK_CHARACTERS],
        "types": "\n".join(map(describe_type, kinds)),
        "reasons": " and ".join(kind.name for kind in kinds if kind.needs_why),
        "excluded": session[start : session.find("===", start)].strip(),
        "day": days[-1].isoformat() if days else "unknown",
    }
    system, _, user = prompt.partition("\n---\n")
    first, second = (Template(part.strip() + "\n").substitute(values) for part in (system, user))
    return first, second, digest[:MARK_CHARACTERS]


def _message_lines(said: Sequence[Message]) -> Iterator[str]:
    """The newest first: all of the person's, and the agent's last words before each of them."""
    room, count, by = MESSAGES_CHARACTERS, 0, ""
    for message in reversed(said):
        is_new_turn = message.who == PERSON or by != AGENT
        if message.who not in CHARACTERS or not message.text.strip() or not is_new_turn:
            continue
        text = mask_draft_secrets(message.text[:SEARCHED_CHARACTERS])
        text = inert(_cut(text, CHARACTERS[message.who])).strip()
        room, count, by = room - len(text), count + 1, message.who
        if (room < 0 and count > 1) or count > MAX_MESSAGES:
            return
        yield f"{message.who}: {text}"


def _cut(text: str, limit: int) -> str:
    """Its start and its end."""
    half = (limit - len(CUT)) // 2
    return text if len(text) <= limit else text[:half] + CUT + text[-half:]


def _read_drafts(answer: Mapping[str, Any], memories: Memories) -> list[tuple[Draft, str]]:
    """With the words that each rests on."""
    items = [item for item in answer["drafts"] if item["body"].strip()]
    if answer["drafts"] and not items:
        raise BadAnswer("its drafts are empty")
    return [(_draft(item, memories), item["quote"]) for item in items]


def _draft(item: Mapping[str, Any], memories: Memories) -> Draft:
    body, kind = item["body"].strip(), item["type"].strip().lower()
    name = _name(item["name"])
    found = memories.read(name) if name else None
    return Draft(
        body=body,
        type=kind if kind in types.names() else UNKNOWN,
        name=found[0] if found else name,
        description=_one_line(item["description"]),
        # Do not repeat reasons that are in the body.
        why="" if WHY.lower() in body.lower() else _one_line(item.get("why", "")),
        how="" if HOW.lower() in body.lower() else _one_line(item.get("how", "")),
    )


def _name(text: str) -> str:
    """A valid file name; empty lets the store choose."""
    name = text.strip().removesuffix(".md")
    # In lower case no rule would recognize a secret.
    for candidate in (name, slugify(name)) if not find_secrets(name) else ():
        with suppress(BadInput):
            return check_memory_name(candidate)
    return ""


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:MAX_DESCRIPTION]
