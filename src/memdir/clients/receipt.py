"""Edits of a client's files, and the receipt that keeps the original bytes for `--remove`."""

from __future__ import annotations

import json
import os
import stat
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256

from memdir.errors import BadInput, Busy, Unwritable
from memdir.hot.disk import Disk, failure, read_start
from memdir.hot.place import store_key
from memdir.store.state import DAMAGE, explained, remove, replace_json

MAX_FILE_BYTES = 1024 * 1024  # clients write less
RECEIPTS = "clients"  # folder in the state directory
RECEIPT_VERSION = 1
NOTHING = "nothing was changed"
# Lines of version 0.1.0 still work, so doctor does not ask for a new set-up.
OLD_NAMES = (
    (b"memdir/surfaces/hooks/start.py", b"memdir/hot/start.py"),
    (b"memdir/surfaces/hooks/cursor.py", b"memdir/hot/start_cursor.py"),
    (b"memdir.surfaces.mcp.line", b"memdir.mcp.stdio"),
)
_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH  # root could write all the same


class UnsafeEdit(ValueError):
    """Raised with the reason for leaving a file alone."""


class ByHand(BadInput):
    """File left unchanged; `lines` are for the user to add by hand."""

    def __init__(self, message: str, *, path: str, next: str, lines: str) -> None:
        super().__init__(message, path=path, next=next)
        self.lines = lines


@dataclass(frozen=True)
class Edit:
    """Bytes of a file before and after; None means no file."""

    path: str  # as the client knows it
    target: str  # with links followed
    old: bytes | None
    new: bytes | None
    clean: bytes | None = None  # content without ours
    added: str = ""  # values added to a JSON file, as JSON

    @property
    def change(self) -> str:
        if self.old == self.new:
            return "unchanged"
        if self.old is None:
            return "created"
        return "removed" if self.new is None else "updated"

    @property
    def is_current(self) -> bool:
        """Names that version 0.1.0 wrote also count as current."""
        if self.old is None or self.new is None:
            return self.old == self.new
        old = self.old
        for before, after in OLD_NAMES:
            old = old.replace(before, after)
        if self.added:  # version 0.1.0 wrote JSON in another layout
            with suppress(ValueError):
                return bool(json.loads(old) == json.loads(self.new))
        return old == self.new


@dataclass(frozen=True)
class Entry:
    """`before` is None if we created the file; `insertions` (offset, text) are of version 0.1.0."""

    after: str  # SHA-256
    before: bytes | None
    added: str = ""
    created: bool = False
    insertions: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True)
class Receipt:
    """All files of one installation; `folders` are those we created."""

    path: str
    files: dict[str, Entry]
    folders: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClientFile:
    path: str
    target: str
    old: bytes | None
    entry: Entry | None

    @property
    def text(self) -> str:
        try:
            return (self.old or b"").decode()
        except UnicodeDecodeError as error:
            line = (self.old or b"").count(b"\n", 0, error.start) + 1
            raise UnsafeEdit(f"line {line} is not UTF-8 text") from None

    def without_ours(self, take_out: Callable[[str], str]) -> str:
        """Original text, byte for byte; if the file has changed since, its text without ours."""
        entry, before = self.entry, None
        if entry and entry.insertions:
            before = _cut(self.text, entry.insertions)
        elif entry and self.old is not None and hash_of(self.old) == entry.after:
            before = (entry.before or b"").decode()
        if before is not None:
            with suppress(UnsafeEdit):
                return take_out(before)
        return take_out(self.text)

    def removal(self, clean: str, is_empty: bool) -> Edit:
        """Deletes the file if we created it and nothing else is in it."""
        gone = self.old is None or (is_empty and bool(self.entry and self.entry.created))
        before = None if gone else encode(clean)
        return Edit(self.path, self.target, self.old, before, clean=before)


def _cut(text: str, insertions: tuple[tuple[int, str], ...]) -> str | None:
    """Text without these insertions; None if one is not there exactly once."""
    for start, inserted in sorted(insertions, reverse=True):
        if not text.startswith(inserted, start):
            start = text.find(inserted)
            if start < 0 or text.find(inserted, start + 1) >= 0:
                return None
        text = text[:start] + text[start + len(inserted) :]
    return text


def encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:  # a surrogate, as in a path that is not UTF-8
        raise UnsafeEdit("something that would stand in it is not UTF-8 text") from None


def hash_of(data: bytes) -> str:
    return sha256(data).hexdigest()


def target_of(path: str) -> str:
    """Follows links: people keep their settings in a repository and link to them."""
    target = os.path.realpath(path)
    if os.path.islink(target):
        raise BadInput(f"{path} is a link that leads to itself", path=path, next="remove the link")
    return target


