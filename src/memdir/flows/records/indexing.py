"""index.md: in step with the records after every change, or where it is not."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memdir.app import App, Desk, Done, Told
from memdir.core.draft import REBUILT, SKIPPED, Change
from memdir.core.errors import MemdirError, Missing, Unwritable
from memdir.core.finding import Finding
from memdir.core.frontmatter import decode
from memdir.core.memory import stem
from memdir.core.ports import Store
from memdir.core.records import index_text
from memdir.core.records.index_text import Mismatch
from memdir.flows.records.placing import everything
from memdir.steps.collect import collect
from memdir.steps.enlist import enlist


@dataclass(frozen=True)
class Validated:
    """Where index and records differ, and the records that nobody can read."""

    mismatches: tuple[Mismatch, ...]
    findings: tuple[Finding, ...]


def _untold(done: Done) -> None:
    """For callers that only want the answer."""


def bring_in_step(store: Store) -> bool:
    """collect → enlist; True where the index had to change"""
    return enlist(collect(store, store.files())[0], store)


def indexed(desk: Desk, changes: list[Change]) -> list[Change]:
    """The index after these changes; when it cannot be written, say what stands."""
    done = [change for change in changes if change.changed]
    more = f" and {len(done) - 1} more" if len(done) > 1 else ""
    desk.cause = replace(desk.cause, name=done[0].name + more if done else "")
    for change in changes:
        desk.remarks += change.remarks
    try:
        bring_in_step(desk.store)
    except MemdirError as error:
        what = ", ".join(f"{change.path} is {change.kind}" for change in changes)
        raise Unwritable(
            f"{what}, but the index is not in step: {error.message}",
            path=error.path,
            next=f"{error.next}; the next change, or memdir records index --rebuild, mends it",
        ) from None
    return changes


def rebuild(app: App, told: Told = _untold) -> Done:
    """collect → enlist"""

    def act(desk: Desk) -> list[Change]:
        changed = bring_in_step(desk.store)
        path = desk.store.index_path
        return [Change(REBUILT if changed else SKIPPED, stem(path), path)]

    return app.change("index", act, told)


def validate(app: App) -> Validated:
    """collect → compare with what the index says"""
    records, findings = everything(app.store)
    found = index_text.validate(index_of(app.store), records.items())
    return Validated(tuple(found), tuple(findings))


def health(app: App) -> tuple[dict[str, object], list[Finding]]:
    """collect → count"""
    records, findings = everything(app.store)
    return index_text.health(index_of(app.store), records.items(), app.now()), findings


def index_of(store: Store) -> str:
    """What the index says now; nothing where there is none."""
    try:
        return decode(store.read(store.index_path))
    except Missing:
        return ""
