"""The six commands of the memory tool; an error is a `Refused` with the text for the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from memdir.app import App
from memdir.core import frontmatter
from memdir.core.draft import Wishes
from memdir.core.errors import BadInput, MemdirError, Missing, Unwritable
from memdir.flows import filing
from memdir.flows.filing import Taken
from memdir.surfaces.memory_tool import texts
from memdir.surfaces.memory_tool.paths import ROOT, below_root, shown

Input = Mapping[str, object]


@dataclass(frozen=True)
class ToolAnswer:
    """What a call gave: the text for the model, and whether it is an error."""

    text: str
    is_error: bool = False


class Refused(BadInput):
    """A command that was not carried out; the message is the tool's answer."""


@dataclass(frozen=True)
class Commands:
    """The commands on one store; `allow_secret` lets secrets into one that nobody shares."""

    app: App
    allow_secret: bool = False

    def run(self, given: Input) -> str:
        """Carry out one call; Refused where it cannot be."""
        known: dict[str, Callable[[Input], str]] = {
            "view": self.view,
            "create": self.create,
            "str_replace": self.str_replace,
            "insert": self.insert,
            "delete": self.delete,
            "rename": self.rename,
        }
        name = _text(given, "command")
        if name not in known:
            raise Refused(f"Error: Unknown command: {shown(name)}. There are: {', '.join(known)}")
        try:
            return known[name](given)
        except Refused:
            raise
        except MemdirError as error:
            raise Refused(self._told(error)) from None

    def view(self, given: Input) -> str:
        """A folder two levels deep, or a file with its lines numbered."""
        path, below = _path(given)
        text = self._file(path, below) if below else None
        if text is None:
            return texts.folder(path, filing.list_files(self.app, below))
        lines = text.split("\n")
        if len(lines) > texts.MOST_LINES:
            raise Refused(texts.TOO_LONG.format(path=path))
        first, last = _range(given, len(lines))
        return texts.CONTENT.format(path=path, lines=_some(lines, first, last))

    def create(self, given: Input) -> str:
        """A new file; one that exists is refused."""
        path, below = _path(given)
        text = _text(given, "file_text", empty=True)

        def make(old: bytes | None) -> bytes:
            if old is not None:
                raise Refused(texts.EXISTS.format(path=path))
            return frontmatter.encode(text)

        self._write(below, make, filing.SAVE, texts.EXISTS.format(path=path))
        return texts.CREATED.format(path=path)

    def str_replace(self, given: Input) -> str:
        """One place of a file, by its words."""
        path, below = _path(given)
        old, new = _text(given, "old_str"), _text(given, "new_str", empty=True)
        told = ""

        def make(standing: bytes | None) -> bytes:
            nonlocal told
            if standing is None:
                raise Refused(texts.NO_SUCH_FILE.format(path=path))
            text = frontmatter.decode(standing)
            at = _only_place(text, old, path)
            text = text[:at] + new + text[at + len(old) :]
            told = _around(text, text.count("\n", 0, at))
            return frontmatter.encode(text)

        self._write(below, make, filing.EDIT, texts.NO_SUCH_FILE.format(path=path))
        return texts.REPLACED.format(lines=told)

    def insert(self, given: Input) -> str:
        """Lines after a line of a file; 0 is before the first."""
        path, below = _path(given)
        text, line = _text(given, "insert_text", empty=True), _number(given, "insert_line")

        def make(standing: bytes | None) -> bytes:
            if standing is None:
                raise Refused(texts.NO_SUCH_PATH.format(path=path))
            lines = frontmatter.decode(standing).split("\n")
            lines = lines[:-1] if lines[-1] == "" else lines
            if not 0 <= line <= len(lines):
                raise Refused(texts.BAD_LINE.format(line=line, count=len(lines)))
            lines.insert(line, text.rstrip("\n"))
            return frontmatter.encode("\n".join(lines) + "\n")

        self._write(below, make, filing.EDIT, texts.NO_SUCH_PATH.format(path=path))
        return texts.EDITED.format(path=path)

    def delete(self, given: Input) -> str:
        """A file, or a folder with all its files: into the trash."""
        path, below = _path(given)
        if not below:
            raise Refused(texts.ROOT_STAYS.format(verb="delete"))
        try:
            filing.retire_files(self.app, below)
        except Missing:
            raise Refused(texts.NO_SUCH_PATH.format(path=path)) from None
        return texts.DELETED.format(path=path)

    def rename(self, given: Input) -> str:
        """A file, or a folder with all its files; what stands at the new path is refused."""
        (path, below), (to, there) = _path(given, "old_path"), _path(given, "new_path")
        if not below:
            raise Refused(texts.ROOT_STAYS.format(verb="rename"))
        if not there:
            raise Refused(texts.TAKEN.format(path=to))
        try:
            filing.move_files(self.app, below, there)
        except Missing:
            raise Refused(texts.NO_SUCH_PATH.format(path=path)) from None
        except Taken:
            raise Refused(texts.TAKEN.format(path=to)) from None
        return texts.RENAMED.format(path=path, to=to)

    def _file(self, path: str, below: str) -> str | None:
        """The text of a file; None for a folder."""
        try:
            return _clean(frontmatter.decode(filing.read_file(self.app, below)))
        except (Missing, Unwritable) as error:
            if filing.list_files(self.app, below):
                return None
            if isinstance(error, Missing):
                raise Refused(texts.NO_SUCH_VIEW.format(path=path)) from None
            raise

    def _write(self, below: str, make: filing.Make, verb: str, if_folder: str) -> None:
        """Write under the lock; of a folder, the documentation says something of its own."""
        if not below:
            raise Refused(if_folder)
        wishes = Wishes(secret=self.allow_secret)
        try:
            (change,) = filing.write_file(self.app, below, make, wishes, verb).changes
        except Unwritable:
            if filing.list_files(self.app, below):
                raise Refused(if_folder) from None
            raise
        if not change.changed and not change.hash:  # with a hash, it says exactly this already
            raise Refused(f"Error: {change.reason}")

    def _told(self, error: MemdirError) -> str:
        """For the model: where the store lies is none of its business."""
        said = f"{error.message}. {error.next}" if error.next else error.message
        return f"Error: {said.replace(self.app.store.root, ROOT)}"


