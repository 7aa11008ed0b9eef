"""Every directory POSIX may leave after a power cut at any step of an operation.

Store and state together: an acknowledged memory is there, nothing has vanished, the history's
branch never points at an object that is not there. `twice` adds the accident before: an operation
is killed, the next write is acknowledged, and then the power fails, so that nothing may rest on
what the killed process had not forced yet.
"""

import dataclasses
import random
from collections.abc import Iterator, Sequence

from tests.faults import memories, stage, tracer, trees
from tests.faults.disk_model import ACK, Model
from tests.faults.stage import Stage, Tally

SEED = 20_260_302
CHANGING = ("renameat", "rename", "mkdir", "mkdirat", "unlink", "unlinkat")
# Word of a change under way is not forced onto the disk: after a power cut, half an undo looks
# like somebody's edit, and the next undo takes that back first.
WORLD = dataclasses.replace(memories.WORLD, again=memories.WORLD.again - {"undo"})


def run(operations: Sequence[str], defect: str = "") -> Tally:
    """Every crash state of every step of these operations."""
    return stage.run_jobs(_cut_power, operations, defect, WORLD)


def twice(operations: Sequence[str], defect: str = "") -> Tally:
    """Killed after each step that changes the disk; then the next write; then the power cut."""
    jobs = []
    for operation in operations:
        with Stage(WORLD, defect) as here:
            calls = here.calls(operation)[:-1]
        changing = [call.name in CHANGING and call.result == 0 for call in calls]
        jobs += [(operation, at + 1) for at, changes in enumerate(changing) if changes]
    return stage.run_jobs(_kill_and_cut_power, jobs, defect, WORLD)


def _cut_power(here: Stage, operation: str, tally: Tally) -> None:
    calls = here.calls(operation)
    answer = here.heard()[0]
    model = Model.of(here.seeds[operation], here.root)
    model.follow(calls)
    for length in range(len(model.steps) + 1):
        told = any(step.kind == ACK for step in model.steps[:length])
        acknowledged = answer if told else None
        for tree in _crashes(model, length):
            key = operation, acknowledged, stage.fingerprint(tree)
            if key not in here.verdicts:
                trees.write_tree(tree, here.root)
                found = here.verdict(operation, acknowledged)
                tally.add(f"{operation}: power cut after step {_shown(model, length)}", found)
            if here.defect and tally.violations:
                return


def _kill_and_cut_power(here: Stage, job: tuple[str, int], tally: Tally) -> None:
    operation, killed_at = job
    here.lay(operation)
    model = Model.of(here.seeds[operation], here.root)
    model.follow(tracer.trace(lambda: here.run(operation), killed_at).calls)
    told_first = here.heard()[0]
    cut = len(model.steps)
    second = tracer.trace(lambda: here.run("recovery"))
    model.follow(second.calls)
    told = [at + 1 for at in range(cut, len(model.steps)) if model.steps[at].kind == ACK]
    where = f"{operation} killed before #{killed_at}"
    if second.code or not told:
        tally.add(where, ["the next write fails"])
        return
    # What was acknowledged, by the killed operation or by the next one, is there from now on.
    expected = here.expected[operation]
    new = {"later.md": here.world.view.look(here.root).files["later.md"]}
    new |= expected.after.memories if told_first is not None else {}
    for length in dict.fromkeys([*told, len(model.steps)]):
        for tree in _crashes(model, length):
            key = f"{operation} {sorted(new)}", ("next",), stage.fingerprint(tree)
            if key in here.verdicts:
                continue
            trees.write_tree(tree, here.root)
            here.verdicts[key] = here.judge_next(expected, new, "later.md"), {}
            how = f"next write acknowledged, power cut after step {_shown(model, length)}"
            tally.add(f"{where}, {how}", here.verdicts[key][0])
            if here.defect and tally.violations:
                return


def _crashes(model: Model, length: int) -> Iterator[trees.Tree]:
    return model.crashes(length, random.Random(SEED + length))


def _shown(model: Model, length: int) -> str:
    if not length:
        return "0"
    step = model.steps[length - 1]
    return f"{length} {step.kind} {step.path}"
