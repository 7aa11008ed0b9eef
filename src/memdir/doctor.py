"""The sequence of a check-up: look, mend, and prove in a throw-away store that memory works."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memdir import flows
from memdir.adapters.clients._plan import PLUGIN
from memdir.adapters.machine import OLDEST, find_interpreter, look_around, version_of
from memdir.app import App
from memdir.config import Config
from memdir.core.check import Check
from memdir.core.draft import Change, Draft, Wishes
from memdir.core.errors import MemdirError
from memdir.flows.installing import Edit, Plan, Wish, clients, install, is_set_up
from memdir.steps.examine import MENDED, examine
from memdir.steps.prove import prove

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
    if edit.change != "unchanged":
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
    changed = [one for one in plan.edits if one.change != "unchanged"]
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
    flows.rebuild_index(app)


def _prove(trial: App) -> Check:
    def save() -> Change:
        return flows.save(trial, PROOF, Wishes(anyway=True)).changes[0]

    return prove(save, lambda: flows.undo(trial), trial.store, trial.now)