def _path(given: Input, key: str = "path") -> tuple[str, str]:
    """The path as an answer names it, and the path below the store."""
    below = below_root(_text(given, key))
    return f"{ROOT}/{below}".rstrip("/"), below


def _text(given: Input, key: str, *, empty: bool = False) -> str:
    value = given.get(key, "" if key == "new_str" else None)
    if isinstance(value, str) and (value or empty):
        if value != _clean(value):
            raise Refused(f"Error: {key} holds half a character (a lone surrogate)")
        return value
    raise Refused(f"Error: {key} is needed, as a text")


def _number(given: Input, key: str) -> int:
    value = given.get(key)
    if type(value) is int:
        return value
    raise Refused(f"Error: {key} is needed, as a whole number")


def _range(given: Input, count: int) -> tuple[int, int]:
    """The first and the last line that are wanted, counted from 1."""
    value = given.get("view_range")
    if value is None:
        return 1, count
    if not isinstance(value, list | tuple) or [type(one) for one in value] != [int, int]:
        raise Refused("Error: view_range is [first line, last line]; -1 is the end")
    first, last = value
    return max(1, first), count if last == -1 else min(last, count)


def _some(lines: list[str], first: int, last: int) -> str:
    """These lines, as many of them as one view can show."""
    room = texts.MOST_CHARACTERS
    for at in range(first, last + 1):
        room -= len(lines[at - 1]) + texts.WIDTH + 2
        if room < 0 and at > first:
            cut = texts.CUT.format(last=at - 1, count=len(lines))
            return texts.numbered(lines[first - 1 : at - 1], first) + cut
    return texts.numbered(lines[first - 1 : last], first)


def _only_place(text: str, old: str, path: str) -> int:
    """Where the words stand, if they stand there once."""
    said = shown(old) if len(old) > texts.MOST_CHARACTERS else old
    at = text.find(old)
    if at < 0:
        raise Refused(texts.NOT_FOUND.format(old=said, path=path))
    if text.find(old, at + len(old)) < 0:
        return at
    lines, line, before = list[str](), 1, 0
    while at >= 0 and len(lines) <= texts.MOST_MATCHES:
        line += text.count("\n", before, at)
        lines.append(str(line))
        before, at = at, text.find(old, at + 1)
    more = ["…"] if len(lines) > texts.MOST_MATCHES else []
    named = ", ".join(lines[: texts.MOST_MATCHES] + more)
    raise Refused(texts.SEVERAL.format(old=said, lines=named))


def _around(text: str, changed: int) -> str:
    """The lines around a change; `changed` is counted from 0."""
    lines = _clean(text).split("\n")
    first = max(0, changed - texts.AROUND)
    return texts.numbered(lines[first : changed + texts.AROUND + 1], first + 1)


def _clean(text: str) -> str:
    """What stood for bytes that are no UTF-8 cannot be sent: shown as unreadable, kept on disk."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text
