"""The stage for records: the same tracer and the same blows, judged by the rules of records."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from memdir.records import refusal
from memdir.records.refusal import RecordError
from tests.faults import records_checker as checker
from tests.faults import records_defects as _defects  # noqa: F401  (they register themselves)
from tests.faults import records_driver as driver
from tests.faults import seeds
from tests.faults.checker import Answer, Expected, difference
from tests.faults.records_driver import BELOW, LATER
from tests.faults.stage import USABLE_SECONDS, Stage

# What a person hears who gives the same command again after it was cut off, and that is right.
DONE_ALREADY = (refusal.OCC_CONFLICT, refusal.READ)
# Run again, a batch finds what it had created, and an undo takes one more change back.
ONCE = frozenset(("commit", "undo-rename"))


KILL_CONTROLS = {
    "both versions active": ("rename",),
    "old name first": ("rename",),
    "written in place": ("update",),
    "told before written": ("create",),
    "index left behind": ("delete",),
}
ERROR_CONTROLS = {"swallowed errors": ("delete",)}


class RecordStage(Stage):
    """A root of its own for the actions of `memdir records`."""

    prepare = staticmethod(driver.prepare)
    look = staticmethod(checker.look)
    memories_of = staticmethod(checker.memories_of)
    world = driver.WORLD

    def _judge(self, operation: str, acknowledged: Answer, tree: seeds.Tree) -> list[str]:
        expected = self.learned(operation)
        found = checker.judge(checker.look(self.root), expected, acknowledged)
        found += self.recover(expected)
        if acknowledged is None and operation not in ONCE:
            seeds.write_tree(tree, self.root)
            found += self._run_again(expected)
        return found

    def recover(self, expected: Expected, new: Sequence[str] = ()) -> list[str]:
        """The next command; then the index anew, which must change nothing; then out of nothing."""
        start = time.process_time()
        refused = self._attempt(lambda app: driver.later(app))
        if refused:
            return [f"the next command is refused: {refused}"]
        late = time.process_time() - start > USABLE_SECONDS
        found = ["the next command took too long"] if late else []
        once = checker.look(self.root)
        found += checker.judge_recovered(once, expected, [LATER, *new])
        refused = self._attempt(lambda app: driver.index(app))
        found += [f"the rebuild is refused: {refused}"] if refused else []
        found += difference(once, checker.look(self.root))
        os.unlink(f"{self.root}/{BELOW}index.md")
        refused = self._attempt(lambda app: driver.index(app))
        found += [f"the rebuild out of nothing is refused: {refused}"] if refused else []
        same = checker.look(self.root).index == once.index
        return found + ([] if same else ["index: rebuilt to other bytes"])

    def _run_again(self, expected: Expected) -> list[str]:
        """The same command once more: it completes, or says that it is done already."""
        operation = expected.operation
        heard: list[RecordError] = []

        def act(app: driver.App) -> None:
            try:
                driver.OPERATIONS[operation](app)
            except RecordError as error:
                heard.append(error)

        refused = self._attempt(act, operation)
        view = checker.look(self.root)
        if refused or heard:
            fine = heard and heard[0].record_code in DONE_ALREADY
            return [] if fine else [f"run again, it is refused: {refused or heard[0]}"]
        if view.memories != expected.after.memories:
            return ["run again, it says done, but is not"]
        return [f"run again: {problem}" for problem in checker.in_step(view)]
