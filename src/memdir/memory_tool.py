"""Anthropic memory tool on a store."""

from __future__ import annotations

import asyncio
import errno
import os
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from os import PathLike
from typing import TYPE_CHECKING
from urllib.parse import unquote

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError

from memdir.errors import BadInput, MemdirError, Missing, Unwritable
from memdir.format.draft import Change, Wishes
from memdir.hot import memory
from memdir.hot.memory import Memory, read_memory
from memdir.hot.place import RECORDS
from memdir.library import PROJECT, Memdir
from memdir.store.changes import move, retire_memory, write
from memdir.store.dry_run import DryRun
from memdir.store.keep_index import index
from memdir.store.ports import Store
from memdir.store.writer import App, Desk, Done

if TYPE_CHECKING:
    from anthropic.types.beta import (
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )
    from pydantic import BaseModel

    Call = Callable[[object], "ToolAnswer"]


# A store as a folder of files, for agents that write their memories as files themselves.
#
# Every change goes through `App.change` and one of the steps: it is in the history, one undo takes
# it back, and the index is in step afterwards.

SAVE, EDIT, RETIRE, RENAME = "save", "edit", "retire", "rename"  # what the history calls them
Make = Callable[[bytes | None], bytes]  # the new bytes from those that stand there, if any


@dataclass(frozen=True)
class File:
    """A file below a store, and its size."""

    path: str
    size: int


def list_files(app: App, folder: str = "") -> list[File]:
    """Every file below a folder of the store that the history keeps, by its path."""
    return [*_below(app.store, folder)]


def read_file(app: App, path: str) -> bytes:
    """The bytes of one file; nothing is followed out of the store."""
    facts = app.store.facts(path)
    most = app.config.options.max_file_bytes
    if facts and facts[2] > most:
        raise BadInput(
            f"it has {facts[2]:,} bytes (limit: {most:,})", path=path, next="split the file"
        )
    try:
        return app.store.read(path)
    except Unwritable as error:
        if not _is_folder(error):
            raise
        raise Missing(f"{path} is a folder", path=path, next="name a file in it") from None


def write_file(app: App, path: str, make: Make, wishes: Wishes, verb: str = EDIT) -> Done:
    """write → index; `make` sees what stands there while nobody else can change it"""
    _check_layout(app)

    def act(desk: Desk) -> list[Change]:
        old = _standing(desk.store, path)
        change = write(path, make(old), desk.store, app.rules(), wishes)
        before = read_memory(path, old, 0) if old and desk.store.is_memory(path) else None
        return _in_step(app, desk, [change], before)

    return app.change(verb, act, _untold)


def retire_files(app: App, path: str) -> Done:
    """retire, each → index: one file, or every file of a folder; one undo"""
    _check_layout(app)

    def act(desk: Desk) -> list[Change]:
        paths = _files_at(desk.store, path)
        if desk.store.index_path in paths and desk.store.files():
            raise BadInput(
                f"{desk.store.index_path} is the index of this store",
                path=desk.store.index_path,
                next="edit it, or delete the memories that it lists",
            )
        desk.plan, now = paths, app.now()
        done = [retire_memory(one, desk.store, desk.shelf, now) for one in paths]
        return _in_step(app, desk, done)

    return app.change(RETIRE, act, _untold)


def move_files(app: App, path: str, to: str) -> Done:
    """move, each → index: one file, or a folder with all its files; one undo"""
    _check_layout(app)

    def act(desk: Desk) -> list[Change]:
        paths = _files_at(desk.store, path)
        if to.startswith(f"{path}/"):
            raise BadInput(f"{to} lies inside {path}", path=to, next="choose another place")
        if _is_taken(desk.store, to):
            raise Taken(f"something stands at {to}", path=to, next="choose another name")
        if desk.store.index_path in paths or desk.store.index_path == to:
            where = desk.store.index_path
            raise BadInput(f"{where} is the index of this store", path=where, next="edit it")
        pairs = [(one, to + one[len(path) :]) for one in paths]
        _check_moves(app, desk, pairs)
        desk.plan = [new for _, new in pairs]
        return _in_step(app, desk, [move(one, new, desk.store) for one, new in pairs])

    return app.change(RENAME, act, _untold)


class Taken(BadInput):
    """Something stands where a file should go to; nothing was moved."""

    code = "taken"


