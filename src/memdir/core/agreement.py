"""Does a memory agree with its own description and index line, and with itself?

For others: `disagreements(text, pointer_line)` takes the text of a whole file and the line of
the index that points at it (empty where there is none). Only what words can show is found: a
description that is missing, empty of words or about something else, a state or a value that one
place gives and the other does not. What only understanding would find is not. A name that no
word of the body repeats is no disagreement: on real memories all such names were right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from memdir.core import frontmatter
from memdir.core.contradiction import inner_contradictions
from memdir.core.pointer import WIKILINK, read_pointers
from memdir.core.statement import known_words
from memdir.core.words import is_unspaced, split

# Kinds of disagreement.
MISSING, VAGUE, UNRELATED = "description-missing", "description-vague", "description-unrelated"
DIFFERS, POINTER, ITSELF = "description-differs", "pointer-differs", "contradicts-itself"
FEWEST_WORDS = 2  # beside empty ones; one alone is a label
FEWEST_SAID = 3  # words of a line, to say that it is about something else
FEWEST_BODY = 8  # words of a body that must speak of what its description says
START = 5  # letters
EMPTY = frozenset(
    (
        *("note", "misc", "miscellan", "info", "inform", "stuff", "thing", "variou", "gener"),
        *("memori", "detail", "summari", "descript", "todo", "tbd", "document", "file", "data"),
        *("updat", "project", "feedback", "refer", "user", "remind", "topic"),
    )
)
# What became of a thing; who reads only the index acts on it.
_OVER = re.compile(
    r"(?i)\b(?:superseded|obsolete|deprecated|retired|reverted|abandoned|outdated)\b"
)
_OVER_SAID = re.compile(
    r"(?i)supersed|obsolet|deprecat|retire|revers|abandon|outdated|replaced by|no longer|historical"
)
_BUILT = re.compile(
    r"(?i)\b(?:since built|now built|since (?:shipped|landed|done|fixed)|now shipped)\b"
)
_UNBUILT = re.compile(
    r"(?i)\b(?:not (?:yet )?(?:built|implemented|started|shipped|done|merged)|deferred|unbuilt)\b"
)
_FLAG = re.compile(r"(?<![\w-])(-[A-Za-z])(?![\w-])")


@dataclass(frozen=True)
class Disagreement:
    """What does not fit, in one sentence; `line` of the file, from 1, 0 where none is meant."""

    kind: str
    message: str
    line: int = 0
    said: str = ""  # what the description or the pointer says
    against: str = ""  # what the body says


def disagreements(text: str, pointer_line: str = "") -> list[Disagreement]:
    """Where a memory and what is said about it part; empty where all is well."""
    document = frontmatter.read(text)
    description = document.values.get("description", "").strip()
    line = document.starts.get("description", -2) + 2
    found = _about_description(description, document.body, line)
    found += _about_pointer(pointer_line, text)
    found += [
        Disagreement(ITSELF, one.reason, one.first_line, one.first_says, one.second_says)
        for one in inner_contradictions(text)
    ]
    return found


def _about_description(description: str, body: str, line: int) -> list[Disagreement]:
    if not description:
        return [Disagreement(MISSING, "has no description: recall knows it by its name only")]
    if _says_nothing(description):
        return [Disagreement(VAGUE, "the description says next to nothing", line, description)]
    if _elsewhere(description, body):
        message = "no word of the description occurs in the body"
        return [Disagreement(UNRELATED, message, line, description)]
    flags = _other_flags(description, body)
    if flags:
        message = f"the description has {flags[0]}, the body {flags[1]}"
        return [Disagreement(DIFFERS, message, line, description, flags[1])]
    return []


def _about_pointer(pointer_line: str, text: str) -> list[Disagreement]:
    hook = _hook(pointer_line)
    over = _OVER.search(hook)
    if over and not _OVER_SAID.search(text):
        message = f"the index says {over[0].lower()}, the memory does not"
        return [Disagreement(POINTER, message, 0, hook)]
    built, unbuilt = _BUILT.search(hook), _UNBUILT.search(text)
    if built and unbuilt:
        message = f"the index says {built[0].lower()}, the memory {unbuilt[0].lower()}"
        line = text.count("\n", 0, unbuilt.start()) + 1
        return [Disagreement(POINTER, message, line, hook, unbuilt[0])]
    if _elsewhere(hook, text):
        return [Disagreement(POINTER, "no word of its index line occurs in it", 0, hook)]
    return []


def _hook(pointer_line: str) -> str:
    """What the index says of the one memory that a line points at; it may link to others."""
    pointers = read_pointers(pointer_line, 1) if pointer_line else []
    if not pointers or any(one.form != WIKILINK for one in pointers[1:]):
        return ""
    return pointer_line[pointers[0].end :].strip(" —–-:|*.") or pointers[0].hook


def _other_flags(description: str, body: str) -> tuple[str, str] | None:
    """`-S` in the description where the body has only `-s`: two options of one command."""
    mine, theirs = (set(_FLAG.findall(text)) for text in (description, body))
    for flag in sorted(mine - theirs):
        other = flag.swapcase()
        if other in theirs and other not in mine:
            return flag, other
    return None


def _elsewhere(line: str, text: str) -> bool:
    """True where a line and a text of some words have none in common."""
    some, others = _telling(line), frozenset(known_words().count(text)[0])
    spoken = sum(word.isalpha() for word in others)  # a hash or a version speaks of nothing
    enough = len(some) >= FEWEST_SAID and spoken >= FEWEST_BODY
    return enough and not _touch(some, others) and _same_script(line, text)


def _says_nothing(description: str) -> bool:
    """A label alone, or empty words alone; `How to deploy` says as much as `Deploy steps`."""
    words, telling = known_words(), _telling(description)
    if len(telling) >= FEWEST_WORDS:
        return False
    return not telling or sum(words[one] not in EMPTY for one in split(description)) < FEWEST_WORDS


def _telling(line: str) -> frozenset[str]:
    return frozenset(known_words().count(line)[0]) - EMPTY


def _touch(some: frozenset[str], others: frozenset[str]) -> bool:
    """Do they share a word, or the start of one? Stems are sure in few languages."""
    starts = {word[:START] for word in others}
    return any(word in others or (len(word) >= START and word[:START] in starts) for word in some)


def _same_script(one: str, other: str) -> bool:
    """A description in English of a body in Chinese shares no word with it."""
    return _unspaced(one) == _unspaced(other)


def _unspaced(text: str) -> bool:
    letters = [letter for letter in text if letter.isalpha()]
    return sum(map(is_unspaced, letters)) * 2 > len(letters)
