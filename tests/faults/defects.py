"""Known-bad stores: each switches one protection off, in the loaded modules of this process only.

A function has the name of its defect. Every harness must find the ones that concern it, or it
proves nothing.
"""

import dataclasses
import os
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memdir.capture import capture, review
from memdir.capture import plan as plan_module
from memdir.capture.progress import RECEIVED, SAVED, Entry
from memdir.format import draft as drafts
from memdir.format.draft import RETIRED, Change, content_hash
from memdir.hot import disk, layout, memory
from memdir.hot.memory import stem
from memdir.records import folders, lifecycle, write
from memdir.records.record import write_record
from memdir.store import changes, git_objects, look, purge, state
from memdir.store.ports import read_if_stored
from memdir.store.state import Lock
from memdir.sync import engine
from tests.faults import driver

FIXED = ".memory.tmp"


def switch_off(defect: str) -> None:
    """Break this process's store as named; the empty name breaks nothing."""
    if defect in SIMPLE:
        _replace(*SIMPLE[defect])
    elif defect:
        globals()[defect.replace(" ", "_")]()


def _replace(where: Any, name: str, value: object) -> None:
    """Break what is there; a protection that has moved must not stay on unnoticed."""
    if not hasattr(where, name):
        raise AttributeError(f"{where} has no {name} any more: mend tests/faults/defects.py")
    setattr(where, name, value)


def no_directory_fsync() -> None:
    real = os.fsync

    def fsync(handle: int) -> None:
        if not stat.S_ISDIR(os.fstat(handle).st_mode):
            real(handle)

    _replace(os, "fsync", fsync)


def written_in_place() -> None:
    _put_so(lambda place, data: _write(place, data, os.O_TRUNC))


def overwritten() -> None:
    """In place, without making the file empty first."""
    _put_so(_write)


def fixed_temporary_name() -> None:
    def put(place: str, data: bytes) -> None:
        other = os.path.join(os.path.dirname(place), FIXED)
        _write(other, data, os.O_TRUNC)
        disk.force_directory_to_disk(os.path.dirname(place))
        os.rename(other, place)

    _put_so(put)


def _put_so(put: Callable[[str, bytes], None]) -> None:
    def put_some(self: disk.Disk, files: dict[str, bytes], *how: bool) -> None:
        for path, data in files.items():
            place = os.path.join(self.root, path)
            os.makedirs(os.path.dirname(place), 0o700, exist_ok=True)
            put(place, data)
            disk.force_directory_to_disk(os.path.dirname(place))

    _replace(disk.Disk, "_put_some", put_some)


