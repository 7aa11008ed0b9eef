"""What a person said that lets a model take something away, and whether it was done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memdir.core.capturing import FORGET, RULE, Catch, Signal
from memdir.core.draft import Draft
from memdir.core.frontmatter import read
from memdir.core.transcript import PERSON, Said
from memdir.core.triage.typed import own_words
from memdir.core.words import Words

MET = 0.5  # share of a wish's words that a draft has which meets it
KEPT = 0.5  # share of a line's words that are still there where it was only put in other words
# Words of any wish to forget; they name no memory.
_ANY = "forget memory memories remember rule note thing anything never longer anymore delete remove"
UNNAMED = "nobody asked to forget {}"
TAKEN_AWAY = "it takes lines away that nobody asked to change"


def terms(text: str) -> frozenset[str]:
    """The words of a text that tell it from others."""
    return frozenset(Words().count(text.replace("-", " ").replace("_", " "))[0])


def unwanted_by(
    name: str, text: str, others: Iterable[str], signals: Sequence[Signal]
) -> Signal | None:
    """Where a person wanted this memory forgotten, in words that name no other one better."""
    mine = terms(name) | terms(read(text).get("description"))
    for signal in signals:
        if signal.kind != FORGET or signal.said.who != PERSON or signal.doubtful:
            continue
        wanted = terms(signal.quote) - terms(_ANY)
        shared = len(wanted & mine)
        if shared and all(len(wanted & terms(one)) <= shared for one in others):
            return signal
    return None


def takes_away(draft: Draft, old: str, cited: Said | None, signals: Sequence[Signal]) -> str:
    """Why a person must agree to what is gone from a memory; empty where one asked for it."""
    left = terms(_text(draft))
    lines = [words for line in read(old).body.splitlines() if (words := terms(line))]
    gone = [words for words in lines if len(words & left) < KEPT * len(words)]
    if not gone:
        return ""
    if cited is None or cited.who != PERSON:
        return TAKEN_AWAY
    meant = [item for item in signals if item.said == cited and not item.doubtful]
    asked = [terms(item.quote) for item in meant if item.kind in (FORGET, RULE)]
    if any(words & terms(draft.name).union(*lines) for words in asked):
        return ""
    # Any other message must be about each line that is gone.
    said = terms(own_words(cited.text))
    return "" if all(said & words for words in gone) else TAKEN_AWAY


def met(signal: Signal, signals: Sequence[Signal], catches: Sequence[Catch]) -> bool:
    """Was it done? Its own words count: a message may hold two wishes.

    What a person asked for is not done where it is held; all else is held anyway.
    """
    wanted = terms(signal.quote) - terms(_ANY)
    asked = signal.asked_for
    beside = [one for one in signals if one.asked_for == asked and one.said == signal.said]
    for catch in catches:
        here = catch.origin.message == signal.said.id
        if catch.hold and asked and signal.said.who == PERSON:
            continue
        if signal.kind == FORGET and catch.forget:
            if here and (len(beside) == 1 or terms(catch.forget) & wanted):
                return True
        elif catch.draft is not None and (signal.kind != FORGET or catch.draft.expected):
            shared = len(wanted & terms(_text(catch.draft)))
            # The only wish of a message may be put in other words.
            least = 1 if here and len(beside) == 1 else MET * len(wanted)
            if shared >= max(least, 1) or (here and not wanted):
                return True
    return False


def _text(draft: Draft) -> str:
    return "\n".join((draft.name, draft.description, draft.body, draft.why, draft.how))
