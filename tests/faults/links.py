"""Names that turn into links while we write: nothing outside may be written, nothing be read.

Another process (a thread would only run between our own steps) swaps a memory, the index and a
folder for symbolic links and back, as fast as it can. A naive writer that checks first and opens
then must be caught by the same trap.
"""

import os
import shutil

from memdir.errors import MemdirError
from memdir.store import changes
from tests.faults import defects, kernel, memories, stage, trees
from tests.faults.stage import Tally

SECRET = b"PRECIOUS, not for any memory\n"
NAIVE = "naive writer"


def run(saves: int, defect: str = "") -> Tally:
    """So many saves, while another process swaps names on a processor of its own."""
    with trees.work_folder() as folder:
        return stage.apart(lambda: _Trap(folder, defect).spring(saves))


class _Trap:
    """A store, and a folder outside it with a victim."""

    def __init__(self, folder: str, defect: str) -> None:
        self.root, self.outside, self.defect = f"{folder}/root", f"{folder}/outside", defect
        memories.prepare(self.root, "create")
        self.store, self.victim = memories.store_of(self.root), f"{self.outside}/victim"
        self._reset()

    def _reset(self) -> None:
        trees.clear(self.outside)
        trees.write(self.victim, SECRET)

    def spring(self, saves: int) -> Tally:
        tally = Tally()
        swapper = kernel.start(self._swap_on)
        if self.defect not in ("", NAIVE):
            defects.switch_off(self.defect)
        for turn in range(saves):
            problem = self._once(turn)
            tally.add(f"save {turn}", [problem] if problem else [])
            if self.defect and problem:
                break
        kernel.kill(swapper)
        if not self.defect:
            leaked = any(SECRET in data for data in memories.WORLD.view.look(self.root).kept())
            tally.add("the end", ["a text outside was taken in"] if leaked else [])
        return tally

    def _once(self, turn: int) -> str:
        try:
            if self.defect == NAIVE:
                if not os.path.islink(f"{self.store}/beta.md"):
                    trees.write(f"{self.store}/beta.md", f"turn {turn}\n".encode())
            else:
                self._save(turn)
        except MemdirError:
            pass  # refused: a link stood there
        except OSError as error:
            if not self.defect:
                return f"no sentence: {error!r}"
        same = trees.read(self.victim) == SECRET
        if same and len(os.listdir(self.outside)) == 1:
            return ""
        self._reset()
        return "a file outside was made" if same else "a file outside was overwritten"

    def _save(self, turn: int) -> None:
        app = memories.WORLD.open(self.root)
        if turn % 10 == 9:
            changes.import_into_store(app, [("deep/new.md", f"{turn}\n".encode())])
            changes.retire_memories(app, ["deep/new.md"])
        else:
            name = ("beta", "gamma")[turn % 2]
            memories.save(app, name, f"turn {turn}", f"turn {turn % 5}")

    def _swap_on(self) -> None:
        kernel.pin(None)
        folder, aside = f"{self.store}/deep", f"{self.store}/aside"
        while True:
            for name in ("beta.md", "MEMORY.md", defects.FIXED):
                self._swap(f"{self.store}/{name}")
            try:
                os.rename(folder, aside)
                os.symlink(self.outside, folder)
                os.unlink(folder)
                os.rename(aside, folder)
            except OSError:
                shutil.rmtree(aside, ignore_errors=True)

    def _swap(self, path: str) -> None:
        """A link to the victim, then a file again."""
        aside = f"{self.store}/.swap"
        try:
            os.symlink(self.victim, aside)
            os.rename(aside, path)
            trees.write(aside, memories.MEMORIES["beta.md"].encode())
            os.rename(aside, path)
        except OSError:
            return