def _check_moves(app: App, desk: Desk, pairs: Iterable[tuple[str, str]]) -> None:
    """Every file may lie where it goes to, or none is moved."""
    for old, new in pairs:
        data, dry = desk.store.read(old), DryRun(desk.store)
        tried = write(new, data, dry, app.rules(), Wishes(secret=True))
        if not tried.changed:
            raise BadInput(tried.reason, path=new, next="choose another name")


def _untold(done: Done) -> None:
    """The answer says it."""


def _check_layout(app: App) -> None:
    if app.config.layout == RECORDS:
        what = "a store of structured records is not written as files"
        raise BadInput(what, next="use memdir records, or another scope")


def _below(store: Store, folder: str) -> Iterable[File]:
    prefix = f"{folder}/" if folder else ""
    for path, facts in sorted(store.tree().items()):
        if path.startswith(prefix):
            yield File(path, facts[2])


def _files_at(store: Store, path: str) -> list[str]:
    """The file itself, or the files of the folder of that name."""
    if store.facts(path) is not None:
        return [path]
    found = [file.path for file in _below(store, path)]
    if not found:
        raise Missing(f"there is no {path}", path=path, next="list the files to see their names")
    return found


def _is_taken(store: Store, path: str) -> bool:
    """Asked of the handle alone: a link is neither followed nor replaced."""
    if any(_below(store, path)):
        return True
    try:
        return _standing(store, path) is not None
    except Unwritable as error:
        return not _is_folder(error)  # one without any file was left behind, nobody sees it


def _is_folder(error: Unwritable) -> bool:
    return os.strerror(errno.EISDIR) in error.message


def _standing(store: Store, path: str) -> bytes | None:
    try:
        return store.read(path)
    except Missing:
        return None


def _in_step(
    app: App, desk: Desk, changes: Sequence[Change], before: Memory | None = None
) -> list[Change]:
    """The index after these changes; when it cannot be written, say what stands."""
    names = [change.name for change in changes if change.changed]
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    desk.cause = replace(desk.cause, name=names[0] + more if names else "")
    if names:
        try:
            desk.remarks += index(desk.store, app.rules(), before).remarks(
                [change.path for change in changes]
            )
        except MemdirError as error:
            raise Unwritable(
                f"it is done, but the index is not in step: {error.message}",
                path=error.path,
                next=f"{error.next}; the next change brings it in step",
            ) from None
    return [*changes]


# What a model calls a file, as a path below the store; tricks are refused, not repaired.
#
# This is the first fence. The second are the directory handles of the store: no part of a path is
# ever followed through a link, whatever its name.

ROOT = "/memories"
LONGEST = 1024  # characters of a path
SHOWN = 200
# Of a name that is compatible with one of these, another program may make the real thing.
_MEANING = frozenset("./\\%~:")
_LOOK_ALIKE = frozenset("\u2044\u2215\u29f8\u29f9\u2216\ufe68")  # slashes that NFKC leaves alone
_NEXT = f"give a path such as {ROOT}/progress.md"


def below_root(path: str) -> str:
    """The path below the store, empty for the store itself; BadInput for anything doubtful."""
    if not (path == ROOT or path.startswith(f"{ROOT}/")):
        raise BadInput(f"Path must start with {ROOT}, got: {shown(path)}", next=_NEXT)
    below = path[len(ROOT) :].removeprefix("/").removesuffix("/")
    if not below:
        return ""
    parts = below.split("/")
    if any(part in ("", ".", "..") for part in parts) or unquote(below) != below:
        raise BadInput(f"Path {shown(path)} would escape {ROOT} directory", next=_NEXT)
    if problem := _problem(below):
        raise BadInput(f"Path {shown(path)} {problem}", next=_NEXT)
    return below


def shown(path: str) -> str:
    """A path in an answer: one line, printable, not endless."""
    plain = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in path[:SHOWN])
    return plain + ("…" if len(path) > SHOWN else "")


def _problem(below: str) -> str:
    if len(below) > LONGEST:
        return f"is longer than {LONGEST:,} characters"
    if "\\" in below:
        return "holds a backslash; folders are parted by /"
    if any(part != part.strip() for part in below.split("/")):
        return "holds a name that begins or ends with a space"
    for char in below:
        if not char.isprintable():
            return "holds a character that nobody can see"
        if not char.isascii() and (char in _LOOK_ALIKE or _stands_for_more(char)):
            return f"holds {char!r}, which other programs may take for a dot or a slash"
    return ""


def _stands_for_more(char: str) -> bool:
    return not _MEANING.isdisjoint(unicodedata.normalize("NFKC", char))


# The answers and errors of the memory tool, in the words of its documentation.

