"""Writers that are killed, or have an editor beside them that knows nothing of locks."""

import os
import random
import time

from memdir.errors import MemdirError
from tests.faults import defects, kernel, memories, race, trees
from tests.faults.driver import App
from tests.faults.stage import Tally

KILL_EVERY_SECONDS = 0.05
NAMES = ("one", "two", "three")


def run(kills: int, edits: int, defect: str = "") -> Tally:
    """Both, one after the other; a known-bad store is found by the kills."""
    tally = Tally()
    with trees.work_folder() as folder:
        killed_writers(f"{folder}/killed", kills, tally, defect)
        if not defect:
            editor_beside(f"{folder}/edited", edits, tally)
    return tally


def _open_now(root: str) -> App:
    return memories.WORLD.open(root, now=time.time())


# -- killed every 50 ms ------------------------------------------------------------------------


def killed_writers(root: str, kills: int, tally: Tally, defect: str) -> None:
    """Two writers, each killed every 50 ms and started again; what they acknowledged is kept."""
    pause = KILL_EVERY_SECONDS
    memories.prepare(root, "create")
    trees.write(f"{root}.marks", b"")
    for number in range(kills):
        works = [lambda n=f"{number}{n}": _save_on(root, n, defect) for n in (0, 1)]
        pids = [kernel.start(work) for work in works]
        time.sleep(pause)
        for pid in pids:
            kernel.kill(pid)
        if not os.path.getsize(f"{root}.marks"):
            pause *= 2  # on a busy machine nobody would ever come to an end
    tally.count(kills)
    marks = trees.read(f"{root}.marks").split()
    found = [] if marks else ["no writer ever came to its end"]
    try:
        memories.later(_open_now(root))
    except MemdirError as error:
        found.append(f"the next write is refused: {error}")
    view = memories.WORLD.view.look(root)
    kept = {mark for data in view.kept() for mark in race.MARK.findall(data)}
    lost = sum(mark not in kept for mark in marks)
    found += [f"{lost} of {len(marks)} acknowledged writes are lost"] if lost else []
    found += [f"torn: {path}" for path, data in view.memories.items() if b"\n---\n" not in data]
    tally.add("after the kills", found + view.in_step() + view.past.problems)


def _save_on(root: str, label: str, defect: str) -> None:
    defects.switch_off(defect)
    marks = os.open(f"{root}.marks", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    chance, turn = random.Random(label), 0
    while True:
        turn += 1
        mark = f"w{label}.{turn}"
        memories.save(_open_now(root), chance.choice(NAMES), mark, "x", type="reference")
        os.write(marks, f"{mark}\n".encode())


# -- an editor that knows no lock ----------------------------------------------------------------


def editor_beside(root: str, edits: int, tally: Tally) -> None:
    """By rename, by truncation, by deletion: our saves of other memories never stumble."""
    memories.prepare(root, "create")
    editor = kernel.start(lambda: _edit_on(memories.store_of(root)))
    found = []
    for turn in range(edits):
        try:
            memories.save(_open_now(root), "gamma", f"turn {turn}", f"turn {turn % 7}")
        except Exception as error:  # with a sentence or without one
            found.append(f"a save failed: {error!r}")
    kernel.kill(editor)
    memories.later(_open_now(root))
    view = memories.WORLD.view.look(root)
    tally.add("an editor beside", found + view.in_step() + view.past.problems)
    tally.count(edits - 1)


def _edit_on(store: str) -> None:
    chance, turn = random.Random(7), 0
    while True:
        turn += 1
        path = os.path.join(store, chance.choice(tuple(memories.MEMORIES)))
        try:
            _edit(path, memories.MEMORIES["alpha.md"] + f"\n{turn}\n", turn % 3)
        except OSError:
            continue


def _edit(path: str, text: str, how: int) -> None:
    if how == 0:
        os.unlink(path)
        return
    place = path if how == 1 else f"{path}.swp"
    trees.write(place, text.encode())
    if how == 2:
        os.rename(place, path)
