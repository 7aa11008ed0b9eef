"""Where texts disagree: a memory with its description or index line, two memories on a value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, islice

from memdir.format.pointer import WIKILINK, read_pointers
from memdir.hot import memory
from memdir.hot.memory import stem
from memdir.hot.words import Words, is_unspaced, split
from memdir.text.prose import Sentence, sentences

MAX_CACHED_WORDS = 100_000


@lru_cache(maxsize=1)
def _cached_words() -> Words:
    return Words()


def _stems() -> Words:
    """Cache of stems shared by all memories of one audit."""
    words = _cached_words()
    if len(words) > MAX_CACHED_WORDS:
        _cached_words.cache_clear()
    return words


def _stems_of(text: str) -> frozenset[str]:
    return frozenset(_stems().count(text)[0])


# Two memories that give one thing different values. Only named values are compared: looser rules
# (renames, opposite orders) were wrong more often than right on stores they were not written for.

MAX_SENTENCE_CHARACTERS = 400  # a longer one says more than one thing
MIN_SHARED_WORDS = 3  # of two sentences about one thing
MIN_SHARE = 0.5  # of all words of the two
MAX_SAME_KEY = 2_000  # sentences; more of them are no key
# A condition, a report of the past or a question gives no value.
_CONDITION = re.compile(
    r"(?i)\b(?:if|when|whenever|unless|until|once|without|except|only|just|while|where|might|may|"
    r"could|would|was|were|had|did|used to|previously|earlier|originally|formerly|old|e\.g|"
    r"example|either|whether|both)\b|\?|->|→"
)
_VALUES = (
    re.compile(
        r"(?i)\b(port|timeout|limit|quota|retries|workers|threshold)"
        r"(?: is| of|:| =|=)? `?(\d[\d_,.]{0,12}\w{0,3})"
    ),
    re.compile(r"\b([A-Z][A-Za-z]{1,20}) (?:version )?v?(\d{1,3}(?:\.\d{1,4}){1,2})\b"),
    re.compile(r"`([A-Za-z_][\w.-]{2,40}) ?= ?([\w./:-]{1,40})`"),
    re.compile(
        r"(?i)\b((?:default|main|base|integration|release|target) branch)"
        r"(?: is|:| =) `?([\w./-]{2,40})"
    ),
)
_LINK = re.compile(r"\[\[([^\]|#\n]{1,120})|`([\w./-]{1,120})\.md`|\(([\w./-]{1,120})\.md\)")


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
    kind: str = "opposite"


@dataclass(frozen=True)
class _Value:
    path: str
    sentence: Sentence
    value: str
    words: frozenset[str]  # of the sentence, beside key and value


def find_contradictions(texts: Mapping[str, str]) -> list[Contradiction]:
    """Different values for one thing, at most once for two memories; `texts` by path."""
    names: dict[str, set[str]] = {}
    links: dict[str, set[str]] = {}
    by_key: dict[str, list[_Value]] = {}
    for path, text in sorted(texts.items()):
        document = memory.read(text)
        names[path] = {_flat(stem(path)), _flat(document.values.get("name", ""))} - {""}
        targets = (next(filter(None, match.groups())) for match in _LINK.finditer(text))
        links[path] = {_flat(stem(target.strip())) for target in targets}
        for sentence in _read_sentences(text, document):
            for key, value in _read_values(sentence):
                words = _stems_of(sentence.text) - _stems_of(f"{key} {value}")
                by_key.setdefault(key, []).append(_Value(path, sentence, value, words))
    pairs: dict[frozenset[str], Contradiction] = {}
    for key, group in by_key.items():
        for a, b in combinations(group, 2) if len(group) <= MAX_SAME_KEY else ():
            if a.value == b.value or a.path == b.path or not _same_thing(key, a, b):
                continue
            # Whose author names the other memory saw both.
            if links[a.path] & names[b.path] or links[b.path] & names[a.path]:
                continue
            reason = f"they give different values for one thing: {a.value} / {b.value}"
            said = (a.path, a.sentence.line, a.sentence.text)
            other = (b.path, b.sentence.line, b.sentence.text)
            pairs.setdefault(frozenset((a.path, b.path)), Contradiction(*said, *other, reason))
    return sorted(pairs.values(), key=lambda pair: (pair.first, pair.first_line, pair.second))


def _read_sentences(text: str, document: memory.Document) -> list[Sentence]:
    line = document.starts.get("description", 0) + 2  # the header's own line comes before its keys
    about = sentences(document.values.get("description", ""))
    first_line = text.count("\n", 0, len(text) - len(document.body)) + 1
    return [*(Sentence(line, each.text) for each in about), *sentences(document.body, first_line)]


def _read_values(sentence: Sentence) -> list[tuple[str, str]]:
    """Keys with the only value that the sentence gives them; a list of values states none."""
    text = sentence.text
    if sentence.code or len(text) > MAX_SENTENCE_CHARACTERS or _CONDITION.search(text):
        return []
    values: dict[str, set[str]] = {}
    for form in _VALUES:
        for match in form.finditer(text):
            values.setdefault(match[1].lower(), set()).add(match[2].rstrip(".,:"))
    return [(key, some.pop()) for key, some in values.items() if len(some) == 1]


def _same_thing(key: str, a: _Value, b: _Value) -> bool:
    shared = len(a.words & b.words)
    few = shared < MIN_SHARED_WORDS or shared < MIN_SHARE * len(a.words | b.words)
    return " " in key or not few  # `default branch`: there is only one


def _flat(name: str) -> str:
    return name.strip().lower().replace("_", "-").replace(" ", "-")


# A memory against its own description and index line: only what words can show.
#
# A name that no word of the body repeats is fine: on real memories all such names were right.

MISSING, VAGUE, UNRELATED = "description-missing", "description-vague", "description-unrelated"
DIFFERS, POINTER = "description-differs", "pointer-differs"
MIN_DESCRIPTION_WORDS = 2  # beside empty ones; one alone is a label
MIN_LINE_WORDS = 3  # to say that a line is about something else
MIN_BODY_WORDS = 8  # of a body that must speak of what its description says
PREFIX_LETTERS = 5
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


def disagreements(text: str, pointer_line: str = "") -> list[Disagreement]:
    """Where a memory's text does not fit its description or the index line that points at it."""
    document = memory.read(text)
    description = document.values.get("description", "").strip()
    line = document.starts.get("description", -2) + 2
    return [*_check_description(description, document.body, line), *_check_line(pointer_line, text)]


