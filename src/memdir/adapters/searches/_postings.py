"""Who holds a term, and how much it says about them: one whole number for each memory.

The number has the weight, turned round, above the memory's number: sorted, the memories that a
term says most about come first, and a search may stop there. A few need no order. Hot path.
"""

from binascii import crc32

from memdir.core.ranking import HEAVIEST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Container, Iterable, Sequence

SHIFT = 32
NUMBER = (1 << SHIFT) - 1
BYTES = 8  # of an entry, a "Q" to the modules that keep numbers
ENOUGH = 500  # holders of one term that are looked at: those it says most about


def number_of(path: str, taken: "Container[int]") -> int:
    """A memory's number: made of its path, so that equals come in the same order every time."""
    number = crc32(path.encode("utf-8", "surrogateescape"))
    while number in taken:
        number = (number + 1) & NUMBER
    return number


def entry(number: int, weight: int) -> int:
    """One memory that holds a term."""
    return (HEAVIEST - min(weight, HEAVIEST)) << SHIFT | number


def read(entries: "Iterable[int]") -> dict[int, int]:
    """The weights by memory."""
    return {one & NUMBER: HEAVIEST - (one >> SHIFT) for one in entries}


def none() -> "array[int]":
    """No entries yet; an array holds them in a quarter of the space."""
    from array import array  # whoever asks a catalog makes none

    return array("Q")


def front(entries: "array[int]") -> "Sequence[int]":
    """The entries that a search looks at."""
    return entries if len(entries) <= ENOUGH else sorted(entries)[:ENOUGH]


def pack(entries: "array[int]") -> bytes:
    """As the catalog keeps them; in order where a search looks only at the first."""
    if len(entries) > ENOUGH:
        return type(entries)("Q", sorted(entries)).tobytes()
    return entries.tobytes()


def unpack(data: bytes) -> list[int]:
    """The entries again; a rest that is no entry is left out."""
    return memoryview(data)[: len(data) // BYTES * BYTES].cast("Q").tolist()
