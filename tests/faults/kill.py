"""SIGKILL before every system call of every operation, also those of the commit after the answer."""

from __future__ import annotations

import signal
from collections.abc import Sequence

from tests.faults import stage, tracer
from tests.faults.stage import Stage, Tally

CONTROLS = {
    "written in place": ("update",),
    "unlinked before shelved": ("retire",),
    "told before written": ("create",),
    "ref before objects": ("commit",),
}


def run(operations: Sequence[str], defect: str = "") -> Tally:
    """Every operation, killed at every point."""
    jobs = [(operation, at) for operation in operations for at in range(count(operation, defect))]
    total = Tally()
    for part in stage.parallel(lambda share: _share(share, defect), jobs):
        total.merge(part)
    return total


def count(operation: str, defect: str = "") -> int:
    """How many calls the operation makes between its markers."""
    here = Stage(defect)
    try:
        return len(here.calls(operation))
    finally:
        here.close()


def _share(jobs: list[tuple[str, int]], defect: str) -> Tally:
    here, tally = Stage(defect), Tally()
    names: dict[str, list[str]] = {}
    try:
        for operation, at in jobs:
            if operation not in names:
                names[operation] = [call.name for call in here.calls(operation)]
            outcome = here.strike(operation, tracer.Strike(at))
            problems = list(here.verdict(operation, outcome.acknowledged))
            fired = outcome.fired and outcome.code == -signal.SIGKILL
            problems += [] if fired else ["the kill did not happen"]
            name = names[operation][at] if at < len(names[operation]) else "?"
            tally.add(f"{operation} killed before {name} #{at}", fired, problems)
            if defect and tally.violations:
                break  # a control is found once it is found
        tally.states = len(here.verdicts)
    finally:
        here.close()
    return tally
