"""Stores on other file systems than Linux has: a small one of our own, in memory, in user space.

`case`: large and small letters are one name, shown as it was first written (APFS, ext4 with
casefold). `nfd`: besides, letters with accents are taken apart (HFS+). Every change must go through
and heal there as elsewhere, and names that only such disks take for one must neither be lost nor
counted twice.
"""

import errno
import os
import stat
import struct
import time
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

from memdir.errors import MemdirError
from memdir.store import changes
from tests.faults import defects, kernel, memories, mounts, stage, trees
from tests.faults.driver import World
from tests.faults.stage import Stage, Tally

SEVERAL_NAMES = ("accents", "capitals")
Job = tuple[str, str]  # the kind of file system, and the operation or scene


def why_not() -> str:
    return mounts.why_not(devices=(mounts.FUSE,))


def run(folds: Sequence[str], operations: Sequence[str], defect: str = "") -> Tally:
    """Every operation and both scenes of names, on each kind of file system."""
    names = [*operations, *SEVERAL_NAMES]
    return stage.run_in_worlds(
        _try, names, lambda name: [(fold, name) for fold in folds], defect, begin=mounts.enter
    )


def _try(here: Stage, job: Job, tally: Tally) -> None:
    fold, name = job
    defects.switch_off(here.defect)
    scene = {"accents": _accents, "capitals": _capitals}.get(name)
    here.lay("create" if scene else name)
    trees.clear(here.root)
    with mounts.fuse(here.root, 0o40700, _FileSystem(fold)):
        trees.fill(here.seeds["create" if scene else name], here.root)
        if scene:
            try:
                found = scene(here.world, here.root)
            except MemdirError as error:
                found = [f"refused: {error}"]
        else:
            code = kernel.wait(kernel.start(lambda: here.run(name)))
            answer, said = here.heard()
            found = [f"it fails: {said}"] if code else []
            found += here.verdict(name, answer)
    tally.add(f"{name} on {fold}", found)


# -- names that are one there ------------------------------------------------------------------


def _accents(world: World, root: str) -> list[str]:
    """A memory whose name has an accent: found, retired and brought back under its one name."""
    place = memories.store_of(root)
    with open(f"{place}/MEMORY.md", "a", encoding="utf-8") as file:
        file.write("- [Größe](größe.md) — how large\n")
    text = "---\nname: Größe\ndescription: how large\ntype: project\n---\n\nLarge.\n"
    memories.plant(root, {"größe.md": text})
    app = world.open(root)
    app.snapshot()
    memories.later(app)
    found = _listed(place, "größe.md", 1)
    count = len(list(app.history.log()))
    for _ in range(2):
        app.snapshot()
    found += [] if len(list(app.history.log())) == count else ["looking makes changes"]
    changes.retire_memories(app, ["größe"])
    found += _listed(place, "größe.md", 0)
    found += ["it is still there"] if os.path.exists(f"{place}/größe.md") else []
    changes.restore_memories(app, ["größe"])
    found += _listed(place, "größe.md", 1)
    return found + ([] if os.path.exists(f"{place}/größe.md") else ["it is not back"])


def _capitals(world: World, root: str) -> list[str]:
    """A draft whose name differs from a memory's only in its letters' case loses neither."""
    place = memories.store_of(root)
    app = world.open(root)
    os.rename(f"{place}/alpha.md", f"{place}/Alpha-Rule.md")
    changes.rebuild_memory_index(app)
    before = trees.read(f"{place}/Alpha-Rule.md")
    refused = ""
    try:
        memories.save(app, "alpha-rule", "Another text altogether.")
    except MemdirError as error:
        refused = str(error)
    app.snapshot()
    names = [name for name in os.listdir(place) if name.casefold() == "alpha-rule.md"]
    now = trees.read(f"{place}/{names[0]}")
    found = [] if len(names) == 1 else [f"{len(names)} files of one name"]
    if before not in {now, *world.view.look(root).past.versions}:
        found.append("the old text is lost")
    if refused and now != before:
        found.append(f"refused, but written: {refused}")
    return found + _listed(place, "alpha-rule.md", 1)


def _listed(place: str, name: str, times: int) -> list[str]:
    index = unicodedata.normalize("NFC", trees.read(f"{place}/MEMORY.md").decode()).casefold()
    count = index.count(f"]({unicodedata.normalize('NFC', name).casefold()})")
    return [] if count == times else [f"{name} is in the index {count} times, not {times}"]


# -- the file system ---------------------------------------------------------------------------


@dataclass
class _Node:
    mode: int
    data: bytearray = field(default_factory=bytearray)
    inside: dict[str, tuple[str, int]] = field(default_factory=dict)  # key: shown name, number
    changed: int = 0
    touched: int = 0


