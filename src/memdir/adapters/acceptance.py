"""The decisions on a shared store, in one private file of its state folder. Hot path.

Never in the store itself: what lies there may come from anybody.
"""

import os
from binascii import crc32

from memdir.core.acceptance import Acceptance, read, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.core.acceptance import Decisions
    from memdir.core.ports import Store

NAME = "accepted"
MARK = "memdir accepted 1"
MAX_BYTES = 16 * 1024 * 1024
HISTORY = "history.git"
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
OWN_ONLY = 0o022  # nobody else may write what we go by


def open_acceptance(folder: str, origin: str, store: "Store") -> Acceptance:
    """What was decided so far; at first sight of a store with a history, what that proves."""
    decisions = load(folder)
    if decisions is None and os.path.isdir(os.path.join(folder, HISTORY)):
        decisions = _first_look(folder, store)
    return Acceptance(origin, decisions)


def load(folder: str) -> "Decisions | None":
    """The decisions in a folder; None where there are none, or these are not our bytes."""
    try:
        handle = os.open(os.path.join(folder, NAME), _READ)
        try:
            facts = os.fstat(handle)
            data = os.read(handle, MAX_BYTES)
        finally:
            os.close(handle)
    except OSError:
        return None
    head, _, rest = data.partition(b"\n")
    if facts.st_uid != os.geteuid() or facts.st_mode & OWN_ONLY:
        return None
    if head != f"{MARK} {crc32(rest):08x}".encode():
        return None
    return read(rest)


def facts_of(folder: str) -> str:
    """What changes when a decision does."""
    try:
        found = os.stat(os.path.join(folder, NAME))
    except OSError:
        return ""
    return f"{found.st_mtime_ns} {found.st_size} {found.st_ino}"


def save(folder: str, decisions: "Decisions") -> None:
    """Replace them, durably; for the holder of the store's lock."""
    from memdir.adapters.disk import Disk, failure

    disk = Disk(folder)
    try:
        disk.make_root()
        disk.put(NAME, _content(decisions))
    except OSError as error:
        path = os.path.join(folder, NAME)
        raise failure(error, path, "what was accepted cannot be written") from None


def _content(decisions: "Decisions") -> bytes:
    data = written(decisions)
    return f"{MARK} {crc32(data):08x}\n".encode() + data


def _first_look(folder: str, store: "Store") -> "Decisions":
    """A store from before there was anything to accept: what memdir wrote there counts as such."""
    from time import time

    from memdir.adapters.history.git import open_history
    from memdir.core.authorship import own_paths
    from memdir.core.errors import MemdirError

    contents = {}
    for path in filter(store.is_memory, store.tree()):
        try:
            contents[path] = store.read(path)
        except MemdirError:
            continue  # the scan reports it
    acceptance = Acceptance("")
    for path in own_paths(open_history(folder, time), contents, upkeep=True):
        acceptance.add(path, contents[path])
    part = os.path.join(folder, f"{NAME}.{os.urandom(4).hex()}")
    try:  # we hold no lock, so nothing is replaced
        with open(os.open(part, _WRITE, 0o600), "wb") as file:
            file.write(_content(acceptance.decisions))
        try:
            os.link(part, os.path.join(folder, NAME))
        finally:
            os.unlink(part)
    except OSError:
        return load(folder) or acceptance.decisions  # another one was faster, or the disk is full
    return acceptance.decisions
