"""A git object database in git's own format: a pack for each commit, trees, commits.

Plain git reads it (`git --git-dir … log`). Writing it ourselves costs a tenth of running git,
keeps our order of fsyncs, and is independent of the user's configuration, hooks, filters and
ignore rules. A pack takes three fsyncs, however many objects it has; loose objects, which version
0.1.0 wrote, took two each.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import stat
import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from contextlib import suppress

from memdir.errors import HistoryBroken
from memdir.hot.disk import Disk, force_directory_to_disk, remove_file
from memdir.hot.memory import decode, encode
from memdir.store.ports import Cause, Logged, read_history_message, write_history_message

BRANCH = "refs/heads/main"
CONFIG = (
    "[core]\n\trepositoryformatversion = 0\n\tfilemode = false\n\tbare = true\n"
    "\tfsync = all\n[gc]\n\tauto = 0\n"
)
_COMPRESSION = 1  # memories are small; speed is worth more than the last percent
OID_LENGTH = 40  # hexadecimal digits
NOTHING = "0" * OID_LENGTH  # parent of the first commit
PACKS = "objects/pack"
# The pack of a commit names its parent as well: if a power cut took the last move of the branch,
# the commits after it are found by their packs.
_SINGLE = re.compile(r"pack-([0-9a-f]{40})-([0-9a-f]{40})\.idx")
MAX_SINGLE_PACKS = 50  # then git joins them, which makes a tenth of their size
_KINDS = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
_OFFSET_DELTA, _OID_DELTA = 6, 7


class Objects:
    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.disk = Disk(folder)
        self._fresh: dict[str, tuple[str, bytes]] = {}  # kind and data, written with the next head
        self._packs: dict[str, _Pack] = {}
        self.again = False  # write also what is there already

    def exists(self) -> bool:
        """False only where there is none: one that cannot be looked at is not taken for missing."""
        if os.path.lexists(self.folder) and not os.path.isdir(self.folder):
            raise self.broken("something that is no directory stands there")
        try:
            return stat.S_ISREG(os.stat(os.path.join(self.folder, "HEAD")).st_mode)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise self.broken(f"HEAD: {error.strerror}") from None

    def create(self) -> None:
        """Make an empty repository; HEAD comes last, so a half-made one is made again."""
        self.disk.make_root()
        self.disk.sweep(lambda path: True)  # what one that was killed here left
        self.disk.put("config", CONFIG.encode())
        self.disk.put("HEAD", f"ref: {BRANCH}\n".encode())

    def head(self) -> str:
        """The newest commit, also if the branch is behind it."""
        later = dict(self._singles())
        oid = self._read_branch()
        while next_oid := later.pop(oid or NOTHING, ""):
            oid = next_oid
        return oid

    def _read_branch(self) -> str:
        try:
            text = self.disk.read(BRANCH)[0].decode("ascii", "replace").strip()
        except FileNotFoundError:
            text = self._read_packed_head()
        except OSError as error:
            raise self.broken(f"{BRANCH}: {error.strerror}") from None
        if len(text) not in (0, OID_LENGTH):
            raise self.broken(f"{BRANCH} is damaged")
        return text

    def set_head(self, oid: str, parent: str = "") -> None:
        """Move the branch, after every object that it reaches is durable."""
        self.keep(f"pack-{parent or NOTHING}-{oid}")
        self.move_branch(oid)

    def move_branch(self, oid: str) -> None:
        if oid in ("", self._read_branch()):
            return
        with suppress(FileNotFoundError):
            # We hold the store's lock, so a lock file of git is left over from a crash.
            os.unlink(os.path.join(self.folder, BRANCH + ".lock"))
        self.disk.put(BRANCH, oid.encode() + b"\n", named=False)

    def keep(self, name: str) -> None:
        """Make a pack of the new objects."""
        fresh, self._fresh = self._fresh, {}
        if fresh:
            pack, index = _write_pack(fresh)
            # In this order: git overlooks a pack that has no index yet.
            self.disk.put_all({f"{PACKS}/{name}.pack": pack, f"{PACKS}/{name}.idx": index})

    def _list_packs(self) -> list[str]:
        """Names of the indexes of whole packs."""
        try:
            names = set(os.listdir(os.path.join(self.folder, PACKS)))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self.broken(f"{PACKS}: {error.strerror}") from None
        return [name for name in names if name.endswith(".idx") and name[:-3] + "pack" in names]

    def _singles(self) -> list[tuple[str, str]]:
        found = map(_SINGLE.fullmatch, self._list_packs())
        return [(match[1], match[2]) for match in found if match]

    def has(self, oid: str) -> bool:
        return self._is_loose(oid) or self._find_packed(oid) is not None

    def _is_loose(self, oid: str) -> bool:
        try:
            return os.stat(os.path.join(self.folder, loose_path(oid))).st_size > 0
        except OSError:
            return False

    def write(self, kind: str, *contents: bytes) -> list[str]:
        """Ids of these objects; `set_head` writes those that are new."""
        ids = []
        for data in contents:
            oid = _object_id(kind, data)
            if oid not in self._fresh and (self.again or not self.has(oid)):
                self._fresh[oid] = kind, data
            ids.append(oid)
        return ids

    def read(self, oid: str, kind: str) -> bytes:
        """Read an object and check its id."""
        try:
            if oid in self._fresh:
                actual, data = self._fresh[oid]
            elif self._is_loose(oid):
                whole = zlib.decompress(self.disk.read(loose_path(oid))[0])
                head, _, data = whole.partition(b"\0")
                actual = decode(head.partition(b" ")[0])
            elif pack := self._find_packed(oid):
                actual, data = pack.read(oid)
            else:
                raise self.broken(f"object {oid} is missing")
        except (OSError, *_DAMAGE) as error:
            raise self.broken(f"object {oid} is damaged ({error})") from None
        if _object_id(kind, data) != oid or actual != kind:
            raise self.broken(f"object {oid} is damaged")
        return data

    def _find_packed(self, oid: str) -> _Pack | None:
        """The pack that has this object; packs are read again if others have joined them."""
        for pack in self._packs.values():
            if oid in pack and os.path.exists(pack.path):
                return pack
        names = self._list_packs()
        self._packs = {
            name: self._packs.get(name) or _Pack(self.disk, f"{PACKS}/{name[:-4]}")
            for name in sorted(names, key=lambda name: oid not in name)  # its own pack first
        }
        return next((pack for pack in self._packs.values() if oid in pack), None)

    def join_packs(self) -> None:
        """Have git put many small packs together; the caller holds the lock."""
        if len(self._singles()) <= MAX_SINGLE_PACKS:
            return
        from memdir.store.git import Git, find_git_program  # rarely needed, and slow to import

        program = find_git_program(os.environ.get("PATH", ""))
        if not program:
            return  # they take more room, no harm else
        newest, names, loose = self.head(), self._list_packs(), self.list_loose()
        self.move_branch(newest)  # git keeps what the branch reaches
        force_directory_to_disk(os.path.join(self.folder, os.path.dirname(BRANCH)))
        git = Git(self.folder, program, work_tree=False)
        words = "-c", "core.fsync=all", "--git-dir", self.folder, "repack", "-a", "-q"
        ended = git.ask(*words, seconds=20.0)[1]
        new = {*self._list_packs()}.difference(names)
        made = (_Pack(self.disk, f"{PACKS}/{name[:-4]}") for name in new)
        if not ended.whole or not any(newest in pack for pack in made):
            return
        # All that the newest commit reaches is in the new pack, durable before the old ones go.
        force_directory_to_disk(os.path.join(self.folder, PACKS))
        for name in names:
            for ending in ("idx", "rev", "pack") if newest not in name else ():
                remove_file(os.path.join(self.folder, PACKS, f"{name[:-4]}.{ending}"))
        for oid in loose:
            remove_file(os.path.join(self.folder, loose_path(oid)))

    def list_loose(self) -> list[str]:
        folder = os.path.join(self.folder, "objects")
        inner = [name for name in os.listdir(folder) if len(name) == 2]
        names = [top + name for top in inner for name in os.listdir(os.path.join(folder, top))]
        return [name for name in names if len(name) == OID_LENGTH]

    def broken(self, message: str) -> HistoryBroken:
        return HistoryBroken(
            f"{self.folder}: {message}; the memories themselves are untouched",
            path=self.folder,
            next="run: memdir doctor --fix  (keeps the damaged history aside, starts a new one)",
        )

    def _read_packed_head(self) -> str:
        try:
            text = self.disk.read("packed-refs")[0].decode("ascii", "replace")
        except OSError:
            return ""
        heads = [line[:40] for line in text.splitlines() if line.endswith(" " + BRANCH)]
        return heads[0] if heads else ""


_DAMAGE = (zlib.error, ValueError, IndexError, KeyError, struct.error)


class _Pack:
    """One pack: `objects/pack/NAME.pack`, with the places of its objects in `NAME.idx`."""

    def __init__(self, disk: Disk, place: str) -> None:
        self.disk, self.place = disk, place
        self.path = os.path.join(disk.root, f"{place}.pack")
        self._data = b""
        try:
            self._index = disk.read(f"{place}.idx")[0]
            self._count = struct.unpack_from(">L", self._index, 8 + 255 * 4)[0]
            if len(self._index) < 8 + 1024 + 28 * self._count + 40:
                raise ValueError("cut off")
        except (OSError, *_DAMAGE):  # what only it has is missing then
            self._index, self._count = b"", 0

    def __contains__(self, oid: str) -> bool:
        return self._find(oid) >= 0

    def _find(self, oid: str) -> int:
        """Offset of the object in the pack, or -1."""
        wanted, start = bytes.fromhex(oid), 8 + 1024
        rows = range(self._count)
        row = bisect_left(
            rows, wanted, key=lambda n: self._index[start + 20 * n : start + 20 * n + 20]
        )
        at = start + 20 * row
        if row == self._count or self._index[at : at + 20] != wanted:
            return -1
        offsets = start + 24 * self._count
        offset: int = struct.unpack_from(">L", self._index, offsets + 4 * row)[0]
        if offset >> 31:  # a pack above 2 GiB
            far = offsets + 4 * self._count + 8 * (offset & 0x7FFFFFFF)
            offset = struct.unpack_from(">Q", self._index, far)[0]
        return offset

    def read(self, oid: str) -> tuple[str, bytes]:
        self._data = self._data or self.disk.read(f"{self.place}.pack")[0]
        return self._read_at(self._find(oid))

    def _read_at(self, offset: int) -> tuple[str, bytes]:
        if not 0 < offset < len(self._data):
            raise ValueError("an object outside its pack")
        byte, at = self._data[offset], offset + 1
        kind = byte >> 4 & 7
        while byte & 0x80:
            byte, at = self._data[at], at + 1
        if kind == _OFFSET_DELTA:
            byte, at = self._data[at], at + 1
            back = byte & 0x7F
            while byte & 0x80:
                byte, at = self._data[at], at + 1
                back = (back + 1 << 7) | byte & 0x7F
            base = self._read_at(offset - max(1, back))
        elif kind == _OID_DELTA:
            base = self._read_at(self._find(self._data[at : at + 20].hex()))
            at += 20
        data = zlib.decompressobj().decompress(memoryview(self._data)[at:])
        return (base[0], _apply_delta(base[1], data)) if kind > 4 else (_KINDS[kind], data)


def _apply_delta(base: bytes, delta: bytes) -> bytes:
    at, parts = 0, []
    for _ in ("size before", "size after"):
        while delta[at] & 0x80:
            at += 1
        at += 1
    while at < len(delta):
        code, at = delta[at], at + 1
        if not code & 0x80:  # new bytes
            parts.append(delta[at : at + code])
            at += code
            continue
        numbers = [0] * 7  # four bytes of the offset, three of the size
        for bit in range(7):
            if code >> bit & 1:
                numbers[bit], at = delta[at], at + 1
        start = int.from_bytes(bytes(numbers[:4]), "little")
        size = int.from_bytes(bytes(numbers[4:]), "little") or 0x10000
        parts.append(base[start : start + size])
    return b"".join(parts)


def _write_pack(objects: dict[str, tuple[str, bytes]]) -> tuple[bytes, bytes]:
    """A pack of these objects, and its index."""
    numbers = {kind: number for number, kind in _KINDS.items()}
    entries = [_entry(numbers[kind], data) for kind, data in objects.values()]
    head = b"PACK" + struct.pack(">LL", 2, len(entries))
    ends = itertools.accumulate(map(len, entries), initial=len(head))
    pack = b"".join([head, *entries])
    pack += _sha1(pack)
    rows = sorted(
        (bytes.fromhex(oid), struct.pack(">L", zlib.crc32(entry)), struct.pack(">L", start))
        for oid, entry, start in zip(objects, entries, ends, strict=False)
    )
    firsts = [row[0][0] for row in rows]
    fan = [bisect_left(firsts, value + 1) for value in range(256)]
    columns: Iterable[bytes] = itertools.chain(*zip(*rows, strict=True))
    index = b"\377tOc" + struct.pack(">L256L", 2, *fan) + b"".join(columns) + pack[-20:]
    return pack, index + _sha1(index)


def _entry(number: int, data: bytes) -> bytes:
    size = len(data)
    head = [number << 4 | size & 15]
    size >>= 4
    while size:
        head[-1] |= 0x80
        head.append(size & 0x7F)
        size >>= 7
    return bytes(head) + zlib.compress(data, _COMPRESSION)


def _sha1(data: bytes) -> bytes:
    return hashlib.sha1(data, usedforsecurity=False).digest()


def _object_id(kind: str, data: bytes) -> str:
    return _sha1(kind.encode() + b" %d\0" % len(data) + data).hex()


def loose_path(oid: str) -> str:
    return f"objects/{oid[:2]}/{oid[2:]}"


FILE_MODE, _FOLDER = b"100644", b"40000"
MAX_TREE_DEPTH = 200  # folders in folders
Entry = tuple[bytes, str]  # mode and id


def write_tree(objects: Objects, files: Mapping[str, Entry]) -> str:
    entries: dict[bytes, Entry] = {}
    folders: dict[str, dict[str, Entry]] = {}
    for path, entry in files.items():
        head, slash, rest = path.partition("/")
        if slash:
            folders.setdefault(head, {})[rest] = entry
        else:
            entries[encode(head)] = entry
    for name, inner in folders.items():
        entries[encode(name) + b"/"] = (_FOLDER, write_tree(objects, inner))
    # Git sorts a folder as if its name ended in a slash.
    rows = [
        mode + b" " + name.rstrip(b"/") + b"\0" + bytes.fromhex(oid)
        for name, (mode, oid) in sorted(entries.items())
    ]
    return objects.write("tree", b"".join(rows))[0]


def read_tree(objects: Objects, oid: str, prefix: str = "") -> dict[str, Entry]:
    """Every entry with its mode: what is no plain file stays as it is where it is written again."""
    if prefix.count("/") > MAX_TREE_DEPTH:
        raise objects.broken(f"a folder lies below {MAX_TREE_DEPTH} others: {prefix[:40]}…")
    files: dict[str, Entry] = {}
    data, start = objects.read(oid, "tree"), 0
    while start < len(data):
        end = data.index(b"\0", start)
        mode, _, name = data[start:end].partition(b" ")
        path, inner = prefix + decode(name), data[end + 1 : end + 21].hex()
        if mode == _FOLDER:
            files |= read_tree(objects, inner, path + "/")
        else:
            files[path] = mode, inner
        start = end + 21
    return files


def write_history_commit(
    objects: Objects,
    tree: str,
    parent: str,
    time: float,
    cause: Cause,
    paths: list[tuple[str, str]],
) -> str:
    author = "".join(char for char in cause.actor if char.isprintable() and char not in "<>")
    who = f"{author.strip() or 'memdir'} <memdir> {max(0, int(time))} +0000"
    parents = f"parent {parent}\n" if parent else ""
    message = write_history_message(cause, paths)
    text = f"tree {tree}\n{parents}author {who}\ncommitter {who}\n\n{message}"
    return objects.write("commit", encode(text))[0]


def read_history_commit(objects: Objects, oid: str) -> Logged:
    head, _, message = decode(objects.read(oid, "commit")).partition("\n\n")
    tree = parent = ""
    time = 0.0
    for line in head.split("\n"):
        key, _, value = line.partition(" ")
        if key == "tree":
            tree = value
        elif key == "parent":
            parent = parent or value
        elif key == "committer":
            time = float(value.rsplit(" ", 2)[-2])
    cause, paths = read_history_message(message)
    return Logged(**vars(cause), id=oid, parent=parent, tree=tree, time=time, paths=paths)
