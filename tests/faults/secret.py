"""`purge --secret`, killed at each of its calls or refused one, and given again: no byte is left.

Neither in the store nor in state, trash and history, packed or loose; and nothing else is lost.
"""

import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from memdir.errors import MemdirError, Missing
from memdir.store import changes, purge
from memdir.store.writer import App
from tests.faults import defects, driver, kernel, memories, strike, trees
from tests.faults.stage import Tally
from tests.helpers.packed import read_packed

VALUE = "ghp_" + "x7Kq9Wm2Zt4Rb8Yn3Vc6Df1Gh5Jk0Lp2Qs4T"
TEXT = "---\nname: token\ndescription: about the deploys\ntype: reference\n---\n\n{}\n"
WORLD, NAME = memories.WORLD, "token"


def run(every: int, errors: Sequence[str] = (), defect: str = "") -> Tally:
    """Killed, then failed with each error, at every so manyth of its calls."""
    make, points = lambda root, name: _Purge(root), lambda count: range(0, count, every)
    return strike.strike_scenes(make, ["purge --secret"], points, errors, defect)


class _Purge(strike.Scene):
    """A secret in a memory, in its versions before, in the trash and in the history."""

    def __init__(self, root: str) -> None:
        self.root = root
        WORLD.prepare(root, "update")
        for text in (f"The token is {VALUE}.", f"token: {VALUE} since May", "It is in the vault."):
            memories.plant(root, {"token.md": TEXT.format(text)})
            self.app().snapshot()
        memories.plant(root, {"other.md": TEXT.format(f"Also {VALUE} here.")})
        self.app().snapshot()
        changes.retire_memories(self.app(), ["other"])
        memories.later(self.app())
        self.seed = trees.read_tree(root)
        self.before = WORLD.view.look(root).memories

    def app(self) -> App:
        return WORLD.open(self.root)

    def act(self, defect: str) -> int:
        defects.switch_off(defect)
        app = self.app()
        os.getpgid(0)
        try:
            purge.purge_secret(app, NAME)
            code = driver.DONE
        except MemdirError:
            code = driver.REFUSED
        os.getpgid(0)
        return code

    def judge(self, defect: str) -> list[str]:
        def again() -> None:
            with suppress(Missing):  # there is nothing left to do
                purge.purge_secret(self.app(), NAME)

        code = kernel.wait(kernel.start(again))
        found = [f"given again, it fails ({code})"] if code else []
        found += [f"the secret is still in {path}" for path in _left_in(self.root)]
        view = WORLD.view.look(self.root)
        found += [] if view.memories == self.before else ["another memory changed"]
        return found + view.past.problems


def _left_in(root: str) -> Iterator[str]:
    for path in filter(Path.is_file, Path(root).rglob("*")):
        data = read_packed(path) if path.suffix == ".pack" else path.read_bytes()
        if data[:2] == b"x\x01":  # a loose object
            data = zlib.decompress(data)
        if VALUE.encode() in data:
            yield path.name
