"""Looks at a broken store from the outside: its own small readers, none of memdir's code.

I1 whole, I2 acknowledged is there, I3 old or new, I4 bystanders untouched, I5 the index lists what
is live and keeps the lines of people, I6 usable and idempotent afterwards, I11 nothing vanishes,
I12 nothing outside the root, private modes. (I7 is judged where the process is started.)
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import stat
from collections.abc import Collection
from dataclasses import dataclass, field
from glob import glob
from typing import Any, ClassVar

from tests.faults import repository, trees

ROOMS = ("trash", "archive")
OTHERS = "lost+found/"  # where the harness itself may write
CACHE = "home/.cache/memdir/"  # derived, and outside the store and the state on purpose
# Written without fsync on purpose: derived, or a courtesy. Their bytes may be anything.
DERIVED = frozenset(("lock", "known.json", "announced", ".memdir-known.tmp"))

Answer = tuple[str, ...] | None  # the files that were acknowledged; None: nothing was
Files = dict[str, bytes]


@dataclass
class View:
    """A root as it lies there: the store's files, the shelves, the past, and what is amiss."""

    index_file: ClassVar[str]
    line: ClassVar[re.Pattern[str]]  # of the index; its first group is the path
    store: ClassVar[str]  # where the store lies in the root; its files so many folders deep:
    depth: ClassVar[int]
    index_is_derived: ClassVar[bool] = False
    head: ClassVar[str] = ""  # of an index that is

    files: Files = field(default_factory=dict)
    shelves: Files = field(default_factory=dict)  # room/number-time/path
    past: repository.Past = field(default_factory=repository.Past)
    debris: list[str] = field(default_factory=list)
    open_to_others: set[str] = field(default_factory=set)
    elsewhere: set[str] = field(default_factory=set)

    @classmethod
    def look(cls, root: str) -> Any:
        """Read everything below a root."""
        view = cls()
        for folder, folders, names in os.walk(root):
            here = os.path.relpath(folder, root)
            for name in (*folders, *names):
                view._add(root, name if here == "." else f"{here}/{name}")
        for folder in glob("state/stores/*/history.git", root_dir=root):
            view.past = repository.read_past(f"{root}/{folder}")
        return view

    def _add(self, root: str, path: str) -> None:
        whole = os.path.join(root, path)
        mode = os.lstat(whole).st_mode
        parts = path.split("/")
        temporary = parts[-1].startswith(".memdir-")
        # A new version has the mode of the old one from the start, so a temporary file may be open.
        if stat.S_IMODE(mode) & 0o077 and not temporary:
            label = re.sub(r"^home/\.claude/projects/[^/]+/memory", "store", path)
            self.open_to_others.add(re.sub(r"^state/stores/[^/]+", "state", label))
        if not stat.S_ISREG(mode):
            return
        if path.startswith(self.store) and len(parts) > self.depth:
            inside = "/".join(parts[self.depth :])
            if temporary:
                self.debris.append(inside)
            else:
                self.files[inside] = trees.read(whole)
        elif path.startswith("state/stores/"):
            if len(parts) > 4 and parts[3] in ROOMS and parts[-1][0] != ".":
                self.shelves["/".join(parts[3:])] = trees.read(whole)
        elif not path.startswith((OTHERS, CACHE)):
            self.elsewhere.add(path)

    @property
    def memories(self) -> Files:
        return {path: data for path, data in self.files.items() if self.is_memory(path)}

    @property
    def index(self) -> str:
        return self.files.get(self.index_file, b"").decode("utf-8", "replace")

    def kept(self) -> set[bytes]:
        """Every version that somebody can still get at."""
        return {*self.files.values(), *self.shelves.values(), *self.past.versions}

    # -- a kind of store says besides what is a memory, what its index lists, what is wrong ------

    def versions(self, expected: Expected) -> dict[str, set[bytes | None]]:
        """What may stand at each path."""
        before, after = expected.before.files, expected.after.files
        return {path: {before.get(path), after.get(path)} for path in {*before, *after}}

    def wrong_now(self, expected: Expected) -> list[str]:
        return []

    # -- right after the accident ------------------------------------------------------------

    def judge(self, expected: Expected, acknowledged: Answer) -> list[str]:
        """What is wrong with a store that an operation left, finished or not."""
        found = self._judge_anyway(expected) + self._torn_lines(expected)
        if acknowledged is not None:
            after = expected.after.files
            found += [
                f"{path}: acknowledged, but not so on disk"
                for path in acknowledged
                if self.files.get(path) != after.get(path) and path != self.index_file
            ]
            found += self.wrong_once_acknowledged(expected, acknowledged)
        return found

    def _judge_anyway(self, expected: Expected) -> list[str]:
        """What may be so at no time: a memory neither old nor new, something gone, or open."""
        old, found, may = expected.before, [], self.versions(expected)
        for path in {*self.files, *may} - {self.index_file}:
            if self.files.get(path) not in may.get(path, {None}):
                same = len(may.get(path, ())) < 2
                what = "bystander changed" if same else "neither the old nor the new version"
                found.append(f"{path}: {what}")
        kept = self.kept()
        found += [f"{path}: vanished" for path, data in old.memories.items() if data not in kept]
        found += [f"shelf {key}: vanished" for key, data in old.shelves.items() if data not in kept]
        opened, strays = self.open_to_others - old.open_to_others, self.elsewhere - old.elsewhere
        found += [f"{path}: readable for others" for path in sorted(opened)]
        found += [f"{path}: written outside the store and the state" for path in sorted(strays)]
        return found + self.wrong_now(expected) + self.past.problems

    def _torn_lines(self, expected: Expected) -> list[str]:
        """Each line stood before, stands after, or tells of a memory that may be there."""
        known = {*expected.before.index.splitlines(), *expected.after.index.splitlines()}
        paths, found = self.versions(expected), []
        for line in self.index.splitlines():
            match = self.line.fullmatch(line)
            if line not in known and not (match and match[1] in paths):
                found.append(f"index: torn line {line[:50]!r}")
        return found

    # -- after the next write ----------------------------------------------------------------

    def judge_next(self, expected: Expected, new: Collection[str]) -> list[str]:
        """Where the power fails during the next write, which brings `new`: the index may lag."""
        files = {path: data for path, data in self.files.items() if path not in new}
        return dataclasses.replace(self, files=files)._judge_anyway(expected)

    def judge_recovered(self, expected: Expected, new: Collection[str]) -> list[str]:
        """What is wrong with a store after the next write, which brought `new`."""
        return self.judge_next(expected, new) + self.in_step() + self.wrong_after(expected)

    def in_step(self) -> list[str]:
        """The index lists exactly what is live; no debris; the history has the store."""
        found = self.listing() + [f"debris after recovery: {path}" for path in self.debris]
        if self.past.head and self.past.newest != self.files:
            differ = sorted(dict(self.past.newest.items() ^ self.files.items()))
            found.append(f"history: its newest tree is not the store ({', '.join(differ)})")
        return found

    def difference(self, other: View) -> list[str]:
        """What a second recovery changed, although there was nothing left to do."""
        paths = {*self.files, *other.files}
        changed = [path for path in paths if self.files.get(path) != other.files.get(path)]
        changed += ["a shelf"] if self.shelves != other.shelves else []
        changed += ["the history"] if self.past.head != other.past.head else []
        return [f"second recovery changed {what}" for what in changed]


