"""What was put into a client's files, so that it can be taken out byte for byte."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from memdir.adapters.clients._files import missing_folders, read_file
from memdir.adapters.clients._plan import Edit
from memdir.adapters.disk import Disk, failure
from memdir.core.settings_text import Insertion
from memdir.core.store_key import store_key

FOLDER = "clients"
VERSION = 1


@dataclass(frozen=True)
class Kept:
    """One file: whether it is ours alone, what it was, what we made of it, what we put in."""

    created: bool
    after: str  # SHA-256 of its bytes
    insertions: tuple[Insertion, ...]


@dataclass(frozen=True)
class Receipt:
    """All files of one installation; `folders` are those we made."""

    path: str
    files: dict[str, Kept]
    folders: tuple[str, ...] = ()

    def kept(self, path: str) -> Kept | None:
        """What we did to that file, if anything."""
        return self.files.get(path)


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
            insertions = tuple(edit.insertions)
            files[edit.path] = Kept(edit.clean is None, hash_of(edit.new), insertions)
            folders += [one for one in missing_folders(edit.target) if one not in folders]
    return Receipt(receipt.path, files, tuple(folders))


def write_receipt(receipt: Receipt) -> None:
    """Before the files themselves: nothing of ours stands anywhere without a receipt."""
    disk = Disk(os.path.dirname(receipt.path))
    files = {
        path: {
            "created": kept.created,
            "after": kept.after,
            "insertions": [[one.at, one.text] for one in kept.insertions],
        }
        for path, kept in receipt.files.items()
    }
    fields = {"version": VERSION, "files": files, "folders": list(receipt.folders)}
    try:
        disk.make_root()
        disk.put(os.path.basename(receipt.path), json.dumps(fields, indent=1).encode())
    except OSError as error:
        raise failure(
            error, receipt.path, "no receipt can be written; nothing was changed"
        ) from None


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
