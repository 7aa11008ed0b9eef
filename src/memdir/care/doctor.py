"""Look, mend, prove."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence

from memdir.capture import review
from memdir.clients.receipt import PLUGIN, Edit, Plan, Wish
from memdir.clients.setup import clients, install, is_set_up
from memdir.config.config import Config
from memdir.errors import Finding, MemdirError
from memdir.format import index
from memdir.format.draft import Change, Draft, Wishes, hash_of
from memdir.hot import memory
from memdir.hot.memory import MAX_CHARACTERS, MAX_LINES, Memory
from memdir.store import changes
from memdir.store.keep_index import Targets
from memdir.store.ports import ARCHIVE, TRASH, History, Lock, Shelf, Store
from memdir.store.writer import App
from memdir.upkeep.worksheet import Check, Folder, Machine

# What the machine says of itself: Python, git, and the directories we write to.

OLDEST = (3, 11)  # the first Python that hooks run on
NAMES = ("python3.14", "python3.13", "python3.12", "python3.11", "python3")  # as the plugin looks
SECONDS = 10.0  # for an interpreter to say which one it is
_ASK = "import sys, _sqlite3; print(*sys.version_info[:2])"


def look_around(store: str, state: str) -> Machine:
    """The facts that a check needs; nothing is created."""
    version = ".".join(map(str, sys.version_info[:3]))
    return Machine(version, shutil.which("git") or "", _folder(store), _folder(state))


def version_of(python: str) -> tuple[int, int]:
    """Of an interpreter; (0, 0) where it does not run, or has no SQLite."""
    command = [python, "-I", "-S", "-c", _ASK]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        major, minor = map(int, done.stdout.split())
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return 0, 0
    return major, minor


def find_interpreter() -> str:
    """One on the PATH that hooks can run with; empty where there is none."""
    found = filter(None, map(shutil.which, NAMES))
    return next((python for python in found if version_of(python) >= OLDEST), "")


def _folder(path: str) -> Folder:
    """A directory, or the nearest one above it that exists: where it would be made."""
    here = path
    while not os.path.lexists(here) and os.path.dirname(here) != here:
        here = os.path.dirname(here)
    try:
        facts = os.stat(here)
        space = os.statvfs(here)
    except OSError:
        return Folder(path, False, False, False, 0, 0)
    return Folder(
        path,
        exists=here == path,
        directory=stat.S_ISDIR(facts.st_mode),
        writable=os.access(here, os.W_OK | os.X_OK),
        mode=stat.S_IMODE(facts.st_mode) if here == path else 0,
        free_bytes=space.f_bavail * space.f_frsize,
    )


# Examine a store and what it stands on; nothing is changed, everything is said.

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
        _examine_folder("store", machine.store),
        _examine_folder("state", machine.state),
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


def _examine_folder(name: str, folder: Folder) -> Check:
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
    text = memory.decode(store.index() or b"")
    found = index.survey(text, store.files(), names, Targets(store).lost)
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
    for item in memories:
        try:
            store.view(item.path).decode()
        except UnicodeDecodeError as error:
            message = f"{item.path}: byte {error.start} is not UTF-8; shown as it can be read"
            fix = f"save {item.path} as UTF-8"
            yield Finding("not-utf-8", item.path, message, fix)
        except MemdirError as error:
            yield Finding("unreadable", item.path, error.message, error.next)


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


# Prove that memory works: in a throw-away store, by doing it.

NAME = "proof"
BROKEN = "what memdir says it saved is not safe here; see the other checks"


def prove(
    save: Callable[[], Change],
    undo: Callable[[], object],
    store: Store,
    clock: Callable[[], float],
) -> Check:
    """Save, read back, undo; then lose a memory behind memdir's back and undo that."""
    start = clock()
    try:
        change = save()
        if hash_of(store.read(change.path)) != change.hash:
            return Check(NAME, False, "a saved memory was not read back as it was", BROKEN)
        undo()
        if store.files():
            return Check(NAME, False, "a saved memory is still there after undo", BROKEN)
        change = save()
        store.drop(change.path)
        undo()
        if hash_of(store.read(change.path)) != change.hash:
            return Check(NAME, False, "undo did not bring back what another dropped", BROKEN)
    except MemdirError as error:
        return Check(NAME, False, f"in a throw-away store: {error.message}", error.next)
    spent = (clock() - start) * 1000
    return Check(NAME, True, f"saved, read back, undone, lost and brought back in {spent:.0f} ms")


# The sequence of a check-up: look, mend, and prove in a throw-away store that memory works.

PROOF = Draft("memdir proves here that what it saves is safe.", type="project", name="proof")
SETUP, CLIENT = "setup", "claude-code"
MEND = f"run: memdir setup {CLIENT}"
# In the command line of a hook; a path with blanks stands in quotes.
_RUNS = re.compile(r"exec (?:env \S{1,100} )?('[^']{1,4096}'|\S{1,4096}) -I -S ")


