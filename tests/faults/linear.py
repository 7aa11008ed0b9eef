"""Is a recorded history of one file possible for a store that does one thing at a time?

The search of Wing and Gong with memoisation.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

MAX_STEPS = 4_000_000


class Op(NamedTuple):
    """What was asked between two moments, and what came back; a value of None is: not there."""

    start: int
    end: int
    kind: str
    given: tuple[str | None, ...]
    result: str | bool | None


# (is this answer possible now, does it change the value, the value afterwards)
Attempt = Callable[[Op, Any], tuple[bool, bool, Any]]


def linearizable(history: Sequence[Op], attempt: Attempt) -> bool:
    """True when some order, in keeping with the clock, explains every answer."""
    ops = sorted(history)
    seen: set[tuple[int, Any]] = set()
    stack: list[tuple[int, Any, int]] = [(0, None, 0)]  # done as bits, value, lowest undone
    for _ in range(MAX_STEPS):
        if not stack:
            return False
        done, value, low = stack.pop()
        done, low, writes = _settle(ops, done, value, low, attempt)
        if low == len(ops):
            return True
        if (done, value) not in seen:
            seen.add((done, value))
            stack.extend((done | 1 << at, new, low) for at, new in writes)
    raise RuntimeError(f"undecided after {MAX_STEPS} steps")


def _settle(
    ops: list[Op], done: int, value: Any, low: int, attempt: Attempt
) -> tuple[int, int, list[tuple[int, Any]]]:
    """Take all that changes nothing and fits now; gives what could change the value next."""
    while True:
        while low < len(ops) and done >> low & 1:
            low += 1
        if low == len(ops):
            return done, low, []
        writes, moved = [], False
        for at in _ready(ops, done, low):
            fits, changes, new = attempt(ops[at], value)
            if fits and not changes:
                done |= 1 << at
                moved = True
            elif fits:
                writes.append((at, new))
        if not moved:
            return done, low, writes


def _ready(ops: list[Op], done: int, low: int) -> list[int]:
    """The operations that may come next: started before any undone one has ended."""
    first_end, at, ready = ops[low].end, low, []
    while at < len(ops) and ops[at].start <= first_end:
        if not done >> at & 1:
            first_end = min(first_end, ops[at].end)
            ready.append(at)
        at += 1
    return [at for at in ready if ops[at].start <= first_end]


def try_memory(op: Op, value: str | None) -> tuple[bool, bool, str | None]:
    """read -> hash; cas(expected, new) -> done or refused; put(new); drop -> done or refused."""
    if op.kind == "read":
        return op.result == value, False, value
    if op.kind == "cas" and op.result is True:
        return op.given[0] == value, True, op.given[1]
    if op.kind == "cas":
        return op.given[0] != value, False, value
    if op.kind == "put":
        return True, True, op.given[0]
    done = op.result is True  # drop
    return (value is not None) == done, done, None


ACTIVE, RETIRED = "active", "retired"
Record = tuple[str | None, str | None]  # status and hash


def try_record(op: Op, state: Record | None) -> tuple[bool, bool, Record | None]:
    """What each action hears of a record that is, or is not, where it would have to be."""
    status, hash = state or (None, None)
    said, new = op.result, op.given[-1] if op.given else None
    if op.kind == "read":
        return said == hash, False, state
    if said == "missing":
        return status is None, False, state
    if op.kind == "create":
        if said == "there":  # the same record again is no change
            return status == ACTIVE and hash == new, False, state
        if said != "done":
            return status == (ACTIVE if said == "overwrite" else RETIRED), False, state
        return status is None, True, (ACTIVE, new)
    if op.kind == "update":
        if said == "done":
            return status == ACTIVE and hash == op.given[0], True, (ACTIVE, new)
        fits = status == RETIRED if said == "retired" else hash not in (None, op.given[0])
        return fits, False, state
    if op.kind == "gc":
        return (status == RETIRED) == (said == "done"), said == "done", None
    before, after = (ACTIVE, RETIRED) if op.kind == "delete" else (RETIRED, ACTIVE)
    if said == "done":
        return status == before, True, (after, new)
    return status == after and hash == new, False, state  # there already
