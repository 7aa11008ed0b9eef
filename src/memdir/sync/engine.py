"""One sync of one store: look, fetch, merge path by path, write back, push."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from memdir.errors import MemdirError
from memdir.format.draft import CREATED, RETIRED, UPDATED, Change, content_hash
from memdir.format.names import fold_paths
from memdir.format.outline import Lookup
from memdir.hot.disk import digest_of
from memdir.hot.layout import Around
from memdir.hot.memory import INDEX, stem
from memdir.store import save
from memdir.store.ports import Store, read_if_stored
from memdir.store.purge import purge_versions
from memdir.store.writer import App, Desk, DryRun
from memdir.sync.base import Base, Known
from memdir.sync.border import NO_MEMORY, accept_known_authors, why_not_taken
from memdir.sync.delivery import kind_of_change, list_changes, send_changes
from memdir.sync.outcome import REMOVED, WAITS, Item, Report, Rules
from memdir.sync.path_merge import Merged, merge_path
from memdir.sync.snapshot import Snapshot, syncs_index, take_snapshot
from memdir.sync.transport import AGAIN, Author, Fetched, File, Gone, Since, Transport
from memdir.sync.variant import hold_variant

VERB = "sync"
TRIES = 8
PAUSE_SECONDS = 0.05  # doubled at each try, with jitter, so that equals do not stay equals


@dataclass
class Plan:
    """Per path: what stands afterwards, and what the remote is then known to have.

    `variants` is what cannot stand beside it: several of one path, if outboxes disagree as well.
    """

    results: dict[str, tuple[bytes | None, Known]] = field(default_factory=dict)
    variants: list[tuple[str, bytes, str]] = field(default_factory=list)  # path, text, author
    authors: dict[str, tuple[Author, float]] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)  # of the remote, by hash
    purged: set[str] = field(default_factory=set)

    def add(self, path: str, merged: Merged, known: Known, author: Author) -> None:
        self.results[path] = merged.data, known
        if merged.variant is not None:
            self.variants.append((path, merged.variant, author.name))


class Moved(MemdirError):
    """Somebody changed the file since the snapshot; it is merged again."""


class Unmoved(Around):
    """Writes only where the bytes are still those of the snapshot."""

    def __init__(self, inside: Store, hashes: Mapping[str, str]) -> None:
        super().__init__(inside)
        self.hashes = dict(hashes)

    def check(self, path: str) -> None:
        data = read_if_stored(self.inside, path)
        if path in self.hashes and self.hashes[path] != ("" if data is None else digest_of(data)):
            raise Moved(f"{path} was changed meanwhile", path=path)

    def put(self, path: str, data: bytes) -> None:
        self.check(path)
        self.inside.put(path, data)
        self.hashes[path] = digest_of(data)

    def drop(self, path: str) -> None:
        self.check(path)
        self.inside.drop(path)
        self.hashes[path] = ""

    def look_again(self, path: str) -> None:
        data = read_if_stored(self.inside, path)
        self.hashes[path] = "" if data is None else digest_of(data)


def sync_store(app: App, transport: Transport, base: Base, rules: Rules) -> Report:
    """The caller holds the lock of the remote; everything here may be killed at any moment."""
    report, result = Report(), AGAIN
    for turn in range(TRIES):
        if turn:
            time.sleep(PAUSE_SECONDS * 2**turn * random.random())
        snapshot = _look(app, base, rules)
        fetched = transport.fetch(Since(base.cursor, tuple(base.sent), base.begun))
        base.recover(snapshot.raw if fetched.begun else {})
        if fetched.received:
            base.received(fetched.received)
        if fetched.whole and base.cursor:
            _forget_rewritten(base, fetched)
        if not _take(app, base, snapshot, fetched, report):
            continue  # merge what was changed meanwhile
        if app.dry_run:
            _preview(app, base, snapshot, report)
            return report
        result = send_changes(app, transport, base, rules, report, last=turn == TRIES - 1)
        if result != AGAIN:
            break
    if result == AGAIN:
        report.result = WAITS
        report.remarks.append("others keep changing the same remote; memdir sync tries again")
    report.conflicts = list(dict.fromkeys(report.conflicts))
    base.save(durable=bool(report.pulled or report.pushed))
    if report.pulled or report.pushed:
        base.sweep()
    return report


def _forget_rewritten(base: Base, fetched: Fetched) -> None:
    """Of a remote that was emptied, rewritten or rolled back, only what is the same is known."""
    for path, known in [*base.files.items()]:
        file = fetched.files.get(path)
        if not isinstance(file, File) or digest_of(file.data) != known.hash:
            del base.files[path]


def _look(app: App, base: Base, rules: Rules) -> Snapshot:
    if base.files and not app.store.tree():
        # A folder that is gone as a whole was not emptied memory by memory.
        base.files, base.cursor, base.sent = {}, "", {}
    return take_snapshot(app.store, base, rules.team, syncs_index(app))


def _take(app: App, base: Base, snapshot: Snapshot, fetched: Fetched, report: Report) -> bool:
    """False if something here was changed meanwhile, so that it has to be merged again."""
    try:
        theirs = _sort_out(app, base, snapshot, fetched, report)
        plan = _merge(app, base, snapshot, fetched, theirs, report)
    except Moved:
        return False
    standing = {path: snapshot.raw.get(path, "") for path in (*plan.results, INDEX)}
    written = {
        path: data
        for path, (data, _) in plan.results.items()
        if standing[path] != ("" if data is None else digest_of(data))
    }
    for path, data in written.items():
        change = REMOVED if data is None else UPDATED if standing[path] else CREATED
        if path != INDEX:
            giver, _ = plan.authors.get(path, (Author("", ""), 0.0))
            report.pulled.append(Item(path, change, giver.name))
    for path, variant, author in plan.variants:
        where = hold_variant(app, path, variant, author)
        report.conflicts.append(Item(path, "variant", author, where))
    if app.dry_run:
        return True
    base.keep(plan.contents)
    base.pending = {
        path: ("" if data is None else digest_of(data), known)
        for path, (data, known) in plan.results.items()
        if path in written and path != INDEX
    }
    if base.pending:
        base.begun = fetched.cursor
        base.save()
    moved = _write_back(app, written, standing, plan) if written else set()
    for path in plan.purged - moved:
        purge_versions(app, path)
    for path, (_, known) in plan.results.items():
        if path not in moved:
            base.files[path] = known
            if not known.hash:
                del base.files[path]
    base.pending, base.begun = {}, ""
    if moved:
        report.pulled = [item for item in report.pulled if item.path not in moved]
        base.save()
        return False
    base.cursor = fetched.cursor
    if written or theirs:
        base.save()
    return True


def _sort_out(
    app: App, base: Base, snapshot: Snapshot, fetched: Fetched, report: Report
) -> dict[str, File | Gone]:
    """What came and has a place here; the rest is parked, and tried again the next time."""
    report.waiting = [Item(it.path, "not taken", "", it.message) for it in fetched.skipped]
    came: dict[str, File | Gone] = {
        path: File(data, Author("", ""), version=known.version)
        for path, (_, known) in base.parked.items()
        if (data := base.bytes_of(known.hash)) is not None
    }
    came |= fetched.files
    parked = {}
    standing = fold_paths([path for path in snapshot.raw if path not in came])
    taken: dict[str, File | Gone] = {}
    for path, file in sorted(came.items()):
        if path == INDEX and not syncs_index(app):
            continue
        if isinstance(file, Gone) and path in snapshot.held and path not in snapshot.raw:
            continue
        reason = "" if isinstance(file, Gone) else why_not_taken(path, standing)
        reason = reason or ("" if path in snapshot.raw else _why_no_room(app, path))
        if reason and reason != NO_MEMORY and isinstance(file, File):
            hash = digest_of(file.data)
            parked[path] = reason, Known(hash, file.version)
            if not app.dry_run:
                base.keep({hash: file.data})
            report.waiting.append(Item(path, "not taken", file.author.name, reason))
        elif not reason:
            taken[path] = file
            if isinstance(file, File):
                standing |= fold_paths([path])
    base.parked = parked
    return taken


def _why_no_room(app: App, path: str) -> str:
    parts = path.split("/")
    for size in range(1, len(parts) + 1):
        here = os.path.join(app.store.root, *parts[:size])
        folder = size < len(parts) and os.path.isdir(here) and not os.path.islink(here)
        if os.path.lexists(here) and not folder:
            facts = app.store.facts(path)
            if facts and facts[2] <= app.config.options.max_file_bytes:
                raise Moved(f"{path} is new here", path=path)
            return f"{'/'.join(parts[:size])} stands in its place, and is no memory"
    return ""


def _merge(
    app: App,
    base: Base,
    snapshot: Snapshot,
    fetched: Fetched,
    theirs: Mapping[str, File | Gone],
    report: Report,
) -> Plan:
    """Raises Moved if a file is no longer what the snapshot says."""
    plan = Plan()
    for path, file in theirs.items():
        data = file.data if isinstance(file, File) else None
        hash = "" if data is None else digest_of(data)
        known, new = base.files.get(path, Known()), Known(hash, file.version)
        plan.authors[path] = file.author, file.time
        if data is not None:
            plan.contents[hash] = data
        if isinstance(file, Gone) and file.purged:
            plan.purged.add(path)
            plan.results[path] = None, new
        elif hash in (known.hash, snapshot.sent.get(path, "")) and path != INDEX:
            if (hash and known != new) or (not hash and path in base.files):
                plan.results[path] = read_if_stored(app.store, path), new
        else:
            ours = read_if_stored(app.store, path)
            if snapshot.raw.get(path, "") != ("" if ours is None else digest_of(ours)):
                raise Moved(f"{path} was changed meanwhile", path=path)
            before = base.bytes_of(known.hash)
            if fetched.whole and base.cursor:  # what a rewritten remote has may be the older text
                merged = merge_path(path, before, data, ours)
            else:
                merged = merge_path(path, before, ours, data)
            plan.add(path, merged, new, file.author)
    for box in fetched.outboxes:
        gone = {path for path, (_, file) in box.files.items() if isinstance(file, Gone)}
        standing = fold_paths([path for path in (*snapshot.raw, *plan.results) if path not in gone])
        for path, (was, file) in box.files.items():
            if path == INDEX and not syncs_index(app):
                continue
            reason = why_not_taken(path, standing)
            reason = reason or ("" if path in snapshot.raw else _why_no_room(app, path))
            if reason:
                if reason != NO_MEMORY:
                    report.waiting.append(Item(path, "not taken", file.author.name, reason))
                continue
            data = file.data if isinstance(file, File) else None
            if data is not None:
                standing |= fold_paths([path])
            known = base.files.get(path, Known())
            here, known = plan.results.get(path) or (read_if_stored(app.store, path), known)
            plan.authors.setdefault(path, (file.author, file.time))
            # What stands here was merged already; theirs may be merged by others, too.
            plan.add(path, merge_path(path, was, data, here), known, file.author)
    return plan


def _write_back(
    app: App,
    written: Mapping[str, bytes | None],
    standing: Mapping[str, str],
    plan: Plan,
) -> set[str]:
    """Paths that were left alone, since somebody changed them meanwhile."""
    moved: set[str] = set()
    came: dict[str, tuple[bytes, Author, float]] = {}
    unmoved = Unmoved(app.store, standing)
    guarded = replace(app, store=unmoved)
    names = dict.fromkeys(author.name for author, _ in plan.authors.values() if author.name)
    with guarded.changing(VERB) as desk:
        desk.cause = replace(desk.cause, reason=f"by {', '.join([*names][:3])}" if names else "")
        desk.plan = [*written]
        for path, data in sorted(written.items(), key=lambda row: (row[0] == INDEX, row[0])):
            try:
                _put(desk, path, data)
            except Moved:
                moved.add(path)
                continue
            if data is not None and path != INDEX:
                came[path] = data, *plan.authors[path]
        _follow_in_index(app, desk, plan, unmoved)
    accept_known_authors(app, came)
    return moved


def _put(desk: Desk, path: str, data: bytes | None) -> None:
    standing = read_if_stored(desk.store, path)
    if data is None:
        if standing is not None:
            desk.store.drop(path)
            desk.changes.append(Change(RETIRED, stem(path), path, content_hash(standing)))
    else:
        desk.store.put(path, data)
        kind = CREATED if standing is None else UPDATED
        desk.changes.append(Change(kind, stem(path), path, content_hash(data)))


def _follow_in_index(app: App, desk: Desk, plan: Plan, unmoved: Unmoved) -> None:
    """A line for each memory, none for those removed; another order alone is no change, or two
    machines with other times would rearrange it for ever.
    """
    names = [change.name for change in desk.changes if change.path != INDEX]
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    desk.cause = replace(desk.cause, name=names[0] + more if names else "")
    if not syncs_index(app):
        return
    gone = Lookup([path for path, (data, _) in plan.results.items() if data is None], {})
    for _ in range(TRIES):
        unmoved.look_again(INDEX)
        trial, old = DryRun(desk.store), read_if_stored(desk.store, INDEX) or b""
        save.follow_in_index(
            trial, app.rules(), known=lambda line: gone.find(line.target, line.form) is not None
        )
        new = trial.written.get(INDEX)
        if new is None or sorted(new.split(b"\n")) == sorted(old.split(b"\n")):
            return
        try:
            desk.store.put(INDEX, new)
            return
        except Moved:
            continue


def _preview(app: App, base: Base, snapshot: Snapshot, report: Report) -> None:
    coming = {item.path for item in report.pulled}
    for path in list_changes(base, snapshot):
        if path != INDEX and path not in coming:
            report.pushed.append(
                Item(path, kind_of_change(base, path, snapshot.sent.get(path, "")))
            )
    report.stays = [Item(path, "stays", "", why) for path, why in snapshot.held.items()]
