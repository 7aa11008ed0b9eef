"""`memdir undo`, killed at each of its calls and typed again: one change is taken back, not two.

The command itself, as a person runs it. Whoever has read no answer types the command once more, and
then one change is gone. The undo after that takes back the change before it.
"""

from collections.abc import Sequence

from tests.faults import defects, driver, kernel, memories, records, strike, trees
from tests.faults.driver import Operation, World
from tests.faults.stage import Tally

LAST = 90  # calls of each undo among which are its commit, its answer and what follows
# The kind of store, the change before, and the one that is taken back.
SCENES: dict[str, tuple[World, Operation, Operation]] = {
    "create": (memories.WORLD, memories.later, memories.create),
    "update": (memories.WORLD, memories.later, memories.update),
    "retire two": (memories.WORLD, memories.later, memories.OPERATIONS["archive"]),
    "import": (memories.WORLD, memories.later, memories.bring),
    "rename": (memories.WORLD, memories.later, memories.rename("alpha.md", "other.md")),
    "folder": (memories.WORLD, memories.later, memories.rename("deep", "deeper")),
    "records": (records.WORLD, records.delete, records.rename),
}


def run(scenes: Sequence[str], every: int = 1, defect: str = "") -> Tally:
    """Each undo, killed at every so manyth of its calls, and at more of its last ones."""

    def points(count: int) -> list[int]:
        late = range(max(0, count - LAST), count, max(1, every // 6))
        # The last ones first: there a known-bad undo is found.
        return sorted({*range(0, count, every), *late, count - 1}, reverse=True)

    return strike.strike_scenes(
        lambda root, name: _Undo(root, *SCENES[name]), scenes, points, defect=defect
    )


class _Undo(strike.Scene):
    """A root with a store in which two changes were made, one after the other."""

    def __init__(self, root: str, world: World, before: Operation, change: Operation) -> None:
        self.root, self.world = root, world
        self.world.prepare(root, "update")
        for act, ago in ((before, 500), (change, 400)):
            act(self.world.open(root, now=driver.NOW - ago))
        self.seed = trees.read_tree(root)
        self.after = [self.look()]
        for _ in range(2):
            if code := self.run():
                raise RuntimeError(f"undo fails undisturbed ({code}): {self.said()}")
            self.after.append(self.look())
        if len({repr(sorted(files.items())) for files in self.after}) < len(self.after):
            raise RuntimeError("an undo changes nothing")

    def said(self) -> str:
        return trees.read(f"{self.root}.said").decode()

    def look(self) -> dict[str, bytes]:
        return dict(self.world.view.look(self.root).files)

    def run(self, defect: str = "") -> int:
        """The command in a process of its own."""
        return kernel.wait(kernel.start(lambda: self.act(defect)))

    def act(self, defect: str) -> int:
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