DEPTH = 2  # levels that a view of a folder shows
WIDTH = 6  # columns of a line's number
MOST_LINES = 999_999  # of a file: more numbers do not fit into them
MOST_CHARACTERS = 200_000  # of one view; a model can ask for the rest by its lines
MOST_MATCHES = 100  # lines that are named where a text stands several times
AROUND = 2  # lines before and after a change
LEFT_OUT = ("node_modules",)

CREATED = "File created successfully at: {path}"
EDITED = "The file {path} has been edited."
REPLACED = (
    "The memory file has been edited. "
    "Here is the snippet showing the change (with line numbers):\n{lines}"
)
DELETED = "Successfully deleted {path}"
RENAMED = "Successfully renamed {path} to {to}"
CONTENT = "Here's the content of {path} with line numbers:\n{lines}"
CUT_FOLDER = (
    "\n… cut here, after {shown} of {count} lines: view a folder below, or {path}/MEMORY.md"
)
CUT = "\n… cut here, after line {last} of {count}: view the rest with view_range"

NO_SUCH_VIEW = "The path {path} does not exist. Please provide a valid path."
NO_SUCH_FILE = "Error: The path {path} does not exist. Please provide a valid path."
NO_SUCH_PATH = "Error: The path {path} does not exist"
EXISTS = "Error: File {path} already exists"
TAKEN = "Error: The destination {path} already exists"
NOT_FOUND = "No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
SEVERAL = (
    "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. "
    "Please ensure it is unique"
)
BAD_LINE = (
    "Error: Invalid `insert_line` parameter: {line}. "
    "It should be within the range of lines of the file: [0, {count}]"
)
TOO_LONG = f"File {{path}} exceeds maximum line limit of {MOST_LINES:,} lines."
ROOT_STAYS = f"Error: Cannot {{verb}} the {ROOT} directory itself"


def numbered(lines: Sequence[str], first: int = 1) -> str:
    """Each line behind its number, right-aligned, and a tab."""
    return "\n".join(f"{at:>{WIDTH}}\t{line}" for at, line in enumerate(lines, first))


def folder(path: str, files: Iterable[File]) -> str:
    """What stands in a folder, two levels deep, with sizes; a folder's is that of its files."""
    below = path.removeprefix(ROOT).removeprefix("/")
    sizes = {"": 0}
    for file in files:
        parts = file.path[len(below) :].removeprefix("/").split("/")
        if any(part[0] == "." or part in LEFT_OUT for part in parts):
            continue
        sizes[""] += file.size
        for depth in range(1, min(len(parts), DEPTH) + 1):
            name = "/".join(parts[:depth]) + ("/" if depth < len(parts) else "")
            sizes[name] = sizes.get(name, 0) + file.size
    head = (
        f"Here're the files and directories up to {DEPTH} levels deep in {path}, "
        "excluding hidden items and node_modules:"
    )
    # By whole parts: what is in a folder stands below it, not below `folder-2`.
    rows = sorted(sizes.items(), key=lambda row: row[0].rstrip("/").split("/"))
    lines = [f"{size_of(n)}\t{path}{'/' if name else ''}{name}" for name, n in rows]
    ends = accumulate(len(line) + 1 for line in lines)
    shown = sum(end <= MOST_CHARACTERS for end in ends)
    cut = CUT_FOLDER.format(shown=shown, count=len(lines), path=ROOT)
    return "\n".join([head, *lines[:shown]]) + (cut if shown < len(lines) else "")


def size_of(count: int) -> str:
    """`0B`, `812B`, `1.5K`, `4K`, `1.2M`."""
    size, unit = float(count), "B"
    for unit in "BKMG":
        if size < 1024 or unit == "G":
            break
        size /= 1024
    return f"{int(size)}{unit}" if size == int(size) else f"{size:.1f}{unit}"


