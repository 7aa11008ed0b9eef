"""The stage for records: the same tracer and the same blows, judged by the rules of records."""

from __future__ import annotations

import os
from collections.abc import Sequence

from memdir.records.record import OCC_CONFLICT, READ, RecordError
from tests.faults import records_checker as checker
from tests.faults import records_defects as _defects  # noqa: F401  (they register themselves)
from tests.faults import records_driver as driver
from tests.faults.checker import Expected
from tests.faults.records_driver import BELOW, LATER
from tests.faults.stage import Stage

# What a person hears who gives the same command again after it was cut off, and that is right.
DONE_ALREADY = (OCC_CONFLICT, READ)
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

    driver = driver
    checker = checker
    prepare = staticmethod(driver.prepare)
    next = LATER

    def __init__(self, defect: str = "") -> None:
        super().__init__(defect)
        self.again = frozenset(driver.OPERATIONS) - ONCE

    def recover(self, expected: Expected, new: Sequence[str] = ()) -> list[str]:
        """Besides, index.md made out of nothing is what it was."""
        found = super().recover(expected, new)
        before = checker.look(self.root).index
        os.unlink(f"{self.root}/{BELOW}index.md")
        if error := self.attempt(driver.rebuild):
            found.append(f"the rebuild out of nothing is refused: {error!r}")
        same = checker.look(self.root).index == before
        return found + ([] if same else ["index: rebuilt to other bytes"])

    def is_right(self, error: Exception) -> bool:
        return isinstance(error, RecordError) and error.record_code in DONE_ALREADY
