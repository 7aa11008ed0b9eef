"""The instructions for an agent on how to use memory, by mode, with or without indexes.

The text is in prompts/behaviour.md, in blocks. A block begins with a line `===` and its
conditions; without conditions it always applies.
"""

from memdir.hot import types
from memdir.hot.inject import render_injected_index
from memdir.hot.memory import MAX_LINES, POINTER_AIM, utf16_units
from memdir.hot.safe import inert_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memdir.hot.types import Type

NORMAL, TEAM, LOG = "normal", "team", "log"
MODES = (NORMAL, TEAM, LOG)
# Further conditions of blocks: memories are files, not lines of a log; with or without an index;
# others read the only directory; the index is empty.
FILES, INDEX, NO_INDEX, SHARED, EMPTY = "files", "index", "no-index", "shared", "empty"

BLOCK = "==="
# Same place in a checkout, an installed package and a plugin;
# importlib.resources would cost more than the rest of the hook.
WORDS = __file__.rpartition("/")[0] + "/prompts/behaviour.md"
PATH_BYTES = 800
INDEX_CHARACTERS = 30_000  # UTF-16 units of an index and its frame; the index is limited to 25,000


class Setting:
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
        self.shared = shared  # others read the whole store; in team mode only a part

    def holds(self) -> set[str]:
        met = {self.mode}
        if self.mode != LOG:
            met |= {FILES, INDEX if self.index else NO_INDEX}
        if self.shared and self.mode != TEAM:
            met.add(SHARED)
        return met


def agent_prompt(
    setting: Setting,
    indexes: "Sequence[tuple[str, str]] | None" = None,
    *,
    nonce: str = "",
    limit: int = 0,
) -> str:
    """`indexes` are (path, text) pairs; None omits them. `limit` is in UTF-16 units."""
    with open(WORDS, encoding="utf-8") as file:
        words = file.read()
    # Records are a separate store with its own types.
    known = [type for type in map(types.get, types.names()) if not type.record]
    holds = setting.holds()
    if SHARED in holds:  # personal memories do not belong in a shared store
        known = [type for type in known if type.scope != "private"]
    values = {
        "dir": inert_line(setting.root, PATH_BYTES),
        "logs": inert_line(setting.logs, PATH_BYTES),
        "types": "\n".join(describe_type(type, setting.mode == TEAM) for type in known),
        "names": " | ".join(type.name for type in known),
        "reasons": " and ".join(type.name for type in known if type.needs_why),
        "aim": str(POINTER_AIM),
        "lines": str(MAX_LINES),
    }
    text = _fill(words, holds, values)
    if not indexes:
        return text
    room = limit - utf16_units(text) if limit else INDEX_CHARACTERS * len(indexes)
    framed = _frame_indexes(indexes, nonce, room)
    return "\n\n".join([text, *framed]) if framed else _fill(words, {*holds, EMPTY}, values)


def describe_type(type: "Type", scoped: bool = False) -> str:
    texts = [(type.when_to_save, ". "), (type.how_to_use, ";")]
    texts += [(type.scope_lean, ":")] if scoped else []
    starts = [text.partition(end)[0].rstrip(".") for text, end in texts]
    return f"- {type.name}: {' → '.join(starts)}"


def _frame_indexes(indexes: "Sequence[tuple[str, str]]", nonce: str, room: int) -> list[str]:
    """Each index in its frame; room that short indexes leave goes to longer ones."""
    framed = [""] * len(indexes)
    left = len(indexes)
    for i in sorted(range(left), key=lambda i: len(indexes[i][1])):
        # Two line ends precede each index.
        framed[i] = render_injected_index(*indexes[i], nonce, room // left - 2)
        room -= utf16_units(framed[i]) + 2 if framed[i] else 0
        left -= 1
    return [text for text in framed if text]


def _fill(words: str, holds: set[str], values: dict[str, str]) -> str:
    lines: list[str] = []
    chosen = False
    for line in words.split("\n"):
        if line.startswith(BLOCK):
            chosen = holds.issuperset(line[len(BLOCK) :].split())
        elif chosen:
            lines.append(line)
    first, *rest = "\n".join(lines).strip("\n").split("$")
    parts = [first]
    for part in rest:  # in a single pass: a directory may be named `$types`
        name = next(key for key in values if part.startswith(key))
        parts += [values[name], part[len(name) :]]
    return "".join(parts)
