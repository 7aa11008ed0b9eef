"""What a store was last in step with, per path: the common ancestor of every merge.

`base.json` is replaced as a whole; the bytes lie beside it, named by their hash. A writer may be
killed at any moment, so what it is about to do stands there first: `pending` are the files that it
writes, `sent` the pushes whose end it does not know. Base and cursor move together. A base that is
too old is harmless: what came from the remote is then merged once more.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field

from memdir.hot.disk import Disk, digest_of, remove_file
from memdir.store import state

NAME, BLOBS = "base.json", "blobs"
MAX_SENT = 20
OWN = ("folder", "saved")
MAX_BYTES = 64 * 1024 * 1024
Seen = tuple[tuple[int, ...], str, str]  # facts of a file, its hash, and why it stays here


def sync_hash(data: bytes | None) -> str:
    return "" if data is None else digest_of(data)


@dataclass(frozen=True)
class Known:
    """`hash` of the bytes at the remote, "" if it has none there; `version` is the remote's."""

    hash: str = ""
    version: str = ""


@dataclass
class Base:
    folder: str
    cursor: str = ""
    files: dict[str, Known] = field(default_factory=dict)
    pending: dict[str, tuple[str, Known]] = field(default_factory=dict)  # hash to be written
    begun: str = ""  # the cursor that `pending` came with
    sent: dict[str, dict[str, str]] = field(default_factory=dict)  # id -> path -> hash
    parked: dict[str, tuple[str, Known]] = field(default_factory=dict)  # why it is not taken
    rules: str = ""  # under which `seen` was judged
    seen: dict[str, Seen] = field(default_factory=dict)  # a cache
    proposed: dict[str, str] = field(default_factory=dict)  # path -> hash
    saved: bytes = field(default=b"", compare=False, repr=False)

    def bytes_of(self, hash: str) -> bytes | None:
        """None for a file that is not there; a lost blob is told from it by the caller's hash."""
        if not hash:
            return None
        with suppress(OSError):
            data = state.read_state_bytes(self.folder, f"{BLOBS}/{hash}")
            if data is not None and digest_of(data) == hash:
                return data
        return None

    def keep(self, contents: Mapping[str, bytes]) -> None:
        """Bytes by hash, durable before anything refers to them."""
        folder = os.path.join(self.folder, BLOBS)
        new = {h: data for h, data in contents.items() if not os.path.exists(f"{folder}/{h}")}
        if new:
            with state.state_errors(folder, "cannot be written"):
                disk = Disk(folder)
                disk.make_root()
                disk.put_all(new)

    def know(self, path: str, known: Known) -> None:
        self.files[path] = known
        if not known.hash:
            del self.files[path]

    def received(self, id: str) -> None:
        """That push arrived: what it sent is what both sides had."""
        for path, hash in self.sent.get(id, {}).items():
            self.files[path] = Known(hash)
        ids = [*self.sent]
        for old in ids[: ids.index(id) + 1] if id in ids else ():
            del self.sent[old]

    def recover(self, hashes: Mapping[str, str]) -> None:
        """After a kill: a file that was written has met what came; the others have not."""
        for path, (written, known) in self.pending.items():
            if hashes and hashes.get(path, "") == written:
                self.files[path] = known
        self.pending, self.begun = {}, ""

    def save(self, durable: bool = True) -> None:
        values = {key: value for key, value in vars(self).items() if key not in OWN}
        data = json.dumps(values, default=asdict).encode("ascii")
        if data != self.saved:
            with state.state_errors(os.path.join(self.folder, NAME), "cannot be written"):
                state.replace_state(self.folder, NAME, data, durable=durable)
            self.saved = data

    def sweep(self) -> None:
        """Bytes that nothing refers to any more."""
        wanted = {known.hash for known in self.files.values()}
        wanted |= {known.hash for _, known in (*self.pending.values(), *self.parked.values())}
        wanted |= {hash for files in self.sent.values() for hash in files.values()}
        folder = os.path.join(self.folder, BLOBS)
        with suppress(OSError):
            for name in set(os.listdir(folder)) - wanted:
                remove_file(os.path.join(folder, name))


def open_sync_base(folder: str) -> Base:
    """An unreadable one is begun anew: then nothing is known, and everything is compared."""
    base = Base(folder)
    try:
        with state.state_errors(os.path.join(folder, NAME), "cannot be read"):
            value = state.read_state_json(folder, NAME, dict, MAX_BYTES) or {}
        for name in ("cursor", "begun", "rules"):
            setattr(base, name, str(value.get(name, "")))
        base.files = {path: Known(**known) for path, known in value.get("files", {}).items()}
        for name in ("pending", "parked"):
            rows = value.get(name, {}).items()
            setattr(base, name, {path: (text, Known(**known)) for path, (text, known) in rows})
        base.sent = {id: dict(files) for id, files in value.get("sent", {}).items()}
        rows = value.get("seen", {}).items()
        base.seen = {path: (tuple(facts), hash, why) for path, (facts, hash, why) in rows}
        base.proposed = dict(value.get("proposed", {}))
    except state.DAMAGE:
        return Base(folder)
    return base
