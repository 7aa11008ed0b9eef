"""What was put into a client's files, so that it can be taken out byte for byte."""

from __future__ import annotations

import json
import os
from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from memdir.adapters.clients._files import missing_folders, read_file
from memdir.adapters.clients._plan import Edit, Insertion, UnsafeEdit
from memdir.adapters.disk import Disk, failure
from memdir.core.store_key import store_key

FOLDER = "clients"
VERSION = 1


@dataclass(frozen=True)
class Kept:
    """One file: whether it is ours alone, what it was, what we made of it, what we put in."""

    created: bool
    after: str  # SHA-256 of its bytes
    insertions: tuple[Insertion, ...]  # of TOML and Markdown; of memdir 0.1.0 also of JSON
    before: bytes | None = None  # what a JSON file was
    added: str = ""

    def is_known(self, data: bytes | None) -> bool:
        """True where nobody has changed the file since, and we know what it was before us."""
        known = self.created or self.before is not None
        return known and data is not None and hash_of(data) == self.after


@dataclass(frozen=True)
class Receipt:
    """All files of one installation; `folders` are those we made."""

    path: str
    files: dict[str, Kept]
    folders: tuple[str, ...] = ()

    def kept(self, path: str) -> Kept | None:
        """What we did to that file, if anything."""
        return self.files.get(path)


@dataclass(frozen=True)
class Placed:
    """A file as it stands, and what we know of it."""

    path: str
    target: str
    old: bytes | None
    kept: Kept | None

    @property
    def text(self) -> str:
        """Its text; what is no UTF-8 is left alone."""
        try:
            return (self.old or b"").decode()
        except UnicodeDecodeError as error:
            line = (self.old or b"").count(b"\n", 0, error.start) + 1
            raise UnsafeEdit(f"line {line} is not UTF-8 text") from None

    def encode(self, text: str) -> bytes:
        """Its bytes; half a character, or a path that is no UTF-8, cannot be written."""
        try:
            return text.encode()
        except UnicodeEncodeError:
            raise UnsafeEdit("something that would stand in it is no UTF-8 text") from None

    def edit(
        self,
        new: bytes | None,
        insertions: tuple[Insertion, ...] = (),
        clean: bytes | None = None,
        added: str = "",
    ) -> Edit:
        """What is to be done to it."""
        return Edit(self.path, self.target, self.old, new, insertions, clean, added)


def cut(text: str, insertions: list[Insertion]) -> str | None:
    """The text without them; None where one of them does not stand there, or stands there twice."""
    for one in sorted(insertions, key=lambda one: one.at, reverse=True):
        at = one.at
        if text[at : at + len(one.text)] != one.text:
            at = text.find(one.text)
            if at < 0 or text.find(one.text, at + 1) >= 0:
                return None
        text = text[:at] + text[at + len(one.text) :]
    return text


def hash_of(data: bytes) -> str:
    """SHA-256 of a file's bytes."""
    return sha256(data).hexdigest()


def read_receipt(state_dir: str, client: str, folder: str) -> Receipt:
    """The one for a client's directory; empty where nothing is installed, or it is damaged."""
    path = os.path.join(state_dir, FOLDER, f"{client}-{store_key(os.path.realpath(folder))}.json")
    try:
        fields = json.loads(read_file(path) or b"")
        files = {
            name: Kept(
                bool(one["created"]),
                str(one["after"]),
                tuple(Insertion(int(at), str(text)) for at, text in one["insertions"]),
                b64decode(one["before"]) if "before" in one else None,
                str(one.get("added", "".join(text for _, text in one["insertions"]))),
            )
            for name, one in fields["files"].items()
        }
        return Receipt(path, files, tuple(map(str, fields["folders"])))
    except (ValueError, KeyError, TypeError, AttributeError):
        return Receipt(path, {})


def made_of(receipt: Receipt, edits: Iterable[Edit]) -> Receipt:
    """The receipt once these edits are done."""
    files, folders = dict(receipt.files), list(receipt.folders)
    for edit in edits:
        if edit.new is None or edit.new == edit.clean:
            files.pop(edit.path, None)
        elif edit.old != edit.new:
            before = edit.clean if edit.added else None
            files[edit.path] = Kept(
                edit.clean is None, hash_of(edit.new), edit.insertions, before, edit.added
            )
            folders += [one for one in missing_folders(edit.target) if one not in folders]
    return Receipt(receipt.path, files, tuple(folders))


def write_receipt(receipt: Receipt) -> None:
    """Before the files themselves: nothing of ours stands anywhere without a receipt."""
    disk = Disk(os.path.dirname(receipt.path))
    files = {path: _fields(kept) for path, kept in receipt.files.items()}
    fields = {"version": VERSION, "files": files, "folders": list(receipt.folders)}
    try:
        disk.make_root()
        disk.put(os.path.basename(receipt.path), json.dumps(fields, indent=1).encode())
    except OSError as error:
        raise failure(
            error, receipt.path, "no receipt can be written; nothing was changed"
        ) from None


def _fields(kept: Kept) -> dict[str, object]:
    fields: dict[str, object] = {
        "created": kept.created,
        "after": kept.after,
        "insertions": [[one.at, one.text] for one in kept.insertions],
        "added": kept.added,
    }
    if kept.before is not None:
        fields["before"] = b64encode(kept.before).decode()
    return fields


def drop_receipt(receipt: Receipt) -> None:
    """Nothing of ours is left; neither are the folders we made, unless others use them."""
    try:
        os.unlink(receipt.path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise failure(error, receipt.path, "the receipt cannot be removed") from None
    drop_folders(receipt.folders)


def drop_folders(folders: Sequence[str]) -> None:
    """Innermost first; one with something in it stays."""
    for folder in sorted(folders, key=len, reverse=True):
        try:
            os.rmdir(folder)
        except (OSError, ValueError):  # one that no disk can have stands in a damaged receipt
            continue
