"""The odds that a sentence is worth a memory: the sum of what its words weigh.

The weights are in `odds.txt`, which `evals/capture/fit.py` computes: a logistic regression
over words, pairs of words and four characters in a row. It knows no meaning, only company: "ends up
in", "nobody else", "the customers" stand in what people want known; "rerun", "line #" do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LONG, SHORT = 18, 6  # words
PIECE = 4  # characters in a row
WORDS = 80  # of a sentence; the rest of a longer one says no more
UNIT = 100  # the file has hundredths
_WORD = re.compile(r"[^\W_]+(?:'[a-z]+)?|[?!:;,.]")


@dataclass(frozen=True, slots=True)
class Turn:
    """Where in the conversation a sentence stands."""

    place: int = 0  # among the sentences of its message
    alone: bool = True  # the only one
    answers: bool = False  # the agent has just done something
    objects: bool = False  # the message objects to it
    opens: bool = True  # nobody spoke before


def features(text: str, turn: Turn) -> set[str]:
    """What of a sentence has a weight: its words, pairs, pieces, and where it stands."""
    words = _WORD.findall(text.lower().replace("’", "'"))[:WORDS]
    words = ["#" if word.isdigit() else word for word in words]
    joined = f" {' '.join(words)} "
    found = {f"w {word}" for word in words}
    found.update(f"p {one} {two}" for one, two in zip(["^", *words], [*words, "$"], strict=True))
    found.update(f"c {joined[at : at + PIECE]}" for at in range(len(joined) - PIECE + 1))
    found.update(f"{at} {word}" for at, word in enumerate(words[:2], 1))
    found.update(_of_turn(turn, len(words)))
    return found


def _of_turn(turn: Turn, words: int) -> Iterator[str]:
    if turn.place == 0:
        yield "first"
    if turn.alone:
        yield "alone"
    if turn.answers:
        yield "answers"
    if turn.objects:
        yield "objects"
    if not turn.opens:
        yield "follows"
    if words < SHORT:
        yield "short"
    elif words > LONG:
        yield "long"


def odds(text: str, turn: Turn) -> float:
    """The logarithm of the odds: above 0, a sentence is rather worth a memory than not."""
    known = _weights()
    return (known["all"] + sum(known.get(one, 0) for one in features(text, turn))) / UNIT


@cache
def _weights() -> dict[str, int]:
    lines = Path(__file__).with_name("odds.txt").read_text(encoding="utf-8").splitlines()
    rows = (line.rsplit("\t", 1) for line in lines if not line.startswith("//"))
    return {name: int(value) for name, value in rows}