def read_file(path: str) -> bytes | None:
    try:
        data, facts = read_start(path, MAX_FILE_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise failure(error, path, "it cannot be read") from None
    if facts.st_size > MAX_FILE_BYTES:
        message = f"{path} is larger than {MAX_FILE_BYTES // 1024} KiB; it is left as it is"
        raise BadInput(message, path=path, next="look at what is in it")
    return data


def look_at(path: str, receipt: Receipt) -> ClientFile:
    target = target_of(path)
    return ClientFile(path, target, read_file(target), receipt.files.get(path))


def own_file(
    path: str,
    data: bytes,
    receipt: Receipt,
    remarks: list[str],
    *,
    remove: bool = False,
    marks: tuple[bytes, ...] = (),
) -> list[Edit]:
    """Edit of a file that is ours by the receipt or its first bytes; any other file stays."""
    file = look_at(path, receipt)
    old, entry = file.old, file.entry
    if old is None or (remove and not entry and not marks):
        return [] if remove else [Edit(path, file.target, None, data)]
    ours = old.startswith(marks) or (entry is not None and entry.after == hash_of(old))
    if not ours and (remove or old != data):
        reason = "was changed since" if remove and entry else "is not ours"
        remarks.append(f"{path} {reason}; it stays")
        return [Edit(path, file.target, old, old, clean=old)]
    if remove:
        return [Edit(path, file.target, old, None, clean=old)]
    return [Edit(path, file.target, old, data)]


def by_hand(path: str, error: UnsafeEdit, lines: str, take_out: str) -> ByHand:
    """`take_out` is the advice for a removal."""
    next = take_out or "mend the file and run the command again, or add these lines by hand"
    message = f"{path} is left as it is: {error}"
    return ByHand(message, path=path, next=next, lines="" if take_out else lines)


def missing_folders(target: str) -> list[str]:
    """Folders to create above a file, innermost first."""
    missing, here = [], os.path.dirname(target)
    while not os.path.isdir(here) and here != os.path.dirname(here):
        missing.append(here)
        here = os.path.dirname(here)
    return missing


def check_edit(edit: Edit) -> None:
    """Called before the first of several writes: one read-only file refuses all of them."""
    if edit.old == edit.new:
        return
    folder = os.path.dirname([edit.target, *missing_folders(edit.target)][-1])
    with explained(edit.path, NOTHING):
        closed = edit.old is not None and not os.stat(edit.target).st_mode & _WRITABLE
    if closed or not os.access(folder, os.W_OK | os.X_OK):
        message = f"{edit.path if closed else folder} is read-only; {NOTHING}"
        next = "if it is yours to change: chmod u+w, and run the command again"
        raise Unwritable(message, path=edit.path, next=next)


def write_edit(edit: Edit) -> None:
    """Refuses if the file has changed meanwhile; permissions and owner stay."""
    if edit.old == edit.new:
        return
    if read_file(edit.target) != edit.old:
        message = f"{edit.path} was changed in this moment by somebody else; it is left as it is"
        raise Busy(message, path=edit.path, next="run the command again")
    disk, name = Disk(os.path.dirname(edit.target)), os.path.basename(edit.target)
    with explained(edit.path, "it was not changed"):
        if edit.new is None:
            disk.drop(name)
            return
        disk.make_root()
        before = None if edit.old is None else os.stat(edit.target)
        disk.put(name, edit.new)
        after = os.stat(edit.target)
        if before and (before.st_uid, before.st_gid) != (after.st_uid, after.st_gid):
            os.chown(edit.target, before.st_uid, before.st_gid)  # matters for root only


def read_receipt(state_dir: str, client: str, folder: str) -> Receipt:
    """Receipt of a client's directory; empty if nothing is installed or it is damaged."""
    key = store_key(os.path.realpath(folder))
    path = os.path.join(state_dir, RECEIPTS, f"{client}-{key}.json")
    try:
        fields = json.loads(read_file(path) or b"")
        files = {}
        for name, entry in fields["files"].items():
            insertions = tuple((int(start), str(text)) for start, text in entry["insertions"])
            files[name] = Entry(
                str(entry["after"]),
                b64decode(entry["before"]) if "before" in entry else None,
                str(entry.get("added", "".join(text for _, text in insertions))),
                bool(entry["created"]),
                insertions,
            )
        return Receipt(path, files, tuple(map(str, fields["folders"])))
    except DAMAGE:
        return Receipt(path, {})


def receipt_after(receipt: Receipt, edits: Iterable[Edit]) -> Receipt:
    files, folders = dict(receipt.files), list(receipt.folders)
    for edit in edits:
        if edit.new is None or edit.new == edit.clean:
            files.pop(edit.path, None)
        elif edit.old != edit.new:
            after = hash_of(edit.new)
            files[edit.path] = Entry(after, edit.clean, edit.added, created=edit.clean is None)
            folders += [folder for folder in missing_folders(edit.target) if folder not in folders]
    return Receipt(receipt.path, files, tuple(folders))


def write_receipt(receipt: Receipt) -> None:
    """Called before the files are written: nothing of ours may exist without a receipt."""
    files: dict[str, dict[str, object]] = {}
    for path, entry in receipt.files.items():
        files[path] = {
            "created": entry.created,
            "after": entry.after,
            "insertions": entry.insertions,
            "added": entry.added,
        }
        if entry.before is not None:
            files[path]["before"] = b64encode(entry.before).decode()
    fields = {"version": RECEIPT_VERSION, "files": files, "folders": receipt.folders}
    with explained(receipt.path, f"no receipt can be written; {NOTHING}"):
        replace_json(*os.path.split(receipt.path), fields)


def drop_receipt(receipt: Receipt) -> None:
    """Also removes the folders we created, unless others use them."""
    with explained(receipt.path, "the receipt cannot be removed"):
        remove(*os.path.split(receipt.path))
    for folder in sorted(receipt.folders, key=len, reverse=True):
        with suppress(OSError, ValueError):  # invalid path: the receipt is damaged
            os.rmdir(folder)
