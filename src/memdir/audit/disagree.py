"""Contradictions of a memory with its description, its index line or the conversation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from memdir.format.pointer import WIKILINK, parse_pointers
from memdir.hot import memory
from memdir.hot.words import Words, is_unspaced, split_words

MAX_CACHED_WORDS = 100_000


@lru_cache(maxsize=1)
def _words() -> Words:
    """Cache of stems shared by all memories of one audit."""
    return Words()


def _stems_of(text: str) -> frozenset[str]:
    if len(_words()) > MAX_CACHED_WORDS:
        _words.cache_clear()
    return frozenset(_words().count(text)[0])


# A name that no word of the body repeats is fine: in real memories all such names were right.

MISSING, VAGUE, UNRELATED = "description-missing", "description-vague", "description-unrelated"
POINTER = "pointer-differs"
MIN_DESCRIPTION_WORDS = 2  # without filler words; a single word is a label
MIN_LINE_WORDS = 3  # needed to call a line unrelated
MIN_BODY_WORDS = 8  # needed to compare a body with its description
PREFIX_LETTERS = 5
EMPTY = frozenset(
    (
        *("note", "misc", "miscellan", "info", "inform", "stuff", "thing", "variou", "gener"),
        *("memori", "detail", "summari", "descript", "todo", "tbd", "document", "file", "data"),
        *("updat", "project", "feedback", "refer", "user", "remind", "topic"),
    )
)
# Words on the fate of a thing; a reader of the index alone acts on them.
_OVER = re.compile(
    r"(?i)\b(?:superseded|obsolete|deprecated|retired|reverted|abandoned|outdated)\b"
)
_OVER_SAID = re.compile(
    r"(?i)supersed|obsolet|deprecat|retire|revers|abandon|outdated|replaced by|no longer|historical"
)


def find_disagreements(text: str, pointer_line: str = "") -> Iterator[tuple[str, str, int]]:
    """Kind, message and line of each, counted from 1 in the file; 0 if no line is meant."""
    document = memory.read_header(text)
    description = document.values.get("description", "").strip()
    line = document.starts.get("description", -2) + 2
    if not description:
        yield MISSING, "has no description: recall knows it by its name only", 0
    elif _says_nothing(description):
        yield VAGUE, "the description says next to nothing", line
    elif _is_unrelated(description, document.body):
        yield UNRELATED, "no word of the description occurs in the body", line
    pointers = parse_pointers(pointer_line, 1) if pointer_line else []
    if not pointers or any(pointer.form != WIKILINK for pointer in pointers[1:]):
        return  # a line with several pointers describes none of them alone
    hook = pointer_line[pointers[0].end :].strip(" —–-:|*.") or pointers[0].hook
    over = _OVER.search(hook)
    if over and not _OVER_SAID.search(text):
        yield POINTER, f"the index says {over[0].lower()}, the memory does not", 0
    elif _is_unrelated(hook, text):
        yield POINTER, "no word of its index line occurs in it", 0


def _says_nothing(description: str) -> bool:
    """True for a label or filler words alone; `How to deploy` says as much as `Deploy steps`."""
    telling = _stems_of(description) - EMPTY
    words = [word for word in split_words(description) if _words()[word] not in EMPTY]
    return not telling or max(len(telling), len(words)) < MIN_DESCRIPTION_WORDS


def _is_unrelated(line: str, text: str) -> bool:
    telling, others = _stems_of(line) - EMPTY, _stems_of(text)
    spoken = sum(word.isalpha() for word in others)  # hashes and versions do not count
    if len(telling) < MIN_LINE_WORDS or spoken < MIN_BODY_WORDS:
        return False
    starts = {word[:PREFIX_LETTERS] for word in others}  # stemming works in few languages
    shared = any(
        word in others or (len(word) >= PREFIX_LETTERS and word[:PREFIX_LETTERS] in starts)
        for word in telling
    )
    # An English description shares no word with a Chinese body.
    return not shared and _is_mostly_unspaced(line) == _is_mostly_unspaced(text)


def _is_mostly_unspaced(text: str) -> bool:
    letters = [letter for letter in text if letter.isalpha()]
    return sum(map(is_unspaced, letters)) * 2 > len(letters)


MAX_SAID_CLAUSES = 1_500  # from the newest messages
MAX_TEXT_CLAUSES = 400
MIN_CLAUSE_WORDS = 2  # shared by two clauses
MIN_CLAUSE_SHARE = 0.75  # of the clause's words; with fewer it is about something else
_ENDS = re.compile(
    r"[,;:.!?()\n。、！？]|\s[-–—]\s|\s(?:and|but|or|und|aber|oder|et|mais|y|pero)\s"
    r"|\s(?=instead of\b|rather than\b)"
)
# `without` does not negate: done without a test is still done.
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
# Pronouns refer elsewhere: "not a mocked one" is about mocks alone.
_PRONOUNS = frozenset(
    ["one", "ones", "it", "its", "them", "this", "that", "these", "those", "thing", "things"]
)


def _read_clauses(text: str, words: Words) -> Iterator[tuple[frozenset[str], bool]]:
    """The stems of each clause, and whether it is negated."""
    for part in _ENDS.split(text):
        every = split_words(part)
        rest = [word for word in every if word.lower() not in _NOT]
        named = [word for word in rest if word.lower() not in _PRONOUNS]
        about = frozenset(words.tally(named)[0])
        if len(about) >= MIN_CLAUSE_WORDS:
            yield about, len(rest) < len(every)


def contradicts_messages(text: str, said: Sequence[str], words: Words) -> bool:
    """True if a clause contradicts an earlier message and agrees with none."""
    clauses = (clause for message in said for clause in _read_clauses(message, words))
    heard = list(islice(clauses, MAX_SAID_CLAUSES))
    for about, negated in islice(_read_clauses(text, words), MAX_TEXT_CLAUSES):
        shared = max(MIN_CLAUSE_WORDS, MIN_CLAUSE_SHARE * len(about))
        alike = {no for other, no in heard if len(other & about) >= shared}
        if alike and negated not in alike:
            return True
    return False
