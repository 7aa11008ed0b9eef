"""`memdir undo`, killed at each of its calls and typed again: one change is taken back, not two.

The command itself, as a person runs it. Whoever has read no answer types the command once more, and
then one change is gone. The undo after that takes back the change before it.
"""

import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from memdir.memory_tool import MemoryTool
from memdir.store.writer import App
from tests.faults import defects, driver, kernel, memories, records, stage, tracer, trees
from tests.faults.driver import World
from tests.faults.stage import Stage, Tally
from tests.faults.tracer import Strike

LAST = 90  # calls of each undo among which are its commit, its answer and what follows
Job = tuple[str, int, Strike]  # the change to take back, and where its undo is killed
Act = Callable[[App], object]


def _rename(old: str, new: str) -> Act:
    given = {"old_path": f"/memories/{old}", "new_path": f"/memories/{new}"}
    return lambda app: MemoryTool(app).call({"command": "rename", **given})


@dataclass(frozen=True)
class Scene:
    """The change that is taken back, and the one before it."""

    world: World
    before: Act
    change: Act


SCENES = {
    "create": Scene(memories.WORLD, memories.later, memories.create),
    "update": Scene(memories.WORLD, memories.later, memories.update),
    "retire two": Scene(memories.WORLD, memories.later, memories.OPERATIONS["archive"]),
    "import": Scene(memories.WORLD, memories.later, memories.bring),
    "rename": Scene(memories.WORLD, memories.later, _rename("alpha.md", "other.md")),
    "folder": Scene(memories.WORLD, memories.later, _rename("deep", "deeper")),
    "records": Scene(records.WORLD, records.delete, records.rename),
}


def run(scenes: Sequence[str], every: int = 1, defect: str = "") -> Tally:
    """Each undo, killed at every so manyth of its calls, and at more of its last ones."""
    jobs: list[Job] = []
    for name in scenes:
        with Stage(defect=defect) as here:
            place = _place_of(here.folder, name)
            place.lay()
            calls = tracer.trace(lambda place=place: place.undo(defect)).calls
        late = range(max(0, len(calls) - LAST), len(calls), max(1, every // 6))
        points = {*range(0, len(calls), every), *late, len(calls) - 1}
        jobs += [(name, at, tracer.point(calls, at)) for at in sorted(points)]
    return stage.run_jobs(_kill, jobs, defect)


def _kill(here: Stage, job: Job, tally: Tally) -> None:
    name, at, blow = job
    place = _place_of(here.folder, name)
    place.lay()
    traced = tracer.strike(lambda: place.undo(here.defect), blow)
    fired = traced.fired and traced.code == -signal.SIGKILL
    tally.add(f"undo of {name} killed before {blow.name} #{at}", place.judge(here.defect), fired)


class _Place:
    """A root with a store in which two changes were made, one after the other."""

    def __init__(self, root: str, scene: Scene) -> None:
        driver.forget_how_old_files_are()
        self.root, self.world = root, scene.world
        self.world.prepare(root, "update")
        for act, ago in ((scene.before, 500), (scene.change, 400)):
            act(self.world.open(root, now=driver.NOW - ago))
        self.seed = trees.read_tree(root)
        self.after = [self.look()]
        for _ in range(2):
            if code := self.run():
                raise RuntimeError(f"undo fails undisturbed ({code}): {self.said()}")
            self.after.append(self.look())
        if len({repr(sorted(files.items())) for files in self.after}) < len(self.after):
            raise RuntimeError("an undo changes nothing")

    def lay(self) -> None:
        trees.write_tree(self.seed, self.root)

    def said(self) -> str:
        return trees.read(f"{self.root}.said").decode()

    def look(self) -> dict[str, bytes]:
        return dict(self.world.view.look(self.root).files)

    def run(self, defect: str = "") -> int:
        """The command in a process of its own."""
        return kernel.wait(kernel.start(lambda: self.undo(defect)))

    def undo(self, defect: str = "") -> int:
        """In a forked child: the command, between the tracer's markers."""
        defects.switch_off(defect)
        return driver.run_typed(self.root, ["undo", "--scope", self.world.scope])

    def judge(self, defect: str) -> list[str]:
        """What a person finds who was answered, or who was not and types the command again."""
        answered = "undone" in self.said()
        if not answered and (code := self.run(defect)):
            return [f"run again, it is refused ({code}): {self.said()}"]
        found = [] if self.look() == self.after[1] else ["not one change was taken back"]
        code = self.run(defect)
        # Killed after its answer, an undo may not have noted that: the next one says so.
        if answered and not code and "nothing more" in self.said():
            found += [] if self.look() == self.after[1] else ["it says nothing more, but did more"]
            code = self.run(defect)
        if code:
            return [*found, f"the next undo is refused ({code}): {self.said()}"]
        return found + ([] if self.look() == self.after[2] else ["the next undo does not undo"])


@cache
def _place_of(folder: str, name: str) -> _Place:
    return _Place(os.path.join(folder, "undo-" + name.replace(" ", "-")), SCENES[name])
