"""What is put into a client's files: the wish, the plan, the edits, and the receipt.

The receipt is what lets `--remove` take everything out again, byte for byte.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256

from memdir.errors import BadInput, Busy, Unwritable
from memdir.hot.disk import Disk, failure
from memdir.hot.place import store_key

PLUGIN, SETTINGS = "plugin", "settings"
BOM = "\ufeff"
MAX_FILE_BYTES = 1024 * 1024  # no client writes more
RECEIPTS = "clients"  # the folder in the state directory
RECEIPT_VERSION = 1
NOTHING = "nothing was changed"
# What version 0.1.0 wrote still works: doctor asks nobody to write it anew.
OLD_NAMES = (
    (b"memdir/surfaces/hooks/start.py", b"memdir/hot/start.py"),
    (b"memdir/surfaces/hooks/cursor.py", b"memdir/hot/start_cursor.py"),
    (b"memdir.surfaces.mcp.line", b"memdir.mcp.stdio"),
)
_LEFT = re.compile(r"\.memdir-([1-9]\d{0,9})-[0-9a-f]{12}\.tmp\Z")
_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH  # root may all the same; who set it may not
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


class UnsafeEdit(ValueError):
    """Why a text is left alone."""


class ByHand(BadInput):
    """A file that is left as it is; `lines` is what a person would have to add to it."""

    def __init__(self, message: str, *, path: str, next: str, lines: str) -> None:
        super().__init__(message, path=path, next=next)
        self.lines = lines


@dataclass(frozen=True)
class Insertion:
    """A text that stands where it did not stand before; `at` counts in the new text."""

    at: int
    text: str


@dataclass(frozen=True)
class Wish:
    """What a person asked for; an empty `way` leaves the choice to the client."""

    way: str = ""
    commands: bool = False
    remove: bool = False
    rules: bool = False  # also in the project at hand, where others may see them


@dataclass(frozen=True)
class Host:
    """What hooks run with, and where the client keeps its files."""

    python: str
    why: str  # this Python
    package: str  # the directory of the package that hooks run
    home: str
    claude_dir: str
    environ: Mapping[str, str] = field(repr=False)
    project: str = ""  # the checkout at hand


@dataclass(frozen=True)
class Edit:
    """One file: what stands there and what would; None is no file."""

    path: str  # where the client looks
    target: str  # the same, links followed
    old: bytes | None
    new: bytes | None
    insertions: tuple[Insertion, ...] = ()
    clean: bytes | None = None  # what would stand there without us
    added: str = ""  # what is put into a JSON file, as JSON

    @property
    def change(self) -> str:
        """What happens to the file, in one word."""
        if self.old == self.new:
            return "unchanged"
        if self.old is None:
            return "created"
        return "removed" if self.new is None else "updated"

    @property
    def is_current(self) -> bool:
        """True where nothing is to be done, but for names that version 0.1.0 used."""
        old = self.old
        for before, after in OLD_NAMES if old is not None else ():
            old = old and old.replace(before, after)
        if old and self.new and self.added:  # JSON, which that version wrote in another layout
            with suppress(ValueError):
                return bool(json.loads(old) == json.loads(self.new))
        return old == self.new


@dataclass(frozen=True)
class Plan:
    """The answer of a client."""

    way: str
    edits: tuple[Edit, ...]
    hooks: Mapping[str, str]  # the client's name of an event, and the command line it runs
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entry:
    """One file of a receipt: is it ours alone, what was it, what did we make of it and put in?"""

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
    files: dict[str, Entry]
    folders: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClientFile:
    """A file as it stands, and what we know of it."""

    path: str
    target: str
    old: bytes | None
    entry: Entry | None

    @property
    def text(self) -> str:
        """Its text; what is no UTF-8 is left alone."""
        try:
            return (self.old or b"").decode()
        except UnicodeDecodeError as error:
            line = (self.old or b"").count(b"\n", 0, error.start) + 1
            raise UnsafeEdit(f"line {line} is not UTF-8 text") from None

    def cut(self) -> str | None:
        """The text without what we inserted; None where that does not stand there just once."""
        text = self.text
        insertions = self.entry.insertions if self.entry else ()
        for insertion in sorted(insertions, key=lambda insertion: insertion.at, reverse=True):
            start, length = insertion.at, len(insertion.text)
            if text[start : start + length] != insertion.text:
                start = text.find(insertion.text)
                if start < 0 or text.find(insertion.text, start + 1) >= 0:
                    return None
            text = text[:start] + text[start + length :]
        return text if insertions else None

    def without(self, clean: str, is_empty: bool) -> Edit:
        """The edit that takes us out; a file that only we have made goes."""
        gone = self.old is None or (is_empty and bool(self.entry and self.entry.created))
        before = None if gone else encode(clean)
        return Edit(self.path, self.target, self.old, before, clean=before)


def encode(text: str) -> bytes:
    """Its bytes; half a character, or a path that is no UTF-8, cannot be written."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise UnsafeEdit("something that would stand in it is no UTF-8 text") from None