def _check_description(description: str, body: str, line: int) -> Iterator[Disagreement]:
    if not description:
        yield Disagreement(MISSING, "has no description: recall knows it by its name only")
    elif _says_nothing(description):
        yield Disagreement(VAGUE, "the description says next to nothing", line)
    elif _is_unrelated(description, body):
        yield Disagreement(UNRELATED, "no word of the description occurs in the body", line)
    else:
        # `-S` in the description where the body has only `-s`: two options of one command.
        mine, theirs = (set(_FLAG.findall(part)) for part in (description, body))
        for flag in sorted(mine - theirs):
            if (other := flag.swapcase()) in theirs - mine:
                yield Disagreement(DIFFERS, f"the description has {flag}, the body {other}", line)
                break


def _check_line(pointer_line: str, text: str) -> Iterator[Disagreement]:
    pointers = read_pointers(pointer_line, 1) if pointer_line else []
    if not pointers or any(pointer.form != WIKILINK for pointer in pointers[1:]):
        return  # a line that points at several memories speaks of none of them alone
    hook = pointer_line[pointers[0].end :].strip(" —–-:|*.") or pointers[0].hook
    over, built, unbuilt = _OVER.search(hook), _BUILT.search(hook), _UNBUILT.search(text)
    if over and not _OVER_SAID.search(text):
        yield Disagreement(POINTER, f"the index says {over[0].lower()}, the memory does not")
    elif built and unbuilt:
        message = f"the index says {built[0].lower()}, the memory {unbuilt[0].lower()}"
        yield Disagreement(POINTER, message, text.count("\n", 0, unbuilt.start()) + 1)
    elif _is_unrelated(hook, text):
        yield Disagreement(POINTER, "no word of its index line occurs in it")


