"""Writers that are killed, or have an editor beside them that knows nothing of locks."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from typing import Any

from tests.faults import checker, defects, driver, kernel, race, seeds, texts
from tests.faults.stage import Tally

KILL_EVERY_SECONDS = 0.05
NAMES = ("one", "two", "three")


def run(kills: int, edits: int) -> Tally:
    """All of them, one after the other."""
    tally = Tally()
    for scenario in (
        lambda root: killed_writers(root, kills, tally),
        lambda root: edited_before_the_commit(root, tally),
        lambda root: editor_beside(root, edits, tally),
    ):
        in_a_root(scenario)
    return tally


def control(defect: str, kills: int) -> bool:
    """Do the killed writers catch a store that is broken like this?"""
    tally = Tally()
    in_a_root(lambda root: killed_writers(root, kills, tally, defect))
    return tally.violations > 0


def in_a_root(scenario: Callable[[str], None]) -> None:
    folder = seeds.work_folder()
    try:
        seeds.prepare(f"{folder}/root", "create")
        scenario(f"{folder}/root")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# -- killed every 50 ms ------------------------------------------------------------------------


def killed_writers(root: str, kills: int, tally: Tally, defect: str = "") -> None:
    """Two writers, each killed every 50 ms and started again; what they acknowledged is kept."""
    for number in range(kills):
        labels = [f"{number}.{writer}" for writer in (0, 1)]
        pids = [_start(lambda label=label: _save_on(root, label, defect)) for label in labels]
        time.sleep(KILL_EVERY_SECONDS)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        tally.add("killed", True, [])
    with open(f"{root}.marks", encoding="ascii") as file:
        marks = file.read().split()
    try:
        driver.later(driver.open_root(root, _quiet, now=time.time()))
    except driver.MemdirError as error:
        tally.add("after the kills", True, [f"the next write is refused: {error}"])
    view = checker.look(root)
    kept = {mark for data in view.kept() for mark in race.MARK.findall(data)}
    lost = [mark for mark in marks if mark.encode() not in kept]
    torn = [path for path in view.memories if b"\n---\n" not in view.memories[path]]
    found = [f"{len(lost)} of {len(marks)} acknowledged writes are lost"] if lost else []
    found += [f"torn: {path}" for path in torn]
    found += [] if marks else ["no writer ever came to its end"]
    tally.add("after the kills", True, found + checker.in_step(view) + view.past.problems)


def _save_on(root: str, label: str, defect: str) -> None:
    defects.switch_off(defect)
    marks = os.open(f"{root}.marks", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    chance, turn = random.Random(label), 0
    while True:
        turn += 1
        mark = f"w{label.replace('.', '')}.{turn}"
        app = driver.open_root(root, _quiet, now=time.time())
        draft = driver.Draft(mark, name=chance.choice(NAMES), type="reference", description="x")
        driver.changes.save(app, draft, driver.AS_IT_IS)
        os.write(marks, f"{mark}\n".encode())


def _start(work: Callable[[], None]) -> int:
    pid = kernel.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(1)
    return pid


# -- an editor that knows no lock ----------------------------------------------------------------


def edited_before_the_commit(root: str, tally: Tally) -> None:
    """An edit between our write and our commit is not taken for ours: the history gets it."""
    path = os.path.join(seeds.store_of(root), "gamma.md")

    app = driver.open_root(root, _quiet)
    real = app.history.record

    def edit_first(*given: Any) -> str:
        with open(path, "a", encoding="utf-8") as file:
            file.write("\nAdded by an editor at once.\n")
        return real(*given)

    vars(app.history)["record"] = edit_first
    driver.create(app)
    driver.touch(driver.open_root(root, _quiet))
    with open(path, "rb") as file:
        edited = file.read()
    kept = edited in checker.look(root).past.versions
    found = [] if kept else ["the history never gets an edit made before our own commit"]
    tally.add("edited before the commit", True, found)


def editor_beside(root: str, edits: int, tally: Tally) -> None:
    """By rename, by truncation, by deletion: our saves of other memories never stumble."""
    store = seeds.store_of(root)
    pid = _start(lambda: _edit_on(store))
    failed, refused = [], 0
    for turn in range(edits):
        draft = driver.Draft(f"turn {turn}", name="gamma", description=f"turn {turn % 7}")
        try:
            driver.changes.save(
                driver.open_root(root, _quiet, now=time.time()), draft, driver.AS_IT_IS
            )
        except driver.MemdirError:
            refused += 1
        except Exception as error:
            failed.append(f"{type(error).__name__}: {error}")
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    driver.later(driver.open_root(root, _quiet, now=time.time()))
    view = checker.look(root)
    found = [f"{len(failed)} saves failed without a sentence, e.g. {failed[0]}"] if failed else []
    found += [f"{refused} of {edits} saves refused"] if refused else []
    tally.add("an editor beside", True, found + checker.in_step(view) + view.past.problems)
    tally.points += edits - 1
    tally.fired += edits - 1


def _edit_on(store: str) -> None:
    chance, turn = random.Random(7), 0
    while True:
        turn += 1
        path = os.path.join(store, chance.choice(("alpha.md", "beta.md", "deep/delta.md")))
        text = texts.MEMORIES["alpha.md"] + f"\n{turn}\n"
        try:
            _edit(path, text, turn % 3)
        except OSError:
            continue


def _edit(path: str, text: str, how: int) -> None:
    if how == 0:
        os.unlink(path)
        return
    place = path if how == 1 else f"{path}.swp"
    with open(place, "w", encoding="utf-8") as file:
        file.write(text)
    if how == 2:
        os.rename(place, path)


def _quiet(text: str) -> None:
    """Nobody listens to notices here."""
