"""The plug is pulled: a real journalling file system as its disk has it, at every call.

The store runs on a loop-mounted image that writes back only what is forced. At each system call
the image is copied while still mounted: that is what the disk holds. Each copy is mounted
(journal replay) and judged. `journal` lets another program's fsync commit the journal before every
call, which makes names durable before bytes: the classic "renamed but empty".
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from tests.faults import mounts, seeds, stage, tracer
from tests.faults.checker import OTHERS
from tests.faults.stage import Stage, Tally

# A purge ends with removing names. After a retire, the fsyncs of the history flush them on ext4.
CONTROLS = {"no fsync": ("create",), "no directory fsync": ("purge",)}
# Nothing is written back by a timer, and no heuristics repair what we forget.
OPTIONS = {"ext4": ("commit=900", "noauto_da_alloc")}
OTHER = "another-program"


def why_not(kind: str) -> str:
    return mounts.why_not(f"mkfs.{kind}") or (
        "" if kind in OPTIONS else "its options are not known"
    )


def run(
    operations: Sequence[str],
    kind: str = "ext4",
    journals: Sequence[bool] = (False, True),
    defect: str = "",
) -> Tally:
    """Every operation, with a power cut at each of its calls and after its end."""
    jobs = [(operation, journal) for operation in operations for journal in journals]
    total = Tally()
    for part in stage.parallel(lambda share: _share(share, kind, defect), jobs):
        total.merge(part)
    return total


def _share(jobs: list[tuple[str, bool]], kind: str, defect: str) -> Tally:
    mounts.enter()
    here, tally = Stage(defect), Tally()
    try:
        for operation, journal in jobs:
            _cut(here, operation, kind, journal, tally)
        tally.states = len(here.verdicts)
    finally:
        here.close()
    return tally


def _cut(here: Stage, operation: str, kind: str, journal: bool, tally: Tally) -> None:
    image = os.path.join(here.folder, "image")
    _lay_on(here, operation, image, kind)
    disk = _Disk(here, image, journal)
    mounts.mount_image(image, here.root, *OPTIONS[kind])
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
        tally.add(f"{operation} on {kind}, {how}, power cut {where}", True, found)
    # Calls at which the disk held the same as at the one before were cut there as well.
    same = disk.cuts - len(disk.copies)
    tally.points, tally.fired = tally.points + same, tally.fired + same
    if traced.code:
        tally.add(f"{operation} on {kind}", True, [f"it failed: {here.heard()[1]}"])
    os.unlink(image)


def _lay_on(here: Stage, operation: str, image: str, kind: str) -> None:
    """The operation's seed, safely on the disk."""
    here.learn(operation)
    here.lay(operation)
    seeds.clear(here.root)
    mounts.make_image(image, kind)
    mounts.mount_image(image, here.root)
    os.chmod(here.root, 0o700)
    seeds.fill(here.seeds[operation], here.root)
    mounts.unmount(here.root)


class _Disk:
    """Copies of an image, one for each time that it has changed."""

    def __init__(self, here: Stage, image: str, journal: bool) -> None:
        self.here = here
        self.image = image
        self.journal = journal
        self.cuts = 0
        self.copies: list[tuple[int, str, bool]] = []
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
        mounts.copy_image(self.image, path)
        self.copies.append((at, path, acknowledged))
        self.last = state

    def _another_program(self) -> None:
        handle = os.open(f"{self.here.root}/{OTHERS}{OTHER}", os.O_WRONLY | os.O_CREAT, 0o600)
        os.write(handle, b"y")
        os.fsync(handle)
        os.close(handle)
