"""index.md: in step with the records after every change, or where it is not."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memdir.app import Act, App, Desk, Done, Told
from memdir.core.draft import REBUILT, SKIPPED, Change
from memdir.core.errors import MemdirError, Unwritable
from memdir.core.finding import Finding
from memdir.core.memory import stem
from memdir.core.ports import Store
from memdir.core.records import index_text
from memdir.core.records.index_text import Entry, Mismatch
from memdir.flows.records.healing import heal
from memdir.flows.records.placing import everything, index_of, paths_of
from memdir.steps.collect import Collected, collect
from memdir.steps.enlist import enlist

INVALID = "invalid-record"  # it is in the index all the same


@dataclass(frozen=True)
class Validated:
    """Where index and records differ, and the records that nobody can read."""

    mismatches: tuple[Mismatch, ...]
    findings: tuple[Finding, ...]


def _untold(done: Done) -> None:
    """For callers that only want the answer."""


def bring_in_step(store: Store) -> bool:
    """collect → enlist; True where the index had to change"""
    records, _ = collect(store, store.files())
    for entry in index_text.parse(index_of(store))[0]:
        if entry.path not in records and store.is_memory(entry.path):
            records |= _still_there(store, entry)
    return enlist(records, store)


def _still_there(store: Store, entry: Entry) -> Collected:
    """What the index lists and a look at the folders did not show: unless it is gone, it stays."""
    records, findings = collect(store, [entry.path])
    if not findings or store.facts(entry.path) is None:
        return records
    try:
        store.read(entry.path)
    except Unwritable:
        return {entry.path: entry.record}  # nobody can read it just now, so its line stays
    except MemdirError:
        pass
    return {}  # what stands there is no record any more


def healed(act: Act) -> Act:
    """The same act on a store in which nothing is left half renamed."""

    def first_heal(desk: Desk) -> list[Change]:
        if heal(desk):
            bring_in_step(desk.store)
        return act(desk)

    return first_heal


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
        stands = f"{what}, but " if what else ""
        raise Unwritable(
            f"{stands}the index is not in step: {error.message}",
            path=error.path,
            next=f"{error.next}; the next change, or memdir records index --rebuild, mends it",
        ) from None
    return changes


def rebuild(app: App, told: Told = _untold) -> Done:
    """collect → enlist"""

    def act(desk: Desk) -> list[Change]:
        store = desk.store
        heal(desk, whole=True)
        # Looked for twice: what one look misses because a disk fails, the other one may find.
        records, broken = collect(store, sorted({*store.files(), *paths_of(store)}))
        missed = [*broken, *store.scan().findings]
        said = {one.path: f"{one.message}; {one.fix}" for one in missed if one.kind != INVALID}
        desk.remarks += said.values()
        changed = enlist(records, store)
        path = store.index_path
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