def doctor(app: App, trial: App, fix: bool = False) -> list[Check]:
    """examine → mend, where it was asked for → examine again → prove"""
    checks = _examine(app)
    broken = {check.name for check in checks if not check.ok and MENDED in check.fix}
    if fix and broken & {"history", "index"}:
        _mend(app, broken)
        checks = _examine(app)
    return [*checks, _setup(app), *_others(app.config), _prove(trial)]


def _examine(app: App) -> list[Check]:
    machine = look_around(app.store.root, app.config.state_dir)
    return examine(machine, app.config.findings, app.store, app.shelf, app.history, app.lock)


def _setup(app: App) -> Check:
    """Whether the client runs us, once, as we are now; not at all is no failure."""
    try:
        plan = install(app.config, CLIENT, Wish(), dry_run=True)
    except MemdirError as error:
        return Check(SETUP, False, error.message, error.next)
    edit = plan.edits[0]
    ours = edit.old != edit.clean  # something of ours stands in the settings
    if plan.way == PLUGIN and edit.new == edit.clean:  # the client's own doing
        if ours:
            return Check(SETUP, False, "Claude Code: the plugin and hooks in the settings", MEND)
        return _plugin()
    if not ours:
        message = f"Claude Code: not set up (memdir setup {CLIENT})"
        return Check(SETUP, True, message, MEND)
    if not edit.is_current:
        message = f"Claude Code: set up by another memdir or Python, in {edit.path}"
        return Check(SETUP, False, message + _gone(edit), MEND)
    return _plugin() if plan.way == PLUGIN else _settings(plan, edit.path)


def _others(config: Config) -> Iterator[Check]:
    """The other clients, each by its name; one that is not set up is none of our business."""
    for client in clients(config.own):
        check = None if client == CLIENT else _other(config, client)
        if check:
            yield check


def _other(config: Config, client: str) -> Check | None:
    mend = f"run: memdir setup {client}"
    try:
        plan = install(config, client, Wish(), dry_run=True)
    except MemdirError as error:
        broken = Check(client, False, error.message, error.next)
        return broken if is_set_up(config, client) else None
    ours = [one for one in plan.edits if one.old is not None and one.old != one.clean]
    if not ours:
        return None
    changed = [one for one in plan.edits if not one.is_current]
    if changed:
        message = f"set up by another memdir or Python, or only in part: {changed[0].path}"
        return Check(client, False, message + _gone(changed[0]), mend)
    python, version = _hooks_run(plan)
    if version < OLDEST:
        message = f"hooks run with {python}, which is {_found(version)}"
        return Check(client, False, message, f"install Python 3.11 or newer, then {mend}")
    message = f"set up in {ours[0].path}, with Python {version[0]}.{version[1]}"
    return Check(client, True, message)


def _plugin() -> Check:
    """The plugin looks for a Python itself."""
    python = find_interpreter()
    if python:
        return Check(SETUP, True, f"Claude Code: by the plugin; its hooks can run with {python}")
    oldest = ".".join(map(str, OLDEST))
    message = f"Claude Code: by the plugin, but no Python from {oldest} on is on the PATH"
    return Check(
        SETUP, False, message, f"install Python {oldest} or newer; until then it is silent"
    )


def _settings(plan: Plan, path: str) -> Check:
    python, version = _hooks_run(plan)
    if version < OLDEST:
        message = f"Claude Code: hooks run with {python}, which is {_found(version)}"
        return Check(SETUP, False, message, f"install Python 3.11 or newer, then {MEND}")
    message = f"Claude Code: by hooks in {path}, with Python {version[0]}.{version[1]}"
    return Check(SETUP, True, message)


def _hooks_run(plan: Plan) -> tuple[str, tuple[int, int]]:
    """The Python in the command lines, and its version."""
    (python, *_) = [*_RUNS.findall(" ".join(plan.hooks.values())), ""]
    return python, version_of(python.strip("'"))


def _found(version: tuple[int, int]) -> str:
    return ".".join(map(str, version)) if any(version) else "none that runs"


def _gone(edit: Edit) -> str:
    """What of it does not run any more."""
    found = set(_RUNS.findall((edit.old or b"").decode("utf-8", "replace")))
    lost = sorted(python for python in found if version_of(python.strip("'")) < OLDEST)
    return f"; {lost[0]} does not run" if lost else ""


def _mend(app: App, broken: set[str]) -> None:
    """A damaged history is kept aside; the index comes in step, and begins the new history."""
    if "history" in broken:
        with app.lock.held("memdir doctor", app.tell):
            app.tell(f"the damaged history is kept as {app.history.set_aside()}")
    changes.rebuild_index(app)


def _prove(trial: App) -> Check:
    def save() -> Change:
        return changes.save(trial, PROOF, Wishes(anyway=True)).changes[0]

    return prove(save, lambda: review.undo(trial), trial.store, trial.now)
