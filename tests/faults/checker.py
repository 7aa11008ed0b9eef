"""Looks at a broken store from the outside: its own small parser, none of memdir's code.

I1 whole, I2 acknowledged is there, I3 old or new, I4 bystanders untouched, I5 the index lists the
live memories and keeps the lines of people, I6 usable and idempotent afterwards, I11 nothing
vanishes, I12 nothing outside the root, private modes. (I7 is judged where the process is started.)
"""

from __future__ import annotations

import dataclasses
import os
import re
import stat
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from tests.faults import repository

POINTER = re.compile(r"- \[[^\]\n]+\]\(([^)\n]+\.md)\)( — [^\n]+)?")
INDEX = "MEMORY.md"
PROJECTS = "home/.claude/projects/"
ROOMS = ("trash", "archive")
NO_INDEX = frozenset(("purge", "commit", "touch"))  # operations that leave the index alone
OTHERS = "lost+found/"  # where the harness itself may write
# Written without fsync on purpose: derived, or a courtesy. Their bytes may be anything.
DERIVED = frozenset(("lock", "known.json", "announced", ".memdir-known.tmp"))


@dataclass
class View:
    """A root as it lies there: the store's files, the shelves, the past, and what is amiss."""

    files: dict[str, bytes] = field(default_factory=dict)
    shelves: dict[str, bytes] = field(default_factory=dict)  # room/number-time/path
    past: repository.Past = field(default_factory=repository.Past)
    debris: list[str] = field(default_factory=list)
    open_to_others: set[str] = field(default_factory=set)
    elsewhere: set[str] = field(default_factory=set)

    @property
    def memories(self) -> dict[str, bytes]:
        return {
            path: data
            for path, data in self.files.items()
            if path.endswith(".md") and path != INDEX
        }

    @property
    def index(self) -> str:
        return self.files.get(INDEX, b"").decode("utf-8", "replace")

    def kept(self) -> set[bytes]:
        """Every version that somebody can still get at."""
        return {*self.files.values(), *self.shelves.values(), *self.past.versions}


Answer = tuple[str, ...] | None  # the memories that were acknowledged; None: nothing was


@dataclass(frozen=True)
class Expected:
    """The store before an operation and after it went through undisturbed."""

    operation: str
    before: View
    after: View


def look(root: str, view: View | None = None, store: str = PROJECTS, depth: int = 5) -> View:
    """Read everything below a root; the store's files lie so deep below `store`."""
    view = view or View()
    for folder, folders, names in os.walk(root):
        here = os.path.relpath(folder, root)
        for name in (*folders, *names):
            _file(view, root, name if here == "." else f"{here}/{name}", store, depth)
    for state in _below(os.path.join(root, "state", "stores")):
        if os.path.isdir(os.path.join(state, "history.git")):
            view.past = repository.read_past(os.path.join(state, "history.git"))
    return view


def memories_of(files: Mapping[str, tuple[int, bytes]]) -> dict[str, bytes]:
    """The memories among the files of a tree."""
    found = {}
    for path, (_, data) in files.items():
        parts = path.split("/", 5)
        if path.startswith(PROJECTS) and len(parts) == 6:
            found[parts[5]] = data
    return View(files=found).memories


def _below(folder: str) -> list[str]:
    return [entry.path for entry in os.scandir(folder)] if os.path.isdir(folder) else []


def _file(view: View, root: str, path: str, store: str, depth: int) -> None:
    facts = os.lstat(os.path.join(root, path))
    parts = path.split("/")
    is_file = stat.S_ISREG(facts.st_mode)
    # A new version has the mode of the old one from the start, so a temporary file may be open.
    if stat.S_IMODE(facts.st_mode) & 0o077 and not parts[-1].startswith(".memdir-"):
        view.open_to_others.add(_label(path))
    if path.startswith(store) and len(parts) > depth:
        _store_file(view, root, path, "/".join(parts[depth:]), is_file)
    elif path.startswith("state/stores/") and len(parts) > 4 and parts[3] in ROOMS and is_file:
        if parts[-1].startswith("."):
            return
        view.shelves["/".join(parts[3:])] = _bytes(root, path)
    elif is_file and not path.startswith(("state/stores/", OTHERS)):
        view.elsewhere.add(path)


def _store_file(view: View, root: str, path: str, inside: str, is_file: bool) -> None:
    if not is_file:
        return
    if os.path.basename(inside).startswith(".memdir-"):
        view.debris.append(inside)
    else:
        view.files[inside] = _bytes(root, path)


def _label(path: str) -> str:
    path = re.sub(r"^home/\.claude/projects/[^/]+/memory", "store", path)
    return re.sub(r"^state/stores/[^/]+", "state", path)


def _bytes(root: str, path: str) -> bytes:
    with open(os.path.join(root, path), "rb") as file:
        return file.read()


# -- right after the accident ----------------------------------------------------------------


def judge(view: View, expected: Expected, acknowledged: Answer) -> list[str]:
    """What is wrong with a store that an operation left, finished or not."""
    return [
        *_whole(view, expected),
        *(_acknowledged(view, expected, acknowledged) if acknowledged is not None else []),
        *_index_whole(view, expected),
        *_nothing_vanished(view, expected),
        *private(view, expected),
        *view.past.problems,
    ]


def _whole(view: View, expected: Expected) -> list[str]:
    before, after = expected.before.files, expected.after.files
    found = []
    for path in {*view.files, *before, *after} - {INDEX}:
        data = view.files.get(path)
        if data not in (before.get(path), after.get(path)):
            same = before.get(path) == after.get(path)
            what = "bystander changed" if same else "neither the old nor the new version"
            found.append(f"{path}: {what}")
    return found


