"""A clock that goes back a day and jumps ten years ahead between writes."""

from memdir.capture import review
from memdir.errors import MemdirError
from memdir.store import changes, purge
from tests.faults import defects, memories, trees
from tests.faults.driver import NOW, App
from tests.faults.stage import Tally

DAY = 86_400.0
JUMPS = (0.0, -DAY, 3650 * DAY, -DAY, 60.0, -3650 * DAY)


def run(defect: str = "") -> Tally:
    """Save, edit, retire, restore and expire under every pair of times."""
    defects.switch_off(defect)
    tally = Tally()
    for first in JUMPS:
        for second in JUMPS:
            with trees.work_folder() as folder:
                memories.prepare(f"{folder}/root", "create")
                found = _live_through(f"{folder}/root", NOW + first, NOW + second)
                tally.add(f"clock {first:+.0f} s, then {second:+.0f} s", found)
    return tally


def _live_through(root: str, first: float, second: float) -> list[str]:
    def app(now: float) -> App:
        return memories.WORLD.open(root, now=now)

    try:
        memories.create(app(first))
        memories.update(app(second))
        changes.retire_memories(app(first), ["gamma"])
        purge.purge_memories(app(second), [], expired=True)
        changes.restore_memories(app(second), ["gamma"])
        changes.retire_memories(app(second), ["beta"])
        review.undo_and_hold_again(app(first))
        memories.later(app(second))
    except MemdirError as error:
        return [f"{type(error).__name__}: {error}"]
    view = memories.WORLD.view.look(root)
    live = {*memories.MEMORIES, "gamma.md", "later.md"} == set(view.memories)
    found = [] if live else [f"live memories are {sorted(view.memories)}"]
    return found + view.in_step() + view.past.problems