def only_settings(title: str, wish: Wish) -> list[str]:
    """What a client without a plugin says to a wish; a plugin of it cannot be had."""
    if wish.way == PLUGIN:
        raise BadInput(f"there is no plugin for {title}", next="leave out --plugin")
    return [f"{title} gets no /memory commands"] if wish.commands else []


def hash_of(data: bytes) -> str:
    """SHA-256 of a file's bytes."""
    return sha256(data).hexdigest()


def target_of(path: str) -> str:
    """Where the bytes lie: people keep their settings in a repository and link to them."""
    target = os.path.realpath(path)
    if os.path.islink(target):
        raise BadInput(f"{path} is a link that leads to itself", path=path, next="remove the link")
    return target


def read_file(path: str) -> bytes | None:
    """All bytes of a regular file; None where there is none. A pipe never blocks us."""
    try:
        handle = os.open(path, _READ)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise failure(error, path, "it cannot be read") from None
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            kind = errno.EISDIR if stat.S_ISDIR(facts.st_mode) else errno.ENXIO
            raise failure(OSError(kind, path), path, "it is no regular file")
        if facts.st_size > MAX_FILE_BYTES:
            raise BadInput(
                f"{path} is larger than {MAX_FILE_BYTES // 1024} KiB; it is left as it is",
                path=path,
                next="look at what is in it",
            )
        with open(handle, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(handle)


def look(path: str, receipt: Receipt) -> ClientFile:
    """A file of a client."""
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
    """A file that is ours alone, by the receipt or by how it begins; one that is not stays."""
    file = look(path, receipt)
    old, entry = file.old, file.entry
    if old is None or (remove and not entry and not marks):
        return [] if remove else [Edit(path, file.target, None, data)]
    ours = old.startswith(marks) or (entry is not None and entry.after == hash_of(old))
    if not ours and (remove or old != data):
        remarks.append(
            f"{path} {'was changed since' if remove and entry else 'is not ours'}; it stays"
        )
        return [Edit(path, file.target, old, old, clean=old)]
    return [
        Edit(path, file.target, old, None, clean=old)
        if remove
        else Edit(path, file.target, old, data)
    ]


def by_hand(path: str, error: UnsafeEdit, lines: str, remove: str) -> ByHand:
    """The refusal to edit a file; `remove` says what to do where it was to be taken out."""
    next = remove or "mend the file and run the command again, or add these lines by hand"
    message = f"{path} is left as it is: {error}"
    return ByHand(message, path=path, next=next, lines="" if remove else lines)


def _missing_folders(target: str) -> list[str]:
    """The folders above a file that would have to be made, innermost first."""
    missing, here = [], os.path.dirname(target)
    while not os.path.isdir(here) and here != os.path.dirname(here):
        missing.append(here)
        here = os.path.dirname(here)
    return missing


def check_edit(edit: Edit) -> None:
    """Before the first of several is written: what is read-only refuses all of them."""
    if edit.old == edit.new:
        return
    folder = os.path.dirname([edit.target, *_missing_folders(edit.target)][-1])
    try:
        closed = edit.old is not None and not os.stat(edit.target).st_mode & _WRITABLE
    except OSError as error:
        raise failure(error, edit.path, NOTHING) from None
    if closed or not os.access(folder, os.W_OK | os.X_OK):
        raise Unwritable(
            f"{edit.path if closed else folder} is read-only; {NOTHING}",
            path=edit.path,
            next="if it is yours to change: chmod u+w, and run the command again",
        )


def write_edit(edit: Edit) -> None:
    """Do it, unless somebody else was faster; permissions and owner stay."""
    if edit.old == edit.new:
        return
    if read_file(edit.target) != edit.old:
        raise Busy(
            f"{edit.path} was changed in this moment by somebody else; it is left as it is",
            path=edit.path,
            next="run the command again",
        )
    disk, name = Disk(os.path.dirname(edit.target)), os.path.basename(edit.target)
    try:
        if edit.new is None:
            disk.drop(name)
            return
        disk.make_root()
        before = None if edit.old is None else os.stat(edit.target)
        disk.put(name, edit.new)
        after = os.stat(edit.target)
        if before and (before.st_uid, before.st_gid) != (after.st_uid, after.st_gid):
            os.chown(edit.target, before.st_uid, before.st_gid)  # as root, of somebody else's file
    except OSError as error:
        raise failure(error, edit.path, "it was not changed") from None


def sweep(folder: str) -> None:
    """Remove what a killed set-up left there; that of one which still runs stays."""
    with suppress(OSError):
        for name in os.listdir(folder):
            match = _LEFT.match(name)
            if match and not _runs(int(match[1])):
                with suppress(OSError):
                    os.unlink(os.path.join(folder, name))


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # it is somebody else's
        pass
    return True


def read_receipt(state_dir: str, client: str, folder: str) -> Receipt:
    """The one for a client's directory; empty where nothing is installed, or it is damaged."""
    key = store_key(os.path.realpath(folder))
    path = os.path.join(state_dir, RECEIPTS, f"{client}-{key}.json")
    try:
        fields = json.loads(read_file(path) or b"")
        files = {
            name: Entry(
                bool(entry["created"]),
                str(entry["after"]),
                tuple(Insertion(int(at), str(text)) for at, text in entry["insertions"]),
                b64decode(entry["before"]) if "before" in entry else None,
                str(entry.get("added", "".join(text for _, text in entry["insertions"]))),
            )
            for name, entry in fields["files"].items()
        }
        return Receipt(path, files, tuple(map(str, fields["folders"])))
    except (ValueError, KeyError, TypeError, AttributeError):
        return Receipt(path, {})


def receipt_after(receipt: Receipt, edits: Iterable[Edit]) -> Receipt:
    """The receipt once these edits are done."""
    files, folders = dict(receipt.files), list(receipt.folders)
    for edit in edits:
        if edit.new is None or edit.new == edit.clean:
            files.pop(edit.path, None)
        elif edit.old != edit.new:
            before = edit.clean if edit.added else None
            files[edit.path] = Entry(
                edit.clean is None, hash_of(edit.new), edit.insertions, before, edit.added
            )
            folders += [folder for folder in _missing_folders(edit.target) if folder not in folders]
    return Receipt(receipt.path, files, tuple(folders))


def write_receipt(receipt: Receipt) -> None:
    """Before the files themselves: nothing of ours stands anywhere without a receipt."""
    files: dict[str, dict[str, object]] = {}
    for path, entry in receipt.files.items():
        files[path] = {
            "created": entry.created,
            "after": entry.after,
            "insertions": [[insertion.at, insertion.text] for insertion in entry.insertions],
            "added": entry.added,
        }
        if entry.before is not None:
            files[path]["before"] = b64encode(entry.before).decode()
    fields = {"version": RECEIPT_VERSION, "files": files, "folders": list(receipt.folders)}
    disk = Disk(os.path.dirname(receipt.path))
    try:
        disk.make_root()
        disk.put(os.path.basename(receipt.path), json.dumps(fields, indent=1).encode())
    except OSError as error:
        raise failure(error, receipt.path, f"no receipt can be written; {NOTHING}") from None


def drop_receipt(receipt: Receipt) -> None:
    """Nothing of ours is left; neither are the folders we made, unless others use them."""
    try:
        os.unlink(receipt.path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise failure(error, receipt.path, "the receipt cannot be removed") from None
    for folder in sorted(receipt.folders, key=len, reverse=True):
        with suppress(OSError, ValueError):  # one that no disk can have: the receipt is damaged
            os.rmdir(folder)