def _acknowledged(view: View, expected: Expected, paths: tuple[str, ...]) -> list[str]:
    """What was acknowledged is so: the memory, its line in the index, its place on a shelf."""
    after = expected.after
    found = [
        f"{path}: acknowledged, but not so on disk"
        for path in paths
        if view.files.get(path) != after.files.get(path) and path != INDEX
    ]
    found += [
        f"{path}: acknowledged, but not so in the index"
        for path in paths
        if _line(view, path) != _line(after, path)
    ]
    copies = set(after.shelves.values()) - set(expected.before.shelves.values())
    # A memory that cannot be read is not found: then capture asks a person instead.
    asked = expected.operation == "capture" and not set(paths) & set(expected.before.memories)
    if copies - set(view.shelves.values()) and not asked:
        found.append("shelf: acknowledged, but a copy is missing")
    left = set(view.shelves) & set(expected.before.shelves) - set(after.shelves)
    left = left if expected.operation == "purge" else set()  # a restored copy may stay
    found += [f"shelf: {key}: acknowledged, but still there" for key in sorted(left)]
    return found + (_listing(view) if expected.operation not in NO_INDEX else [])


def _line(view: View, path: str) -> str:
    return next((line for line in view.index.splitlines() if f"]({path})" in line), "")


def _index_whole(view: View, expected: Expected) -> list[str]:
    """No torn line is ever injected: each line stood before, or is one that belongs there."""
    known = {*expected.before.index.splitlines(), *expected.after.index.splitlines()}
    lines = view.index.splitlines()
    torn = [line for line in lines if line not in known and not POINTER.fullmatch(line)]
    return [f"index: torn line {line[:50]!r}" for line in torn]


def _nothing_vanished(view: View, expected: Expected) -> list[str]:
    """What was live or shelved is live, shelved or in the history; retired means on the shelf."""
    old = expected.before
    kept = view.kept()
    found = [f"{path}: vanished" for path, data in old.memories.items() if data not in kept] + [
        f"shelf {key}: vanished" for key, data in old.shelves.items() if data not in kept
    ]
    if expected.operation in ("retire", "archive", "restore"):
        reach = {*view.files.values(), *view.shelves.values()}
        lost = {*old.memories.values(), *old.shelves.values()} - reach
        found += ["neither live nor on a shelf"] if lost else []
    return found


def private(view: View, expected: Expected) -> list[str]:
    opened = view.open_to_others - expected.before.open_to_others
    strays = view.elsewhere - expected.before.elsewhere
    return [f"{path}: readable for others" for path in sorted(opened)] + [
        f"{path}: written outside the store and the state" for path in sorted(strays)
    ]


# -- after the next write --------------------------------------------------------------------


def judge_recovered(view: View, expected: Expected, new: Collection[str]) -> list[str]:
    """What is wrong with a store after the next write, which brought the memories `new`."""
    return [
        *judge_next(view, expected, new),
        *in_step(view),
        *_lines_of_people(view, expected),
    ]


def judge_next(view: View, expected: Expected, new: Collection[str]) -> list[str]:
    """The same where the power fails during that next write: the index may be behind."""
    files = {path: data for path, data in view.files.items() if path not in new}
    rest = dataclasses.replace(view, files=files)
    return [
        *_whole(rest, expected),
        *_nothing_vanished(rest, expected),
        *private(rest, expected),
        *view.past.problems,
    ]


def in_step(view: View) -> list[str]:
    """The index lists exactly the live memories; no debris; the history has the store."""
    return _listing(view) + behind(view)


def behind(view: View) -> list[str]:
    """Debris, and files that the history does not have as they stand."""
    found = [f"debris after recovery: {path}" for path in view.debris]
    if view.past.head and view.past.newest != view.files:
        differ = [
            path
            for path in {*view.past.newest, *view.files}
            if view.past.newest.get(path) != view.files.get(path)
        ]
        found.append(f"history: its newest tree is not the store ({', '.join(sorted(differ))})")
    return found


def _listing(view: View) -> list[str]:
    live, shown = set(view.memories), listed(view)
    missing = [f"index: {path} is missing" for path in sorted(live - shown)]
    return missing + [f"index: {path} does not exist" for path in sorted(shown - live)]


def listed(view: View) -> set[str]:
    found = [POINTER.fullmatch(line) for line in view.index.splitlines()]
    return {match[1] for match in found if match}


def _lines_of_people(view: View, expected: Expected) -> list[str]:
    """Lines that are no pointers stay, in their order; a converted index went into a memory."""
    hand = [line for line in expected.before.index.splitlines() if line and line[:3] != "- ["]
    place = view.index if expected.operation != "standalone" else _all_text(view)
    lines = iter(place.splitlines())
    lost = [line for line in hand if line not in lines]
    return [f"index: a line of the user is gone: {line[:40]!r}" for line in lost[:1]]


def _all_text(view: View) -> str:
    whole = [view.files[path] for path in sorted(view.files, reverse=True)]
    return b"\n".join(whole).decode("utf-8", "replace")


def difference(one: View, other: View) -> list[str]:
    """What a second recovery changed, although there was nothing left to do."""
    found = [
        f"second recovery changed {path}"
        for path in {*one.files, *other.files}
        if one.files.get(path) != other.files.get(path)
    ]
    found += ["second recovery changed a shelf"] if one.shelves != other.shelves else []
    return found + (["second recovery made a commit"] if one.past.head != other.past.head else [])
