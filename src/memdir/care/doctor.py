"""Checks a store, repairs what it can, and proves that saving works."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from memdir.capture import review
from memdir.clients.setup import PLUGIN, Wish, install_client, is_client_set_up, list_clients
from memdir.config.config import is_config_silent
from memdir.config.scope import Scope
from memdir.errors import Finding, MemdirError
from memdir.format import index
from memdir.format.draft import Draft, Wishes, content_hash
from memdir.hot import memory
from memdir.hot.memory import MAX_CHARACTERS, MAX_LINES
from memdir.store import changes
from memdir.store.history import History
from memdir.store.ports import ARCHIVE, TRASH, Store
from memdir.store.save import Targets
from memdir.store.state import Lock
from memdir.store.trash import Shelf
from memdir.store.writer import App, open_app
from memdir.text.terminal import plural
from memdir.upkeep.worksheet import Check

OLDEST = (3, 11)  # oldest Python for hooks
NAMES = ("python3.14", "python3.13", "python3.12", "python3.11", "python3")  # plugin's order
PYTHON_SECONDS = 10.0  # to ask an interpreter for its version
ASK_VERSION = "import sys, _sqlite3; print(*sys.version_info[:2])"
PRIVATE, OTHERS_WRITE = 0o700, 0o022
MIN_FREE_BYTES = 16 * 1024 * 1024
HISTORY_SECONDS = 5.0  # to read changes in full, newest first
FEW = 5  # findings to show
MENDED = "run: memdir doctor --fix"
BY_HAND = "correct the lines by hand; memdir index --check lists them"
CLIENT = "claude-code"
INSTALL = f"install Python {OLDEST[0]}.{OLDEST[1]} or newer"
PROOF = Draft("memdir proves here that what it saves is safe.", type="project", name="proof")
NOT_SAFE = "do not rely on this store; see the other checks"
# The Python in a hook's command line; a path with spaces is quoted.
_RUNS = re.compile(r"exec (?:env \S{1,100} )?('[^']{1,4096}'|\S{1,4096}) -I -S ")


def run_doctor(app: App, trial: App, fix: bool = False) -> list[Check]:
    checks = list(examine_installation(app))
    broken = {check.name for check in checks if not check.ok and MENDED in check.fix}
    if fix and broken & {"history", "index"}:
        if "history" in broken:
            with app.lock.held("memdir doctor", app.tell):
                app.tell(f"the damaged history is kept as {app.history.set_aside()}")
        changes.rebuild_memory_index(app)  # starts the new history
        checks = list(examine_installation(app))
    checks += [check for name in list_clients(app.config.own) for check in _check_client(app, name)]
    checks += _check_remotes(app)
    checks.append(prove_to_doctor_that_saving_works(trial))
    return checks


def _check_remotes(app: App) -> Iterator[Check]:
    from memdir.sync.flow import describe_last_sync, list_last_syncs  # most people name none

    for last in list_last_syncs(app.config):
        fix = "run: memdir sync  (it says why, and what to do)"
        yield Check("sync", not last.failed, describe_last_sync(last, app.now()), fix)


def examine_installation(app: App) -> Iterator[Check]:
    yield Check("python", True, f"Python {'.'.join(map(str, sys.version_info[:3]))}")
    yield _git()
    yield from _findings("settings", app.config.findings, "no findings")
    yield examine_folder_for_doctor("store", app.store.root)
    yield examine_folder_for_doctor("state", app.config.state_dir)
    yield _tried("lock", lambda: _lock(app.lock))
    yield _tried("history", lambda: _history(app.history))
    yield _tried("index", lambda: _index(app.store, app.rules().index))
    yield from _memories(app.store)
    yield _tried("trash", lambda: _trash(app.shelf))


def _tried(name: str, look: Callable[[], Check]) -> Check:
    try:
        return look()
    except MemdirError as error:
        return Check(name, False, error.message, error.next)


def _git() -> Check:
    if git := shutil.which("git"):
        return Check("git", True, f"{git}; memdir needs it only for packed histories")
    fix = "install git to look at the history with git itself"
    return Check("git", True, "not found; saving, history and undo work without it", fix)


def examine_folder_for_doctor(name: str, path: str) -> Check:
    here = path
    while not os.path.lexists(here) and os.path.dirname(here) != here:
        here = os.path.dirname(here)
    try:
        mode, space = os.stat(here).st_mode, os.statvfs(here)
    except OSError:
        mode = 0
    if not stat.S_ISDIR(mode):
        return Check(name, False, f"{path}: a file is in the way", "move it away")
    if not os.access(here, os.W_OK | os.X_OK):
        return Check(name, False, f"{path} is not writable", f"check: ls -ld {path}")
    free_bytes = space.f_bavail * space.f_frsize
    if free_bytes < MIN_FREE_BYTES:
        message = f"{path}: only {free_bytes // 1024:,} KiB are free"
        return Check(name, False, message, "free some space")
    if here != path:
        return Check(name, True, f"{path} does not exist yet; it will be private")
    mode = stat.S_IMODE(mode)
    if mode & ~PRIVATE if name == "state" else mode & OTHERS_WRITE:
        fix = f"run: chmod {'700' if name == 'state' else 'go-w'} {path}"
        return Check(name, False, f"{path}: other users have access (mode {mode:03o})", fix)
    return Check(name, True, f"{path} is writable (mode {mode:03o})")


def _lock(lock: Lock) -> Check:
    with lock.held_if_free("memdir doctor") as handle:
        if handle is not None:
            return Check("lock", True, "free")
    fix = "wait for that process, or stop it if it hangs"
    return Check("lock", False, f"held by {lock.holder()}", fix)


def _history(history: History) -> Check:
    if not history.on:
        return Check("history", True, "switched off; old versions go to the trash")
    end = time.monotonic() + HISTORY_SECONDS
    number, whole = history.check(lambda: time.monotonic() > end)
    if not number and whole:
        return Check("history", True, "empty; it begins with the first change")
    read = "" if whole else "the newest "
    return Check("history", True, f"{read}{plural(number, 'change')} can be read")


def _index(store: Store, expected: bool) -> Check:
    names = {item.name: item.path for item in store.scan().memories}
    text = memory.decode(store.index() or b"")
    survey = index.survey_pointers(text, store.files(), names, Targets(store).lost)
    if survey.lines > MAX_LINES or survey.characters > MAX_CHARACTERS:
        size = f"{survey.lines:,} lines, {survey.characters:,} characters"
        fix = "shorten it: memdir index --check lists the lines"
        return Check("index", False, f"too long for an agent: {size}", fix)
    dead, by_hand = plural(len(survey.dangling), "dead pointer"), survey.by_hand
    if len(survey.dangling) > len(by_hand) or (survey.orphans and (text or expected)):
        orphans = plural(len(survey.orphans), "file")
        return Check("index", False, f"{orphans} without a pointer, {dead}", MENDED)
    if by_hand:
        message = f"{dead} in lines that say more: {by_hand[0].target} (line {by_hand[0].line})"
        return Check("index", False, message, BY_HAND)
    if survey.no_memories:
        first = survey.no_memories[0]
        message = f"{len(survey.no_memories)} pointers to what is not a memory: {first.target}"
        fix = "links and hidden files are not read; put the file itself there, or drop the line"
        return Check("index", False, f"{message} (line {first.line}); kept", fix)
    message = f"{survey.lines} of {MAX_LINES} lines; every memory has a pointer"
    return Check("index", True, message)


def _memories(store: Store) -> Iterator[Check]:
    try:
        scan = store.scan()
    except MemdirError as error:
        yield Check("memories", False, error.message, error.next)
        return
    findings = list(scan.findings)
    known = {finding.path for finding in findings}
    for path in [item.path for item in scan.memories if item.path not in known]:
        try:
            store.view(path).decode()
        except UnicodeDecodeError as error:
            message = f"{path}: byte {error.start} is not UTF-8; shown as it can be read"
            findings.append(Finding("not-utf-8", path, message, f"save {path} as UTF-8"))
        except MemdirError as error:
            findings.append(Finding("unreadable", path, error.message, error.next))
    yield from _findings("memories", findings, f"{len(scan.memories):,} can be read")


def _findings(name: str, findings: Sequence[Finding], fine: str) -> Iterator[Check]:
    if not findings:
        yield Check(name, True, fine)
    for finding in findings[:FEW]:
        where = "" if finding.path in finding.message else f"{finding.path}: "
        yield Check(name, False, where + finding.message, finding.fix)
    if len(findings) > FEW:
        yield Check(name, False, f"and {len(findings) - FEW:,} more", "run: memdir list")


def _trash(shelf: Shelf) -> Check:
    trash, archive = len(shelf.list(TRASH)), len(shelf.list(ARCHIVE))
    fix = "memdir restore --list shows them; memdir purge --expired drops old trash"
    return Check("trash", True, f"{trash:,} in the trash, {archive:,} archived", fix * bool(trash))


def _check_client(app: App, client: str) -> Iterator[Check]:
    """Whether a client runs this version of memdir, once; not at all is no failure."""
    name, title = (client, "") if client != CLIENT else ("setup", "Claude Code: ")
    if client == CLIENT and not app.config.enabled and is_config_silent(app.config):
        message = f"memory is off (by {app.config.enabled_by}), so the hooks say and note nothing"
        yield Check("hooks", True, f"{message}; hooks.always = true in config.toml lets them work")
    mend = f"run: memdir setup {client}"
    try:
        plan = install_client(app.config, client, Wish(), dry_run=True)
    except MemdirError as error:
        if client == CLIENT or is_client_set_up(app.config, client):
            yield Check(name, False, error.message, error.next)
        return
    ours = [edit for edit in plan.edits if edit.old is not None and edit.old != edit.clean]
    changed = [edit for edit in plan.edits if edit.old != edit.new]
    is_plugin = plan.way == PLUGIN and all(edit.new == edit.clean for edit in plan.edits)
    if is_plugin and ours:
        yield Check(name, False, f"{title}both the plugin and hooks in the settings", mend)
    elif is_plugin or (plan.way == PLUGIN and ours and not changed):
        yield _check_plugin()
    elif ours and changed:
        text = b"\n".join(edit.old or b"" for edit in ours).decode("utf-8", "replace")
        pythons = sorted(set(_RUNS.findall(text)))
        lost = [path for path in pythons if doctor_python_version(path.strip("'")) < OLDEST]
        events = [line.rpartition(".py ")[2] for line in plan.hooks.values()]
        if pythons and not lost and all(f".py {event}" in text for event in events):
            step = mend.removeprefix("run: ")
            message = f"{title}set up by an earlier version, which works; {step} adds what is new"
            yield Check(name, True, message)
            return
        message = f"{title}set up by another version, or only in part: {changed[0].path}"
        yield Check(name, False, message + (f"; {lost[0]} does not run" if lost else ""), mend)
    elif ours:
        yield Check(name, True, f"{title}set up in {ours[0].path}")
    elif client == CLIENT:
        yield Check(name, True, f"{title}not set up (memdir setup {client})", mend)


def _check_plugin() -> Check:
    for python in filter(None, map(shutil.which, NAMES)):
        if doctor_python_version(python) >= OLDEST:
            message = f"Claude Code: plugin; its hooks can run with {python}"
            return Check("setup", True, message)
    oldest = ".".join(map(str, OLDEST))
    message = f"Claude Code: plugin, but no Python {oldest} or newer is on the PATH"
    return Check("setup", False, message, f"{INSTALL}; until then the plugin does nothing")


def doctor_python_version(python: str) -> tuple[int, int]:
    """Version of an interpreter; (0, 0) if it does not run or has no SQLite."""
    words = [python, "-I", "-S", "-c", ASK_VERSION]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=PYTHON_SECONDS)
        major, minor = map(int, done.stdout.split())
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return 0, 0
    return major, minor


def prove_to_doctor_that_saving_works(trial: App) -> Check:
    """Save, read back, undo; then delete a memory from outside and undo that."""
    store, start = trial.store, trial.now()
    wishes = Wishes(anyway=True)
    try:
        change = changes.save_memory(trial, PROOF, wishes).changes[0]
        if content_hash(store.read(change.path)) != change.hash:
            return Check("proof", False, "a saved memory was not read back unchanged", NOT_SAFE)
        review.undo_and_hold_again(trial)
        if store.files():
            return Check("proof", False, "a saved memory is still there after undo", NOT_SAFE)
        change = changes.save_memory(trial, PROOF, wishes).changes[0]
        store.drop(change.path)
        review.undo_and_hold_again(trial)
        if content_hash(store.read(change.path)) != change.hash:
            return Check("proof", False, "undo did not bring back a deleted memory", NOT_SAFE)
    except MemdirError as error:
        return Check("proof", False, f"in a throw-away store: {error.message}", error.next)
    spent = (trial.now() - start) * 1000
    message = f"saved, read back, undid, and restored a deleted memory in {spent:.0f} ms"
    return Check("proof", True, message)


def open_doctor_trial_store(app: App, folder: str, actor: str) -> App:
    config = replace(
        app.config,
        scope=Scope("project"),  # the trial saves a Markdown memory
        store=os.path.join(folder, "memory"),
        state_dir=os.path.join(folder, "state"),
        checkout=folder,
        shared=False,
        options=replace(app.config.options, history=True, index=True),
    )
    return open_app(config, now=time.time, tell=app.tell, actor=actor)
