"""The answers and errors of the memory tool, in the words of its documentation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

from memdir.flows.filing import File
from memdir.surfaces.memory_tool.paths import ROOT

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
