"""A git object database: loose objects, trees, commits, in git's own format.

Plain git reads it (`git --git-dir … log`). Writing it ourselves costs a tenth of running git,
keeps our order of fsyncs, and is independent of the user's configuration, hooks, filters and
ignore rules.
"""

from __future__ import annotations

import base64
import hashlib
import os
import zlib
from contextlib import suppress

from memdir.errors import HistoryBroken
from memdir.hot.disk import Disk, remove_file, sync_directory
from memdir.hot.memory import decode, encode
from memdir.store import state
from memdir.store.ports import Cause, Logged, read_history_message, write_history_message

BRANCH = "refs/heads/main"
CONFIG = (
    "[core]\n\trepositoryformatversion = 0\n\tfilemode = false\n\tbare = true\n"
    "\tfsync = all\n[gc]\n\tauto = 0\n"
)
_COMPRESSION = 1  # memories are small; speed is worth more than the last percent
# Objects of the newest commits, one per line. One fsync makes a whole commit durable; the loose
# files that git reads follow without, and are written again from here after a power cut.
BATCH = "batch"
OID_LENGTH = 40  # hexadecimal digits
MAX_BATCH_BYTES = 256 * 1024


class Objects:
    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.disk = Disk(folder)
        self._fresh: dict[str, bytes] = {}  # compressed, written with the next head

    def exists(self) -> bool:
        if os.path.lexists(self.folder) and not os.path.isdir(self.folder):
            raise self.broken("something that is no directory stands there")
        return os.path.isfile(os.path.join(self.folder, "HEAD"))

    def create(self) -> None:
        """Make an empty repository; HEAD comes last, so a half-made one is made again."""
        self.disk.make_root()
        self.disk.put("config", CONFIG.encode())
        self.disk.put("HEAD", f"ref: {BRANCH}\n".encode())

    def head(self) -> str:
        try:
            text = self.disk.read(BRANCH)[0].decode("ascii", "replace").strip()
        except FileNotFoundError:
            return self._read_packed_head()
        except OSError as error:
            raise self.broken(f"{BRANCH}: {error.strerror}") from None
        if len(text) != OID_LENGTH:
            raise self.broken(f"{BRANCH} is damaged")
        return text

    def set_head(self, oid: str) -> None:
        """Move the branch durably, after every object that it reaches."""
        self._write_fresh()
        with suppress(FileNotFoundError):
            # We hold the store's lock, so a lock file of git is left over from a crash.
            os.unlink(os.path.join(self.folder, BRANCH + ".lock"))
        self.disk.put(BRANCH, oid.encode() + b"\n")

    def has(self, oid: str) -> bool:
        """True if the object exists, or if there is a pack that may contain it."""
        return self._is_loose(oid) or bool(self._packs())

    def _packs(self) -> list[str]:
        try:
            return os.listdir(os.path.join(self.folder, "objects", "pack"))
        except OSError:
            return []

    def _is_loose(self, oid: str) -> bool:
        try:
            return os.stat(os.path.join(self.folder, _loose_path(oid))).st_size > 0
        except OSError:
            return False

    def write(self, kind: str, *contents: bytes) -> list[str]:
        """Ids of these objects; `set_head` writes those that are new."""
        ids = []
        for data in contents:
            whole = kind.encode() + b" %d\0" % len(data) + data
            oid = _object_id(whole)
            if not self._is_loose(oid):
                self._fresh[oid] = zlib.compress(whole, _COMPRESSION)
            ids.append(oid)
        return ids

    def _write_fresh(self) -> None:
        fresh, self._fresh = self._fresh, {}
        size = sum(map(len, fresh.values()))
        if size > MAX_BATCH_BYTES:  # as many fsyncs as files, once for a store full of memories
            self._put_durably(fresh)
            return
        lines = [oid.encode() + b" " + base64.b64encode(data) for oid, data in fresh.items()]
        if lines:
            with suppress(FileNotFoundError):
                if os.stat(os.path.join(self.folder, BATCH)).st_size > MAX_BATCH_BYTES:
                    self.settle()
            state.append_state(self.folder, BATCH, b"\n".join(lines) + b"\n")
        self._put_loose(fresh)

    def _put_durably(self, objects: dict[str, bytes]) -> None:
        self.disk.put_all({_loose_path(oid): data for oid, data in objects.items()})
        sync_directory(os.path.join(self.folder, "objects"))  # folders made without fsync

    def _put_loose(self, objects: dict[str, bytes]) -> None:
        for oid, data in objects.items():
            self.disk.put(_loose_path(oid), data, durable=False)

    def _read_batch(self) -> dict[str, bytes]:
        """Objects that the batch holds whole; a damaged line does not hide the others."""
        batch = {}
        for line in state.read_state_lines(self.folder, BATCH)[0]:
            oid, _, data = line.decode("ascii", "replace").partition(" ")
            with suppress(ValueError, zlib.error):
                compressed = base64.b64decode(data, validate=True)
                if _object_id(zlib.decompress(compressed)) == oid:
                    batch[oid] = compressed
        return batch

    def mend(self) -> None:
        """Write loose files again that a power cut took; the caller holds the lock."""
        batch = self._read_batch()
        self._put_loose({oid: data for oid, data in batch.items() if not self._is_whole(oid, data)})

    def _is_whole(self, oid: str, data: bytes) -> bool:
        with suppress(OSError):
            return self.disk.read(_loose_path(oid))[0] == data
        return False

    def settle(self) -> None:
        """Make all loose files of the batch durable and begin a new batch, if all was read."""
        batch = self._read_batch()
        self._put_durably(batch)
        ids = {line[:OID_LENGTH] for line in state.read_state_lines(self.folder, BATCH)[0]}
        if len(batch) == len(ids):
            remove_file(os.path.join(self.folder, BATCH))

    def read(self, oid: str, kind: str) -> bytes:
        """Read an object and check its id; packed objects are read by git."""
        try:
            return self._check(oid, kind, self.disk.read(_loose_path(oid))[0])
        except (HistoryBroken, OSError) as error:
            kept = self._fresh.get(oid) or self._read_batch().get(oid)
            if kept is not None:
                return self._check(oid, kind, kept)
            if isinstance(error, FileNotFoundError):
                return self._read_packed(oid, kind)
            if isinstance(error, OSError):
                raise self.broken(f"object {oid} is damaged ({error})") from None
            raise

    def _check(self, oid: str, kind: str, compressed: bytes) -> bytes:
        try:
            whole = zlib.decompress(compressed)
        except zlib.error as error:
            raise self.broken(f"object {oid} is damaged ({error})") from None
        head, _, data = whole.partition(b"\0")
        if _object_id(whole) != oid or not head.startswith(kind.encode()):
            raise self.broken(f"object {oid} is damaged")
        return data

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

    def _read_packed(self, oid: str, kind: str) -> bytes:
        from memdir.store.git import Git, find_git_program  # rarely needed, and slow to import

        program = find_git_program(os.environ.get("PATH", ""))
        if not program and self._packs():
            raise HistoryBroken(
                f"{self.folder}: object {oid} is packed, and git, which could read it, is missing",
                path=self.folder,
                next="install git; the history itself is left as it is",
            )
        git = Git(self.folder, program, work_tree=False)
        data, ended = git.ask("--git-dir", self.folder, "cat-file", kind, oid)
        if not ended.whole:
            raise self.broken(f"object {oid} is missing")
        return data


