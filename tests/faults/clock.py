"""A clock that goes back a day and jumps ten years ahead between writes."""

from __future__ import annotations

import shutil

from tests.faults import checker, defects, driver, seeds
from tests.faults.stage import Tally

DAY = 86_400.0
JUMPS = (0.0, -DAY, 3650 * DAY, -DAY, 60.0, -3650 * DAY)
CONTROLS = ("trash by date alone",)


def run(defect: str = "") -> Tally:
    """Save, edit, retire, restore and expire under every pair of times."""
    defects.switch_off(defect)
    tally = Tally()
    for first in JUMPS:
        for second in JUMPS:
            folder = seeds.work_folder()
            try:
                seeds.prepare(f"{folder}/root", "create")
                found = _live_through(f"{folder}/root", driver.NOW + first, driver.NOW + second)
                tally.add(f"clock {first:+.0f} s, then {second:+.0f} s", True, found)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    return tally


def _live_through(root: str, first: float, second: float) -> list[str]:
    def app(now: float) -> driver.App:
        return driver.open_root(root, lambda text: None, now=now)

    try:
        driver.create(app(first))
        driver.update(app(second))
        driver.changes.retire(app(first), ["gamma"])
        driver.changes.purge(app(second), [], expired=True)
        driver.changes.restore(app(second), ["gamma"])
        driver.changes.retire(app(second), ["beta"])
        driver.review.undo_changes(app(first))
        driver.later(app(second))
    except driver.MemdirError as error:
        return [f"{type(error).__name__}: {error}"]
    view = checker.look(root)
    names = {"alpha.md", "beta.md", "deep/delta.md", "gamma.md", "later.md"}
    missing = names ^ set(view.memories)
    found = [f"live memories are {sorted(view.memories)}"] if missing else []
    return found + checker.in_step(view) + view.past.problems
