"""The store as it would be sent: a hash per memory, or why it stays here."""

from __future__ import annotations

import time
from dataclasses import dataclass

from memdir.errors import MemdirError
from memdir.hot.disk import digest_of
from memdir.hot.memory import INDEX
from memdir.store.ports import Store, read_if_stored
from memdir.store.writer import App
from memdir.sync.base import Base
from memdir.sync.border import RULES, index_without, why_it_stays

# A file that changes twice within one tick of the clock has the same facts.
TICK_NS = 20_000_000


@dataclass(frozen=True)
class Snapshot:
    """`raw` is the hash of each file here, `sent` of what others get of it; the index differs."""

    raw: dict[str, str]
    sent: dict[str, str]
    held: dict[str, str]  # why it stays


def syncs_index(app: App) -> bool:
    return app.rules().index and app.store.index_path == INDEX


def take_snapshot(store: Store, base: Base, team: bool, with_index: bool) -> Snapshot:
    """Reads only what is not known by its facts; `base.seen` keeps those."""
    rules = f"{RULES} {team}"
    known = base.seen if base.rules == rules else {}
    moment = time.time_ns() - TICK_NS
    seen, raw, held = {}, {}, {}
    for path, facts in store.tree().items():
        if not store.is_memory(path):
            continue
        if path in known and known[path][0] == tuple(facts):
            _, hash, why = known[path]
        else:
            try:
                data = store.read(path)
            except MemdirError as error:
                held[path] = error.message
                continue
            hash, why = digest_of(data), why_it_stays(path, data, team)
        if facts[0] < moment and facts[1] < moment:
            seen[path] = (tuple(facts), hash, why)
        raw[path] = hash
        if why:
            held[path] = why
    base.seen, base.rules = seen, rules
    sent = {path: hash for path, hash in raw.items() if path not in held}
    # What is known but not listed may only be out of sight: a link, too large, a folder shut.
    gone = [path for path in base.files if path not in raw and path != INDEX]
    unread = [path for path in gone if path not in held and store.exists(path)]
    held |= dict.fromkeys(unread, "it cannot be read: a link, or too large")
    if with_index and (here := store.facts(INDEX)) is not None:
        private = digest_of("\0".join(sorted(held)).encode("utf-8", "surrogateescape"))
        row = known.get(INDEX)
        if row is None or row[0] != here or row[2][64:] != private:
            data = read_if_stored(store, INDEX) or b""
            row = here, digest_of(index_without(data, held)), digest_of(data) + private
        if here and here[0] < moment and here[1] < moment:
            seen[INDEX] = row
        raw[INDEX], sent[INDEX] = row[2][:64], row[1]
    return Snapshot(raw, sent, held)


def read_to_send(store: Store, path: str, snapshot: Snapshot) -> bytes | None:
    """Its bytes as others get them; None if they are no longer those of the snapshot."""
    data = read_if_stored(store, path)
    if data is None:
        return None
    shown = index_without(data, snapshot.held) if path == INDEX else data
    return shown if digest_of(shown) == snapshot.sent.get(path) else None
