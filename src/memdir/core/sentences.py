"""The sentences of a memory's body, each with its line; code stands line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

# Of a body; what comes behind them is not compared.
MOST_CHARACTERS = 40_000
MOST_SENTENCES = 2_000
_FENCES = ("```", "~~~")
_STARTS = re.compile(r"\s{0,40}(?:[-*+>|]\s|\d{1,3}[.)]\s|#{1,6}\s|\||\*\*)")
# A full stop ends a sentence only where the next one starts: `e.g. this` goes on.
_ENDS = re.compile(r"(?<=[.!?][\s*_)\"'`])\s{0,4}(?=[^a-z\s])|(?<=[;。！？])\s{0,4}|\s—\s|\s--\s")
_MARKS = re.compile(r"^[\s>#*+|-]{1,40}|\d{1,3}[.)]\s")
# Labels of the form that memories are asked to have; they say nothing about this one.
_LABEL = re.compile(r"(?i)^[*_]{0,2}(?:why|how to apply|rule|note|lesson)[*_]{0,2}:[*_]{0,2}\s*")


@dataclass(frozen=True)
class Sentence:
    """What stands on a line (from 1, of the body or of the file, as it was asked for)."""

    line: int
    text: str
    code: bool = False


def sentences(body: str, first_line: int = 1) -> list[Sentence]:
    """Every sentence in order: wrapped lines are joined, list items stand alone."""
    return list(islice(_sentences(body[:MOST_CHARACTERS], first_line), MOST_SENTENCES))


def _sentences(body: str, first_line: int) -> Iterator[Sentence]:
    for line, text, code in _blocks(body, first_line):
        if code:
            yield Sentence(line, text.strip(), True)
        else:
            yield from _split(line, text)


def _blocks(body: str, first_line: int) -> Iterator[tuple[int, str, bool]]:
    """Paragraphs and items with the line they start on; their line breaks stay."""
    held: list[str] = []
    start, fence = first_line, ""
    for number, line in enumerate(body.split("\n"), first_line):
        bare = line.strip()
        fenced = bare.startswith(_FENCES) and (not fence or bare.startswith(fence))
        if held and (fenced or fence or not bare or _STARTS.match(line)):
            yield start, "\n".join(held), False
            held = []
        if fenced:
            fence = "" if fence else bare[:3]
        elif fence:
            if bare:
                yield number, bare, True
        elif bare:
            start = start if held else number
            held.append(line)
    if held:
        yield start, "\n".join(held), False


def _split(line: int, text: str) -> Iterator[Sentence]:
    ends = [(match.start(), match.end()) for match in _ENDS.finditer(text)]
    begun = 0
    for end, next_start in [*ends, (len(text), len(text))]:
        part = text[begun:end]
        said = _bare(part)
        if said:
            lead = len(part) - len(part.lstrip())
            yield Sentence(line + part.count("\n", 0, lead), said)
        line += text.count("\n", begun, next_start)
        begun = next_start


def _bare(part: str) -> str:
    """A sentence on one line, without the marks of its list and its label."""
    text = _MARKS.sub("", " ".join(part.split()), count=1)
    return _LABEL.sub("", text).strip(" *_|")
