"""The Anthropic memory tool on a store: six commands on files, each change one undo.

`memory_tool(…)` is for an agent's own loop; `.runner()` is for the tool runner of the SDK.
"""

from __future__ import annotations

import asyncio
import os
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import islice
from os import PathLike
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from memdir.errors import BadInput, MemdirError
from memdir.format.draft import CREATED, UPDATED, memory_change
from memdir.format.names import fold_paths, why_not_portable
from memdir.hot import memory, safe
from memdir.hot.disk import TEMPORARY
from memdir.hot.memory import INDEX, TEAM, is_record_file, read_memory
from memdir.hot.place import RECORDS
from memdir.library import PROJECT, Memdir
from memdir.store.changes import finish_change, move_memory, retire_memory
from memdir.store.ports import read_if_stored
from memdir.store.save import refuse_file_in_store
from memdir.store.writer import App, Desk

if TYPE_CHECKING:
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool

Input = Mapping[str, object]
_COMMANDS = ("view", "create", "str_replace", "insert", "delete", "rename")

ACTOR = "memory-tool"
ROOT = "/memories"
MAX_PATH_CHARACTERS = 1024
SHOWN_CHARACTERS = 200  # of a path
DEPTH = 2  # levels that a view of a folder shows
NUMBER_COLUMNS = 6
MAX_VIEW_CHARACTERS = 200_000  # a model can ask for the rest by its lines
CUT = "\n… cut here: view the rest with view_range, or a folder below"
MAX_MATCHES = 100  # lines that are named where a text stands several times
CONTEXT_LINES = 2  # before and after a change
# Of a name that is compatible with one of these, another program may make the real thing.
_MEANING = "./\\%~:"
_LOOK_ALIKE = frozenset("\u2044\u2215\u29f8\u29f9\u2216\ufe68")  # slashes that NFKC leaves alone


@dataclass(frozen=True)
class ToolAnswer:
    text: str
    is_error: bool = False


class Refused(BadInput):
    """A command that was not carried out; the message is the tool's answer."""


