"""The plug is pulled: a real journalling file system as its disk has it, at every call.

The store runs on a loop-mounted image that writes back only what is forced. At each system call
the image is copied while still mounted: that is what the disk holds. Each copy is mounted
(journal replay) and judged. `journal` lets another program's fsync commit the journal before every
call, which makes names durable before bytes: the classic "renamed but empty".
"""

import os
from collections.abc import Sequence

from tests.faults import mounts, stage, tracer, trees
from tests.faults.checker import OTHERS, Answer
from tests.faults.stage import Stage, Tally

# Nothing is written back by a timer, and no heuristics repair what we forget.
OPTIONS = ("commit=900", "noauto_da_alloc")


def run(operations: Sequence[str], defect: str = "") -> Tally:
    """Every operation, with a power cut at each of its calls and after its end."""
    jobs = [(operation, journal) for operation in operations for journal in (False, True)]
    return stage.run_jobs(_cut, jobs, defect, begin=mounts.enter)


def _cut(here: Stage, job: tuple[str, bool], tally: Tally) -> None:
    operation, journal = job
    image = os.path.join(here.folder, "image")
    _lay_on(here, operation, image)
    disk = _Disk(here, image, journal)
    mounts.mount_image(image, here.root, *OPTIONS)
    try:
        traced = tracer.trace(lambda: here.run(operation), at_entry=disk.look)
        disk.look(-1)
    finally:
        mounts.unmount(here.root)
    how = "journal committed each time" if journal else "nothing written back"
    for at, path, acknowledged in disk.copies:
        mounts.mount_image(path, here.root)
        try:
            found = here.verdict(operation, acknowledged)
        finally:
            mounts.unmount(here.root)
            here.lying = None
            os.unlink(path)
        where = f"before call {at}" if at >= 0 else "after the end"
        tally.add(f"{operation}, {how}, power cut {where}", found)
    # Calls at which the disk held the same as at the one before were cut there as well.
    tally.count(disk.cuts - len(disk.copies))
    if traced.code:
        tally.add(operation, [f"it failed: {here.heard()[1]}"])
    os.unlink(image)


def _lay_on(here: Stage, operation: str, image: str) -> None:
    """The operation's seed, safely on the disk."""
    here.lay(operation)
    trees.clear(here.root)
    mounts.make_image(image)
    mounts.mount_image(image, here.root)
    os.chmod(here.root, 0o700)
    trees.fill(here.seeds[operation], here.root)
    mounts.unmount(here.root)


class _Disk:
    """Copies of an image, one for each time that it has changed."""

    def __init__(self, here: Stage, image: str, journal: bool) -> None:
        self.here = here
        self.image = image
        self.journal = journal
        self.cuts = 0
        self.copies: list[tuple[int, str, Answer]] = []
        self.last: tuple[object, ...] = ()

    def look(self, at: int) -> None:
        if self.journal:
            self._another_program()
        self.cuts += 1
        facts = os.stat(self.image)
        acknowledged = self.here.heard()[0]
        state = facts.st_mtime_ns, facts.st_blocks, acknowledged
        if state == self.last and at >= 0:
            return
        path = f"{self.image}.{len(self.copies)}"
        mounts.command("cp", "--sparse=always", self.image, path)
        self.copies.append((at, path, acknowledged))
        self.last = state

    def _another_program(self) -> None:
        path = f"{self.here.root}/{OTHERS}another-program"
        handle = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        os.write(handle, b"y")
        os.fsync(handle)
        os.close(handle)
