"""One sync of one store: look, fetch, merge path by path, write back, push."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from memdir.capture.inbox import open_inbox
from memdir.capture.signals import Catch, Origin
from memdir.clients.conversation import PERSON
from memdir.errors import MemdirError
from memdir.format import draft
from memdir.format.names import fold_paths
from memdir.format.outline import Lookup
from memdir.hot.disk import digest_of
from memdir.hot.layout import Around
from memdir.hot.memory import INDEX, decode, read_header, read_memory, stem
from memdir.hot.types import names
from memdir.store import save
from memdir.store.ports import TRASH, Store, read_if_stored
from memdir.store.purge import purge_versions
from memdir.store.writer import App, Desk, DryRun
from memdir.sync.base import Base, Known, sync_hash
from memdir.sync.border import NO_MEMORY, accept_known_authors_in_sync, why_not_taken
from memdir.sync.delivery import (
    REMOVED,
    WAITS,
    Item,
    Report,
    Snapshot,
    send_changes,
    syncs_index,
    take_sync_snapshot,
)
from memdir.sync.path_merge import merge_path
from memdir.sync.transport import AGAIN, Author, Fetched, File, Since, Transport

VERB = "sync"
TRIES = 8
PAUSE_SECONDS = 0.05  # doubled at each try, with jitter, so that equals do not stay equals
HASH_CHARACTERS = 8  # in the name of a variant


class Moved(MemdirError):
    """Somebody changed the file since the snapshot; it is merged again."""


class Unmoved(Around):
    """Writes only where the bytes are still those of the snapshot."""

    def __init__(self, inside: Store, hashes: Mapping[str, str]) -> None:
        super().__init__(inside)
        self.hashes = dict(hashes)

    def check(self, path: str) -> None:
        if self.hashes.get(path) not in (None, sync_hash(read_if_stored(self.inside, path))):
            raise Moved(f"{path} was changed meanwhile", path=path)

    def put(self, path: str, data: bytes) -> None:
        self.check(path)
        self.inside.put(path, data)
        self.hashes[path] = digest_of(data)

    def drop(self, path: str) -> None:
        self.check(path)
        self.inside.drop(path)
        self.hashes[path] = ""


def sync_store(
    app: App, transport: Transport, base: Base, *, team: bool = False, review: bool = False
) -> Report:
    """The caller holds the lock of the remote; everything here may be killed at any moment.

    Under `review` a change is offered, not pushed.
    """
    report, result = Report(), AGAIN
    for turn in range(TRIES):
        if turn:
            time.sleep(PAUSE_SECONDS * 2**turn * random.random())
        if base.files and not app.store.tree():
            # A folder that is gone as a whole was not emptied memory by memory.
            base.files, base.cursor, base.sent = {}, "", {}
        snapshot = take_sync_snapshot(app, base, team, report)
        fetched = transport.fetch(Since(base.cursor, tuple(base.sent), base.begun))
        base.recover(snapshot.raw if fetched.begun else {})
        if fetched.received:
            base.received(fetched.received)
        if fetched.whole and base.cursor:
            _forget_rewritten(base, fetched)
        if not Turn(app, base, snapshot, fetched, report).take():
            continue  # merge what was changed meanwhile
        last = turn == TRIES - 1
        result = send_changes(app, transport, base, report, team=team, review=review, last=last)
        if result != AGAIN:
            break
    if result == AGAIN:
        report.result = WAITS
        report.remarks.append("others keep changing the same remote; memdir sync tries again")
    report.conflicts = list(dict.fromkeys(report.conflicts))
    if not app.dry_run:
        base.save(durable=bool(report.pulled or report.pushed))
        if report.pulled or report.pushed:
            base.sweep()
    return report


def _forget_rewritten(base: Base, fetched: Fetched) -> None:
    """Of a remote that was emptied, rewritten or rolled back, only what is the same is known."""
    for path, known in [*base.files.items()]:
        file = fetched.files.get(path)
        if file is None or sync_hash(file.data) != known.hash:
            del base.files[path]


@dataclass
class Turn:
    """What came is merged and written; per path, what stands afterwards and what is then known.

    `variants` cannot stand beside it: several of one path, if outboxes disagree as well.
    """

    app: App
    base: Base
    snapshot: Snapshot
    fetched: Fetched
    report: Report
    results: dict[str, tuple[bytes | None, Known]] = field(default_factory=dict)
    variants: list[tuple[str, bytes, str]] = field(default_factory=list)  # path, text, author
    authors: dict[str, tuple[Author, float]] = field(default_factory=dict)

    def take(self) -> bool:
        """False if something here was changed meanwhile, so that it has to be merged again."""
        app, base, report = self.app, self.base, self.report
        try:
            self.merge()
        except Moved:
            return False
        raw = self.snapshot.raw
        written = {
            path: data
            for path, (data, _) in self.results.items()
            if raw.get(path, "") != sync_hash(data)
        }
        for path, data in written.items():
            change = REMOVED if data is None else draft.UPDATED if path in raw else draft.CREATED
            if path != INDEX:
                report.pulled.append(Item(path, change, self.authors[path][0].name))
        for path, text, author in self.variants:
            where = _hold_variant(app, path, text, author)
            report.conflicts.append(Item(path, "variant", author, where))
        if app.dry_run:
            return True
        files = self.fetched.files.values()
        base.keep({digest_of(it.data): it.data for it in files if it.data is not None})
        base.pending = {
            path: (sync_hash(data), self.results[path][1])
            for path, data in written.items()
            if path != INDEX
        }
        if base.pending:
            base.begun = self.fetched.cursor
            base.save()
        moved = self._write_back(written) if written else set()
        for path, (_, known) in self.results.items():
            if path not in moved:
                base.know(path, known)
        for path, file in self.fetched.files.items():
            if file.purged and path in self.results.keys() - moved:
                purge_versions(app, path)
        base.pending, base.begun = {}, ""
        if not moved:
            base.cursor = self.fetched.cursor
        if written:
            base.save()
        report.pulled = [item for item in report.pulled if item.path not in moved]
        return not moved

    def merge(self) -> None:
        """What has no place here is parked, and tried again the next time."""
        base, fetched, raw = self.base, self.fetched, self.snapshot.raw
        self.report.waiting = [Item(it.path, "not taken", "", it.message) for it in fetched.skipped]
        came = {
            path: File(data, Author("", ""), version=known.version)
            for path, (_, known) in base.parked.items()
            if (data := base.bytes_of(known.hash)) is not None
        }
        came |= fetched.files
        parked = {}
        standing = fold_paths([it for it in raw if it not in came or came[it].data is not None])
        for path, file in sorted(came.items()):
            reason = self._why_not_here(path, file, standing)
            if not reason:
                self._merge_one(path, file)
            elif reason != NO_MEMORY and file.data is not None:
                parked[path] = reason, Known(digest_of(file.data), file.version)
                if not self.app.dry_run:
                    base.keep({digest_of(file.data): file.data})
        base.parked = parked
        for box in fetched.outboxes:
            gone = {path for path, (_, file) in box.files.items() if file.data is None}
            standing = fold_paths([path for path in (*raw, *self.results) if path not in gone])
            for path, (was, file) in box.files.items():
                if file.data is None and path not in (*raw, *self.results):
                    continue
                if self._why_not_here(path, file, standing):
                    continue
                known = base.files.get(path, Known())
                here, known = self.results.get(path) or (self._read(path), known)
                # What stands here was merged already; theirs may be merged by others, too.
                self._add(path, (was, file.data, here), known, file)

    def _why_not_here(self, path: str, file: File, standing: dict[str, str]) -> str:
        """Adds what comes to those that stand here; tells the report why it does not come."""
        is_gone = file.data is None
        known = is_gone and path in self.snapshot.raw
        reason = "" if known else why_not_taken(path, {} if is_gone else standing)
        if path == INDEX and not syncs_index(self.app):
            reason = NO_MEMORY
        elif not reason and path not in self.snapshot.raw:
            reason = self.snapshot.held.get(path) or self._why_no_room(path)
        if not reason and not is_gone:
            standing.update(fold_paths([path]))
        elif reason != NO_MEMORY and not is_gone:
            self.report.waiting.append(Item(path, "not taken", file.author.name, reason))
        return reason

    def _why_no_room(self, path: str) -> str:
        store, parts = self.app.store, path.split("/")
        for size in range(1, len(parts) + 1):
            here = os.path.join(store.root, *parts[:size])
            folder = size < len(parts) and os.path.isdir(here) and not os.path.islink(here)
            if os.path.lexists(here) and not folder:
                facts = store.facts(path)
                if facts and facts[2] <= self.app.config.options.max_file_bytes:
                    raise Moved(f"{path} is new here", path=path)
                return f"{'/'.join(parts[:size])} stands in its place, and is no memory"
        return ""

    def _merge_one(self, path: str, file: File) -> None:
        """Raises Moved if a file is no longer what the snapshot says."""
        known, new = self.base.files.get(path, Known()), Known(sync_hash(file.data), file.version)
        self.authors[path] = file.author, file.time
        if file.purged:
            self.results[path] = None, new
        elif new.hash in (known.hash, self.snapshot.sent.get(path, "")) and path != INDEX:
            if known != new and (new.hash or path in self.base.files):
                self.results[path] = read_if_stored(self.app.store, path), new
        else:
            sides = self._read(path), file.data
            if self.fetched.whole and self.base.cursor:  # a rewritten remote may have older text
                sides = sides[::-1]
            self._add(path, (self.base.bytes_of(known.hash), *sides), new, file)

    def _read(self, path: str) -> bytes | None:
        data = read_if_stored(self.app.store, path)
        if self.snapshot.raw.get(path, "") != sync_hash(data):
            raise Moved(f"{path} was changed meanwhile", path=path)
        return data

    def _add(
        self,
        path: str,
        versions: tuple[bytes | None, bytes | None, bytes | None],
        known: Known,
        file: File,
    ) -> None:
        merged = merge_path(path, *versions)
        self.results[path] = merged.data, known
        self.authors.setdefault(path, (file.author, file.time))
        if merged.variant is not None:
            self.variants.append((path, merged.variant, file.author.name))

    def _write_back(self, written: Mapping[str, bytes | None]) -> set[str]:
        """Paths that were left alone, since somebody changed them meanwhile."""
        moved: set[str] = set()
        came: dict[str, tuple[bytes, Author, float]] = {}
        standing = {path: self.snapshot.raw.get(path, "") for path in (*self.results, INDEX)}
        unmoved = Unmoved(self.app.store, standing)
        givers = dict.fromkeys(author.name for author, _ in self.authors.values() if author.name)
        with replace(self.app, store=unmoved).changing(VERB) as desk:
            reason = f"by {', '.join([*givers][:3])}" if givers else ""
            desk.cause = replace(desk.cause, reason=reason)
            for path, data in sorted(written.items(), key=lambda row: (row[0] == INDEX, row[0])):
                try:
                    _put(desk, path, data)
                except Moved:
                    moved.add(path)
                    continue
                if data is not None and path != INDEX:
                    came[path] = data, *self.authors[path]
            self._follow_in_index(desk, unmoved)
        accept_known_authors_in_sync(self.app, came)
        return moved

    def _follow_in_index(self, desk: Desk, unmoved: Unmoved) -> None:
        """A line for each memory, none for those removed; another order alone is no change, or two
        machines with other times would rearrange it for ever.
        """
        changed = [change.name for change in desk.changes if change.path != INDEX]
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        desk.cause = replace(desk.cause, name=changed[0] + more if changed else "")
        gone = Lookup([path for path, (data, _) in self.results.items() if data is None], {})
        for _ in range(TRIES if syncs_index(self.app) else 0):
            unmoved.hashes[INDEX] = sync_hash(read_if_stored(unmoved.inside, INDEX))
            trial, old = DryRun(desk.store), read_if_stored(desk.store, INDEX) or b""
            save.follow_in_index(
                trial,
                self.app.rules(),
                known=lambda line: gone.find(line.target, line.form) is not None,
            )
            new = trial.written.get(INDEX)
            if new is None or sorted(new.split(b"\n")) == sorted(old.split(b"\n")):
                return
            try:
                desk.store.put(INDEX, new)
                return
            except Moved:
                continue


def _put(desk: Desk, path: str, data: bytes | None) -> None:
    standing = read_if_stored(desk.store, path)
    if data is None:
        if standing is not None:
            desk.store.drop(path)
            hash = draft.content_hash(standing)
            desk.changes.append(draft.Change(draft.RETIRED, stem(path), path, hash))
    else:
        desk.store.put(path, data)
        kind = draft.CREATED if standing is None else draft.UPDATED
        desk.changes.append(draft.Change(kind, stem(path), path, draft.content_hash(data)))


def _hold_variant(app: App, path: str, data: bytes, author: str) -> str:
    """Our version, where the same lines were changed elsewhere, waits in the inbox; what no draft
    can hold is put on the shelf, whole. The same text has the same name on every machine.
    """
    name = f"{stem(path)}-{digest_of(data)[:HASH_CHARACTERS]}".lower()
    if app.dry_run:
        return name
    who = author or "another machine"
    reason = f"the same lines of {path} were changed here and by {who}; theirs stand"
    memory, document = read_memory(path, data, 0), read_header(decode(data))
    kept = draft.RESERVED_KEYS
    held = draft.Draft(
        body=document.body.strip("\n"),
        type=memory.type if memory.type in names() else "unknown",
        name=name,
        description=document.get("description"),
        pinned=memory.pinned,
        source=VERB,
        extra=tuple((key, value) for key, value in document.values.items() if key not in kept),
    )
    try:
        draft.check_draft_format(held, app.rules())
        catch = Catch(Origin(VERB, message=name, who=PERSON), held)
        return open_inbox(app).hold(catch, reason, app.now()).id
    except MemdirError:
        app.shelf.lay(TRASH, f"{name}.md", data, app.now())
        return f"trash: memdir restore {name}"
