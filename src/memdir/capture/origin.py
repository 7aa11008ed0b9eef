"""Whose words a draft rests on: a person's, the agent's own, or what a tool gave back.

Sentence by sentence: who has most of its rarer words in one message. A person wins ties. One
sentence that only a tool's text bears out makes all of the draft the tool's: whoever plants an
instruction in a web page hides it among words that a person did say. One that turns a person's
words around, or that nobody said where tools were heard, too, makes it nobody's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from memdir.audit.disagree import find_turned
from memdir.capture.signals import Origin
from memdir.clients.conversation import AGENT, PERSON, TOOL, Message
from memdir.format.draft import Draft
from memdir.hot.safe import inert_line
from memdir.hot.words import Words
from memdir.text import markdown, secrets

SOURCE = "capture"  # who saved it, as its header says
LONGEST_QUOTE = 240  # bytes
LONGEST_NAME = 80  # bytes of a session, a message, a tool, as somebody else calls them
PIECE = 400  # characters that are compared at once: a long output has every word somewhere
PERSON_PIECE = 4_000  # what a person writes belongs together
MOST_CHARACTERS = 400_000  # of the agent and of tools; the newest count, older is nobody's
STRETCH = 4_000  # characters of a draft
MOST = 0.5  # share of a sentence's words that makes it somebody's
LEAST = 0.25  # share below which a person did not say it, whoever else did not either
ENOUGH = 1 / 3  # share of a draft that a person said; the rest is how the agent puts it
FEWEST = 3  # words; shorter sentences are anybody's
NOBODY = ""
_HOST = re.compile(r"(?i)\bhttps?://([\w.-]{3,100})")
# Without https:// it is a host by its end, or by the path behind it; app.py is none.
_BARE_HOST = re.compile(
    r"(?i)(?<![\w./@-])((?:[a-z0-9][a-z0-9-]{0,40}\.){1,5}"
    r"(?:(?:com|org|net|io|dev|ai|app|co|info|biz|xyz|test|example|local|internal|cloud|site|online"
    r"|top|ru|cn|de|uk|eu|fr|nl|ch|me|tk|su)(?![\w-])|[a-z]{2,12}(?=[/:])))"
)
_NUMBERS = re.compile(r"(?<![\w.])((?:\d{1,3}\.){3}\d{1,3})(?!\w|\.\d)")
_COMMAND = re.compile(r"`([^`\n]{3,200})`")


@dataclass(frozen=True)
class _Piece:
    """A stretch of what somebody said, and the words that it shares with the draft."""

    said: Message
    text: str
    words: frozenset[str]


def rests_on(text: str, said: Sequence[Message], origin: Origin, name: str = "") -> Origin:
    """The origin with who said what the text says, where, and the words, cut short.

    `name` is what a new memory is to be called; it may say what its text does not.
    """
    words = Words()
    parts = [*_parts(text, words), *_told_by_name(name, text, words)]
    pieces = list(_pieces(said, words, frozenset().union(*parts)))
    weights = _weights(pieces)
    heard = any(one.who == TOOL for one in said)
    found = [_speaker(terms, pieces, weights, heard) for terms in parts]
    spoken = [one.text for one in pieces if one.said.who == PERSON]
    for clause in find_turned(text, spoken, words):
        by_tool = [one for one in pieces if one.said.who == TOOL and clause.about <= one.words]
        found.append((TOOL, 0.0, by_tool[0]) if by_tool else (NOBODY, 0.0, None))
    found += [(TOOL, 0.0, piece) for piece in _foreign(f"{text}\n{name}", pieces)]
    who, piece = _decide(found)
    if piece is None:
        return replace(origin, who=who, message="", tool="", quote="")
    return replace(
        origin,
        who=who,
        message=piece.said.id,
        tool=piece.said.tool if who == TOOL else "",
        quote=quote(_from_the_point(piece, words)),
    )


def untrusted(origin: Origin) -> str:
    """Why a person must agree before this is saved; empty where a person said it."""
    if origin.who == PERSON:
        return ""
    if origin.who == TOOL:
        tool = f" ({inert_line(origin.tool, LONGEST_NAME)})" if origin.tool else ""
        return f"it comes from what a tool gave back{tool}, not from what you said"
    if origin.who == AGENT:
        return "only the agent said it; nobody confirmed it"
    return "nobody knows who said it"


def quote(text: str) -> str:
    """A few words as one harmless line, nothing from a secret on."""
    return inert_line(" ".join(secrets.before_secrets(text).split()), LONGEST_QUOTE)


def signed(draft: Draft, origin: Origin) -> Draft:
    """The draft with where it comes from in its header: every memory tells who said it."""
    said_by = " ".join(filter(None, (origin.who, origin.tool))) or "unknown"
    told = {
        "metadata.client": origin.client,
        "metadata.session": origin.session,
        "metadata.message": origin.message,
        "metadata.said_by": said_by,
    }
    lines = {key: inert_line(value, LONGEST_NAME) for key, value in told.items() if value}
    kept = [(key, value) for key, value in draft.extra if key not in told]
    # An id that looks like a key to something would have the whole draft refused.
    safe = [(key, value) for key, value in lines.items() if not secrets.find_secrets(value)]
    return replace(draft, source=SOURCE, extra=(*kept, *safe))


def told_by(values: Mapping[str, str]) -> str:
    """Where a header says that a memory comes from, in words; empty where it does not say it."""
    said = {key: values.get(f"metadata.{key}", "") for key in ("said_by", "client", "session")}
    if not said["said_by"]:
        elsewhere = inert_line(values.get("metadata.imported_from", ""), LONGEST_QUOTE)
        return f"imported from {elsewhere}" if elsewhere else ""
    place = ", session ".join(filter(None, (said["client"], said["session"])))
    return f"captured: said by {said['said_by']}" + (f" ({place})" if place else "")


def _pieces(said: Sequence[Message], words: Words, wanted: frozenset[str]) -> Iterator[_Piece]:
    """What was said of this, in pieces, the newest first; of machines not more than so much."""
    left = MOST_CHARACTERS
    for one in reversed(said):
        text = one.text if one.who == PERSON else one.text[:left]
        left -= 0 if one.who == PERSON else len(text)
        for part in _cut(text, PERSON_PIECE if one.who == PERSON else PIECE):
            shared = wanted.intersection(words.count(part)[0])
            if shared:
                yield _Piece(one, part, shared)


def _cut(text: str, size: int) -> Iterator[str]:
    """Overlapping pieces that begin and end at a blank where there is one."""
    at = 0
    while at < len(text):
        end = at + size
        if end < len(text):
            end = max(text.rfind(" ", at + size // 2, end), text.rfind("\n", at + size // 2, end))
            end = end if end > at else at + size
        yield text[at:end]
        if end >= len(text):
            return
        half = at + size // 2
        at = text.find(" ", half, end) + 1 or half


def _weights(pieces: Sequence[_Piece]) -> dict[str, float]:
    """How much a word tells: what stands in many places, tells little."""
    counts: dict[str, int] = {}
    for piece in pieces:
        if piece.said.who != PERSON:
            for word in piece.words:
                counts[word] = counts.get(word, 0) + 1
    return {word: 1 / (1 + math.log(count)) for word, count in counts.items()}


def _parts(text: str, words: Words) -> list[frozenset[str]]:
    """The words of each sentence; one that says too little belongs to the next."""
    found: list[frozenset[str]] = []
    held: frozenset[str] = frozenset()
    # In stretches: of a long text at once, the end would not be looked at.
    parts = [text[at : at + STRETCH] for at in range(0, len(text), STRETCH)]
    for sentence, _ in chain.from_iterable(map(markdown.sentences, parts)):
        held |= frozenset(words.count(sentence)[0])
        if len(held) >= FEWEST:
            found.append(held)
            held = frozenset()
    if held and found:
        found[-1] |= held
    return found or ([held] if held else [])


def _told_by_name(name: str, text: str, words: Words) -> list[frozenset[str]]:
    """What a name says that the text does not; a word or two are how somebody puts it."""
    plain = name.replace("-", " ").replace("_", " ")
    more = frozenset(words.count(plain)[0]).difference(words.count(text)[0])
    return [more] if len(more) >= FEWEST else []


def _speaker(
    terms: frozenset[str],
    pieces: Sequence[_Piece],
    weights: dict[str, float],
    heard: bool,
) -> tuple[str, float, _Piece | None]:
    """Who said a sentence, how much it weighs, and the best place; `heard`: tools spoke, too."""

    def weight(some: frozenset[str]) -> float:
        return sum(weights.get(word, 1.0) for word in some)

    whole = weight(terms)
    best: dict[str, tuple[float, _Piece | None]] = dict.fromkeys((PERSON, TOOL, AGENT), (0.0, None))
    for piece in pieces:
        share = weight(terms & piece.words) / whole
        if share > best[piece.said.who][0]:
            best[piece.said.who] = share, piece
    said, mine = best[PERSON]
    alone = [(share, who, piece) for who, (share, piece) in best.items() if who != PERSON]
    share, who, place = max(alone, key=lambda one: (one[0], one[1] == TOOL))
    if said >= LEAST and said >= min(MOST, share):
        return PERSON, whole, mine
    if share >= MOST:
        return who, whole, place
    # In nobody's words: what the agent makes of it, or what a tool said in other words.
    if heard and said < LEAST and best[AGENT][0] < MOST:
        return NOBODY, whole, None
    return AGENT, whole, best[AGENT][1] if best[AGENT][0] >= MOST / 2 else None


def _from_the_point(piece: _Piece, words: Words) -> str:
    """A piece from the line on that says most of it."""
    lines = piece.text.split("\n")
    shared = [len(piece.words.intersection(words.count(line)[0])) for line in lines]
    return "\n".join(lines[shared.index(max(shared)) :])


def _foreign(text: str, pieces: Sequence[_Piece]) -> Iterator[_Piece]:
    """Where a tool named an address or a command of the text that nobody else named."""
    hosts = {*_HOST.findall(text), *_BARE_HOST.findall(text), *_NUMBERS.findall(text)}
    commands = {one for one in _COMMAND.findall(text) if len(one.split()) > 1}
    for wanted, trusted in ((hosts, (PERSON,)), (commands, (PERSON, AGENT))):
        for one in sorted({found.lower().rstrip(".") for found in wanted}):
            naming = [piece for piece in pieces if one in piece.text.lower()]
            if not any(piece.said.who in trusted for piece in naming):
                yield from [piece for piece in naming if piece.said.who == TOOL][:1]


def _decide(found: Sequence[tuple[str, float, _Piece | None]]) -> tuple[str, _Piece | None]:
    """A tool's sentence makes it the tool's; else a person's, where they said enough of it."""
    for who, _, piece in found:
        if who == TOOL:
            return who, piece
    mine = sum(weight for by, weight, _ in found if by == PERSON)
    who = PERSON if mine and mine >= ENOUGH * sum(weight for _, weight, _ in found) else AGENT
    who = AGENT if any(by == NOBODY for by, _, _ in found) else who
    return who, next((piece for by, _, piece in found if by == who and piece is not None), None)
