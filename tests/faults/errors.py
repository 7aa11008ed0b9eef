"""Each system call of an operation fails: once, or from then on, with what disks really answer.

The operation must either succeed whole, or say in a sentence what failed and what stands (I7);
what stands must be whole, and the next write must work.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Sequence

from tests.faults import driver, stage, tracer
from tests.faults.checker import Expected
from tests.faults.stage import Outcome, Stage, Tally
from tests.faults.tracer import Strike

ALL = ("EIO", "ENOSPC", "EDQUOT", "EACCES", "EROFS", "EMFILE", "ESTALE", "EINTR")
# Python repeats an interrupted call for ever (PEP 475), so only one interruption means anything.
ONCE_ONLY = frozenset(("EINTR",))
_MAKES = ("openat", "mkdir", "mkdirat", "rename", "renameat", "write", "pwrite64", "fsync")
_NAMED = ("openat", "mkdir", "mkdirat", "rename", "renameat", "unlink", "unlinkat", "rmdir")
# The calls that give such an error in practice; the full run tries every error at every call.
LIKELY = {
    "ENOSPC": frozenset((*_MAKES, "close")),
    "EDQUOT": frozenset((*_MAKES, "close")),
    "EACCES": frozenset((*_NAMED, "newfstatat")),
    "EROFS": frozenset((*_NAMED, "fchmod", "pwrite64")),
    "EMFILE": frozenset(("openat", "fcntl", "dup")),
}
CONTROLS = {"swallowed errors": ("update",)}
STANDS = ("stands", "is created", "is updated", "is retired", "is archived", "is restored")
# A pointer whose file nobody could look for stays: that is an answer, not a violation.
DOUBT = re.compile(r"index: \S+ does not exist")
SEVERAL = frozenset(("capture",))  # operations of several changes, each with the lock
SINGLE = frozenset(
    (
        *("create", "first", "update", "keep-old", "edit", "retire", "restore"),
        *("old-kept", "rename", "old-name", "delete", "unarchive", "save", "save-again"),
    )
)

Job = tuple[str, int, str, Strike]


def run(
    operations: Sequence[str],
    errors: Sequence[str],
    *,
    for_good: bool = False,
    likely: bool = False,
    every: int = 1,
    defect: str = "",
    make: type[Stage] = Stage,
) -> tuple[Tally, int]:
    """Gives the tally and how many points there were to choose from."""
    jobs = [
        job for name in operations for job in _jobs(name, errors, for_good, likely, make(defect))
    ]
    total = Tally()
    for part in stage.parallel(lambda share: _share(share, defect, make), jobs[::every]):
        total.merge(part)
    return total, len(jobs)


def _jobs(
    operation: str, errors: Sequence[str], for_good: bool, likely: bool, here: Stage
) -> list[Job]:
    try:
        calls = here.calls(operation)
    finally:
        here.close()
    jobs = []
    for at, call in enumerate(calls):
        if call.paths and call.paths[0].endswith(".ack"):
            continue  # the answer itself belongs to the harness
        if call.name == "close" and operation in SEVERAL:
            continue  # we fail it undone, and so a lock would be held that a real one lets go of
        for error in errors:
            if likely and call.name not in LIKELY.get(error, {call.name}):
                continue
            number = getattr(errno, error)
            jobs.append((operation, at, error, tracer.point(calls, at, number)))
            if for_good and error not in ONCE_ONLY:
                jobs.append((operation, at, error, tracer.point(calls, at, number, True)))
    return jobs


def _share(jobs: list[Job], defect: str, make: type[Stage]) -> Tally:
    here, tally = make(defect), Tally()
    try:
        for operation, at, error, blow in jobs:
            outcome = here.strike(operation, blow)
            problems = judge(here, operation, outcome)
            how = "from then on" if blow.for_good else "once"
            where = f"{operation}: {error} {how} at {blow.name} #{at}"
            tally.add(where, outcome.fired, problems)
            if defect and tally.violations:
                break
        tally.states = len(here.verdicts)
    finally:
        here.close()
    return tally


def judge(here: Stage, operation: str, outcome: Outcome) -> list[str]:
    """The state on disk, and whether the words fit it."""
    if outcome.hung:
        return ["it hangs"]
    found = here.verdict(operation, outcome.acknowledged)
    problems = words(here, operation, outcome)
    if outcome.code == driver.DONE:
        found = [problem for problem in found if not DOUBT.fullmatch(problem)]
    return problems + found


def words(here: Stage, operation: str, outcome: Outcome) -> list[str]:
    """I7: no success without effect, no failure without a sentence that is true."""
    if outcome.code == driver.DONE:
        if outcome.acknowledged is None:
            return ["exit 0 without an acknowledgement"]
        return []
    if outcome.code != driver.REFUSED:
        last = outcome.said.strip().splitlines()[-1:] or [f"exit {outcome.code}"]
        return [f"no sentence: {last[0]}"]
    if outcome.acknowledged is not None:
        return [f"acknowledged and refused: {outcome.said}"]
    memories = here.checker.memories_of(here.found.files)
    return _true(here.learned(operation), memories, outcome.said)


def _true(expected: Expected, memories: dict[str, bytes], said: str) -> list[str]:
    before = expected.before.memories
    changed = [path for path in {*memories, *before} if memories.get(path) != before.get(path)]
    if not changed:
        return []
    if "nothing was written" in said:
        return [f"it says that nothing was written, but {changed[0]} was: {said}"]
    if expected.operation in SINGLE and not any(word in said for word in STANDS):
        return [f"it does not say that {changed[0]} has changed: {said}"]
    return []