class MemoryTool:
    """The memory tool on a store. `param` goes into `tools`, `call` or `result` answer a call."""

    def __init__(self, app: App, allow_secret: bool = False) -> None:
        if app.config.layout == RECORDS:
            message = "a store of structured records is not read and written as files"
            raise BadInput(message, next="use memdir records, or another scope")
        self._app = app
        self._allow_secret = allow_secret and not app.config.shared

    @property
    def param(self) -> dict[str, str]:
        """The tool as a request names it."""
        return {"type": "memory_20250818", "name": "memory"}

    def call(self, input: object) -> ToolAnswer:
        """Carry out one call, given as its `input`; what goes wrong is an answer, too."""
        if not isinstance(input, Mapping):
            return ToolAnswer("Error: the input of a call is an object", is_error=True)
        try:
            name = _text(input, "command")
            if name not in _COMMANDS:
                known = ", ".join(_COMMANDS)
                raise Refused(f"Error: Unknown command: {_shown(name)}. There are: {known}")
            text = _harmless(str(getattr(self, f"_{name}")(input)))
            if len(text) > MAX_VIEW_CHARACTERS:
                text = text[:MAX_VIEW_CHARACTERS].rpartition("\n")[0] + CUT
            return ToolAnswer(text)
        except Refused as refused:
            return ToolAnswer(_harmless(refused.message), is_error=True)
        except MemdirError as error:
            # Where the store lies is none of the model's business.
            message = f"{error.message}. {error.next}" if error.next else error.message
            message = message.replace(self._app.store.root, ROOT)
            return ToolAnswer(_harmless(f"Error: {message}"), is_error=True)

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
        tool: BetaAbstractMemoryTool = self._make_sdk_tool("BetaAbstractMemoryTool")
        return tool

    def async_runner(self) -> BetaAsyncAbstractMemoryTool:
        """The same for `AsyncAnthropic`; the store is read and written in a thread."""
        tool: BetaAsyncAbstractMemoryTool = self._make_sdk_tool("BetaAsyncAbstractMemoryTool")
        return tool

    def _make_sdk_tool(self, base: str) -> Any:
        try:
            tools = import_module("anthropic.lib.tools")
            parent = getattr(tools, base)
        except (ImportError, AttributeError) as error:
            hint = "install it (pip install -U anthropic), or answer calls with MemoryTool.call"
            raise BadInput(f"the SDK's memory tool cannot be used: {error}", next=hint) from None

        def run(_: object, input: object) -> str:
            answer = self.call(input)
            if answer.is_error:
                raise tools.ToolError(answer.text)
            return answer.text

        async def run_in_thread(tool: object, input: object) -> str:
            return await asyncio.to_thread(run, tool, input)

        call = run_in_thread if "Async" in base else run

        def command(tool: object, given: Any) -> Any:
            return call(tool, given.model_dump(exclude_none=True))

        return type("StoreTool", (parent,), {"call": call, **dict.fromkeys(_COMMANDS, command)})()

    def _view(self, given: Input) -> str:
        path, below = _path(given)
        if not below or self._app.store.facts(below) is None:
            files = self._list(below)
            if below and not files:
                raise Refused(f"The path {path} does not exist. Please provide a valid path.")
            return _view_folder(path, files)
        lines = _clean(memory.decode(self._app.store.read(below))).split("\n")
        first, last = _range(given, len(lines))
        numbered = _number(lines[first - 1 : last], first)
        return f"Here's the content of {path} with line numbers:\n{numbered}"

    def _create(self, given: Input) -> str:
        path, below = _path(given)
        text = _text(given, "file_text", empty=True)
        taken = Refused(f"Error: File {path} already exists")
        with self._file(below, "save", taken, is_new=True) as (desk, old):
            self._put(desk, below, old, text)
        return f"File created successfully at: {path}"

    def _str_replace(self, given: Input) -> str:
        path, below = _path(given)
        old_text, new_text = _text(given, "old_str"), _text(given, "new_str", empty=True)
        missing = Refused(f"Error: The path {path} does not exist. Please provide a valid path.")
        with self._file(below, "edit", missing) as (desk, old):
            text = memory.decode(old or b"")
            start = _find_once(text, old_text, path)
            text = text[:start] + new_text + text[start + len(old_text) :]
            self._put(desk, below, old, text)
        line = text.count("\n", 0, start)
        first, last = max(0, line - CONTEXT_LINES), line + CONTEXT_LINES + 1
        lines = _number(_clean(text).split("\n")[first:last], first + 1)
        message = "The memory file has been edited. Here is the snippet showing the change"
        return f"{message} (with line numbers):\n{lines}"

    def _insert(self, given: Input) -> str:
        path, below = _path(given)
        text, line = _text(given, "insert_text", empty=True), given.get("insert_line")
        if type(line) is not int:
            raise Refused("Error: insert_line is needed, as a whole number")
        missing = Refused(f"Error: The path {path} does not exist")
        with self._file(below, "edit", missing) as (desk, old):
            lines = memory.decode(old).removesuffix("\n").split("\n") if old else []
            if not 0 <= line <= len(lines):
                raise Refused(
                    f"Error: Invalid `insert_line` parameter: {line}. "
                    f"It should be within the range of lines of the file: [0, {len(lines)}]"
                )
            lines.insert(line, text.rstrip("\n"))
            self._put(desk, below, old, "\n".join(lines) + "\n")
        return f"The file {path} has been edited."

    def _delete(self, given: Input) -> str:
        path, below = _path(given)
        if not below:
            raise Refused(f"Error: Cannot delete the {ROOT} directory itself")
        with self._app.changing("retire") as desk:
            paths = self._find(path, below)
            if INDEX in paths and desk.store.files():
                hint = "edit it, or delete the memories that it lists"
                raise BadInput(f"{INDEX} is the index of this store", path=INDEX, next=hint)
            now = self._app.now()
            done = [retire_memory(item, desk.store, desk.shelf, now) for item in paths]
            finish_change(self._app, desk, done)
        return f"Successfully deleted {path}"

    def _rename(self, given: Input) -> str:
        (path, below), (to, to_below) = _path(given, "old_path"), _path(given, "new_path")
        taken = Refused(f"Error: The destination {to} already exists")
        if not below:
            raise Refused(f"Error: Cannot rename the {ROOT} directory itself")
        if not to_below:
            raise taken
        with self._app.changing("rename") as desk:
            paths = self._find(path, below)
            if to_below.startswith(f"{below}/"):
                raise BadInput(f"{to_below} lies inside {below}", next="choose another place")
            pairs = [(item, to_below + item[len(below) :]) for item in paths]
            # Whatever stands there, a link too, is neither followed nor replaced.
            if self._app.store.exists(to_below) and not self._is_half_moved(pairs, to_below):
                raise taken
            if INDEX in (*paths, to_below):
                raise BadInput(f"{INDEX} is the index of this store", path=INDEX, next="edit it")
            standing = fold_paths(self._app.store.tree())
            for _, new in pairs:  # every file may lie where it goes to, or none is moved
                if reason := self._refuse_file(new, b"", standing):
                    raise BadInput(reason, path=new, next="choose another name")
            moved = [move_memory(old, new, desk.store) for old, new in pairs]
            finish_change(self._app, desk, moved)
        return f"Successfully renamed {path} to {to}"

    def _is_half_moved(self, pairs: list[tuple[str, str]], to: str) -> bool:
        """Copies of what is to be moved, or an empty folder: a rename was killed on its way."""
        store, sources = self._app.store, {new: old for old, new in pairs if new != old}
        there = [path for path in store.tree() if path == to or path.startswith(f"{to}/")]
        place = os.path.join(store.root, to)
        if not there and os.path.isdir(place) and not os.path.islink(place):
            return all(name.startswith(TEMPORARY) for name in os.listdir(place))
        return bool(there) and all(
            path in sources and store.read(path) == store.read(sources[path]) for path in there
        )

    @contextmanager
    def _file(
        self, below: str, verb: str, otherwise: Refused, *, is_new: bool = False
    ) -> Iterator[tuple[Desk, bytes | None]]:
        """The bytes of a file, while nobody else can change it; it must be there, or be new."""
        if not below or self._list(below):
            raise otherwise
        with self._app.changing(verb) as desk:
            old = read_if_stored(desk.store, below)
            if (old is None) != is_new:
                raise otherwise
            yield desk, old

    def _put(self, desk: Desk, below: str, old: bytes | None, text: str) -> None:
        data = memory.encode(text)
        if data == old:
            return
        standing = fold_paths(self._app.store.tree()) if old is None else None
        if reason := self._refuse_file(below, data, standing, old or b""):
            raise Refused(f"Error: {reason}")
        desk.store.put(below, data)
        kind = CREATED if old is None else UPDATED
        is_memory = old and desk.store.is_memory(below)
        before = read_memory(below, old or b"", 0) if is_memory else None
        change = memory_change(kind, below, data)
        finish_change(self._app, desk, [change], before)

    def _refuse_file(
        self, path: str, data: bytes, standing: Mapping[str, str] | None, old: bytes = b""
    ) -> str:
        """Of a new file, `standing` are the others."""
        *folders, name = path.split("/")
        if standing is not None and path != INDEX and path.lower() == INDEX.lower():
            return f"some systems take it for {INDEX}, the index; choose another name"
        if standing is not None and (reason := why_not_portable(path, standing)):
            return reason
        if any(part[:1] == "." for part in (*folders, name)):
            return "a hidden file is no memory; choose a name without a leading dot"
        if any(folder[-3:].lower() == ".md" for folder in folders):
            return "a folder cannot be called .md"
        if folders and folders[0].lower() == TEAM:
            return "the folder team is another store; it is written through its own scope"
        if is_record_file(path):
            return "it is the place of a structured record"
        rules, secret = self._app.rules(), self._allow_secret
        return refuse_file_in_store(path, data, rules, old=old, allow_secret=secret)

    def _list(self, folder: str) -> dict[str, int]:
        prefix = f"{folder}/" if folder else ""
        tree = sorted(self._app.store.tree().items())
        return {path: facts[2] for path, facts in tree if path.startswith(prefix)}

    def _find(self, path: str, below: str) -> list[str]:
        if self._app.store.facts(below) is not None:
            return [below]
        paths = [*self._list(below)]
        if not paths:
            raise Refused(f"Error: The path {path} does not exist")
        return paths


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
    return MemoryTool(replace(opened.app, actor=ACTOR), allow_secret)


