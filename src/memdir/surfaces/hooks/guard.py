"""Before a tool runs: records are written by memdir alone. Hot path.

A write that a tool or a recognisable command line would make into them is denied, with what to do
instead. Their settings, Markdown memories beside them and everything else are the agent's.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.surfaces.hooks.detached import Work
    from memdir.surfaces.hooks.event import Event
    from memdir.surfaces.hooks.place import Here

WRITERS = ("Write", "Edit", "MultiEdit", "NotebookEdit")
SHELL = "Bash"
KNOWN = ("HOME", "PWD", "CLAUDE_PROJECT_DIR")  # variables that mean the same to us
SHOWN = 200  # characters of a path
WHY = (
    "{path} belongs to the project's structured records, which only memdir writes: it checks, "
    "indexes and keeps what was there before. Use `memdir records save` (new, or new text under "
    "the same title), `memdir records write --action update`, `memdir records retire NAME`, "
    "`archive` or `restore`. Only memory-config.json may be edited by hand."
)


def answer(event: str, asked: "Event", here: "Here") -> "tuple[str, Work | None]":
    """A denial, or nothing at all: what is not ours is for the client to decide."""
    root = here.records()
    if not root or not asked.cwd.startswith("/"):
        return "", None
    tool, path, notebook, line = asked.call()
    gone: list[str] = []
    if tool in WRITERS:
        paths = [path or notebook]
    elif tool == SHELL and line:
        from memdir.surfaces.hooks.shell import written

        variables = {name: os.environ[name] for name in KNOWN if name in os.environ}
        paths, gone = written(line, asked.cwd, variables | {"PWD": asked.cwd})
    else:
        return "", None
    real = os.path.realpath(root)
    for one in filter(None, (*paths, *gone)):
        if any(_is_guarded(place, real, one in gone) for place in _places(one, asked.cwd)):
            return asked.deny(WHY.format(path=one[:SHOWN])), None
    return "", None


def _places(path: str, cwd: str) -> list[str]:
    """Where it lies by its own name, and what it is a link to; nothing where nobody can tell."""
    if "\0" in path:
        return []
    home = os.environ.get("HOME", "")
    whole = os.path.join(cwd, home + path[1:] if home and path.startswith("~/") else path)
    above, _, last = whole.rstrip("/").rpartition("/")
    own = os.path.join(os.path.realpath(above or "/"), last)
    return [os.path.normpath(own), os.path.realpath(whole)]


def _is_guarded(path: str, root: str, gone: bool) -> bool:
    """Is it a record, their index, a folder of theirs or, to take it away, all of them?"""
    from memdir.core.memory import RECORD_FOLDERS, RECORD_INDEX

    parts, above = path.split("/"), root.split("/")
    if not all(map(_is_named, parts, above)):
        return False
    if len(parts) <= len(above):
        return gone
    return any(_is_named(parts[len(above)], name) for name in (*RECORD_FOLDERS, RECORD_INDEX))


def _is_named(pattern: str, name: str) -> bool:
    """Does a part of a path mean this name? A shell's `*` never means a hidden one."""
    if "*" not in pattern and "?" not in pattern:
        return pattern == name
    if name[:1] == "." and pattern[:1] != ".":
        return False
    from fnmatch import fnmatchcase

    return fnmatchcase(name, pattern)
