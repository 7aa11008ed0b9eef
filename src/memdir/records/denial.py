"""Before a tool runs: deny writes into the project's records, and name the right command.

Hot path. In Bash only plain commands are recognized: this prevents mistakes, not attacks.
"""

import os

from memdir.hot.guard import UNKNOWN, read_commands
from memdir.hot.memory import RECORD_FOLDERS, RECORD_INDEX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from memdir.hot.place import Here
    from memdir.hot.run import Event, Work

    Written = tuple[str, str, bool]  # path, directory, True if everything below it goes, too

WRITERS = ("Write", "Edit", "MultiEdit", "NotebookEdit")
SHELL = "Bash"
MAX_SHOWN_CHARACTERS = 200  # of a path
WHY = (
    "{path} belongs to the project's structured records, which only memdir writes: it checks, "
    "indexes and keeps what was there before. Use `memdir records save` (new, or new text under "
    "the same title), `memdir records write --action update`, `memdir records retire NAME`, "
    "`archive` or `restore`. Only memory-config.json may be edited by hand."
)
EVERY_WORD = ("rm", "rmdir", "unlink", "shred", "tee", "touch", "truncate", "dd", "curl", "wget")
LAST_WORD = ("cp", "mv", "ln", "install", "rsync", "scp")
IN_PLACE = ("sed", "perl")


def guard_records(event: str, asked: "Event", here: "Here") -> "tuple[str, Work | None]":
    """A denial, or nothing: the client decides about everything else."""
    root = here.records()
    if not root or not asked.cwd.startswith("/"):
        return "", None
    tool, path, notebook, line = asked.call()
    writes = [(path or notebook, asked.cwd, False)] if tool in WRITERS else []
    if tool == SHELL:
        writes = list(find_writes_to_records(line, asked.cwd))
    real = os.path.realpath(root)
    for name, cwd, with_all_below in writes:
        if any(_is_guarded(place, real, with_all_below) for place in _places(name, cwd)):
            path = os.path.join(cwd, name)[:MAX_SHOWN_CHARACTERS]
            return asked.deny(WHY.format(path=path)), None
    return "", None


def _places(path: str, cwd: str) -> list[str]:
    home = os.environ.get("HOME", "")
    whole = os.path.join(cwd, home + path[1:] if home and path.startswith("~/") else path)
    if not path or "\0" in path or whole[0] != "/":
        return []
    above, _, last = whole.rstrip("/").rpartition("/")
    own = os.path.join(os.path.realpath(above or "/"), last)
    return [os.path.normpath(own), os.path.realpath(whole)]


def _is_guarded(path: str, root: str, with_all_below: bool) -> bool:
    """True for a record, the index, a record folder or, if it is removed, a parent of them."""
    parts, above = path.split("/"), root.split("/")
    if not all(map(_means, parts, above)):
        return False
    if len(parts) <= len(above):
        return with_all_below
    return any(_means(parts[len(above)], name) for name in (*RECORD_FOLDERS, RECORD_INDEX))


def _means(pattern: str, name: str) -> bool:
    """True if a part of a path matches the name; a shell's `*` matches no hidden file."""
    if "*" not in pattern and "?" not in pattern:
        return pattern == name
    if name[:1] == "." and pattern[:1] != ".":
        return False
    from fnmatch import fnmatchcase

    return fnmatchcase(name, pattern)


def find_writes_to_records(line: str, cwd: str) -> "Iterator[Written]":
    """What redirects and plain commands write; a here-document is not read."""
    place = cwd
    for simple in read_commands(line, {"PWD": cwd, "HOME": "~"}):
        if simple.subshell == ")":
            place = cwd  # a subshell has its own directory
        for target in simple.targets:
            yield target, place, False
        place = yield from _run(simple.words or [""], place)


def _run(words: list[str], cwd: str) -> "Generator[Written, None, str]":
    """The writes of one command; returns the directory that is left, empty if unknown."""
    name, *given = words
    options = [word for word in given if word[:1] == "-"]
    rest = [word for word in given if word not in options]
    if name == "cd":
        return os.path.join(cwd, rest[0]) if cwd and rest and UNKNOWN not in rest[0] else ""
    # -i, -i.bak, -pi, -ni
    in_place = [it for it in options if it[:2] == "-i" or it.partition(".")[0][-1] == "i"]
    if name in EVERY_WORD or (name in IN_PLACE and in_place):
        recursive = name == "rm" and any("r" in option.lower() for option in options)
        for word in rest:
            yield word.removeprefix("of="), cwd, recursive
    elif name in LAST_WORD and rest:
        *sources, into = rest
        yield into, cwd, False
        for source in sources:
            yield f"{into}/{source.rstrip('/').rpartition('/')[2]}", cwd, False
            if name == "mv":
                yield source, cwd, True
    return cwd
