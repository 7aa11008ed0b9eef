"""What changed in a store since its catalog was written. Hot path.

A small store is looked at whole: one stat for each file. A large one by its folders, whose times
change when a file comes, goes or is replaced, by the memories that a search found, and by some
of the others in turn: an edit in place is seen there after a few prompts.
"""

import os
from binascii import crc32
from marshal import dumps
from time import time, time_ns

from memdir.adapters.searches._catalog import LARGEST, fold
from memdir.core.memory import INDEX, NOT_MEMORIES, TEAM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.adapters.searches._catalog import Catalog, Facts
    from memdir.core.ports import Store

SMALL = 1000  # memories up to which every one is looked at
TURN = 200  # memories of a large store that are looked at in turn
NUMBERS = 1 << 32
STRIDE = 2_654_435_761  # each second another part of the numbers, all parts alike
TICK = 50_000_000  # nanoseconds: a file that changed so lately may change again unseen
UNSURE = 0  # in the place of the time of change
PLAIN = 2  # the version of marshal that writes equals alike
LONGEST_OTHER = max(map(len, NOT_MEMORIES))


def is_fresh(store: "Store", catalog: "Catalog") -> bool:
    """True where every memory of a small store is as it was when it was read."""
    state = look(store)
    if catalog.fact("index") != state.index or catalog.fact("files") != state.files:
        return False
    return not any(map(is_unsure, state.facts.values()))


def is_unsure(facts: "Facts") -> bool:
    """True where a file changed so lately that it may change again unseen."""
    return facts[1] == UNSURE


class State:
    """What a store looked like before it was read."""

    __slots__ = ("facts", "folders", "index")

    def __init__(self, facts: "dict[str, Facts]", folders: dict[str, int], index: str) -> None:
        self.facts = facts
        self.folders = folders
        self.index = index

    @property
    def files(self) -> str:
        """The sum of all facts: to compare them one by one would take four times as long."""
        data = dumps(sorted(self.facts.items()), PLAIN)
        return f"{len(self.facts)} {crc32(data)} {crc32(data[::-1])}"


def look(store: "Store") -> State:
    """The facts of everything; what is too young to be sure of will be looked at again."""
    now = time_ns()
    young = now - TICK
    found = {
        path: facts
        for path, facts in store.tree().items()
        if _is_simple(path) or store.is_memory(path)
    }
    if not found and store.standalone() is not None:
        found[INDEX] = store.facts(INDEX) or (0, 0, 0, 0)
    for path, facts in found.items():
        if facts[1] > young or facts[0] >= LARGEST or facts[3] >= LARGEST:
            mtime, ctime, *rest = fold(facts)
            found[path] = (mtime, UNSURE if facts[1] > young else ctime, *rest)
    folders = _folders(store.root, now) if len(found) > SMALL else {}
    return State(found, folders, index_of(store))


def _is_simple(path: str) -> bool:
    """True for what nearly every memory is called; a tree has no hidden names."""
    if path[-3:] != ".md" or "/" in path:
        return False
    return len(path) > LONGEST_OTHER or path.lower() not in NOT_MEMORIES


def index_of(store: "Store") -> str:
    """Which file is the index, and its facts."""
    path = store.index_path
    facts = store.facts(path)
    now = time_ns()
    young = facts and now - facts[1] < TICK
    return f"{path} {now if young else facts}"


def unchanged(store: "Store", catalog: "Catalog") -> bool:
    """True where a quick look at a large store shows nothing new."""
    folders = catalog.folders()
    if not folders or catalog.fact("index") != index_of(store):
        return False
    for path, changed in folders.items():
        if _changed(os.path.join(store.root, path) if path else store.root) != changed:
            return False
    start = int(time()) * STRIDE % NUMBERS
    some = catalog.known("WHERE number >= ? ORDER BY number LIMIT ?", start, TURN)
    return all(same(store.root, path, facts) for path, facts in some.items())


def same(root: str, path: str, facts: "Facts") -> bool:
    """True where a file is as it was when it was read."""
    try:
        now = os.lstat(f"{root}/{path}")
    except OSError:
        return False
    return fold((now.st_mtime_ns, now.st_ctime_ns, now.st_size, now.st_ino)) == facts


def _folders(root: str, now: int) -> dict[str, int]:
    """When each folder changed; 0 where that was just now."""
    found: dict[str, int] = {}
    waiting = [""]
    while waiting:
        path = waiting.pop()
        where = os.path.join(root, path) if path else root
        changed = _changed(where)
        found[path] = changed if now - changed >= TICK else 0
        try:
            with os.scandir(where) as entries:
                names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue  # gone, or closed to us: its memories are not seen either
        below = [f"{path}/{name}" if path else name for name in names if name[0] != "."]
        waiting += [folder for folder in below if folder != TEAM]
    return found


def _changed(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return -1
