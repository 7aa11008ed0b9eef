"""Examine a store and what it stands on; nothing is changed, everything is said."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from memdir.core import frontmatter
from memdir.core import index as index_text
from memdir.core.check import Check, Folder, Machine
from memdir.core.errors import MemdirError
from memdir.core.finding import Finding
from memdir.core.loading import MAX_CHARACTERS, MAX_LINES
from memdir.core.memory import Memory
from memdir.core.ports import ARCHIVE, TRASH, History, Lock, Shelf, Store
from memdir.core.targets import Targets

PRIVATE = 0o700
OTHERS_WRITE = 0o022
LEAST_FREE_BYTES = 16 * 1024 * 1024
HISTORY_SECONDS = 5.0  # to read changes back in full, the newest first
FEW = 5  # of many findings, shown one by one
MENDED = "run: memdir doctor --fix"


def examine(
    machine: Machine,
    settings: Sequence[Finding],
    store: Store,
    shelf: Shelf,
    history: History,
    lock: Lock,
    clock: Callable[[], float] = time.monotonic,
) -> list[Check]:
    """Every check of this store, in the order in which one rests on the other."""
    return [
        Check("python", True, f"Python {machine.python}"),
        _git(machine.git),
        *_findings("settings", settings, "no findings"),
        _folder("store", machine.store),
        _folder("state", machine.state),
        _tried("lock", lambda: _lock(lock)),
        _tried("history", lambda: _history(history, clock)),
        _tried("index", lambda: _index(store)),
        *_memories(store),
        _tried("trash", lambda: _trash(shelf)),
    ]


def _tried(name: str, look: Callable[[], Check]) -> Check:
    """The check, or the reason why it could not be made."""
    try:
        return look()
    except MemdirError as error:
        return Check(name, False, error.message, error.next)


def _git(git: str) -> Check:
    if git:
        return Check("git", True, f"{git}; memdir itself needs it for packed histories only")
    fix = "install git if you want to look at the history with git itself"
    return Check("git", True, "not found; saving, history and undo work without it", fix)


def _folder(name: str, folder: Folder) -> Check:
    """Ours to write, nobody else's, with room left."""
    path = folder.path
    if not folder.directory:
        return Check(name, False, f"{path}: a file stands in the way", "move it away")
    if not folder.writable:
        return Check(name, False, f"{path} is not writable", f"check: ls -ld {path}")
    if folder.free_bytes < LEAST_FREE_BYTES:
        free = folder.free_bytes // 1024
        return Check(name, False, f"{path}: only {free:,} KiB are free", "free some space")
    if not folder.exists:
        return Check(name, True, f"{path} is not there yet; it will be made, private")
    forbidden = folder.mode & ~PRIVATE if name == "state" else folder.mode & OTHERS_WRITE
    if forbidden:
        fix = f"run: chmod {'700' if name == 'state' else 'go-w'} {path}"
        return Check(name, False, f"{path}: others may use it (mode {folder.mode:03o})", fix)
    return Check(name, True, f"{path} is writable (mode {folder.mode:03o})")


def _lock(lock: Lock) -> Check:
    with lock.held_if_free("memdir doctor") as handle:
        if handle is not None:
            return Check("lock", True, "free")
    fix = "wait for that process, or stop it if it hangs"
    return Check("lock", False, f"held by {lock.holder()}", fix)


def _history(history: History, clock: Callable[[], float]) -> Check:
    """The history, from the newest change back, as far as the time allows."""
    if not history.on:
        return Check("history", True, "switched off; old versions go to the trash instead")
    end = clock() + HISTORY_SECONDS
    count, whole = history.check(lambda: clock() > end)
    if not count and whole:
        return Check("history", True, "empty; it begins with the first change")
    read = f"all {count:,} changes" if whole else f"the newest {count:,} changes"
    return Check("history", True, f"{read} can be read")


def _index(store: Store) -> Check:
    names = {memory.name: memory.path for memory in store.scan().memories}
    text = frontmatter.decode(store.index() or b"")
    found = index_text.survey(text, store.files(), names, Targets(store).lost)
    if found.lines > MAX_LINES or found.characters > MAX_CHARACTERS:
        size = f"{found.lines:,} lines, {found.characters:,} characters"
        fix = "shorten it: memdir index --check lists the lines"
        return Check("index", False, f"too long for an agent: {size}", fix)
    if found.dangling or (found.orphans and text):
        lost = f"{len(found.orphans)} files without a pointer, {len(found.dangling)} pointers to"
        return Check("index", False, f"{lost} nothing", MENDED)
    if found.no_memories:
        first = found.no_memories[0]
        what = f"{len(found.no_memories)} pointers to what is no memory: {first.target}"
        fix = "a link or a hidden file is not read; put the file itself there, or drop the line"
        return Check("index", False, f"{what} (line {first.line}); kept", fix)
    return Check("index", True, f"{found.lines} of {MAX_LINES} lines; every memory has its pointer")


def _memories(store: Store) -> Iterator[Check]:
    try:
        scan = store.scan()
    except MemdirError as error:
        yield Check("memories", False, error.message, error.next)
        return
    known = {finding.path for finding in scan.findings}
    odd = [one for one in _not_utf8(store, scan.memories) if one.path not in known]
    fine = f"{len(scan.memories):,} can be read"
    yield from _findings("memories", [*scan.findings, *odd], fine)


def _not_utf8(store: Store, memories: Sequence[Memory]) -> Iterator[Finding]:
    """Memories with bytes that are no text; a scan looks at their first bytes only."""
    for memory in memories:
        try:
            store.view(memory.path).decode()
        except UnicodeDecodeError as error:
            message = f"{memory.path}: byte {error.start} is not UTF-8; shown as it can be read"
            fix = f"save {memory.path} as UTF-8"
            yield Finding("not-utf-8", memory.path, message, fix)
        except MemdirError as error:
            yield Finding("unreadable", memory.path, error.message, error.next)


def _findings(name: str, findings: Sequence[Finding], fine: str) -> Iterator[Check]:
    if not findings:
        yield Check(name, True, fine)
    for finding in findings[:FEW]:
        where = finding.path if finding.path not in finding.message else ""
        message = f"{where}: {finding.message}" if where else finding.message
        yield Check(name, False, message, finding.fix)
    if len(findings) > FEW:
        yield Check(name, False, f"and {len(findings) - FEW:,} more", "run: memdir list")


def _trash(shelf: Shelf) -> Check:
    trash, archive = len(shelf.list(TRASH)), len(shelf.list(ARCHIVE))
    fix = "memdir restore --list shows them; memdir purge --expired drops old trash"
    return Check("trash", True, f"{trash:,} in the trash, {archive:,} archived", fix * bool(trash))
