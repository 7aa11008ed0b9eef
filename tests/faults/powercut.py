"""The power fails between any two blocks: real file systems on a disk that logs its writes.

An operation runs on ext4, xfs or btrfs. The disk may hold what was flushed, and any part of what
was written since then: each such state is built, mounted (journal replay) and judged. Then the
power fails once more while the next command heals what some of these states hold.
"""

import errno
import os
import random
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from tests.faults import crash_states, defects, driver, kernel, mounts, stage, trees
from tests.faults.checker import Answer
from tests.faults.stage import Stage, Tally

ENTRY = struct.Struct("<qI")  # of the log: where something was written (-1: a flush), how much
FOR_EVER = 1 << 30
SEED = 20_260_303
SECTOR = 512
STATES_AGAIN = 8  # cuts of the next command, from each state that it starts with
# Nothing is written back by a timer, and no heuristics repair what we forget.
SYSTEMS = {
    "ext4": (12, ("mkfs.ext4", "-q", "-F", "-b", "1024"), ("commit=900", "noauto_da_alloc")),
    "xfs": (32, ("mkfs.xfs", "-q", "-f"), ("nouuid",)),
    "btrfs": (128, ("mkfs.btrfs", "-q", "-f"), ("commit=300",)),
}


@dataclass(frozen=True)
class Entry:
    """A write of some bytes; a flush where there are none."""

    at: int = -1
    data: bytes = b""


@dataclass(frozen=True)
class Cut:
    """What a disk may hold: all up to a flush, and some of the writes up to the cut."""

    at: int
    flushed: int
    kept: tuple[int, ...] = ()
    torn: int = 0  # bytes of the last write that arrived


@dataclass
class Run:
    """What the disk was told while an operation ran."""

    entries: list[Entry]
    start: int
    answered: int  # the length of the log when the answer was given; beyond its end: never
    answer: Answer
    code: int


def why_not(system: str) -> str:
    return mounts.why_not(SYSTEMS[system][1][0], devices=(mounts.FUSE, mounts.LOOP))


def run(
    system: str, operations: Sequence[str], states: int, again: int = 2, defect: str = ""
) -> Tally:
    """So many states of each operation; from `again` of them the next command is cut as well."""

    def jobs(name: str) -> list[tuple[str, str, int, int]]:
        return [(system, name, states, again)]

    return stage.run_in_worlds(_cut, operations, jobs, defect, crash_states.WORLD, mounts.enter)


def _cut(here: Stage, job: tuple[str, str, int, int], tally: Tally) -> None:
    system, operation, states, again = job
    name = f"{operation} ({here.world.scope})"
    base = os.path.join(here.folder, "base")
    luck = random.Random(SEED)
    _lay_on(here, operation, system, base)
    ran = _record(here, system, base, operation)
    if ran.code:
        tally.add(name, [f"it failed: {here.heard()[1]}"])
        return
    kept = []
    for cut, image in _images(here, base, ran, _sample(_cuts(ran), states, luck)):
        told = ran.answer if cut.at >= ran.answered else None
        if len(kept) < again and luck.random() < 4 * again / states and not here.defect:
            kept.append((f"{image}.{len(kept)}", told))
            mounts.copy_image(image, kept[-1][0])
        found = _judge(here, system, image, partial(here.verdict, operation, told))
        tally.add(f"{name} on {system}: {cut}", found)
        if here.defect and tally.violations:
            return
    for image, told in kept:
        _cut_again(here, system, operation, image, told, tally)
        os.unlink(image)


def _cut_again(
    here: Stage, system: str, operation: str, base: str, told: Answer, tally: Tally
) -> None:
    """The next command, and the power fails again before or after its answer."""
    expected = here.expected[operation]
    ran = _record(here, system, base, "")
    name = f"{operation}, cut on {system}, next command"
    if ran.code:
        tally.add(name, [f"it fails: {here.heard()[1]}"])
        return
    after, index = expected.after.files, here.world.view.index_file
    kept = {path: after.get(path) for path in told or () if path != index}
    judge = partial(here.judge_next, expected, kept, here.world.new)
    for cut, image in _images(
        here, base, ran, _sample(_cuts(ran), STATES_AGAIN, random.Random(SEED))
    ):
        tally.add(f"{name}: {cut}", _judge(here, system, image, judge))


# -- what the disk is told ---------------------------------------------------------------------


def _lay_on(here: Stage, operation: str, system: str, base: str) -> None:
    """The operation's seed, safely on the disk."""
    here.lay(operation)
    trees.clear(here.root)
    megabytes, make, _ = SYSTEMS[system]
    mounts.make_image(f"{base}.full", megabytes, *make)
    mounts.copy_image(f"{base}.full", base)  # without the zeros that making it wrote
    os.unlink(f"{base}.full")
    mounts.mount_image(base, here.root)
    os.chmod(here.root, 0o700)
    trees.fill(here.seeds[operation], here.root)
    mounts.unmount(here.root)


def _record(here: Stage, system: str, base: str, operation: str) -> Run:
    """Run an operation (or the next command) on a copy of the image, above a disk that logs."""
    image, log = f"{base}.live", f"{base}.log"
    mounts.copy_image(base, image)
    trees.write(f"{here.root}.ack", b"")
    with _log_disk(image, log) as disk:
        mounts.mount_image(disk, here.root, *SYSTEMS[system][2])
        try:
            handle = os.open(here.root, os.O_RDONLY)
            mounts.sync_file_system(handle)
            os.close(handle)
            start = os.stat(log).st_size
            code = kernel.wait(kernel.start(lambda: _perform(here, operation, log)))
            end = os.stat(log).st_size
        finally:
            mounts.unmount(here.root)
    position, *paths = trees.read(f"{here.root}.ack").decode().split() or [""]
    entries, sizes = _read_log(log), [0]
    for entry in entries:
        sizes.append(sizes[-1] + ENTRY.size + len(entry.data))
    answered = sizes.index(int(position)) if position else len(entries) + 1
    answer = tuple(paths) if position else None
    for path in (image, log):
        os.unlink(path)
    return Run(entries[: sizes.index(end)], sizes.index(start), answered, answer, code)


