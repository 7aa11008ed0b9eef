"""What an agent is told of the memory that agents of its name have. Hot path.

The client itself loads the one scope that an agent's definition names, where its own memory is on:
that one is not told twice.
"""

import os

from memdir.core import frontmatter
from memdir.core.frontmatter import utf16_units
from memdir.core.inert import inert_line
from memdir.core.injection import HOOK_CHARACTERS, frame, listing
from memdir.surfaces.hooks.opening import NONCE_BYTES, read_index
from memdir.surfaces.hooks.place import BUILT_IN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.surfaces.hooks.place import Here

PATH_BYTES = 800
RESERVED = 1000  # characters for the frame
DEFINITION_BYTES = 16 * 1024
MOST_DEFINITIONS = 300
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_HOW = (
    "Agents of your name keep a memory of their own in {dir}: Markdown files, one for each memory, "
    "and an index of them, which follows. Read the file of a line that bears on your task, and see "
    "that what it says still holds. What later runs should know, and code or git do not show, save "
    "there as a file of its own with one line in MEMORY.md."
)


def told(agent: str, places: list[tuple[str, str]], here: "Here") -> str:
    """How to use it and the index of each place, in one frame; empty where there is no index."""
    if BUILT_IN in here.holds:
        loaded = _loaded_by_client(agent, here)
        places = [(place, root) for place, root in places if place != loaded]
    parts: list[str] = []
    room = HOOK_CHARACTERS - RESERVED
    for number, (_, root) in enumerate(places):
        part = _part(root, room // (len(places) - number), here)
        room -= utf16_units(part) + 2
        parts += [part] if part else []
    return frame(os.urandom(NONCE_BYTES).hex(), [], [], "\n\n".join(parts)).text


def _part(root: str, room: int, here: "Here") -> str:
    how = _HOW.format(dir=inert_line(root, PATH_BYTES))
    found = read_index("agent", root, here)
    listed = listing(*found, room - utf16_units(how) - 2) if found else ""
    return f"{how}\n\n{listed}" if listed else ""


def _loaded_by_client(agent: str, here: "Here") -> str:
    """The scope that the agent's definition names as its memory; empty where it names none."""
    for folder in _definition_folders(here):
        for path in _definitions(folder, agent):
            header = frontmatter.read(_start_of(path))
            if header.values.get("name", "").strip() == agent:
                return header.values.get("memory", "").strip()
    return ""


def _definition_folders(here: "Here") -> list[str]:
    # The memories of all agents of a user lie beside their definitions.
    user = here.scopes.get("user", "").rpartition("/")[0]
    folders = [here.checkout and f"{here.checkout}/.claude/agents", user and f"{user}/agents"]
    return [folder for folder in folders if folder]


def _definitions(folder: str, agent: str) -> list[str]:
    """The files of a folder, the one that is called like the agent first."""
    try:
        names = [name for name in os.listdir(folder) if name.endswith(".md")]
    except OSError:
        return []
    names.sort(key=lambda name: (name != f"{agent}.md", name))
    return [f"{folder}/{name}" for name in names[:MOST_DEFINITIONS]]


def _start_of(path: str) -> str:
    try:
        handle = os.open(path, _READ)
        try:
            return os.read(handle, DEFINITION_BYTES).decode("utf-8", "replace")
        finally:
            os.close(handle)
    except OSError:
        return ""