class _FileSystem:
    """In memory; answers the kernel's calls."""

    def __init__(self, fold: str) -> None:
        self.fold = fold
        self.nodes = {1: _Node(stat.S_IFDIR | 0o700)}

    def __call__(self, call: int, node: int, given: bytes) -> bytes:
        if call not in _CALLS:
            raise OSError(errno.ENOSYS, "not here")
        return _CALLS[call](self, node, given)

    def _key(self, name: bytes) -> tuple[str, str]:
        """Under what a name is kept, and how it is shown."""
        text = name.rstrip(b"\0").decode("utf-8", "surrogateescape")
        parted = unicodedata.normalize("NFD", text)
        return parted.casefold(), parted if self.fold == "nfd" else text

    def _find(self, parent: int, name: bytes) -> int:
        try:
            return self.nodes[parent].inside[self._key(name)[0]][1]
        except KeyError:
            raise FileNotFoundError(errno.ENOENT, "no such name") from None

    def _put(self, parent: int, name: bytes, number: int) -> None:
        key, shown = self._key(name)
        inside = self.nodes[parent].inside
        kept = inside.get(key)
        inside[key] = (kept[0] if kept and kept[1] != number else shown), number
        self._touch(parent)

    def _touch(self, number: int) -> None:
        self.nodes[number].changed = self.nodes[number].touched = time.time_ns()

    def _make(self, parent: int, name: bytes, mode: int) -> bytes:
        number = len(self.nodes) + 1
        self.nodes[number] = _Node(mode)
        self._touch(number)
        self._put(parent, name, number)
        return self._entry(number)

    def _attributes(self, number: int) -> bytes:
        node = self.nodes[number]
        return mounts.attributes(number, node.mode, len(node.data), node.changed, node.touched)

    def _entry(self, number: int) -> bytes:
        return struct.pack("<QQQQII", number, 0, 0, 0, 0, 0) + self._attributes(number)

    def lookup(self, node: int, given: bytes) -> bytes:
        return self._entry(self._find(node, given))

    def getattr(self, node: int, given: bytes = b"") -> bytes:
        return struct.pack("<QII", 0, 0, 0) + self._attributes(node)

    def setattr(self, node: int, given: bytes) -> bytes:
        valid, _, _, size, _, _, mtime, _ = struct.unpack_from("<II6Q", given)
        _, mtime_ns, _, mode = struct.unpack_from("<4I", given, 56)
        here = self.nodes[node]
        here.touched = time.time_ns()
        if valid & 1:
            here.mode = stat.S_IFMT(here.mode) | stat.S_IMODE(mode)
        if valid & 8:
            here.data[size:] = bytes(max(0, size - len(here.data)))
            here.changed = time.time_ns()
        if valid & 32:
            here.changed = time.time_ns() if valid & 256 else mtime * 10**9 + mtime_ns
        return self.getattr(node)

    def mkdir(self, node: int, given: bytes) -> bytes:
        return self._make(node, given[8:], stat.S_IFDIR | struct.unpack_from("<I", given)[0])

    def create(self, node: int, given: bytes) -> bytes:
        flags, mode = struct.unpack_from("<II", given)
        try:
            entry = self.lookup(node, given[16:])
            if flags & os.O_EXCL:
                raise FileExistsError(errno.EEXIST, "it is there")
        except FileNotFoundError:
            entry = self._make(node, given[16:], stat.S_IFREG | stat.S_IMODE(mode))
        return entry + self.open(node, b"")

    def unlink(self, node: int, given: bytes) -> bytes:
        self._find(node, given)
        del self.nodes[node].inside[self._key(given)[0]]
        self._touch(node)
        return b""

    def rmdir(self, node: int, given: bytes) -> bytes:
        if self.nodes[self._find(node, given)].inside:
            raise OSError(errno.ENOTEMPTY, "not empty")
        return self.unlink(node, given)

    def rename(self, node: int, given: bytes, head: int = 8) -> bytes:
        (to,) = struct.unpack_from("<Q", given)
        old, new, _ = given[head:].split(b"\0", 2)
        number = self._find(node, old)
        same = to == node and self._key(old)[0] == self._key(new)[0]
        self._put(to, new, number)
        return b"" if same else self.unlink(node, old)

    def rename2(self, node: int, given: bytes) -> bytes:
        return self.rename(node, given, 16)

    def link(self, node: int, given: bytes) -> bytes:
        (number,) = struct.unpack_from("<Q", given)
        if self._key(given[8:])[0] in self.nodes[node].inside:
            raise FileExistsError(errno.EEXIST, "it is there")
        self._put(node, given[8:], number)
        return self._entry(number)

    def open(self, node: int, given: bytes) -> bytes:
        return struct.pack("<QII", 0, 0, 0)

    def read(self, node: int, given: bytes) -> bytes:
        _, at, much = struct.unpack_from("<QQI", given)
        return bytes(self.nodes[node].data[at : at + much])

    def write(self, node: int, given: bytes) -> bytes:
        _, at, much = struct.unpack_from("<QQI", given)
        data = self.nodes[node].data
        data[len(data) :] = bytes(max(0, at - len(data)))
        data[at : at + much] = given[40 : 40 + much]
        self._touch(node)
        return struct.pack("<II", much, 0)

    def readdir(self, node: int, given: bytes) -> bytes:
        _, start, much = struct.unpack_from("<QQI", given)
        said = b""
        rows = [*self.nodes[node].inside.values()][start:]
        for at, (shown, number) in enumerate(rows, start + 1):
            name = shown.encode("utf-8", "surrogateescape")
            kind = stat.S_IFMT(self.nodes[number].mode) >> 12
            row = struct.pack("<QQII", number, at, len(name), kind) + name
            row += bytes(-len(row) % 8)
            if len(said) + len(row) > much:
                break
            said += row
        return said

    def statfs(self, node: int, given: bytes) -> bytes:
        return mounts.statfs(10**6)

    def fsync(self, node: int, given: bytes) -> bytes:
        return b""


_CALLS = {
    getattr(mounts, name.upper()): getattr(_FileSystem, name)
    for name in (
        *("lookup", "getattr", "setattr", "mkdir", "create", "unlink", "rmdir", "rename"),
        *("rename2", "link", "open", "read", "write", "readdir", "statfs", "fsync"),
    )
} | {mounts.OPENDIR: _FileSystem.open}
