"""Each system call of an operation fails: once, or from then on, with what disks really answer.

The operation must either succeed whole, or say in a sentence what failed and what stands (I7);
what stands must be whole, and the next write must work.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Sequence

from tests.faults import driver, memories, stage, tracer
from tests.faults.driver import World
from tests.faults.stage import Outcome, Stage, Tally
from tests.faults.tracer import Call, Strike

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
RECORDS_CONTROLS = {"swallowed errors": ("delete",)}
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
    world: World = memories.WORLD,
) -> tuple[Tally, int]:
    """Gives the tally and how many points there were to choose from."""
    jobs: list[Job] = []
    for name in operations:
        with Stage(world, defect) as here:
            jobs += _jobs(name, here.calls(name), errors, for_good, likely)
    return stage.run_jobs(_fail, jobs[::every], defect, world), len(jobs)


def _jobs(
    operation: str, calls: list[Call], errors: Sequence[str], for_good: bool, likely: bool
) -> list[Job]:
    jobs = []
    for at, call in enumerate(calls):
        if call.paths and call.paths[0].endswith(".ack"):
            continue  # the answer itself belongs to the harness
        if call.name == "close" and operation in SEVERAL:
            continue  # we fail it undone, and so a lock would be held that a real one lets go of
        for error in errors:
            if likely and call.name not in LIKELY.get(error, {call.name}):
                continue
            for lasts in (False, True) if for_good and error not in ONCE_ONLY else (False,):
                blow = tracer.point(calls, at, getattr(errno, error), lasts)
                jobs.append((operation, at, error, blow))
    return jobs


def _fail(here: Stage, job: Job, tally: Tally) -> None:
    operation, at, error, blow = job
    outcome = here.strike(operation, blow)
    how = "from then on" if blow.for_good else "once"
    where = f"{operation}: {error} {how} at {blow.name} #{at}"
    tally.add(where, judge(here, operation, outcome), outcome.fired)


def judge(here: Stage, operation: str, outcome: Outcome) -> list[str]:
    """The state on disk, and whether the words fit it."""
    if outcome.hung:
        return ["it hangs"]
    found = here.verdict(operation, outcome.acknowledged)
    if outcome.code == driver.DONE:
        found = [problem for problem in found if not DOUBT.fullmatch(problem)]
    return words(here, operation, outcome) + found


def words(here: Stage, operation: str, outcome: Outcome) -> list[str]:
    """I7: no success without effect, no failure without a sentence that is true."""
    said = outcome.said
    if outcome.code == driver.DONE:
        told = outcome.acknowledged is not None
        return [] if told else ["exit 0 without an acknowledgement"]
    if outcome.code != driver.REFUSED:
        last = said.strip().splitlines()[-1:] or [f"exit {outcome.code}"]
        return [f"no sentence: {last[0]}"]
    if outcome.acknowledged is not None:
        return [f"acknowledged and refused: {said}"]
    before = here.expected[operation].before.memories
    now = here.world.view.memories_of(here.found.files)
    changed = [path for path in {*now, *before} if now.get(path) != before.get(path)]
    if not changed:
        return []
    if "nothing was written" in said:
        return [f"it says that nothing was written, but {changed[0]} was: {said}"]
    if operation in SINGLE and not any(word in said for word in STANDS):
        return [f"it does not say that {changed[0]} has changed: {said}"]
    return []
