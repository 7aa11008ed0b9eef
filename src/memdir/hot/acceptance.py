"""Memories of a repository or team that the user has accepted, by path and content.

Others write these files, so an agent is told nothing of them before the user has accepted it, and
then with its source. A changed file waits again. The decisions are in a private file in the store's
state folder, never in the store itself.
"""

import os
from binascii import crc32

from memdir.hot.disk import Disk, create_file_once, digest_of, disk_failure, read_sealed_file
from memdir.hot.place import SHARED, origin_of_scope, store_key
from memdir.hot.safe import inert_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.hot.place import Here
    from memdir.store.accepted import AcceptanceView
    from memdir.store.ports import Store

    Decisions = dict[tuple[str, str], tuple[str, str]]  # (path, digest) -> (decision, author)

ACCEPTED, REJECTED = "accepted", "rejected"
NOT_YET = "not accepted yet"
AUTHOR_BYTES = 60
# Acceptance carries over to the result of these; all others write the user's words.
UPKEEP = ("archive", "dream", "index", "purge", "rename", "restructure", "retire", "touch")
# These bring old bytes, or those of others, so they decide nothing.
PUT_BACK = ("begin", "outside", "restore", "sync", "undo")
NAME = "accepted"
MARK = "memdir accepted 1"
MAX_BYTES = 16 * 1024 * 1024
HISTORY = "history.git"


class Acceptance:
    def __init__(self, origin: str, decisions: "Decisions | None" = None) -> None:
        self.origin = origin
        self.decisions = decisions or {}

    def decision(self, path: str, digest: str) -> str:
        return self.decisions.get((path, digest), ("", ""))[0]

    def accepts(self, path: str, digest: str) -> bool:
        """True if the user accepted exactly this content, or had memdir write it."""
        return self.decision(path, digest) == ACCEPTED

    def source(self, path: str, digest: str) -> str:
        decision, author = self.decisions.get((path, digest), ("", ""))
        by = f", by {inert_line(author, AUTHOR_BYTES)}" if author else ""
        return f"from {self.origin}{by}" + ("" if decision == ACCEPTED else f", {NOT_YET}")

    def add(self, path: str, data: bytes, decision: str = ACCEPTED, author: str = "") -> None:
        self.decisions[path, digest_of(data)] = (decision, author)


def open_acceptance(folder: str, origin: str, store: "Store") -> Acceptance:
    """Decisions so far; for a new store with a history, what memdir itself wrote is accepted."""
    decisions = load_acceptance(folder)
    if decisions is None and os.path.isdir(os.path.join(folder, HISTORY)):
        decisions = _first_look(folder, store)
    return Acceptance(origin, decisions)


def load_acceptance(folder: str) -> "Decisions | None":
    """None if there are no decisions or the file is not ours."""
    data = read_sealed_file(os.path.join(folder, NAME), MARK, MAX_BYTES)
    if data is None:
        return None
    fields = data.decode("utf-8", "surrogateescape").split("\0") if data else []
    keys = zip(fields[0::4], fields[1::4], strict=True)
    return dict(zip(keys, zip(fields[2::4], fields[3::4], strict=True), strict=True))


def save_acceptance(folder: str, decisions: "Decisions") -> None:
    """Durable; the caller holds the store's lock."""
    disk = Disk(folder)
    try:
        disk.make_root()
        disk.put(NAME, _content(decisions))
    except OSError as error:
        path = os.path.join(folder, NAME)
        raise disk_failure(error, path, "what was accepted cannot be written") from None


def _content(decisions: "Decisions") -> bytes:
    """Fields separated by zero bytes, which no path or name can contain."""
    fields = [part for key, value in decisions.items() for part in (*key, *value)]
    data = "\0".join(fields).encode("utf-8", "surrogateescape")
    return f"{MARK} {crc32(data):08x}\n".encode() + data  # readable by version 0.1.0


def _first_look(folder: str, store: "Store") -> "Decisions":
    """For stores older than acceptance: whatever memdir wrote there is accepted."""
    from time import time

    from memdir.errors import MemdirError
    from memdir.store.accept import own_written_paths
    from memdir.store.history import GitHistory

    contents = {}
    for path in filter(store.is_memory, store.tree()):
        try:
            contents[path] = store.read(path)
        except MemdirError:
            continue  # the scan reports it
    acceptance = Acceptance("")
    for path in own_written_paths(GitHistory(folder, time), contents, upkeep=True):
        acceptance.add(path, contents[path])
    try:  # without the lock, nothing may be replaced
        mine = create_file_once(os.path.join(folder, NAME), _content(acceptance.decisions))
    except OSError:
        mine = False
    # Another process was faster, or the disk is full.
    return acceptance.decisions if mine else load_acceptance(folder) or acceptance.decisions


def acceptance_facts(folder: str) -> str:
    """Changes whenever a decision does."""
    try:
        facts = os.stat(os.path.join(folder, NAME))
    except OSError:
        return ""
    return f"{facts.st_mtime_ns} {facts.st_size} {facts.st_ino}"


def hook_view_without_waiting(scope: str, store: "Store", here: "Here") -> "AcceptanceView | None":
    """The store without memories that wait; None for the user's own store, the usual case."""
    origin = origin_of_scope(scope, store.root, here.checkout, SHARED in here.holds)
    if not origin:
        return None
    from memdir.store.accepted import AcceptanceView

    return AcceptanceView(store, open_acceptance(acceptance_folder(store, here), origin, store))


def acceptance_folder(store: "Store", here: "Here") -> str:
    real = os.path.realpath(store.root)
    key = store_key(real if store.layout == "markdown" else f"{real}#{store.layout}")
    return os.path.join(here.state, "stores", key)
