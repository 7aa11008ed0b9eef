"""One question to a model: which memories is this conversation worth?

The model has no tools. It sees the person's messages, the agent's in short and a list of memories,
all marked as data, and answers with drafts. If one would change a memory, the model is shown that
memory and asked once more.

A draft names the words of the person that it rests on. It is dropped if no person said them. It is
held if they look pasted, if they have no word in common with the draft, if the draft turns them
around, or if a sentence, address or command in it is only a tool's: an instruction planted in a web
page hides among words that a person did say.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import chain
from string import Template
from typing import Any, cast

from memdir.audit.disagree import contradicts_messages
from memdir.capture.inbox import MAX_NAME_BYTES
from memdir.capture.signals import (
    PASTED,
    SOURCE,
    Catch,
    Origin,
    capture_removes_unmentioned_lines,
    day_of_message,
    draft_quote,
    mask_draft_secrets,
)
from memdir.capture.typed import typed_words
from memdir.clients.conversation import AGENT, PERSON, TOOL, Message
from memdir.errors import BadInput, MemdirError
from memdir.format.draft import HOW, MAX_DESCRIPTION, WHY, Draft, content_hash
from memdir.format.names import check_memory_name, slugify
from memdir.hot import types
from memdir.hot.behaviour import describe_type
from memdir.hot.memory import UNKNOWN, Memory, decode
from memdir.hot.safe import inert, inert_line
from memdir.hot.words import Words
from memdir.models.model import BadAnswer, Model, Question, Turn, Usage
from memdir.recall.choose import recall_manifest
from memdir.text import markdown
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
        taken = old and capture_removes_unmentioned_lines(draft, before, message)
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


# Whose words a draft rests on

PIECE_CHARACTERS = 400  # of a tool's text, compared at once; a long output has every word somewhere
MAX_HEARD_CHARACTERS = 400_000  # of tools; older text is ignored
STRETCH_CHARACTERS = 4_000  # of a draft
SAID_SHARE = 0.5  # of a sentence's words, to be its speaker
MIN_WORDS = 3  # shorter sentences could be anybody's
MIN_QUOTE_CHARACTERS = 4
ONLY_AGENT = "only the agent said it; nobody confirmed it"
TURNED_AROUND = "it says the opposite of what was said"
_HOST = re.compile(r"(?i)\bhttps?://([\w.-]{3,100})")
# Without https://, a host is known by its ending or by a path after it; app.py is not a host.
_BARE_HOST = re.compile(
    r"(?i)(?<![\w./@-])((?:[a-z0-9][a-z0-9-]{0,40}\.){1,5}"
    r"(?:(?:com|org|net|io|dev|ai|app|co|info|biz|xyz|test|example|local|internal|cloud|site|online"
    r"|top|ru|cn|de|uk|eu|fr|nl|ch|me|tk|su)(?![\w-])|[a-z]{2,12}(?=[/:])))"
)
_NUMBERS = re.compile(r"(?<![\w.])((?:\d{1,3}\.){3}\d{1,3})(?!\w|\.\d)")
_COMMAND = re.compile(r"`([^`\n]{3,200})`")


def trace_captured_draft(
    text: str, name: str, quote: str, said: Sequence[Message], origin: Origin
) -> tuple[Message, Origin, str] | None:
    """The person's message that a draft rests on, its origin, and why it must be held.

    None if no person said the quote. `name` is the name of a new memory, which may say more.
    """
    message = _find_quoted(quote, said)
    if message is None:
        return None
    origin = replace(origin, message=message.id, who=PERSON, quote=draft_quote(quote))
    if _plain(quote) not in _plain(typed_words(message.text)):
        return message, origin, PASTED
    words = Words()
    title = name.replace("-", " ").replace("_", " ")
    if tool := _find_tool(f"{text}\n\n{title}", said, words):
        origin = replace(origin, who=TOOL, tool=tool.tool, message=tool.id)
        named = f" ({inert_line(tool.tool, MAX_NAME_BYTES)})" if tool.tool else ""
        return message, origin, f"it comes from what a tool gave back{named}, not from you"
    if not words.count(quote)[0].keys() & words.count(f"{text}\n{title}")[0].keys():
        return message, replace(origin, who=AGENT), ONLY_AGENT
    spoken = [typed_words(item.text) for item in said if item.who == PERSON]
    if contradicts_messages(text, spoken, words):
        return message, replace(origin, who=AGENT), TURNED_AROUND
    return message, origin, ""


def _find_quoted(quote: str, said: Sequence[Message]) -> Message | None:
    plain = _plain(quote)
    if len(plain) < MIN_QUOTE_CHARACTERS:
        return None
    people = (item for item in reversed(said) if item.who == PERSON)
    return next((item for item in people if plain in _plain(item.text)), None)


def _plain(text: str) -> str:
    """Letters and digits: spaces and punctuation are easily copied wrongly."""
    return "".join(filter(str.isalnum, text.casefold()))


def _find_tool(text: str, said: Sequence[Message], words: Words) -> Message | None:
    """The output with a sentence, address or command of the draft that no person said."""
    outputs = [*_pieces([item for item in said if item.who == TOOL])]
    spoken = [item.text for item in said if item.who == PERSON]
    heard = [frozenset(words.count(item)[0]) for item in spoken]
    for sentence in _sentences(text, words):
        mine = max((len(sentence & item) for item in heard), default=0) / len(sentence)
        for message, piece in outputs if mine < SAID_SHARE else ():
            if len(sentence.intersection(words.count(piece)[0])) >= SAID_SHARE * len(sentence):
                return message
    agents = [item.text for item in said if item.who == AGENT]
    hosts = chain(_HOST.findall(text), _BARE_HOST.findall(text), _NUMBERS.findall(text))
    commands = (command for command in _COMMAND.findall(text) if len(command.split()) > 1)
    for wanted, trusted in ((hosts, spoken), (commands, spoken + agents)):
        for item in {item.lower().rstrip(".") for item in wanted}:
            naming = (message for message, piece in outputs if item in piece.lower())
            if not any(item in other.lower() for other in trusted) and (by := next(naming, None)):
                return by
    return None


def _pieces(outputs: Sequence[Message]) -> Iterator[tuple[Message, str]]:
    """They overlap: what one piece cuts in two, the next one has whole."""
    left = MAX_HEARD_CHARACTERS
    for item in reversed(outputs):
        text = item.text[:left]
        left -= len(text)
        step = PIECE_CHARACTERS // 2
        for start in range(0, max(len(text) - step, 1), step):
            yield item, text[start : start + PIECE_CHARACTERS]


def _sentences(text: str, words: Words) -> Iterator[frozenset[str]]:
    """Words of each sentence; short ones count with the next."""
    held: frozenset[str] = frozenset()
    # In stretches, because the end of a long text would be ignored.
    for start in range(0, len(text), STRETCH_CHARACTERS):
        for sentence, _ in markdown.split_sentences(text[start : start + STRETCH_CHARACTERS]):
            held |= frozenset(words.count(sentence)[0])
            if len(held) >= MIN_WORDS:
                yield held
                held = frozenset()
