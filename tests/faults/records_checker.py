"""Looks at a broken store of records from the outside: its own small reader, none of memdir's code.

Every record is the old or the new version, none is lost, none is there twice after the next
command; index.md is the same bytes that anybody makes of the records.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections.abc import Collection, Mapping

from tests.faults import checker
from tests.faults.checker import Answer, Expected, View
from tests.faults.records_driver import BELOW, RENAMED, USED

INDEX = "index.md"
FOLDERS = ("sessions", "decisions", "runbooks", "constraints", "tech-debt", "preferences")
LINE = re.compile(r"- \[[A-Z_]+\] [^\n]+ -> ([a-z-]+/[a-z0-9-]+\.json)( #tags:[^\n]+)?")
HEAD = "# Memory index\n\n<!-- Made from the records: memdir records index --rebuild -->\n\n"
RENAMES = frozenset(("rename", "old-name", "undo-rename"))
# Where a batch is cut off, the index tells of what was there before or after, or of some of both.
Records = dict[str, bytes]


class RecordView(View):
    """The same root, whose store holds records."""

    @property
    def memories(self) -> Records:
        return {path: data for path, data in self.files.items() if _is_record(path)}

    @property
    def index(self) -> str:
        return self.files.get(INDEX, b"").decode("utf-8", "replace")


def _is_record(path: str) -> bool:
    return path.endswith(".json") and path.split("/")[0] in FOLDERS


def look(root: str) -> RecordView:
    """Read everything below a root."""
    view = RecordView()
    checker.look(root, view, BELOW, BELOW.count("/"))
    return view


def memories_of(files: Mapping[str, tuple[int, bytes]]) -> Records:
    """The records among the files of a tree."""
    found = {p.removeprefix(BELOW): data for p, (_, data) in files.items() if p.startswith(BELOW)}
    return RecordView(files=found).memories


def rendered(records: Mapping[str, bytes]) -> str:
    """index.md as the specification says it: one line for each active record, sorted."""
    lines = []
    for path, data in records.items():
        one = _parsed(data)
        if one is None or one.get("record_status", "active") != "active":
            continue
        tags = f" #tags:{','.join(one['tags'])}" if one["tags"] else ""
        line = f"- [{one['category'].upper()}] {one['title']} -> {path}{tags}\n"
        lines.append((one["category"], one["title"].casefold(), path, line))
    return HEAD + "".join(line for *_, line in sorted(lines))


def _parsed(data: bytes) -> dict | None:
    try:
        one = json.loads(data)
    except ValueError:
        return None
    return (
        one if isinstance(one, dict) and {"id", "title", "category", "tags"} <= set(one) else None
    )


# -- right after the accident ------------------------------------------------------------------


def judge(view: RecordView, expected: Expected, acknowledged: Answer) -> list[str]:
    """What is wrong with a store that an action left, finished or not."""
    return [
        *_whole(view, expected),
        *(_acknowledged(view, expected, acknowledged) if acknowledged is not None else []),
        *_index_whole(view, expected),
        *_nothing_vanished(view, expected),
        *checker.private(view, expected),
        *view.past.problems,
    ]


def versions(expected: Expected) -> dict[str, set[bytes | None]]:
    """What may stand at each path: before, after, and on the way to another name."""
    before, after = expected.before.files, expected.after.files
    found = {path: {before.get(path), after.get(path)} for path in {*before, *after}}
    if expected.operation in RENAMES and RENAMED in after:
        moved = after[RENAMED].replace(_id(RENAMED), _id(USED), 1)
        found[USED].add(moved)  # updated, under its old name: an update like any other
    return found


def _id(path: str) -> bytes:
    return b'"id": "%s"' % os.path.basename(path).removesuffix(".json").encode()


def _whole(view: RecordView, expected: Expected) -> list[str]:
    may = versions(expected)
    found = []
    for path in {*view.files, *may} - {INDEX}:
        data = view.files.get(path)
        if data not in may.get(path, {None}):
            what = "bystander changed" if len(may.get(path, ())) < 2 else "neither old nor new"
            found.append(f"{path}: {what}")
        elif data is not None and _is_record(path):
            found += itself(path, data)
    if expected.operation in RENAMES and not {USED, RENAMED} & set(view.files):
        found.append("a rename left the record under neither name")
    return found


def itself(path: str, data: bytes) -> list[str]:
    """Is it a whole record, and does it know its name?"""
    one = _parsed(data)
    if one is None:
        return [f"{path}: torn"]
    name = os.path.basename(path).removesuffix(".json")
    return [] if one["id"] == name else [f"{path}: says that it is {one['id']}"]


def _acknowledged(view: RecordView, expected: Expected, paths: tuple[str, ...]) -> list[str]:
    after = expected.after.files
    wrong = [path for path in paths if view.files.get(path) != after.get(path) and path != INDEX]
    found = [f"{path}: acknowledged, but not so on disk" for path in wrong]
    if paths and expected.operation in RENAMES:
        found += both(view)
    if view.index != rendered(view.memories):
        found.append("index: acknowledged, but not in step")
    return found


def both(view: RecordView) -> list[str]:
    """After the next command a renamed record stands under one name."""
    twice = {USED, RENAMED} <= set(view.files)
    return ["a rename left the record under both names"] if twice else []


def _index_whole(view: RecordView, expected: Expected) -> list[str]:
    """Each line stood before, stands after, or tells of a record that may be there."""
    known = {*expected.before.index.splitlines(), *expected.after.index.splitlines()}
    found = []
    for line in view.index.splitlines():
        match = LINE.fullmatch(line)
        if line not in known and not (match and match[1] in versions(expected)):
            found.append(f"index: torn line {line[:50]!r}")
    return found


def _nothing_vanished(view: RecordView, expected: Expected) -> list[str]:
    """Whatever was there is there, on a shelf or in the history."""
    kept = view.kept()
    old = expected.before
    return [f"{path}: vanished" for path, data in old.memories.items() if data not in kept] + [
        f"shelf {key}: vanished" for key, data in old.shelves.items() if data not in kept
    ]


# -- after the next command --------------------------------------------------------------------


def judge_recovered(view: RecordView, expected: Expected, new: Collection[str]) -> list[str]:
    """What is wrong with a store after the next command, which brought the records `new`."""
    files = {path: data for path, data in view.files.items() if path not in new}
    rest = dataclasses.replace(view, files=files)
    found = [*_whole(rest, expected), *_nothing_vanished(rest, expected)]
    found += [*checker.private(rest, expected), *view.past.problems, *in_step(view)]
    return found + (both(view) if expected.operation in ("rename", "old-name") else [])


def in_step(view: RecordView) -> list[str]:
    """The index is what the records make of it; no debris; the history has the store."""
    wrong = view.index != rendered(view.memories)
    return ["index: not what the records say"] * wrong + checker.behind(view)
