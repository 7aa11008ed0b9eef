"""How much each term says about a memory, for whoever makes or updates a catalog."""

from memdir.core.ranking import HEAVIEST, STEPS
from memdir.core.words import Words, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# How much a word counts by where it stands: file name, name, description, line of the index, body.
WEIGHTS = (2, 2, 3, 1, 1)
LENGTH, USUAL_LENGTH = 0.6, 80  # how much a body's length counts, and a body that is not long


class _Rounded(dict[float, int]):
    """The weight for each count of a word in a body: few counts, so looked up, not computed."""

    __slots__ = ("share",)

    def __init__(self, share: float) -> None:
        self.share = share

    def __missing__(self, count: float) -> int:
        weight = self[count] = _rounded(count * self.share)
        return weight


def _rounded(weight: float) -> int:
    whole = int(weight + 0.5)
    return (whole if whole < HEAVIEST else HEAVIEST) or 1  # one word, hundreds of times


def weights(words: Words, fields: "Sequence[str]") -> tuple[list[str], list[int]]:
    """The terms of a memory, and how much each says; `fields` in the order of WEIGHTS."""
    *short, body = fields
    counts, length = words.count(body)
    share = WEIGHTS[-1] * STEPS / (1 - LENGTH + LENGTH * length / USUAL_LENGTH)
    said: list[str] = []
    for text, times in zip(short, WEIGHTS, strict=False):
        said += split(text) * times
    terms, found = [], []
    for term, count in words.tally(said)[0].items():
        terms.append(term)
        found.append(_rounded(count * STEPS + counts.pop(term, 0) * share))
    terms += counts
    found += map(_Rounded(share).__getitem__, counts.values())
    return terms, found
