"""Verdicts kept for recall: what a look at the code found, so that a glance can confirm it later.

A row is one claim that was found true or stale; its place is where it was found, or once was. A
glance asks the file system for that place only: a path is still there or is not, a file with a
symbol in it is unchanged or is not.
Hot path: plain tuples, and text in and out.
"""

from binascii import crc32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Facts = tuple[int, int] | None  # of a place: time of change and size; None: it is not there
    # verdict, kind, text, reason, place, its facts when it was looked at
    Row = tuple[str, str, str, str, str, Facts]

TRUE, STALE, PATH = "true", "stale", "path"  # as core.claim says them; that one is too heavy here
MARK = "memdir verdicts 1"
SHORT = 7  # digits of a commit
MOST_ROWS = 60  # of one memory
MOST_STALE, MOST_FOUND = 6, 8  # that are said
LONGEST_TEXT, LONGEST_REASON = 60, 160  # characters


class Kept:
    """The rows of one memory, and the state of both when they were made."""

    __slots__ = ("facts", "rows", "state")

    def __init__(self, facts: "tuple[int, int]", state: str, rows: "Sequence[Row]") -> None:
        self.facts = facts  # of the memory's file
        self.state = state  # the commit that was looked at
        self.rows = rows


def write(kept: Kept) -> bytes:
    """The form on disk; `read` is its inverse."""
    lines = [f"{kept.facts[0]} {kept.facts[1]} {kept.state}"]
    for *texts, facts in kept.rows[:MOST_ROWS]:
        numbers = f"{facts[0]} {facts[1]}" if facts else ""
        lines.append("\t".join([*map(_plain, texts), numbers]))
    data = "\n".join(lines).encode("utf-8", "surrogateescape")
    return f"{MARK} {crc32(data):08x}\n".encode() + data


def read(data: bytes) -> Kept | None:
    """What was written; None where these are not the bytes that were."""
    head, _, rest = data.partition(b"\n")
    if head != f"{MARK} {crc32(rest):08x}".encode():
        return None
    first, *lines = rest.decode("utf-8", "surrogateescape").split("\n")
    time, size, state = first.split(" ")
    rows: list[Row] = []
    for line in lines:
        verdict, kind, text, reason, place, numbers = line.split("\t")
        pair = numbers.split(" ")
        facts = (int(pair[0]), int(pair[1])) if numbers else None
        rows.append((verdict, kind, text, reason, place, facts))
    return Kept((int(time), int(size)), state, rows)


def told(kept: Kept, glance: "Callable[[str], Facts]", moved: bool = False) -> tuple[str, ...]:
    """What can be said of the claims at this moment, what misleads first.

    Where the code has moved on since the look, what a glance cannot confirm is not said.
    """
    stale: list[str] = []
    found: list[str] = []
    for verdict, kind, text, reason, place, facts in kept.rows:
        shown = _clip(text, LONGEST_TEXT)
        if verdict == STALE:
            gone = not moved if kind != PATH or not place else glance(place) is None
            if gone:  # it may have come back
                stale.append(f"{shown} {_clip(reason, LONGEST_REASON)}")
            continue
        if not place or facts is None:
            continue
        now = glance(place)
        if kind == PATH and now is None:
            stale.append(f"{shown} is gone; it was there at {kept.state[:SHORT]}")
        elif now is not None and (kind == PATH or now == facts):
            found.append(shown)
    return (*_few(list(dict.fromkeys(stale)), MOST_STALE), *_found(list(dict.fromkeys(found))))


def _few(said: list[str], most: int) -> list[str]:
    more = len(said) - most
    return [*said[:most], f"{more} more no longer hold"] if more > 0 else said


def _found(names: list[str]) -> list[str]:
    if not names:
        return []
    more = len(names) - MOST_FOUND
    listed = ", ".join(names[:MOST_FOUND]) + (f" and {more} more" if more > 0 else "")
    return [f"{listed} found"]


def _clip(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _plain(text: str) -> str:
    """On one line and in one column."""
    for mark in ("\t", "\n", "\r"):
        text = text.replace(mark, " ")
    return text
