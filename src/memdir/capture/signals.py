"""Requests of a person to remember or forget something, found without a model."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass

from memdir.capture import phrases
from memdir.capture.typed import Sentence, joined, sentence, sentences
from memdir.clients.conversation import PERSON, Message
from memdir.format.draft import Draft
from memdir.text.secrets import find_secrets

# What a person asks for: a rule ("from now on …", "never …") is held until they agree.
REMEMBER, FORGET, RULE = "remember", "forget", "rule"
ASKED_FOR = (REMEMBER, FORGET)


@dataclass(frozen=True)
class Signal:
    """A place in a conversation that may be worth a memory: `quote` are the words themselves."""

    kind: str
    quote: str
    said: Message
    type: str = "unknown"
    doubtful: bool = False  # somebody else may have written it

    @property
    def asked_for(self) -> bool:
        """True where somebody said that it is to be remembered, or forgotten."""
        return self.kind in ASKED_FOR


@dataclass(frozen=True)
class Origin:
    """Where a draft comes from: `who` said what it rests on, and the words, cut short."""

    client: str = ""
    session: str = ""
    message: str = ""
    who: str = ""
    tool: str = ""
    quote: str = ""


@dataclass(frozen=True)
class Catch:
    """What is to become of one thing that capture came to.

    `forget` is what a person wants forgotten, and then there is no draft. `hold` is why a person
    must agree first; empty where it may be saved at once. `refuse` is why it must not be written
    down anywhere: then it carries no text.
    """

    origin: Origin
    draft: Draft | None = None
    forget: str = ""
    hold: str = ""
    refuse: str = ""


def day_of(said: Message | None) -> datetime.date | None:
    """The user's day on which something was said, where that is known."""
    if said is None or not said.time:
        return None
    try:
        return datetime.datetime.fromtimestamp(said.time).astimezone().date()
    except (ValueError, OverflowError, OSError):
        return None


SECRET = "[left out: it looks like a secret]"


def masked(text: str) -> str:
    """The text without the lines that hold secrets; a key's block goes as a whole."""
    found = find_secrets(text)
    if not found:
        return text
    lines = text.split("\n")
    for secret in found:
        lines[secret.line - 1] = SECRET
        if secret.rule in ("private-key", "putty-key"):
            end = next(
                (n for n, line in enumerate(lines) if n >= secret.line and "-----END" in line),
                len(lines) - 1,
            )
            lines[secret.line - 1 : end + 1] = [SECRET] * (end + 2 - secret.line)
    return "\n".join(lines)


MAX_SIGNALS = 12  # of one message; who asks for more than that has pasted it
MAX_LISTED = 10  # sentences behind "remember these:"
MIN_WORDS = 3  # of a text that can stand alone
MIN_DENSE_CHARACTERS = 4  # the same in scripts without spaces
MIN_SPOKEN_WORDS = 6  # of a sentence that a model may learn something from
_KINDS = (
    (phrases.REMEMBER, REMEMBER),
    (phrases.FORGET, FORGET),
    (phrases.RULE, RULE),
    (phrases.FROM_NOW, RULE),
)


def notice(said: Sequence[Message]) -> list[Signal]:
    """The requests in what people typed; what tools gave back and agents said asks for nothing."""
    return [signal for item in said if item.who == PERSON for signal in _in_message(item)]


def is_worth_reading(said: Sequence[Message], signals: Sequence[Signal]) -> bool:
    """Did a person say more than these requests, that a model could learn something from?"""
    quotes = [signal.quote for signal in signals]
    typed = (part for item in said if item.who == PERSON for part in sentences(item.text))
    return any(
        (len(part.text.split()) >= MIN_SPOKEN_WORDS or _is_dense(part.text))
        and not part.asks
        and not any(part.text in quote for quote in quotes)
        for part in typed
    )


def request(said: Sentence) -> tuple[str, int, int]:
    """The kind of request in a sentence, and where its words begin and end; kind "" for none."""
    matches = [
        (match.start(match.lastgroup or 0), kind, match)
        for name, kind in _KINDS
        if (match := phrases.find(name, said.bare)) is not None
    ]
    if not matches:
        return "", 0, 0
    start, kind, match = min(matches, key=lambda item: item[0])
    # "Can you remember that …?" asks for it; "remember that …?" asks about it.
    asks = said.asks and (kind == RULE or "you" not in (match["lead"] or "").split())
    if asks or (kind != REMEMBER and phrases.mentions("work", said.bare)):
        return "", 0, 0
    return kind, start, match.end()


def statement(text: str) -> str:
    """A request without its first words, where a whole sentence is left; else all of it."""
    said = sentence(text)
    kind, start, end = request(said)
    rest = phrases.follows(said.bare, end) if kind == REMEMBER else 0
    if not rest or any(map(str.isalnum, phrases.without("lead", said.bare[:start]))):
        return text
    kept = text[rest:].strip()
    return kept if _says_something(kept) else text


def names_something(text: str) -> bool:
    """Does a request say what is to be kept? "remember this" does not."""
    said = sentence(text)
    _, start, end = request(said)
    before = phrases.without("lead", said.bare[:start])
    return _says_something(before) or _says_something(phrases.without("back", said.bare[end:]), 1)


def type_of(kind: str, text: str) -> str:
    """The type of memory that a request becomes, by how it begins."""
    bare = sentence(text).bare
    if kind == RULE or phrases.begins("order", bare):
        return "feedback"
    if "://" in text:
        return "reference"
    return "user" if phrases.begins("self", bare) else "project"


def _in_message(message: Message) -> list[Signal]:
    own = sentences(message.text)
    result: list[Signal] = []
    last = -1  # the last sentence that belongs to a request
    for index, said in enumerate(own):
        if index <= last or len(result) == MAX_SIGNALS:
            continue
        kind, _, _ = request(said)
        if not kind:
            continue
        first, end = _span(own, index) if kind == REMEMBER else (index, index)
        if first <= last:  # "remember …; keep that in mind" asks once
            continue
        last = end
        quoted = own[first : last + 1]
        quote = joined(quoted)
        doubtful = any(item.doubtful for item in quoted)
        type = "unknown" if kind == FORGET else type_of(kind, statement(quote))
        result.append(Signal(kind, quote, message, type, doubtful))
    return result


def _span(own: Sequence[Sentence], index: int) -> tuple[int, int]:
    """The first and the last sentence of a request: "remember this:" means what follows."""
    said = own[index]
    if names_something(said.text):
        return index, index
    if said.bare.rstrip().endswith((":", "：")):
        block = own[index + 1].block if index + 1 < len(own) else said.block
        last = index
        while last - index < MAX_LISTED and last + 1 < len(own) and own[last + 1].block == block:
            last += 1
        return index, last
    if index and not own[index - 1].asks:
        return index - 1, index
    return index, index


def _says_something(text: str, min_words: int = MIN_WORDS) -> bool:
    words = [word for word in text.split() if any(map(str.isalnum, word))]
    return len(words) >= min_words or _is_dense(text)


def _is_dense(text: str) -> bool:
    return sum("\u3040" <= char <= "\u9fff" for char in text) >= MIN_DENSE_CHARACTERS
