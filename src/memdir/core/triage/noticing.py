"""One pass over a conversation: a signal for each sentence that is worth one."""

from __future__ import annotations

from collections.abc import Sequence

from memdir.core.capturing import (
    ASKED_FOR,
    CONFIRMATION,
    CORRECTION,
    DEADLINE,
    DECISION,
    FORGET,
    PERSONAL,
    POINTER,
    PREFERENCE,
    REMEMBER,
    Signal,
)
from memdir.core.memory import UNKNOWN
from memdir.core.transcript import AGENT, PERSON, TOOL, Said
from memdir.core.triage import (
    customs,
    days,
    facts,
    guidance,
    hints,
    passing,
    places,
    rules,
    tastes,
    wishes,
    wording,
)
from memdir.core.triage.forms import unspaced
from memdir.core.triage.languages import kind_abroad, passing_abroad
from memdir.core.triage.odds import Turn, odds
from memdir.core.triage.planted import planted
from memdir.core.triage.typed import Sentence, joined, sentence, sentences

OBJECTS = 2  # sentences in which an answer objects, if it does
AGREED = 3  # sentences in which an answer agrees, if it does
MOST = 12  # signals of one message; who says more than that has pasted it
TYPES = {
    CORRECTION: "feedback",
    CONFIRMATION: "feedback",
    DECISION: "project",
    DEADLINE: "project",
    POINTER: "reference",
    PERSONAL: "user",
}
LEAST = 2  # words that say something
LEAST_CHARACTERS = 6  # of a sentence that says something
SHORT = 25  # characters of a correction that only says that something is wrong
SURE = 1.5  # what a form that is sure of itself adds to the odds
ENOUGH = 0.3  # odds that are; chosen where precision and recall meet on unseen folds
LISTED = 10  # sentences behind "remember these:"
_BACK = frozenset(
    (
        *("this", "that", "it", "these", "those", "list", "das", "dies", "es", "esto"),
        *("eso", "ça", "cela", "这个", "这", "これ"),
    )
)


def triage(said: Sequence[Said]) -> list[Signal]:
    """What a person said that may be worth a memory, and what a tool's output wants kept."""
    found: list[Signal] = []
    before = ""
    for one in said:
        if one.who == AGENT:
            before = one.text
        elif one.who == TOOL:
            found += [Signal(REMEMBER, text, one) for text in planted(one.text)]
        elif one.who == PERSON:
            found += _of_person(one, before)
            before = ""
    return found


def placed(text: str, before: str = "") -> list[tuple[Sentence, Turn]]:
    """A person's own sentences, each with where it stands after what the agent said before."""
    own = sentences(text)
    objected = any(hints.objects(said.bare, before) for said in own[:OBJECTS])
    acted, opens = hints.acted(before), not before
    return [
        (said, Turn(at, len(own) == 1, acted, objected and at <= OBJECTS, opens))
        for at, said in enumerate(own)
    ]


def _of_person(one: Said, before: str) -> list[Signal]:
    stands = placed(one.text, before)
    own = [said for said, _ in stands]
    found: list[Signal] = []
    taken = -1  # the last sentence that is part of a signal
    for at, (said, turn) in enumerate(stands):
        if at <= taken or len(found) >= MOST:
            continue
        kind = kind_of(said, turn, before if at < AGREED else "")
        reasons = found and taken == at - 1 and wording.gives_reason(said.text)
        if not kind or (reasons and kind not in ASKED_FOR):
            continue
        first, last = _quote(own, at, kind)
        if first <= taken and found:  # "… please remember this" speaks of what was noticed already
            found.pop()
        taken = last
        quote = joined(own[first : last + 1])
        doubtful = any(each.doubtful for each in own[first : last + 1])
        found.append(Signal(kind, quote, one, type_of(kind, quote), doubtful))
    return found