def _perform(here: Stage, operation: str, log: str) -> int:
    def acknowledge(paths: list[str]) -> None:
        trees.write(f"{here.root}.ack", " ".join((str(os.stat(log).st_size), *paths)).encode())

    defects.switch_off(here.defect)
    if operation:
        code, said = driver.perform(here.world, here.root, operation, acknowledge)
    else:
        error = here.attempt(here.world.later)
        code, said = (driver.REFUSED, [repr(error)]) if error else (driver.DONE, [])
    trees.write(f"{here.root}.said", "\n".join(said).encode())
    return code


# -- a disk that writes down what it is told to write and to flush -----------------------------


def _read_log(path: str) -> list[Entry]:
    entries = []
    with open(path, "rb") as file:
        while head := file.read(ENTRY.size):
            at, size = ENTRY.unpack(head)
            entries.append(Entry(at, file.read(size)))
    return entries


@contextmanager
def _log_disk(image: str, log: str) -> Iterator[str]:
    """A disk (a file in user space) that begins as this image, which is changed; it keeps a log."""
    where = f"{image}.disk"
    for path in (where, log):
        open(path, "wb").close()
    disk, written = os.open(image, os.O_RDWR), os.open(log, os.O_WRONLY | os.O_APPEND)
    size = os.fstat(disk).st_size

    def answer(call: int, node: int, given: bytes) -> bytes:
        if call in (mounts.GETATTR, mounts.SETATTR):
            return struct.pack("<QII", FOR_EVER, 0, 0) + mounts.attributes(1, 0o100600, size)
        if call == mounts.OPEN:
            return struct.pack("<QII", 1, 0, 0)
        if call == mounts.FSYNC:
            os.write(written, ENTRY.pack(-1, 0))
            return b""
        if call == mounts.STATFS:
            return mounts.statfs(size >> 12)
        if call not in (mounts.READ, mounts.WRITE):
            raise OSError(errno.ENOSYS, "not by this disk")
        _, at, much = struct.unpack_from("<QQI", given)
        if call == mounts.READ:
            return os.pread(disk, much, at)
        os.write(written, ENTRY.pack(at, much) + given[40 : 40 + much])
        os.pwrite(disk, given[40 : 40 + much], at)
        return struct.pack("<II", much, 0)

    try:
        with mounts.fuse(where, 0o100600, answer):
            yield where
    finally:
        os.close(disk)
        os.close(written)
        os.unlink(where)


# -- what it may hold --------------------------------------------------------------------------


def _cuts(ran: Run) -> Iterator[Cut]:
    """Before each entry of the log: nothing, all, or a part of what was not flushed yet."""
    luck, flushed = random.Random(SEED), ran.start
    for at in range(ran.start, len(ran.entries) + 1):
        if at > ran.start and ran.entries[at - 1].at < 0:
            flushed = at
        pending = tuple(range(flushed, at))
        yield Cut(at, flushed)
        if not pending:
            continue
        yield Cut(at, flushed, pending)
        last = len(ran.entries[at - 1].data)
        if last > SECTOR:
            yield Cut(at, flushed, pending, luck.randrange(SECTOR, last, SECTOR))
        if len(pending) > 1:
            yield Cut(at, flushed, pending[1:])
            yield Cut(at, flushed, pending[-1:])
            yield Cut(at, flushed, tuple(it for it in pending if luck.random() < 0.5))


def _sample(cuts: Iterator[Cut], most: int, luck: random.Random) -> list[Cut]:
    """The distinct ones, in order; of many, some."""
    distinct = list(dict.fromkeys(cuts))
    if len(distinct) > most:
        distinct = [*luck.sample(distinct[:-1], most - 1), distinct[-1]]
    return sorted(distinct, key=lambda cut: cut.at)


def _images(here: Stage, base: str, ran: Run, cuts: Sequence[Cut]) -> Iterator[tuple[Cut, str]]:
    """For each cut the image that it leaves."""
    flushed, state = f"{base}.flushed", f"{base}.state"
    mounts.copy_image(base, flushed)
    done = 0
    for cut in cuts:
        _write(flushed, ran.entries[done : cut.flushed])
        done = cut.flushed
        mounts.copy_image(flushed, state)
        kept = [ran.entries[number] for number in cut.kept]
        if cut.torn:
            kept[-1] = Entry(kept[-1].at, kept[-1].data[: cut.torn])
        _write(state, kept)
        yield cut, state
        os.unlink(state)
    os.unlink(flushed)


def _write(image: str, entries: Sequence[Entry]) -> None:
    with open(image, "r+b") as file:
        for entry in entries:
            if entry.at >= 0:
                file.seek(entry.at)
                file.write(entry.data)


def _judge(here: Stage, system: str, image: str, judge: Callable[[], list[str]]) -> list[str]:
    options = ("nouuid",) if system == "xfs" else ()
    try:
        mounts.mount_image(image, here.root, *options)
    except OSError as error:
        return [f"it does not mount: {error}"]
    try:
        return judge()
    finally:
        mounts.unmount(here.root)
