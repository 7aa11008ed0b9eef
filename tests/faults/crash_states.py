"""Every directory POSIX may leave after a power cut at any step of an operation.

Store and state together: an acknowledged memory is there, nothing has vanished, the history's
branch never points at an object that is not there. `twice` adds the accident before: an operation
is killed, the next write is acknowledged, and then the power fails, so that nothing may rest on
what the killed process had not forced yet.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from tests.faults import checker, seeds, stage, tracer
from tests.faults.checker import Answer
from tests.faults.disk_model import ACK, Model
from tests.faults.stage import Stage, Tally

CONTROLS = {
    "no fsync": ("create",),
    "no directory fsync": ("retire",),
    "written in place": ("update",),
    "unlinked before shelved": ("retire",),
    "ref before objects": ("commit",),
}
CONTROLS_TWICE = {"killed names not forced": ("create",)}
SEED = 20_260_302


def run(operations: Sequence[str], defect: str = "") -> Tally:
    """Every crash state of every step of these operations."""
    return _parallel([(name, -1) for name in operations], defect)


def twice(operations: Sequence[str], defect: str = "") -> Tally:
    """Killed after each step that changes the disk; then the next write; then the power cut."""
    jobs = []
    for operation in operations:
        here = Stage(defect)
        try:
            jobs += [(operation, at) for at in _changing(here, operation)]
        finally:
            here.close()
    return _parallel(jobs, defect)


def _parallel(jobs: list[tuple[str, int]], defect: str) -> Tally:
    total = Tally()
    for part in stage.parallel(lambda share: _share(share, defect), jobs):
        total.merge(part)
    return total


def _changing(here: Stage, operation: str) -> list[int]:
    """The calls right after those that changed something not yet forced."""
    calls = here.calls(operation)
    changing = ("renameat", "rename", "mkdir", "mkdirat", "unlink", "unlinkat")
    return [
        at + 1 for at, call in enumerate(calls[:-1]) if call.name in changing and call.result == 0
    ]


def _share(jobs: list[tuple[str, int]], defect: str) -> Tally:
    here, tally = Stage(defect), Tally()
    # Word of a change under way is not forced onto the disk: after a power cut, half an undo looks
    # like somebody's edit, and the next undo takes that back first.
    here.again = here.again - {"undo"}
    try:
        for operation, killed_at in jobs:
            if killed_at < 0:
                _one_accident(here, operation, tally)
            else:
                _two_accidents(here, operation, killed_at, tally)
        tally.states = len(here.verdicts)
    finally:
        here.close()
    return tally


def _one_accident(here: Stage, operation: str, tally: Tally) -> None:
    calls = here.calls(operation)
    answer = here.heard()[0]
    model = Model.of(here.seeds[operation], here.root)
    model.follow(calls)
    for length in range(len(model.steps) + 1):
        told = any(step.kind == ACK for step in model.steps[:length])
        acknowledged = answer if told else None
        _judge_all(here, model, length, operation, acknowledged, tally, "power cut")


def _two_accidents(here: Stage, operation: str, killed_at: int, tally: Tally) -> None:
    here.lay(operation)
    first = tracer.trace(lambda: here.run(operation), killed_at)
    model = Model.of(here.seeds[operation], here.root)
    model.follow(first.calls)
    told_first = here.heard()[0]
    second = tracer.trace(lambda: here.run("recovery"))
    cut = len(model.steps)
    model.follow(second.calls)
    told = [at + 1 for at in range(cut, len(model.steps)) if model.steps[at].kind == ACK]
    if second.code or not told:
        tally.add(f"{operation} killed before #{killed_at}", True, ["the next write fails"])
        return
    done = checker.look(here.root).files
    # What was acknowledged, by the killed operation or by the next one, is there from now on.
    new = {"later.md": done["later.md"]}
    new |= here.learned(operation).after.memories if told_first is not None else {}
    where = f"{operation} killed before #{killed_at}, next write acknowledged, power cut"
    for length in dict.fromkeys([*told, len(model.steps)]):
        _judge_second(here, model, length, operation, new, tally, where)


def _judge_second(
    here: Stage,
    model: Model,
    length: int,
    operation: str,
    new: dict[str, bytes],
    tally: Tally,
    where: str,
) -> None:
    expected = here.learned(operation)
    for tree in model.crashes(length, random.Random(SEED + length)):
        key = f"{operation} {sorted(new)}", ("next",), stage.fingerprint(tree)
        if key in here.verdicts:
            continue
        seeds.write_tree(tree, here.root)
        view = checker.look(here.root)
        found = checker.judge_next(view, expected, ["later.md"])
        found += [
            f"{path}: acknowledged, but not so on disk"
            for path, data in new.items()
            if view.files.get(path) != data
        ]
        here.verdicts[key] = found + here.recover(expected, ["later.md"])
        if here.defect and tally.violations:
            return
        tally.add(f"{where} after step {length} {_shown(model, length)}", True, here.verdicts[key])


def _judge_all(
    here: Stage,
    model: Model,
    length: int,
    operation: str,
    acknowledged: Answer,
    tally: Tally,
    how: str,
) -> None:
    chance = random.Random(SEED + length)
    for tree in model.crashes(length, chance):
        key = operation, acknowledged, stage.fingerprint(tree)
        if key not in here.verdicts:
            seeds.write_tree(tree, here.root)
            found = here.verdict(operation, acknowledged)
            tally.add(
                f"{operation}: {how} after step {length} {_shown(model, length)}", True, found
            )
        if here.defect and tally.violations:
            return


def _shown(model: Model, length: int) -> str:
    if not length:
        return "(start)"
    step = model.steps[length - 1]
    names = [entry[1] for entry in step.entries]
    return f"({step.kind} {' '.join(names)})".replace(" )", ")")
