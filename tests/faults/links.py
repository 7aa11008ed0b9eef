"""Names that turn into links while we write: nothing outside may be written, nothing be read.

Another process (a thread would only run between our own steps) swaps a memory, the index and a
folder for symbolic links and back, as fast as it can. A naive writer that checks first and opens
then must be caught by the same trap.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable

from tests.faults import checker, defects, driver, kernel, seeds, stage, texts
from tests.faults.stage import Tally

SECRET = "PRECIOUS, not for any memory\n"
CONTROLS = ("naive writer", "fixed temporary name")


def run(saves: int, defect: str = "") -> Tally:
    """So many saves, while another process swaps names on a processor of its own."""
    folder = seeds.work_folder()
    tally = Tally()
    try:
        [tally] = stage.parallel(lambda share: _spring(folder, saves, defect), [saves], 1)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return tally


def _spring(folder: str, saves: int, defect: str) -> Tally:
    tally = Tally()
    _Trap(folder, defect).spring(saves, tally)
    return tally


class _Trap:
    def __init__(self, folder: str, defect: str) -> None:
        self.root, self.outside = f"{folder}/root", f"{folder}/outside"
        self.defect = defect
        seeds.prepare(self.root, "create")
        self.store = seeds.store_of(self.root)
        os.mkdir(self.outside)
        self.victim = f"{self.outside}/victim"
        self._reset()

    def _reset(self) -> None:
        shutil.rmtree(self.outside)
        os.mkdir(self.outside)
        with open(self.victim, "w", encoding="utf-8") as file:
            file.write(SECRET)

    def hurt(self) -> str:
        with open(self.victim, encoding="utf-8") as file:
            if file.read() != SECRET:
                return "a file outside was overwritten"
        return "a file outside was made" if len(os.listdir(self.outside)) > 1 else ""

    def spring(self, saves: int, tally: Tally) -> None:
        swapper = self._start()
        try:
            save = self._naive if self.defect == "naive writer" else self._save
            if self.defect not in ("", "naive writer"):
                defects.switch_off(self.defect)
            for turn in range(saves):
                problem = self._once(save, turn)
                tally.add(f"save {turn}", True, [problem] if problem else [])
                if self.defect and problem:
                    break
        finally:
            os.kill(swapper, signal.SIGKILL)
            os.waitpid(swapper, 0)
        if not self.defect:
            view = checker.look(self.root)
            leaked = any(SECRET.encode() in data for data in view.kept())
            tally.add("the end", True, ["a text outside was taken in"] if leaked else [])

    def _once(self, save: Callable[[int], None], turn: int) -> str:
        try:
            save(turn)
        except driver.MemdirError:
            pass  # refused: a link stood there
        except OSError as error:
            if not self.defect:
                return f"no sentence: {error!r}"
        problem = self.hurt()
        if problem:
            self._reset()
        return problem

    def _save(self, turn: int) -> None:
        app = driver.open_root(self.root, lambda text: None)
        name = ("beta", "gamma")[turn % 2]
        draft = driver.Draft(f"turn {turn}", name=name, description=f"turn {turn % 5}")
        if turn % 10 == 9:
            driver.changes.bring_in(app, [("deep/new.md", f"{turn}\n".encode())])
            driver.changes.retire(app, ["deep/new.md"])
        else:
            driver.changes.save(app, draft, driver.AS_IT_IS)

    def _naive(self, turn: int) -> None:
        path = f"{self.store}/beta.md"
        if not os.path.islink(path):
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"turn {turn}\n")

    def _start(self) -> int:
        pid = kernel.fork()
        if pid == 0:
            kernel.pin(None)
            while True:
                self._swap()
        return pid

    def _swap(self) -> None:
        for name in ("beta.md", "MEMORY.md", defects.FIXED):
            _replace(f"{self.store}/{name}", self.victim)
        folder = f"{self.store}/deep"
        try:
            os.rename(folder, f"{self.store}/aside")
            os.symlink(self.outside, folder)
            os.unlink(folder)
            os.rename(f"{self.store}/aside", folder)
        except OSError:
            shutil.rmtree(f"{self.store}/aside", ignore_errors=True)


def _replace(path: str, victim: str) -> None:
    """A link to the victim, then a file again."""
    aside = f"{os.path.dirname(path)}/.swap"
    try:
        os.symlink(victim, aside)
        os.rename(aside, path)
        with open(aside, "w", encoding="utf-8") as file:
            file.write(texts.MEMORIES["beta.md"])
        os.rename(aside, path)
    except OSError:
        return