def path_for_memory_tool(path: str) -> str:
    """The path below the store, empty for the store itself; what is doubtful is refused.

    The directory handles of the store refuse again: they follow no link, whatever its name.
    """
    hint = f"give a path such as {ROOT}/progress.md"
    if not (path == ROOT or path.startswith(f"{ROOT}/")):
        raise BadInput(f"Path must start with {ROOT}, got: {_shown(path)}", next=hint)
    below = path[len(ROOT) :].removeprefix("/").removesuffix("/")
    parts = below.split("/") if below else []
    if any(part in ("", ".", "..") for part in parts) or unquote(below) != below:
        raise BadInput(f"Path {_shown(path)} would escape {ROOT} directory", next=hint)
    normal = unicodedata.normalize("NFKC", below)
    plain = below.isprintable() and "\\" not in below and _LOOK_ALIKE.isdisjoint(below)
    plain = plain and all(normal.count(mark) == below.count(mark) for mark in _MEANING)
    if not plain or any(part != part.strip() for part in parts) or len(below) > MAX_PATH_CHARACTERS:
        message = "is too long, or holds a character that is hidden or passes for a dot or a slash"
        raise BadInput(f"Path {_shown(path)} {message}", next=hint)
    return below


def _path(given: Input, key: str = "path") -> tuple[str, str]:
    """The path as answers show it, and the path below the store."""
    below = path_for_memory_tool(_text(given, key))
    return f"{ROOT}/{below}".rstrip("/"), below