# The six commands of the memory tool; an error is a `Refused` with the text for the model.

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
            return folder(path, list_files(self.app, below))
        lines = text.split("\n")
        if len(lines) > MOST_LINES:
            raise Refused(TOO_LONG.format(path=path))
        first, last = _range(given, len(lines))
        return CONTENT.format(path=path, lines=_some(lines, first, last))

    def create(self, given: Input) -> str:
        """A new file; one that exists is refused."""
        path, below = _path(given)
        text = _text(given, "file_text", empty=True)

        def make(old: bytes | None) -> bytes:
            if old is not None:
                raise Refused(EXISTS.format(path=path))
            return memory.encode(text)

        self._write(below, make, SAVE, EXISTS.format(path=path))
        return CREATED.format(path=path)

    def str_replace(self, given: Input) -> str:
        """One place of a file, by its words."""
        path, below = _path(given)
        old, new = _text(given, "old_str"), _text(given, "new_str", empty=True)
        told = ""

        def make(standing: bytes | None) -> bytes:
            nonlocal told
            if standing is None:
                raise Refused(NO_SUCH_FILE.format(path=path))
            text = memory.decode(standing)
            at = _only_place(text, old, path)
            text = text[:at] + new + text[at + len(old) :]
            told = _around(text, text.count("\n", 0, at))
            return memory.encode(text)

        self._write(below, make, EDIT, NO_SUCH_FILE.format(path=path))
        return REPLACED.format(lines=told)

    def insert(self, given: Input) -> str:
        """Lines after a line of a file; 0 is before the first."""
        path, below = _path(given)
        text, line = _text(given, "insert_text", empty=True), _number(given, "insert_line")

        def make(standing: bytes | None) -> bytes:
            if standing is None:
                raise Refused(NO_SUCH_PATH.format(path=path))
            lines = memory.decode(standing).split("\n")
            lines = lines[:-1] if lines[-1] == "" else lines
            if not 0 <= line <= len(lines):
                raise Refused(BAD_LINE.format(line=line, count=len(lines)))
            lines.insert(line, text.rstrip("\n"))
            return memory.encode("\n".join(lines) + "\n")

        self._write(below, make, EDIT, NO_SUCH_PATH.format(path=path))
        return EDITED.format(path=path)

    def delete(self, given: Input) -> str:
        """A file, or a folder with all its files: into the trash."""
        path, below = _path(given)
        if not below:
            raise Refused(ROOT_STAYS.format(verb="delete"))
        try:
            retire_files(self.app, below)
        except Missing:
            raise Refused(NO_SUCH_PATH.format(path=path)) from None
        return DELETED.format(path=path)

    def rename(self, given: Input) -> str:
        """A file, or a folder with all its files; what stands at the new path is refused."""
        (path, below), (to, there) = _path(given, "old_path"), _path(given, "new_path")
        if not below:
            raise Refused(ROOT_STAYS.format(verb="rename"))
        if not there:
            raise Refused(TAKEN.format(path=to))
        try:
            move_files(self.app, below, there)
        except Missing:
            raise Refused(NO_SUCH_PATH.format(path=path)) from None
        except Taken:
            raise Refused(TAKEN.format(path=to)) from None
        return RENAMED.format(path=path, to=to)

    def _file(self, path: str, below: str) -> str | None:
        """The text of a file; None for a folder."""
        try:
            return _clean(memory.decode(read_file(self.app, below)))
        except (Missing, Unwritable) as error:
            if list_files(self.app, below):
                return None
            if isinstance(error, Missing):
                raise Refused(NO_SUCH_VIEW.format(path=path)) from None
            raise

    def _write(self, below: str, make: Make, verb: str, if_folder: str) -> None:
        """Write under the lock; of a folder, the documentation says something of its own."""
        if not below:
            raise Refused(if_folder)
        wishes = Wishes(secret=self.allow_secret)
        try:
            (change,) = write_file(self.app, below, make, wishes, verb).changes
        except Unwritable:
            if list_files(self.app, below):
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
    room = MOST_CHARACTERS
    for at in range(first, last + 1):
        room -= len(lines[at - 1]) + WIDTH + 2
        if room < 0 and at > first:
            cut = CUT.format(last=at - 1, count=len(lines))
            return numbered(lines[first - 1 : at - 1], first) + cut
    return numbered(lines[first - 1 : last], first)


def _only_place(text: str, old: str, path: str) -> int:
    """Where the words stand, if they stand there once."""
    said = shown(old) if len(old) > MOST_CHARACTERS else old
    at = text.find(old)
    if at < 0:
        raise Refused(NOT_FOUND.format(old=said, path=path))
    if text.find(old, at + len(old)) < 0:
        return at
    lines, line, before = list[str](), 1, 0
    while at >= 0 and len(lines) <= MOST_MATCHES:
        line += text.count("\n", before, at)
        lines.append(str(line))
        before, at = at, text.find(old, at + 1)
    more = ["…"] if len(lines) > MOST_MATCHES else []
    named = ", ".join(lines[:MOST_MATCHES] + more)
    raise Refused(SEVERAL.format(old=said, lines=named))