@dataclass(frozen=True)
class Expected:
    """The store before an operation and after it went through undisturbed."""

    operation: str
    before: View
    after: View


class MemoryView(View):
    """Memories, and an index in which people write as well."""

    index_file = "MEMORY.md"
    line = re.compile(r"- \[[^\]\n]+\]\(([^)\n]+\.md)\)( — [^\n]+)?")
    store, depth = "home/.claude/projects/", 5
    leave_the_index: ClassVar = frozenset(("purge", "commit", "touch"))

    def is_memory(self, path: str) -> bool:
        return path.endswith(".md") and path != self.index_file

    def listing(self) -> list[str]:
        live = set(self.memories)
        shown = {match[1] for match in map(self.line.fullmatch, self.index.splitlines()) if match}
        missing = [f"index: {path} is missing" for path in sorted(live - shown)]
        return missing + [f"index: {path} does not exist" for path in sorted(shown - live)]

    def wrong_now(self, expected: Expected) -> list[str]:
        """Retired means on the shelf; the history is not enough."""
        if expected.operation not in ("retire", "archive", "restore"):
            return []
        old = {*expected.before.memories.values(), *expected.before.shelves.values()}
        lost = old - {*self.files.values(), *self.shelves.values()}
        return ["neither live nor on a shelf"] if lost else []

    def wrong_once_acknowledged(self, expected: Expected, paths: tuple[str, ...]) -> list[str]:
        """Its line is in the index, its copy on a shelf."""
        before, after, operation = expected.before, expected.after, expected.operation
        found = [
            f"{path}: acknowledged, but not so in the index"
            for path in paths
            if self._line_of(path) != after._line_of(path)
        ]
        copies = set(after.shelves.values()) - set(before.shelves.values())
        # A memory that cannot be read is not found: then capture asks a person instead.
        asked = operation == "capture" and not set(paths) & set(before.memories)
        if copies - set(self.shelves.values()) and not asked:
            found.append("shelf: acknowledged, but a copy is missing")
        if operation == "purge":  # a restored copy may stay
            left = set(self.shelves) & set(before.shelves) - set(after.shelves)
            found += [f"shelf: {key}: acknowledged, but still there" for key in sorted(left)]
        return found + (self.listing() if operation not in self.leave_the_index else [])

    def _line_of(self, path: str) -> str:
        return next((line for line in self.index.splitlines() if f"]({path})" in line), "")

    def wrong_after(self, expected: Expected) -> list[str]:
        """Lines that are no pointers stay, in order; those of a converted index are in memories."""
        hand = [line for line in expected.before.index.splitlines() if line and line[:3] != "- ["]
        lines: Any = self.index.splitlines()
        if expected.operation in ("standalone", "restructure"):
            whole = [self.files[path] for path in sorted(self.files, reverse=True)]
            lines = b"\n".join(whole).decode("utf-8", "replace").splitlines()
        if expected.operation != "restructure":
            lines = iter(lines)  # in order
        lost = [line for line in hand if line not in lines]
        return [f"index: a line of the user is gone: {line[:40]!r}" for line in lost[:1]]