def kind_of(said: Sentence, turn: Turn = Turn(), before: str = "") -> str:  # noqa: B008 - frozen
    """What a sentence is a sign of, or nothing; what is asked for comes first."""
    bare = said.bare
    if passing.unmeant(bare):
        return ""
    if wishes.dropped(bare):
        return FORGET
    if wishes.kept(bare):
        return REMEMBER
    if tastes.confirms(bare, before):
        return CONFIRMATION
    if passing.asks(said):
        return CORRECTION if guidance.complains(bare) else ""
    if passing.supposed(bare) or len(bare) < LEAST_CHARACTERS:
        return ""
    return _noticed(said, turn)


def _noticed(said: Sentence, turn: Turn) -> str:
    """The forms give a kind; the odds of the words decide, where they are known."""
    kind = _told(said, turn)
    if unspaced(said.bare):
        return kind
    sure = bool(_formed(said)) or guidance.handles(said.bare)
    if not sure and passing.writes(said.bare):
        return ""
    if odds(said.text, turn) + (SURE if sure else 0) <= ENOUGH:
        return ""
    return kind or (CORRECTION if turn.objects or turn.answers else DECISION)


def _formed(said: Sentence) -> str:
    """The kind of a statement that says by its form what it is; the surest forms come first."""
    bare, text = said.bare, said.text
    if days.dated(bare):
        return DEADLINE
    if places.points(bare, text):
        return POINTER
    if facts.names_owner(text) or (facts.decides(bare) and not passing.writes(bare)):
        return DECISION
    if tastes.prefers(bare) or customs.sets_against(bare):
        return PREFERENCE
    return PERSONAL if places.tells_of_self(bare) else ""


def _told(said: Sentence, turn: Turn) -> str:
    """The kind of a statement, if a form gives it one."""
    bare, minds = said.bare, turn.objects or turn.answers
    kind = _formed(said)
    if kind or passing.writes(bare) or passing_abroad(bare):
        return kind
    if guidance.corrects(bare):
        return CORRECTION
    return kind_abroad(bare, minds)


def type_of(kind: str, quote: str) -> str:
    """The type of memory that a signal would become."""
    if kind == FORGET:
        return UNKNOWN
    said = sentence(quote)
    if kind == PREFERENCE:
        return "value" if tastes.compares(said.bare) else "feedback"
    if kind in TYPES:
        return TYPES[kind]
    said = sentence(wording.statement(quote))
    told = _told(said, Turn())
    if told:
        return type_of(told, said.text)
    if rules.commands(said.bare) or said.bare.startswith(("i want", "i need", "i'd like")):
        return "feedback"
    return "user" if said.bare.startswith(("i ", "i'", "my ")) else "project"


def _quote(own: list[Sentence], at: int, kind: str) -> tuple[int, int]:
    """The first and the last sentence of a signal: "remember this:" means what follows."""
    said = own[at]
    empty = len(said.text) < SHORT or passing.asks(said) or customs.points_back(said.bare)
    if kind == CORRECTION and empty and _follows(own, at):
        return at, at + 1
    if kind in (CORRECTION, PREFERENCE) and at and customs.sums_up(said.bare):
        return at - (own[at - 1].line == said.line), at
    if kind != REMEMBER or _says(said):
        return at, at
    last = at
    if said.text.rstrip().endswith((":", "：")) or at == 0:
        block = min(said.block + 1, own[at + 1].block) if at + 1 < len(own) else said.block
        while last - at < LISTED and last + 1 < len(own) and own[last + 1].block <= block:
            last += 1
    return (at, last) if last > at or at == 0 else (at - 1, at)


def _follows(own: list[Sentence], at: int) -> bool:
    """`That's wrong.` says nothing without what comes next."""
    return at + 1 < len(own) and own[at + 1].line == own[at].line and not passing.asks(own[at + 1])


def _says(said: Sentence) -> bool:
    """Is there more in it than the wish itself?"""
    if wishes.refers_back(said.bare):
        return False
    words = [word.strip(".,:!。") for word in wording.statement(said.text).lower().split()]
    words = [word for word in words if word and word not in _BACK]
    return len(words) >= LEAST or any(not word.isascii() for word in words)
