"""Is a recorded history of one memory possible for a register that does one thing at a time?

The search of Wing and Gong with memoisation. An operation is (start, end, kind, given, result):
read -> hash; cas(expected, new) -> done or refused; put(new); drop -> done or refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

MOST_STEPS = 4_000_000


class Op(NamedTuple):
    """`given` is (expected, new) of a cas, new of a put; a value of None is: not there."""

    start: int
    end: int
    kind: str
    given: tuple[str | None, ...]
    result: str | bool | None


# (is this answer possible now, does it change the value, the value afterwards)
Attempt = Callable[[Op, Any], tuple[bool, bool, Any]]


def linearizable(history: Sequence[Op], attempt: Attempt) -> bool:
    """True when some order, in keeping with the clock, explains every answer.

    `attempt` tells what an operation can answer and do.
    """
    ops = sorted(history)
    seen: set[tuple[int, Any]] = set()
    stack: list[tuple[int, Any, int]] = [(0, None, 0)]  # done as bits, value, lowest undone
    for _ in range(MOST_STEPS):
        if not stack:
            return False
        done, value, low = stack.pop()
        done, low, writes = _settle(ops, done, value, low, attempt)
        if low == len(ops):
            return True
        if (done, value) not in seen:
            seen.add((done, value))
            stack.extend((done | 1 << at, new, low) for at, new in writes)
    raise RuntimeError(f"undecided after {MOST_STEPS} steps")


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


def try_register(op: Op, value: str | None) -> tuple[bool, bool, str | None]:
    """(is this answer possible now, does it change the value, the value afterwards)."""
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