BELOW = "project/.claude/memory/"
USED = "decisions/use-sqlite-for-the-catalog.json"  # the record that is updated, and renamed to:
RENAMED = "decisions/postgres-holds-every-table.json"


class RecordView(View):
    """Records; index.md is the same bytes that anybody makes of them."""

    index_file = "index.md"
    line = re.compile(r"- \[[A-Z_]+\] [^\n]+ -> ([a-z-]+/[a-z0-9-]+\.json)( #tags:[^\n]+)?")
    store, depth = BELOW, BELOW.count("/")
    index_is_derived = True
    head = "# Memory index\n\n<!-- Made from the records: memdir records index --rebuild -->\n\n"
    folders = ("sessions", "decisions", "runbooks", "constraints", "tech-debt", "preferences")

    def is_memory(self, path: str) -> bool:
        return path.endswith(".json") and path.split("/")[0] in self.folders

    def versions(self, expected: Expected) -> dict[str, set[bytes | None]]:
        """Also the new version under its old name: an update like any other."""
        found = super().versions(expected)
        after = expected.after.files
        if _renames(expected) and RENAMED in after:
            old, new = (b'"id": "%s"' % _name(path).encode() for path in (USED, RENAMED))
            found[USED].add(after[RENAMED].replace(new, old, 1))
        return found

    def listing(self) -> list[str]:
        wrong = self.index != self.rendered()
        return ["index: not what the records say"] if wrong else []

    def rendered(self) -> str:
        """index.md as the specification says it: one line for each active record, sorted."""
        lines = []
        for path, data in self.memories.items():
            record = _parsed(data)
            if record is None or record.get("record_status", "active") != "active":
                continue
            category, title = record["category"], record["title"]
            tags = f" #tags:{','.join(record['tags'])}" if record["tags"] else ""
            line = f"- [{category.upper()}] {title} -> {path}{tags}\n"
            lines.append((category, title.casefold(), path, line))
        return self.head + "".join(line for *_, line in sorted(lines))

    def wrong_now(self, expected: Expected) -> list[str]:
        found = [what for path, data in self.memories.items() for what in self.torn(path, data)]
        if _renames(expected) and not {USED, RENAMED} & set(self.files):
            found.append("a rename left the record under neither name")
        return found

    @staticmethod
    def torn(path: str, data: bytes) -> list[str]:
        """Is it a whole record, and does it know its name?"""
        record = _parsed(data)
        if record is None:
            return [f"{path}: torn"]
        return [] if record["id"] == _name(path) else [f"{path}: says that it is {record['id']}"]

    def wrong_once_acknowledged(self, expected: Expected, paths: tuple[str, ...]) -> list[str]:
        found = self.under_both_names() if paths and _renames(expected) else []
        return found + self.listing()

    def wrong_after(self, expected: Expected) -> list[str]:
        return self.under_both_names() if expected.operation in ("rename", "old-name") else []

    def under_both_names(self) -> list[str]:
        twice = {USED, RENAMED} <= set(self.files)
        return ["a rename left the record under both names"] if twice else []


def _renames(expected: Expected) -> bool:
    return expected.operation in ("rename", "old-name", "undo-rename")


def _name(path: str) -> str:
    return os.path.basename(path).removesuffix(".json")


def _parsed(data: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(data)
    except ValueError:
        return None
    whole = isinstance(record, dict) and {"id", "title", "category", "tags"} <= set(record)
    return record if whole else None