def _shown(path: str) -> str:
    plain = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in path[:SHOWN_CHARACTERS])
    return plain + ("…" if len(path) > SHOWN_CHARACTERS else "")


def _text(given: Input, key: str, *, empty: bool = False) -> str:
    value = given.get(key, "" if key == "new_str" else None)
    if not isinstance(value, str) or not (value or empty):
        raise Refused(f"Error: {key} is needed, as a text")
    if value != _clean(value):
        raise Refused(f"Error: {key} holds half a character (a lone surrogate)")
    return value


def _range(given: Input, count: int) -> tuple[int, int]:
    value = given.get("view_range", (1, -1))
    if not isinstance(value, list | tuple) or [type(item) for item in value] != [int, int]:
        raise Refused("Error: view_range is [first line, last line]; -1 is the end")
    first, last = value
    return max(1, first), count if last == -1 else min(last, count)


def _number(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{at:>{NUMBER_COLUMNS}}\t{line}" for at, line in enumerate(lines, first))


def _view_folder(path: str, files: Mapping[str, int]) -> str:
    below = path.removeprefix(ROOT).removeprefix("/")
    sizes = {"": 0}
    for file, size in files.items():
        parts = file[len(below) :].removeprefix("/").split("/")
        if any(part[0] == "." or part == "node_modules" for part in parts):
            continue
        sizes[""] += size
        for depth in range(1, min(len(parts), DEPTH) + 1):
            name = "/".join(parts[:depth]) + ("/" if depth < len(parts) else "")
            sizes[name] = sizes.get(name, 0) + size
    head = (
        f"Here're the files and directories up to {DEPTH} levels deep in {path}, "
        "excluding hidden items and node_modules:"
    )
    # By whole parts: what is in a folder stands below it, not below `folder-2`.
    rows = sorted(sizes.items(), key=lambda row: row[0].rstrip("/").split("/"))
    lines = [f"{_size(size)}\t{path}{'/' if name else ''}{name}" for name, size in rows]
    return "\n".join([head, *lines])


def _size(count: float) -> str:
    """`0B`, `812B`, `1.5K`, `4K`, `1.2M`."""
    units = "BKMG"
    while count >= 1024 and len(units) > 1:
        count, units = count / 1024, units[1:]
    return f"{count:.1f}".removesuffix(".0") + units[0]


def _find_once(text: str, old: str, path: str) -> int:
    if text.count(old) == 1:
        return text.index(old)
    words = _shown(old) if len(old) > MAX_VIEW_CHARACTERS else old
    if old not in text:
        message = f"old_str `{words}` did not appear verbatim in {path}."
        if safe.BRACKET in old:
            message += f" Some < are shown as {safe.BRACKET}: write <."
        raise Refused(f"No replacement was performed, {message}")
    starts = islice(re.finditer(re.escape(old), text), MAX_MATCHES)
    lines = [str(text.count("\n", 0, match.start()) + 1) for match in starts]
    raise Refused(
        f"No replacement was performed. Multiple occurrences of old_str `{words}` in lines: "
        f"{', '.join(lines)}. Please ensure it is unique"
    )


def _harmless(text: str) -> str:
    """Each line as every other way out shows it; their number stays, for insert_line."""
    parts = re.split(r"(\r?\n)", text)
    return "".join([p if p[-1:] == "\n" else safe.inert(p).replace("\n", " ") for p in parts])


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text
