"""Whose words a draft rests on: a person's, the agent's, or a tool's output.

A draft of a model names the words of the person that it rests on. It is dropped if no person said
them. It is held if they look pasted, if they have no word in common with the draft, if the draft
turns the person's words around, or if a sentence, address or command in it is only a tool's: an
instruction planted in a web page hides among words that a person did say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from memdir.audit.disagree import find_contradicting_clauses
from memdir.capture.signals import MAX_QUOTE_BYTES, PASTED, SOURCE, Origin, draft_quote
from memdir.capture.typed import typed_words
from memdir.clients.conversation import AGENT, PERSON, TOOL, Message
from memdir.format.draft import Draft
from memdir.hot.safe import inert_line
from memdir.hot.words import Words
from memdir.text import markdown, secrets

MAX_NAME_BYTES = 80  # of a session, message or tool, named by a client
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
    if [*find_contradicting_clauses(text, spoken, words)]:
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


def sign_captured_draft(draft: Draft, origin: Origin) -> Draft:
    said_by = " ".join(filter(None, (origin.who, origin.tool))) or "unknown"
    metadata = {
        "metadata.client": origin.client,
        "metadata.session": origin.session,
        "metadata.message": origin.message,
        "metadata.said_by": said_by,
    }
    lines = {key: inert_line(value, MAX_NAME_BYTES) for key, value in metadata.items() if value}
    kept = [(key, value) for key, value in draft.extra if key not in metadata]
    # An id that looks like a secret would get the whole draft refused.
    safe = [(key, value) for key, value in lines.items() if not secrets.find_secrets(value)]
    return replace(draft, source=SOURCE, extra=(*kept, *safe))


def describe_draft_origin(values: Mapping[str, str]) -> str:
    labels = {key: values.get(f"metadata.{key}", "") for key in ("said_by", "client", "session")}
    if not labels["said_by"]:
        elsewhere = inert_line(values.get("metadata.imported_from", ""), MAX_QUOTE_BYTES)
        return f"imported from {elsewhere}" if elsewhere else ""
    place = ", session ".join(filter(None, (labels["client"], labels["session"])))
    return f"captured: said by {labels['said_by']}" + (f" ({place})" if place else "")
