"""A disk that is full sooner or later: the operation on a tmpfs of every size, page by page."""

from __future__ import annotations

import os
from collections.abc import Sequence

from tests.faults import checker, errors, kernel, mounts, seeds, stage
from tests.faults.stage import Outcome, Stage, Tally

CONTROLS = {"swallowed errors": ("update",), "written in place": ("update",)}
PAGE = 4  # kilobytes
PLENTY = 64 << 10  # kilobytes
LARGEST = 512  # kilobytes; beyond it every operation has room enough


def why_not() -> str:
    return mounts.why_not()


def run(operations: Sequence[str], every: int = 1, defect: str = "") -> Tally:
    """From the first size that holds the seed to the first on which the operation succeeds."""
    total = Tally()
    jobs = list(operations)
    for part in stage.parallel(lambda share: _share(share, every, defect), jobs):
        total.merge(part)
    return total


def _share(operations: list[str], every: int, defect: str) -> Tally:
    mounts.enter()
    here, tally = Stage(defect), Tally()
    try:
        for operation in operations:
            _sweep(here, operation, every, tally)
        tally.states = len(here.verdicts)
    finally:
        here.close()
    return tally


def _sweep(here: Stage, operation: str, every: int, tally: Tally) -> None:
    here.learn(operation)
    full = 0
    for size in range(PAGE, LARGEST, PAGE * every):
        here.lay(operation)
        seeds.clear(here.root)
        mounts.tmpfs(here.root, size)
        try:
            seeds.fill(here.seeds[operation], here.root)
            outcome = _run(here, operation)
            found = _judge(here, operation, outcome)
            tally.add(f"{operation} on a disk of {size} KB", True, found)
            full += outcome.code != 0
            done = outcome.code == 0 and "cannot be" not in outcome.said
        except OSError:
            done = False  # not even the seed fits
        finally:
            mounts.unmount(here.root)
        if (done and full) or (here.defect and tally.violations):
            return
    tally.add(operation, False, [] if full else ["it never met a full disk"])


def _run(here: Stage, operation: str) -> Outcome:
    pid = kernel.fork()
    if pid == 0:
        code = 9
        try:
            code = here.run(operation)
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return Outcome(code, *here.heard())


def _judge(here: Stage, operation: str, outcome: Outcome) -> list[str]:
    debris = checker.look(here.root).debris
    mounts.tmpfs(here.root, PLENTY, again=True)
    found = here.verdict(operation, outcome.acknowledged)
    found = found + errors.words(here, operation, outcome)
    here.lying = None  # it lies on what will be unmounted
    return found + [f"debris on a full disk: {path}" for path in debris]
