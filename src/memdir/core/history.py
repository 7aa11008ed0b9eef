"""What the history says of a change, written as a commit message and read back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memdir.core.errors import BadInput, Missing
from memdir.core.frontmatter import quote, unquote

BEGIN, OUTSIDE, UNDO = "begin", "outside", "undo"
ADDED, MODIFIED, GONE = "A", "M", "D"


@dataclass(frozen=True)
class Cause:
    """Who changed what, how, and why; `undoes` are the ids that an undo takes back."""

    verb: str
    name: str = ""
    actor: str = "memdir"
    reason: str = ""
    batch: str = ""
    undoes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Logged:
    """One change as the history keeps it; `paths` are (A, M or D, path)."""

    id: str
    parent: str
    tree: str
    time: float
    cause: Cause
    paths: tuple[tuple[str, str], ...]


def write_message(cause: Cause, paths: list[tuple[str, str]]) -> str:
    """The commit message: a subject for people, then one `key: value` line per fact."""
    subject = f"{cause.verb} {cause.name}".strip()
    facts = [("verb", cause.verb), ("actor", cause.actor), ("name", cause.name)]
    facts += [("reason", cause.reason), ("batch", cause.batch)]
    facts += [("undoes", oid) for oid in cause.undoes] + [(kind, path) for kind, path in paths]
    lines = [f"{key}: {quote(value, always=True)}" for key, value in facts if value]
    return " ".join(subject.split())[:100] + "\n\n" + "\n".join(lines) + "\n"


def read_message(text: str) -> tuple[Cause, tuple[tuple[str, str], ...]]:
    """The inverse of `write_message`; lines it does not know are passed over."""
    facts: dict[str, str] = {}
    undoes, paths = [], []
    for line in text.partition("\n\n")[2].split("\n"):
        key, _, value = line.partition(": ")
        value = unquote(value)
        if key in (ADDED, MODIFIED, GONE):
            paths.append((key, value))
        elif key == "undoes":
            undoes.append(value)
        else:
            facts[key] = value
    cause = Cause(
        verb=facts.get("verb", OUTSIDE),
        name=facts.get("name", ""),
        actor=facts.get("actor", "unknown"),
        reason=facts.get("reason", ""),
        batch=facts.get("batch", ""),
        undoes=tuple(undoes),
    )
    return cause, tuple(paths)


def to_undo(
    log: Iterable[Logged], change: str, batch: str, since: float | None, now: float = math.inf
) -> list[Logged]:
    """The changes somebody wants undone, the newest first."""
    if change:
        chosen = [logged for logged in log if logged.id.startswith(change.strip().lower())]
        if len(chosen) > 1:
            raise BadInput(f"{change!r} is the start of several changes", next="memdir log")
    elif batch:
        chosen = [logged for logged in log if logged.cause.batch == batch]
    elif since is not None:
        chosen = list(log)
        # A change of a clock that was ahead is said to be still to come: the one before it counts.
        while chosen and not since <= chosen[-1].time <= now:
            chosen.pop()
    else:
        chosen = _newest_with_batch(log)
    first = any(logged.cause.verb == BEGIN for logged in chosen)
    chosen = [logged for logged in chosen if logged.cause.verb != BEGIN]
    if change and first:
        what = f"{change!r} is the first snapshot; nothing stood before it"
        raise Missing(what, next="memdir log lists the changes")
    if not chosen:
        wanted = change or batch
        what = f"there is no change {wanted!r}" if wanted else "there is nothing to undo"
        raise Missing(what, next="memdir log lists the changes")
    return chosen


def _newest_with_batch(log: Iterable[Logged]) -> list[Logged]:
    """The newest change that stands, with all others of its batch: one run is one undo."""
    chosen: list[Logged] = []
    for logged in standing(log):
        if not chosen or logged.cause.batch == chosen[0].cause.batch:
            chosen.append(logged)
        if not chosen[0].cause.batch:
            break
    return chosen


def standing(log: Iterable[Logged]) -> Iterator[Logged]:
    """The changes that were not taken back, the newest first; undos are none."""
    undone: set[str] = set()
    for logged in log:
        # An undo that says of no change that it takes it back was cut off: it is to be completed.
        cut_off = logged.cause.verb == UNDO and not logged.cause.undoes
        if logged.id in undone or logged.cause.verb == BEGIN or cut_off:
            continue
        if not logged.cause.undoes:
            yield logged
        undone.update(logged.cause.undoes)
