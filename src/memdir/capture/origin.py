"""Whose words a draft rests on: a person's, the agent's, or a tool's output.

Each sentence belongs to the speaker with most of its rarer words in one message; a person wins
ties. One sentence that only a tool's text supports makes the whole draft the tool's, because an
instruction planted in a web page hides among words that a person did say. A sentence that reverses
a person's words, or that nobody said although tools spoke, too, leaves the draft without a speaker.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from memdir.audit.disagree import find_contradicting_clauses
from memdir.capture.signals import MAX_QUOTE_BYTES, SOURCE, Origin, draft_quote
from memdir.clients.conversation import AGENT, PERSON, TOOL, Message
from memdir.format.draft import Draft
from memdir.hot.safe import inert_line
from memdir.hot.words import Words
from memdir.text import markdown, secrets

MAX_NAME_BYTES = 80  # of a session, message or tool, named by a client
PIECE_CHARACTERS = 400  # compared at once; a long output has every word somewhere
PERSON_PIECE_CHARACTERS = 4_000  # a person's message belongs together
MAX_HEARD_CHARACTERS = 400_000  # of the agent and tools; older text is ignored
STRETCH_CHARACTERS = 4_000  # of a draft
SAID_SHARE = 0.5  # of a sentence's words, to be its speaker
UNSAID_SHARE = 0.25  # below it, a person did not say it
PERSON_SHARE = 1 / 3  # of a draft said by a person; the rest is the agent's wording
MIN_WORDS = 3  # shorter sentences could be anybody's
NOBODY = ""
_HOST = re.compile(r"(?i)\bhttps?://([\w.-]{3,100})")
# Without https://, a host is known by its ending or by a path after it; app.py is not a host.
_BARE_HOST = re.compile(
    r"(?i)(?<![\w./@-])((?:[a-z0-9][a-z0-9-]{0,40}\.){1,5}"
    r"(?:(?:com|org|net|io|dev|ai|app|co|info|biz|xyz|test|example|local|internal|cloud|site|online"
    r"|top|ru|cn|de|uk|eu|fr|nl|ch|me|tk|su)(?![\w-])|[a-z]{2,12}(?=[/:])))"
)
_NUMBERS = re.compile(r"(?<![\w.])((?:\d{1,3}\.){3}\d{1,3})(?!\w|\.\d)")
_COMMAND = re.compile(r"`([^`\n]{3,200})`")


class _Piece(NamedTuple):
    said: Message
    text: str
    words: frozenset[str]


_Speaker = tuple[str, float, _Piece | None]  # speaker of a sentence, weight, best piece


def find_draft_origin(text: str, said: Sequence[Message], origin: Origin, name: str = "") -> Origin:
    """Who said what the text says, in which message, with a short quote.

    `name` is the name of a new memory; it may say more than the text.
    """
    words = Words()
    parts = _parts(text, words)
    plain = name.replace("-", " ").replace("_", " ")
    more = frozenset(words.count(plain)[0]).difference(words.count(text)[0])
    parts += [more] if len(more) >= MIN_WORDS else []  # one or two words are only wording
    pieces = list(_pieces(said, words, frozenset().union(*parts)))
    # Rare words count more than frequent ones.
    heard = Counter(word for it in pieces if it.said.who != PERSON for word in it.words)
    weights = {word: 1 / (1 + math.log(count)) for word, count in heard.items()}
    tools = any(item.who == TOOL for item in said)
    speakers = [_speaker(terms, pieces, weights, tools) for terms in parts]
    spoken = [piece.text for piece in pieces if piece.said.who == PERSON]
    for clause in find_contradicting_clauses(text, spoken, words):
        by_tool = [it for it in pieces if it.said.who == TOOL and clause.about <= it.words]
        speakers.append((TOOL, 0.0, by_tool[0]) if by_tool else (NOBODY, 0.0, None))
    speakers += [(TOOL, 0.0, piece) for piece in _foreign(f"{text}\n{name}", pieces)]
    who, piece = _decide(speakers)
    if piece is None:
        return replace(origin, who=who, message="", tool="", quote="")
    # Quote from the line with most of the words.
    lines = piece.text.split("\n")
    shared = [len(piece.words.intersection(words.count(line)[0])) for line in lines]
    words_said = draft_quote("\n".join(lines[shared.index(max(shared)) :]))
    tool = piece.said.tool if who == TOOL else ""
    return replace(origin, who=who, message=piece.said.id, tool=tool, quote=words_said)


def reason_to_hold_draft(origin: Origin) -> str:
    """Why a person must agree before it is saved; empty if a person said it."""
    if origin.who == PERSON:
        return ""
    if origin.who == TOOL:
        tool = f" ({inert_line(origin.tool, MAX_NAME_BYTES)})" if origin.tool else ""
        return f"it comes from what a tool gave back{tool}, not from what you said"
    if origin.who == AGENT:
        return "only the agent said it; nobody confirmed it"
    return "nobody knows who said it"


def sign_draft(draft: Draft, origin: Origin) -> Draft:
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


def _parts(text: str, words: Words) -> list[frozenset[str]]:
    parts: list[frozenset[str]] = []
    held: frozenset[str] = frozenset()
    # In stretches, because the end of a long text would be ignored.
    for start in range(0, len(text), STRETCH_CHARACTERS):
        for sentence, _ in markdown.split_sentences(text[start : start + STRETCH_CHARACTERS]):
            held |= frozenset(words.count(sentence)[0])
            if len(held) >= MIN_WORDS:
                parts.append(held)
                held = frozenset()
    if held and parts:
        parts[-1] |= held
    return parts or ([held] if held else [])


def _pieces(said: Sequence[Message], words: Words, wanted: frozenset[str]) -> Iterator[_Piece]:
    left = MAX_HEARD_CHARACTERS
    for item in reversed(said):
        person = item.who == PERSON
        text = item.text if person else item.text[:left]
        left -= 0 if person else len(text)
        size = PERSON_PIECE_CHARACTERS if person else PIECE_CHARACTERS
        # They overlap: what one piece cuts in two, the next one has whole.
        for start in range(0, max(len(text) - size // 2, 1), size // 2):
            part = text[start : start + size]
            if shared := wanted.intersection(words.count(part)[0]):
                yield _Piece(item, part, shared)


def _speaker(
    terms: frozenset[str], pieces: Sequence[_Piece], weights: dict[str, float], tools: bool
) -> _Speaker:

    def weight(some: frozenset[str]) -> float:
        return sum(weights.get(word, 1.0) for word in some)

    whole = weight(terms)
    best: dict[str, tuple[float, _Piece | None]] = dict.fromkeys((PERSON, TOOL, AGENT), (0.0, None))
    for piece in pieces:
        share = weight(terms & piece.words) / whole
        if share > best[piece.said.who][0]:
            best[piece.said.who] = share, piece
    mine, place = best[PERSON]
    who = TOOL if best[TOOL][0] >= best[AGENT][0] else AGENT
    share, other_place = best[who]
    if mine >= UNSAID_SHARE and mine >= min(SAID_SHARE, share):
        return PERSON, whole, place
    if share >= SAID_SHARE:
        return who, whole, other_place
    # Nobody's words: the agent's conclusion, or a tool's text reworded.
    agents, place = best[AGENT]
    if tools and mine < UNSAID_SHARE and agents < SAID_SHARE:
        return NOBODY, whole, None
    return AGENT, whole, place if agents >= SAID_SHARE / 2 else None


def _foreign(text: str, pieces: Sequence[_Piece]) -> Iterator[_Piece]:
    """The piece where a tool named an address or command that nobody else named."""
    hosts = {*_HOST.findall(text), *_BARE_HOST.findall(text), *_NUMBERS.findall(text)}
    commands = {command for command in _COMMAND.findall(text) if len(command.split()) > 1}
    for wanted, trusted in ((hosts, (PERSON,)), (commands, (PERSON, AGENT))):
        for name in sorted({item.lower().rstrip(".") for item in wanted}):
            naming = [piece for piece in pieces if name in piece.text.lower()]
            if not any(piece.said.who in trusted for piece in naming):
                yield from [piece for piece in naming if piece.said.who == TOOL][:1]


def _decide(speakers: Sequence[_Speaker]) -> tuple[str, _Piece | None]:
    """One sentence of a tool makes all of it the tool's; else a person must have said enough."""
    for who, _, piece in speakers:
        if who == TOOL:
            return who, piece
    mine = sum(weight for by, weight, _ in speakers if by == PERSON)
    enough = mine and mine >= PERSON_SHARE * sum(weight for _, weight, _ in speakers)
    who = PERSON if enough and all(by != NOBODY for by, _, _ in speakers) else AGENT
    return who, next((piece for by, _, piece in speakers if by == who and piece is not None), None)