def _object_id(whole: bytes) -> str:
    return hashlib.sha1(whole, usedforsecurity=False).hexdigest()


def _loose_path(oid: str) -> str:
    return f"objects/{oid[:2]}/{oid[2:]}"


_FILE, _FOLDER = b"100644", b"40000"


def write_history_tree(objects: Objects, files: dict[str, str]) -> str:
    entries: dict[bytes, tuple[bytes, str]] = {}
    folders: dict[str, dict[str, str]] = {}
    for path, oid in files.items():
        head, slash, rest = path.partition("/")
        if slash:
            folders.setdefault(head, {})[rest] = oid
        else:
            entries[encode(head)] = (_FILE, oid)
    for name, inner in folders.items():
        entries[encode(name) + b"/"] = (_FOLDER, write_history_tree(objects, inner))
    # Git sorts a folder as if its name ended in a slash.
    rows = [
        mode + b" " + name.rstrip(b"/") + b"\0" + bytes.fromhex(oid)
        for name, (mode, oid) in sorted(entries.items())
    ]
    return objects.write("tree", b"".join(rows))[0]


def read_history_tree(objects: Objects, oid: str, prefix: str = "") -> dict[str, str]:
    files: dict[str, str] = {}
    data, start = objects.read(oid, "tree"), 0
    while start < len(data):
        end = data.index(b"\0", start)
        mode, _, name = data[start:end].partition(b" ")
        inner = data[end + 1 : end + 21].hex()
        path = prefix + decode(name)
        if mode == _FOLDER:
            files |= read_history_tree(objects, inner, path + "/")
        else:
            files[path] = inner
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
    return Logged(oid, parent, tree, time, cause, paths)
