"""SIGKILL before every system call of every operation, also in the commit after the answer."""

from __future__ import annotations

import signal
from collections.abc import Sequence

from tests.faults import memories, stage, tracer
from tests.faults.driver import World
from tests.faults.stage import Stage, Tally

CONTROLS = {
    "written in place": ("update",),
    "unlinked before shelved": ("retire",),
    "told before written": ("create",),
    "ref before objects": ("commit",),
    "decided before saved": ("capture",),
    "cursor before memories": ("capture",),
}
RECORDS_CONTROLS = {
    "both versions active": ("rename",),
    "old name first": ("rename",),
    "written in place": ("update",),
    "told before written": ("create",),
    "index left behind": ("delete",),
}


def run(
    operations: Sequence[str], defect: str = "", world: World = memories.WORLD, every: int = 1
) -> Tally:
    """Every operation, killed at every point, or at every second one and so on.

    The last one is always among them: it comes after the answer.
    """
    jobs = []
    for name in operations:
        with Stage(world, defect) as here:
            calls = here.calls(name)
        points = dict.fromkeys([*range(0, len(calls), every), len(calls) - 1])
        jobs += [(name, at, tracer.point(calls, at)) for at in points]
    return stage.run_jobs(_kill, jobs, defect, world)


def _kill(here: Stage, job: tuple[str, int, tracer.Strike], tally: Tally) -> None:
    operation, at, blow = job
    outcome = here.strike(operation, blow)
    problems = here.verdict(operation, outcome.acknowledged)
    fired = outcome.fired and outcome.code == -signal.SIGKILL
    tally.add(f"{operation} killed before {blow.name} #{at}", problems, fired)
