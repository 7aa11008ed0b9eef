"""Suspected contradictions: two memories speak of the same thing and do not agree.

For others: `find_contradictions(texts)` looks at every memory of a store (path -> text of the
whole file), `inner_contradictions(text)` at one memory alone. At most one suspicion for two
memories. A suspicion is shown with both sentences and its reason, and never acted upon.

Two kinds make up nearly all that real stores show: `SUPERSEDED` (one says so of the other) and
`RENAMED` (one uses a name that the other says was given up). `OPPOSITE` is rare and needs plain
sentences. What only understanding would find is not found: a clean list proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from memdir.core import frontmatter
from memdir.core.memory import stem
from memdir.core.sentences import Sentence, sentences
from memdir.core.similarity import words
from memdir.core.statement import BETTER, DO, NAME, NO, STATE, VALUE, Reader, Statement

FEWEST_SHARED = 3  # words that two sentences about one thing have in common
SHARE = 0.5  # of all words of the two
MOST_ALIKE = 2_000  # statements with one key; more of them are no key
MOST_NAMES = 500  # that were given up; each is looked for in every memory
_SUPERSEDES = re.compile(r"(?i)\b(?:supersedes|overrides|replaces|obsoletes|contradicts)\b")
_GONE = re.compile(
    r"(?i)supersed|replaced by|renam|obsolet|outdated|historical|deprecated|legacy|\bformer|"
    r"no longer (?:appl|true|current|valid|used)"
)
_LINK = re.compile(r"\[\[([^\]|#\n]{1,120})|`([\w./-]{1,120})\.md`|\(([\w./-]{1,120})\.md\)")


SUPERSEDED, RENAMED, OPPOSITE = "superseded", "renamed", "opposite"  # kinds


@dataclass(frozen=True)
class Contradiction:
    """Two sentences that may not both be right, and why we think so; lines count from 1."""

    first: str  # path
    first_line: int
    first_says: str
    second: str
    second_line: int
    second_says: str
    reason: str
    kind: str = OPPOSITE


def find_contradictions(texts: Mapping[str, str]) -> list[Contradiction]:
    """The suspected contradictions of a store, by path."""
    read = {path: _Read(path, text) for path, text in sorted(texts.items())}
    by_key = _grouped(read.values())
    found = [*_superseded(read), *_renamed(read, by_key)]
    for (form, _), group in by_key.items():
        if form in _RULES and len(group) <= MOST_ALIKE:
            found += [_suspect(a, b) for a, b in _pairs(group, read) if _RULES[form](a, b)]
    first = {frozenset((one.first, one.second)): one for one in found[::-1]}
    return sorted(first.values(), key=lambda one: (one.first, one.first_line, one.second))


def inner_contradictions(text: str) -> list[Contradiction]:
    """Where one memory says the opposite of itself; the paths are empty."""
    groups = _grouped([_Read("", text)])
    found = [
        _suspect(one, other)
        for (form, _), group in groups.items()
        if form in _RULES and len(group) <= MOST_ALIKE
        for at, one in enumerate(group)
        for other in group[at + 1 :]
        if one.value != other.value and one.sentence != other.sentence
        if _RULES[form](one, other)
    ]
    return sorted(found, key=lambda one: (one.first_line, one.second_line))


class _Read:
    """A memory taken apart once."""

    __slots__ = ("handles", "links", "path", "said", "text")

    def __init__(self, path: str, text: str) -> None:
        document = frontmatter.read(text)
        self.path = path
        self.text = text
        first_line = text.count("\n", 0, len(text) - len(document.body)) + 1
        about = sentences(document.values.get("description", ""))
        # The header's own line comes before its fields.
        line = document.starts.get("description", 0) + 2
        self.said = [Sentence(line, one.text) for one in about]
        self.said += sentences(document.body, first_line)
        self.handles = {_flat(stem(path)), _flat(document.values.get("name", ""))} - {""}
        self.links = frozenset(_links(text))

    def knows(self, other: _Read) -> bool:
        """Does this memory name the other one? Then its author saw both."""
        return bool(self.links & other.handles)


def _grouped(read: Iterable[_Read]) -> dict[tuple[str, str], list[Statement]]:
    """What all of them state, by form and key."""
    groups: dict[tuple[str, str], list[Statement]] = {}
    reader = Reader()
    for one in read:
        for sentence in one.said:
            for made in reader.read(sentence, one.path):
                groups.setdefault((made.form, made.key), []).append(made)
    return groups


def _pairs(
    group: list[Statement], read: Mapping[str, _Read]
) -> Iterator[tuple[Statement, Statement]]:
    """Two that say different things in two memories, of which neither names the other."""
    for at, one in enumerate(group):
        for other in group[at + 1 :]:
            if one.value == other.value or one.path == other.path:
                continue
            mine, theirs = read[one.path], read[other.path]
            if not mine.knows(theirs) and not theirs.knows(mine):
                yield one, other


def _same_doing(one: Statement, other: Statement) -> bool:
    """All that is forbidden stands in what is asked for; one word alone must be most of it."""
    denied, asked = (one, other) if one.value == NO else (other, one)
    few = len(denied.words) > 1 or len(asked.words) <= FEWEST_SHARED
    return few and bool(denied.words) and denied.words <= asked.words


def _same_thing(one: Statement, other: Statement) -> bool:
    if " " in one.key:  # `default branch`: there is one
        return True
    shared = len(one.words & other.words)
    return shared >= FEWEST_SHARED and shared >= SHARE * len(one.words | other.words)


def _same_subject(one: Statement, other: Statement) -> bool:
    return bool(one.words) and one.words == other.words


def _always(_one: Statement, _other: Statement) -> bool:
    return True


_RULES = {DO: _same_doing, STATE: _same_subject, BETTER: _always, VALUE: _same_thing}
_REASONS = {
    DO: "one asks for what the other forbids",
    STATE: "they say the opposite of one thing",
    BETTER: "they prefer it the other way round",
    VALUE: "they give different values for one thing",
}


def _suspect(one: Statement, other: Statement) -> Contradiction:
    values = f": {one.value} / {other.value}" if one.form in (BETTER, VALUE) else ""
    reason = _REASONS[one.form] + values
    return _contradiction(OPPOSITE, one.path, one.sentence, other.path, other.sentence, reason)


def _superseded(read: Mapping[str, _Read]) -> Iterator[Contradiction]:
    """`supersedes [[old]]`, while the old one does not say so."""
    by_handle = {handle: one for one in read.values() for handle in one.handles}
    for one in read.values():
        for sentence in one.said:
            verb = None if sentence.code else _SUPERSEDES.search(sentence.text)
            for link in _links(sentence.text[verb.end() :]) if verb else ():
                old = by_handle.get(link, one)
                if old is one or old.knows(one) or not old.said or _GONE.search(old.text):
                    continue
                reason = "one says that it supersedes the other, which does not say so"
                yield _contradiction(SUPERSEDED, one.path, sentence, old.path, old.said[0], reason)


def _renamed(
    read: Mapping[str, _Read], by_key: Mapping[tuple[str, str], list[Statement]]
) -> Iterator[Contradiction]:
    """A name that was given up is still used in a memory that does not know the new one."""
    names = [(old, group) for (form, old), group in by_key.items() if form == NAME]
    for old, group in names[:MOST_NAMES]:
        known = group[0]
        alone = re.compile(rf"(?<![\w./-]){re.escape(old)}(?![\w/-])")
        for one in read.values():
            if old not in one.text or any(said.value in one.text for said in group):
                continue
            uses = [
                sentence
                for sentence in one.said
                if alone.search(sentence.text) and not _GONE.search(sentence.text)
            ]
            if old[0] == "-" and len(old) == len("-d"):  # other commands have the same letter
                uses = [sentence for sentence in uses if _shares_words(known, sentence)]
            if uses and not any(said.path == one.path for said in group):
                reason = f"one says that {known.value} takes the place of {old}"
                yield _contradiction(RENAMED, known.path, known.sentence, one.path, uses[0], reason)


def _shares_words(known: Statement, sentence: Sentence) -> bool:
    return len(known.words & frozenset(words(sentence.text))) > 1


def _contradiction(
    kind: str, first: str, says: Sentence, second: str, other: Sentence, reason: str
) -> Contradiction:
    return Contradiction(first, says.line, says.text, second, other.line, other.text, reason, kind)


def _links(text: str) -> Iterator[str]:
    for match in _LINK.finditer(text):
        yield _flat(stem((match[1] or match[2] or match[3]).strip()))


def _flat(name: str) -> str:
    return name.strip().lower().replace("_", "-").replace(" ", "-")
