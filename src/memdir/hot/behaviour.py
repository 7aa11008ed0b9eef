"""How an agent is told to use memory."""

from memdir.hot import types
from memdir.hot.inject import contents
from memdir.hot.memory import MAX_LINES, POINTER_AIM, utf16_units
from memdir.hot.safe import inert_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memdir.hot.types import Type


# The prompt that tells an agent how to use its memory: which words for which mode. Hot path.
#
# The words come in as a text of blocks. A block begins with a line `===` and the conditions under
# which it is said; with none it is always said. What else comes in is data: the directory, the
# types and, on the second level, the indexes.

NORMAL, TEAM, LOG = "normal", "team", "log"
MODES = (NORMAL, TEAM, LOG)
# Further conditions: a memory is a file of its own and no line of a log, with or without a line in
# the index; other people read the only directory there is; nothing is in the index yet.
FILES, INDEX, NO_INDEX, SHARED, EMPTY = "files", "index", "no-index", "shared", "empty"

BLOCK = "==="
VALUE = "$"
PATH_BYTES = 800
INDEX_CHARACTERS = 30_000  # UTF-16 units of one index with its frame: its own limit is 25,000


class Setting:
    """What decides the words: the directory, the mode, and whether there is an index to keep."""

    __slots__ = ("index", "logs", "mode", "root", "shared")

    def __init__(
        self,
        root: str,
        mode: str = NORMAL,
        index: bool = True,
        shared: bool = False,
        logs: str = "",
    ) -> None:
        if mode not in MODES:
            raise ValueError(f"a mode is one of {', '.join(MODES)}, not {mode!r}")
        self.root = root
        self.logs = logs or f"{root}/logs"
        self.mode = mode
        self.index = index
        self.shared = shared  # other people read all of it; in a team they read one part

    def holds(self) -> set[str]:
        """The conditions that are met."""
        met = {self.mode}
        if self.mode != LOG:
            met |= {FILES, INDEX if self.index else NO_INDEX}
        if self.shared and self.mode != TEAM:
            met.add(SHARED)
        return met


def behaviour(words: str, types: "Sequence[Type]", setting: Setting, *more: str) -> str:
    """The first level: eight sections, no text of a memory. `more` are conditions that hold too."""
    values = {
        "dir": inert_line(setting.root, PATH_BYTES),
        "logs": inert_line(setting.logs, PATH_BYTES),
        "types": "\n".join(type_line(one, setting.mode == TEAM) for one in types),
        "names": " | ".join(one.name for one in types),
        "reasons": " and ".join(one.name for one in types if one.needs_why),
        "aim": str(POINTER_AIM),
        "lines": str(MAX_LINES),
    }
    return _filled(_chosen(words, setting.holds().union(more)), values)


def with_indexes(
    words: str,
    types: "Sequence[Type]",
    setting: Setting,
    indexes: "Sequence[tuple[str, str]]",
    nonce: str,
    limit: int = 0,
) -> str:
    """The second level: `indexes` are pairs of a path and a text, each shown inert in a frame.

    Each is cut to its own limits; with a `limit` (UTF-16 units), the whole to that one, too.
    """
    text = behaviour(words, types, setting)
    room = limit - utf16_units(text) if limit else INDEX_CHARACTERS * len(indexes)
    shown = _shown(indexes, nonce, room)
    if indexes and not any(shown):
        return behaviour(words, types, setting, EMPTY)
    return "\n\n".join([text, *filter(None, shown)])


def type_line(type: "Type", scoped: bool = False) -> str:
    """When to save it, how to use it, and in a team whose it is: how each of its texts begins."""
    said = [_start(type.when_to_save, ". "), _start(type.how_to_use, ";")]
    said += [_start(type.scope_lean, ":")] if scoped else []
    return f"- {type.name}: {' → '.join(said)}"


def _start(text: str, end: str) -> str:
    return text.partition(end)[0].rstrip(".")


def _shown(indexes: "Sequence[tuple[str, str]]", nonce: str, room: int) -> list[str]:
    """Each index in its frame; what a short one leaves of its share is for the longer ones."""
    shown = [""] * len(indexes)
    left = len(indexes)
    for at in sorted(range(left), key=lambda at: len(indexes[at][1])):
        # Two line ends stand in front of each.
        shown[at] = contents(*indexes[at], nonce, room // left - 2)
        room -= utf16_units(shown[at]) + 2 if shown[at] else 0
        left -= 1
    return shown


def _chosen(words: str, holds: set[str]) -> str:
    """The blocks whose conditions all hold."""
    lines: list[str] = []
    said = False
    for line in words.split("\n"):
        if line.startswith(BLOCK):
            said = holds.issuperset(line[len(BLOCK) :].split())
        elif said:
            lines.append(line)
    return "\n".join(lines).strip("\n")


def _filled(words: str, values: dict[str, str]) -> str:
    """Every `$name` by its value, in one pass: a directory may be called `$types`."""
    first, *rest = words.split(VALUE)
    parts = [first]
    for part in rest:
        name = next(key for key in values if part.startswith(key))
        parts += [values[name], part[len(name) :]]
    return "".join(parts)


# instruct: tell an agent how to use its memory, with or without its indexes. Hot path.

PRIVATE = "private"  # the scope of a type that is nobody else's business
# Beside this file in a checkout, in an installed package and in a plugin's folder alike;
# importlib.resources would cost more than everything else here.
WORDS = __file__.rpartition("/")[0] + "/prompts/behaviour.md"


def instruct(
    setting: Setting,
    indexes: "Sequence[tuple[str, str]] | None" = None,
    *,
    nonce: str = "",
    limit: int = 0,
) -> str:
    """The prompt for this setting; `indexes` are pairs of a path and a text, None leaves them out.

    With a `limit` (UTF-16 units) the indexes get what the words leave of it.
    """
    with open(WORDS, encoding="utf-8") as file:
        words = file.read()
    # Records have a store of their own, whose types are chosen when it is written.
    known = [one for one in map(types.get, types.names()) if not one.record]
    if SHARED in setting.holds():  # what is personal has no place where others read
        known = [one for one in known if one.scope != PRIVATE]
    if indexes is None:
        return behaviour(words, known, setting)
    return with_indexes(words, known, setting, indexes, nonce, limit)
