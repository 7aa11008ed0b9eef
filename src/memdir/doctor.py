"""The sequence of a check-up: look, mend, and prove in a throw-away store that memory works."""

from __future__ import annotations

from memdir import flows
from memdir.adapters.machine import look_around
from memdir.app import App
from memdir.core.check import Check
from memdir.core.draft import Change, Draft, Wishes
from memdir.steps.examine import MENDED, examine
from memdir.steps.prove import prove

PROOF = Draft("memdir proves here that what it saves is safe.", type="project", name="proof")


def doctor(app: App, trial: App, fix: bool = False) -> list[Check]:
    """examine → mend, where it was asked for → examine again → prove"""
    checks = _examine(app)
    broken = {check.name for check in checks if not check.ok and MENDED in check.fix}
    if fix and broken & {"history", "index"}:
        _mend(app, broken)
        checks = _examine(app)
    return [*checks, _prove(trial)]


def _examine(app: App) -> list[Check]:
    machine = look_around(app.store.root, app.config.state_dir)
    return examine(machine, app.config.findings, app.store, app.shelf, app.history, app.lock)


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