def _says_nothing(description: str) -> bool:
    """A label alone, or empty words alone; `How to deploy` says as much as `Deploy steps`."""
    telling = _stems_of(description) - EMPTY
    if len(telling) >= MIN_DESCRIPTION_WORDS:
        return False
    words = [word for word in split(description) if _stems()[word] not in EMPTY]
    return not telling or len(words) < MIN_DESCRIPTION_WORDS


def _is_unrelated(line: str, text: str) -> bool:
    """Do a line and a text of some words share no word, nor the start of one?"""
    telling, others = _stems_of(line) - EMPTY, _stems_of(text)
    spoken = sum(word.isalpha() for word in others)  # a hash or a version speaks of nothing
    if len(telling) < MIN_LINE_WORDS or spoken < MIN_BODY_WORDS:
        return False
    starts = {word[:PREFIX_LETTERS] for word in others}  # stems are sure in few languages
    shared = any(
        word in others or (len(word) >= PREFIX_LETTERS and word[:PREFIX_LETTERS] in starts)
        for word in telling
    )
    # A description in English of a body in Chinese shares no word with it.
    return not shared and _is_mostly_unspaced(line) == _is_mostly_unspaced(text)


def _is_mostly_unspaced(text: str) -> bool:
    letters = [letter for letter in text if letter.isalpha()]
    return sum(map(is_unspaced, letters)) * 2 > len(letters)


# Does a text say the opposite of what was said? Clause by clause, by the words for not.

MAX_SAID_CLAUSES = 1_500  # of what was said, the newest
MAX_TEXT_CLAUSES = 400
MIN_CLAUSE_WORDS = 2  # that two clauses share, and …
MIN_CLAUSE_SHARE = 0.75  # … how many of the text's they are: fewer is about something else
_ENDS = re.compile(
    r"[,;:.!?()\n。、！？]|\s[-–—]\s|\s(?:and|but|or|und|aber|oder|et|mais|y|pero)\s"
    r"|\s(?=instead of\b|rather than\b)"
)
# `without` is none: what is done without a test is done.
_WORDS = """
no not never none nothing nobody neither nor cannot cant dont doesnt didnt wont isnt arent wasnt
werent shouldnt mustnt wouldnt couldnt havent hasnt aint avoid avoids stop stops refrain forbid
forbids forbidden ban bans banned prohibit prohibits prohibited disallow disallowed instead
rather wrong dislike dislikes hate hates reject rejects rejected quit
nicht nie niemals kein keine keinen keinem keiner keines nichts verboten vermeide vermeiden
ne pas jamais aucun aucune rien nunca jamás nada ningún ninguna tampoco não nem nenhum mai non
niet nooit geen niets не нет никогда нельзя ни
"""
_NOT = frozenset(_WORDS.split())
# What they stand for is said elsewhere: "not a mocked one" is about mocks alone.
_PRONOUNS = frozenset(
    ["one", "ones", "it", "its", "them", "this", "that", "these", "those", "thing", "things"]
)


@dataclass(frozen=True)
class Clause:
    """A part of a sentence: what it is about, and whether it says not."""

    text: str
    about: frozenset[str]
    negated: bool


def _read_clauses(text: str, words: Words) -> Iterator[Clause]:
    """The clauses that are about something."""
    for part in _ENDS.split(text):
        said = split(part)
        rest = [word for word in said if word.lower() not in _NOT]
        named = [word for word in rest if word.lower() not in _PRONOUNS]
        about = frozenset(words.tally(named)[0])
        if len(about) >= MIN_CLAUSE_WORDS:
            yield Clause(part, about, len(rest) < len(said))


def find_turned(text: str, said: Sequence[str], words: Words) -> list[Clause]:
    """Clauses of the text that only say the opposite of something that was said."""
    heard: list[Clause] = []
    for message in said:
        heard += _read_clauses(message, words)
        if len(heard) >= MAX_SAID_CLAUSES:
            break
    turned: list[Clause] = []
    for clause in islice(_read_clauses(text, words), MAX_TEXT_CLAUSES):
        shared = max(MIN_CLAUSE_WORDS, MIN_CLAUSE_SHARE * len(clause.about))
        alike = [other.negated for other in heard if len(other.about & clause.about) >= shared]
        if alike and clause.negated not in alike:
            turned.append(clause)
    return turned