def _write(path: str, data: bytes, how: int = 0) -> None:
    """In two halves, with a moment between them in which a reader may look."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | how, 0o600)
    try:
        for half in (data[: len(data) // 2], data[len(data) // 2 :]):
            os.write(handle, half)
            os.fsync(handle)
            time.sleep(0.001)
        os.ftruncate(handle, len(data))
        os.fsync(handle)
    finally:
        os.close(handle)


def swallowed_errors() -> None:
    real = disk.Disk._put_some

    def put_some(self: disk.Disk, *given: Any) -> None:
        try:
            real(self, *given)
        except OSError:
            return

    _replace(disk.Disk, "_put_some", put_some)


def no_lock() -> None:
    @contextmanager
    def held(self: Lock, who: str, tell: object) -> Iterator[int]:
        yield -1

    _replace(Lock, "held", held)


def no_version_check() -> None:
    real = drafts.format_revised_memory

    def revise(old: bytes, revision: Any, now: float) -> bytes:
        return real(old, dataclasses.replace(revision, expected=""), now)

    _replace(drafts, "format_revised_memory", revise)


def unlinked_before_shelved() -> None:
    def retire(path: str, store: Any, shelf: Any, now: float, room: str) -> Change:
        data = store.read(path)
        store.drop(path)
        shelf.lay(room, path, data, now)
        return Change(RETIRED, stem(path), path, content_hash(data))

    _replace(changes, "retire_memory", retire)


def ref_before_objects() -> None:
    """The branch moves before the objects it reaches are there."""
    waiting: list[tuple[str, bytes]] = []
    write, set_head = git_objects.Objects.write, git_objects.Objects.set_head

    def remember(self: git_objects.Objects, kind: str, *contents: bytes) -> list[str]:
        waiting.extend((kind, data) for data in contents)
        return [git_objects._object_id(kind, data) for data in contents]

    def move(self: git_objects.Objects, oid: str, parent: str = "") -> None:
        set_head(self, oid, parent)
        while waiting:
            write(self, *waiting.pop(0))
        self.keep(f"pack-{oid}")

    _replace(git_objects.Objects, "write", remember)
    _replace(git_objects.Objects, "set_head", move)


def decided_before_saved() -> None:
    """The journal says that things are saved before they are."""

    def carry_out(app: Any, captures: Any, plan: Any, again: bool = False) -> Any:
        for what in (RECEIVED, SAVED):
            captures.journal.add([Entry(item.id, what, app.now()) for item in plan.items])
        done = [plan_module._settle(app, item, again) for item in plan.items]
        captures.keep(plan.progress)
        captures.finish()
        return plan_module.Outcome(tuple(done))

    _replace(capture, "carry_out_drafts", carry_out)


def cursor_before_memories() -> None:
    """The cursor moves before the memories are there, and there is no plan."""
    real = plan_module.carry_out_drafts

    def carry_out(app: Any, captures: Any, plan: Any, again: bool = False) -> Any:
        captures.keep(plan.progress)
        captures.finish()
        return real(app, captures, plan, again)

    _replace(capture, "carry_out_drafts", carry_out)


# -- of records --------------------------------------------------------------------------------


def no_hash_check() -> None:
    """The last one wins: what stands there now counts as read."""
    for module in (write, lifecycle):
        _replace(module, "check_record_version", lambda *given: None)
    real = lifecycle.merge_record_update

    def merge(old: Any, new: Any, *more: Any) -> Any:
        return real(old, new | {"changes": [*old["changes"], new["changes"][-1]]}, *more)

    _replace(write, "merge_record_update", merge)


def old_name_first() -> None:
    """A rename that takes the old name away before the new one is there."""

    def rename(path: str, place: str, merged: Any, store: Any) -> bytes:
        data = write_record(merged | {"id": stem(place)})
        store.drop(path)
        store.put(place, data)
        return data

    _replace(write, "_rename", rename)


def both_versions_active() -> None:
    """A rename as it was once: the old version stays active beside the new one."""
    real = write.amend_record

    def amended(path: str, draft: Any, store: Any, *more: Any) -> Any:
        return real(path, draft, _Late(store, path), *more)

    _replace(write, "amend_record", amended)


class _Late:
    """A store that takes no update under the name that is about to go."""

    def __init__(self, inside: Any, path: str) -> None:
        self.inside, self.path = inside, path

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inside, name)

    def put(self, path: str, data: bytes) -> None:
        if path != self.path:
            self.inside.put(path, data)


SIMPLE: dict[str, tuple[Any, str, object]] = {  # what is replaced by what
    "no fsync": (os, "fsync", lambda handle: None),
    "told before written": (driver, "ANSWER_FIRST", True),
    # What a killed writer named is believed, although no disk may have it yet.
    "killed names not forced": (state, "force_store_leftovers_to_disk", lambda root: None),
    # Trash expires by its date alone, whatever the clock says.
    "trash by date alone": (look, "KEPT_NEWEST", 0),
    "index left behind": (folders, "update_record_index", lambda store: False),
    # What a killed purge left in the history is not looked for again.
    "old packs forgotten": (purge, "replace_state", lambda folder, name, data: None),
    "strict decoding": (memory, "decode", lambda data: data.decode()),
    "accents as shown": (layout, "usual_path", lambda root, path, entry: path),
    # An undo that was killed is taken for one that was answered.
    "answer not awaited": (review, "_find_unanswered_undo", lambda app: None),
}


def no_snapshot_check() -> None:
    """Write back whatever stands there by now."""
    _replace(engine.Unmoved, "check", lambda self, path: None)


def git_merge() -> None:
    """Leave the merging to git: marks in memories, and renames found where there are none."""
    merge = engine.Turn.merge

    def merge_by_git(turn):
        merge(turn)
        base, store = turn.base, turn.app.store
        sides = {path: read_if_stored(store, path) for path in {*turn.snapshot.raw, *base.files}}
        old = {path: base.bytes_of(known.hash) for path, known in base.files.items()}
        came = {path: getattr(file, "data", None) for path, file in turn.fetched.files.items()}
        merged = _merged_by_git(old, sides, {**old, **came})
        for path, (_, known) in [*turn.results.items()]:
            turn.results[path] = merged.get(path), known
        turn.variants.clear()

    _replace(engine.Turn, "merge", merge_by_git)


def _merged_by_git(*trees: dict[str, bytes | None]) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:

        def git(*words: str) -> None:
            identity = ["-c", "user.name=x", "-c", "user.email=x@x"]
            subprocess.run(["git", *identity, *words], cwd=folder, capture_output=True)

        git("init", "-q", "-b", "base")
        for name, tree in zip(("base", "ours", "theirs"), trees, strict=True):
            git("checkout", "-q", "-B", name, *(["base"] if name != "base" else []))
            for path, data in tree.items():
                Path(folder, path).unlink(missing_ok=True)
                if data is not None:
                    Path(folder, path).write_bytes(data)
            git("add", "-A")
            git("commit", "-q", "--allow-empty", "-m", name)
        git("checkout", "-q", "ours")
        git("merge", "-q", "--no-edit", "theirs")
        return {path.name: path.read_bytes() for path in Path(folder).glob("*.md")}
