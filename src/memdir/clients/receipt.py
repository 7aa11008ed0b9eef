"""What a client is asked for, and what it answers: the files as they would be."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256

from memdir.errors import BadInput, Busy, Unwritable
from memdir.hot.disk import Disk, failure
from memdir.hot.place import store_key

# What a client is asked for, and what it answers: the files as they would be.

PLUGIN, SETTINGS = "plugin", "settings"
BOM = "\ufeff"


class UnsafeEdit(ValueError):
    """Why a text is left alone."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


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


@dataclass(frozen=True)
class Plan:
    """The answer of a client."""

    way: str
    edits: tuple[Edit, ...]
    hooks: Mapping[str, str]  # the client's name of an event, and the command line it runs
    remarks: tuple[str, ...] = ()


class ByHand(BadInput):
    """A file that is left as it is; `lines` is what a person would have to add to it."""

    def __init__(self, message: str, *, path: str, next: str, lines: str) -> None:
        super().__init__(message, path=path, next=next)
        self.lines = lines


def only_settings(title: str, wish: Wish) -> list[str]:
    """What a client without a plugin says to a wish; a plugin of it cannot be had."""
    if wish.way == PLUGIN:
        raise BadInput(f"there is no plugin for {title}", next="leave out --plugin")
    return [f"{title} gets no /memory commands"] if wish.commands else []


# A client's files: read whole, replaced whole, links followed to what they name.

LARGEST_BYTES = 1024 * 1024  # no client writes more
_LEFT = re.compile(r"\.memdir-([1-9]\d{0,9})-[0-9a-f]{12}\.tmp\Z")
NOTHING = "nothing was changed"
_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH  # root may all the same; who set it may not
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


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
        if facts.st_size > LARGEST_BYTES:
            raise BadInput(
                f"{path} is larger than {LARGEST_BYTES // 1024} KiB; it is left as it is",
                path=path,
                next="look at what is in it",
            )
        with open(handle, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(handle)


def missing_folders(target: str) -> list[str]:
    """The folders above a file that would have to be made."""
    missing, here = [], os.path.dirname(target)
    while not os.path.isdir(here) and here != os.path.dirname(here):
        missing.append(here)
        here = os.path.dirname(here)
    return missing


def check_edit(edit: Edit) -> None:
    """Before the first of several is written: what is read-only refuses all of them."""
    if edit.old == edit.new:
        return
    folder = os.path.dirname(edit.target)
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    try:
        closed = edit.old is not None and not os.stat(edit.target).st_mode & _WRITABLE
    except OSError as error:
        raise failure(error, edit.path, NOTHING) from None
    if closed or not os.access(folder, os.W_OK | os.X_OK):
        place = edit.path if closed else folder
        raise Unwritable(
            f"{place} is read-only; {NOTHING}",
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
        owner = _owner(edit.target)
        disk.put(name, edit.new)
        if owner and owner != _owner(edit.target):  # as root, of somebody else's file
            os.chown(edit.target, *owner)
    except OSError as error:
        raise failure(error, edit.path, "it was not changed") from None


def sweep(folder: str) -> None:
    """Remove what a killed set-up left there; that of one which still runs stays."""
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        found = _LEFT.match(name)
        if found and not _runs(int(found[1])):
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


def _owner(path: str) -> tuple[int, int] | None:
    try:
        facts = os.stat(path)
    except FileNotFoundError:
        return None
    return facts.st_uid, facts.st_gid


# What was put into a client's files, so that it can be taken out byte for byte.

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