def _around(text: str, changed: int) -> str:
    """The lines around a change; `changed` is counted from 0."""
    lines = _clean(text).split("\n")
    first = max(0, changed - AROUND)
    return numbered(lines[first : changed + AROUND + 1], first + 1)


def _clean(text: str) -> str:
    """What stood for bytes that are no UTF-8 cannot be sent: shown as unreadable, kept on disk."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


# The memory tool as the official SDK wants it: `client.beta.messages.tool_runner(tools=[…])`.


def _answer(call: Call, input: object) -> str:
    answer = call(input)
    if answer.is_error:
        raise ToolError(answer.text)
    return answer.text


def _input(command: BaseModel) -> object:
    return command.model_dump(exclude_none=True)


class StoreTool(BetaAbstractMemoryTool):
    """For the runner of `Anthropic`."""

    def __init__(self, call: Call) -> None:
        super().__init__()
        self._call = call

    def call(self, input: object) -> str:
        """One call as the model made it; what it got wrong is told, not raised."""
        return _answer(self._call, input)

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return self.call(_input(command))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return self.call(_input(command))

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return self.call(_input(command))

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return self.call(_input(command))

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return self.call(_input(command))

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return self.call(_input(command))


class AsyncStoreTool(BetaAsyncAbstractMemoryTool):
    """For the runner of `AsyncAnthropic`: the same in a thread, so that nothing else waits."""

    def __init__(self, call: Call) -> None:
        super().__init__()
        self._call = call

    async def call(self, input: object) -> str:
        """One call as the model made it; what it got wrong is told, not raised."""
        return await asyncio.to_thread(_answer, self._call, input)

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return await self.call(_input(command))

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return await self.call(_input(command))

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return await self.call(_input(command))

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return await self.call(_input(command))

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return await self.call(_input(command))

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return await self.call(_input(command))


# `memory_tool(…)`: the memory tool for an agent's own loop, or for the SDK's runner.

ACTOR = "memory-tool"
TYPE, NAME = "memory_20250818", "memory"


class MemoryTool:
    """The memory tool on a store. `param` goes into `tools`, `call` or `result` answer a call."""

    def __init__(self, commands: Commands) -> None:
        self._commands = commands

    @property
    def param(self) -> dict[str, str]:
        """The tool as a request names it."""
        return {"type": TYPE, "name": NAME}

    def call(self, input: object) -> ToolAnswer:
        """Carry out one call, given as its `input`; what goes wrong is an answer, too."""
        if not isinstance(input, Mapping):
            return ToolAnswer("Error: the input of a call is an object", is_error=True)
        try:
            return ToolAnswer(self._commands.run(input))
        except Refused as refused:
            return ToolAnswer(refused.message, is_error=True)

    def result(self, block: Mapping[str, object]) -> dict[str, object]:
        """The `tool_result` for a `tool_use` block of an answer."""
        answer = self.call(block.get("input"))
        return {
            "type": "tool_result",
            "tool_use_id": block.get("id", ""),
            "content": answer.text,
            "is_error": answer.is_error,
        }

    def runner(self) -> BetaAbstractMemoryTool:
        """For `tools` of `Anthropic().beta.messages.tool_runner`; needs the package anthropic."""
        try:
            pass  # MOVED
        except ImportError as error:
            raise _no_sdk(error) from None
        return StoreTool(self.call)

    def async_runner(self) -> BetaAsyncAbstractMemoryTool:
        """The same for `AsyncAnthropic`; the store is read and written in a thread."""
        try:
            pass  # MOVED
        except ImportError as error:
            raise _no_sdk(error) from None
        return AsyncStoreTool(self.call)


def memory_tool(
    memory: Memdir | None = None,
    *,
    project: str | PathLike[str] | None = None,
    scope: str = PROJECT,
    dir: str | PathLike[str] | None = None,
    allow_secret: bool = False,
) -> MemoryTool:
    """The memory tool on the store of a project (default: the current one), of `dir`, or `memory`.

    Every change is in the history of the store, made by `memory-tool`; `memdir undo` takes it
    back. Secrets are refused; `allow_secret` lets them into a store that nobody else reads.
    """
    opened = memory or Memdir.open(project, scope=scope, dir=dir)
    return MemoryTool(Commands(replace(opened.app, actor=ACTOR), allow_secret))


def _no_sdk(error: ImportError) -> BadInput:
    return BadInput(
        f"the SDK's memory tool cannot be used: {error}",
        next="install it (pip install -U anthropic), or answer calls with MemoryTool.call",
    )
