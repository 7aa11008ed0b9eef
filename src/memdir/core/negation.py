"""Does a text say the opposite of what was said? Clause by clause, by the words for not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memdir.core.words import Words, split

MOST_CLAUSES = 1_500  # of what was said, the newest
MOST_OF_TEXT = 400  # clauses of the text itself
LEAST = 2  # words that two clauses share, and …
SHARE = 0.75  # … how many of the text's they are: fewer is about something else
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


def clauses(text: str, words: Words) -> Iterator[Clause]:
    """The clauses that are about something."""
    for part in _ENDS.split(text):
        said = split(part)
        rest = [word for word in said if word.lower() not in _NOT]
        named = [word for word in rest if word.lower() not in _PRONOUNS]
        about = frozenset(words.tally(named)[0])
        if len(about) >= LEAST:
            yield Clause(part, about, len(rest) < len(said))


def turned(text: str, said: Sequence[str], words: Words) -> list[Clause]:
    """Clauses of the text that only say the opposite of something that was said."""
    known: list[Clause] = []
    for one in said:
        known += clauses(one, words)
        if len(known) >= MOST_CLAUSES:
            break
    found: list[Clause] = []
    for clause in list(clauses(text, words))[:MOST_OF_TEXT]:
        least = max(LEAST, SHARE * len(clause.about))
        alike = [one.negated for one in known if len(one.about & clause.about) >= least]
        if alike and clause.negated not in alike:
            found.append(clause)
    return found
