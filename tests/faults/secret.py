"""`purge --secret`, killed at each of its calls or refused one, and given again: no byte is left.

Neither in the store nor in state, trash and history, packed or loose; and nothing else is lost.
"""

import errno
import os
import zlib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from memdir.errors import MemdirError, Missing
from memdir.store import changes, purge
from memdir.store.writer import App, Done
from tests.faults import defects, driver, kernel, memories, stage, tracer, trees
from tests.faults.stage import Stage, Tally
from tests.faults.tracer import Strike
from tests.helpers.packed import read_packed

VALUE = "ghp_" + "x7Kq9Wm2Zt4Rb8Yn3Vc6Df1Gh5Jk0Lp2Qs4T"
TEXT = "---\nname: token\ndescription: about the deploys\ntype: reference\n---\n\n{}\n"
WORLD = memories.WORLD
Job = tuple[int, str, Strike]


def run(every: int, errors: Sequence[str] = (), defect: str = "") -> Tally:
    """Killed, then failed with each error, at every so manyth of its calls."""
    with Stage(defect=defect) as here:
        place = _place_of(here.folder)
        place.lay()
        calls = tracer.trace(lambda: place.purge(defect)).calls
    jobs: list[Job] = [(at, "", tracer.point(calls, at)) for at in range(0, len(calls), every)]
    for name in errors:
        number = getattr(errno, name)
        blows = [(at, tracer.point(calls, at, number)) for at in range(0, len(calls), every)]
        jobs += [(at, name, blow) for at, blow in blows if calls[at].name != "close"]
    return stage.run_jobs(_strike, jobs, defect)


def _strike(here: Stage, job: Job, tally: Tally) -> None:
    at, error, blow = job
    place = _place_of(here.folder)
    place.lay()
    traced = tracer.strike(lambda: place.purge(here.defect), blow)
    how = f"{error} at" if error else "killed before"
    tally.add(f"purge --secret, {how} {blow.name} #{at}", place.judge(here.defect), traced.fired)


class _Place:
    """A secret in a memory, in its versions before, in the trash and in the history."""

    def __init__(self, root: str) -> None:
        driver.forget_how_old_files_are()
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

    def lay(self) -> None:
        trees.write_tree(self.seed, self.root)

    def purge(self, defect: str) -> int:
        """In a forked child, between the tracer's markers."""
        defects.switch_off(defect)
        app = self.app()
        os.getpgid(0)
        try:
            _purge(app)
            code = driver.DONE
        except MemdirError:
            code = driver.REFUSED
        os.getpgid(0)
        return code

    def judge(self, defect: str) -> list[str]:
        """What is found after the same command, given again by somebody who heard no answer."""

        def again() -> int:
            try:
                _purge(self.app())
            except Missing:  # there is nothing left to do
                return driver.DONE
            return driver.DONE

        code = kernel.wait(kernel.start(again))
        found = [f"given again, it fails ({code})"] if code else []
        found += [f"the secret is still in {path}" for path in self._still()]
        view = WORLD.view.look(self.root)
        found += [] if view.memories == self.before else ["another memory changed"]
        return found + view.past.problems

    def _still(self) -> Iterator[str]:
        value = VALUE.encode()
        for path in Path(self.root).rglob("*"):
            if not path.is_file():
                continue
            data = path.read_bytes()
            if path.suffix == ".pack":
                data = read_packed(path)
            elif data[:2] == b"x\x01":  # a loose object
                data = zlib.decompress(data)
            if value in data:
                yield path.name


def _purge(app: App) -> Done:
    return purge.purge_secret(app, "token")


@cache
def _place_of(folder: str) -> _Place:
    return _Place(os.path.join(folder, "secret"))
