"""SIGKILL before every system call of every operation, also in the commit after the answer."""

from __future__ import annotations

import signal
from collections.abc import Sequence

from tests.faults import stage, tracer
from tests.faults.stage import Stage, Tally
from tests.faults.tracer import Strike

CONTROLS = {
    "written in place": ("update",),
    "unlinked before shelved": ("retire",),
    "told before written": ("create",),
    "ref before objects": ("commit",),
    "decided before saved": ("capture",),
    "cursor before memories": ("capture",),
}


def run(
    operations: Sequence[str], defect: str = "", make: type[Stage] = Stage, every: int = 1
) -> Tally:
    """Every operation, killed at every point, or at every second one and so on.

    The last one is always among them: it comes after the answer.
    """
    jobs = []
    for name in operations:
        points = blows(name, defect, make)
        jobs += [(name, at, blow) for at, blow in points[::every]]
        jobs += [(name, at, blow) for at, blow in points[-1:] if at % every]
    total = Tally()
    for part in stage.parallel(lambda share: _share(share, defect, make), jobs):
        total.merge(part)
    return total


def blows(operation: str, defect: str = "", make: type[Stage] = Stage) -> list[tuple[int, Strike]]:
    """A kill at each call that the operation makes between its markers."""
    here = make(defect)
    try:
        calls = here.calls(operation)
    finally:
        here.close()
    return [(at, tracer.point(calls, at)) for at in range(len(calls))]


def _share(jobs: list[tuple[str, int, Strike]], defect: str, make: type[Stage]) -> Tally:
    here, tally = make(defect), Tally()
    try:
        for operation, at, blow in jobs:
            outcome = here.strike(operation, blow)
            problems = list(here.verdict(operation, outcome.acknowledged))
            fired = outcome.fired and outcome.code == -signal.SIGKILL
            tally.add(f"{operation} killed before {blow.name} #{at}", fired, problems)
            if defect and tally.violations:
                break  # a control is found once it is found
        tally.states = len(here.verdicts)
    finally:
        here.close()
    return tally
