"""SessionStart, SubagentStart."""

import os
from binascii import crc32

from memdir.errors import MemdirError
from memdir.hot import memory
from memdir.hot.acceptance import view_of
from memdir.hot.inject import HOOK_CHARACTERS, Sessions, frame, listing
from memdir.hot.layout import Markdown
from memdir.hot.memory import decode, utf16_units
from memdir.hot.place import BUILT_IN, INDEX, SHARED, store_key
from memdir.hot.place import FOLDER as PLACES
from memdir.hot.safe import inert_line
from memdir.hot.standing import standing_text
from memdir.hot.stop import CALLER, enqueue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.hot.place import Here
    from memdir.hot.run import Event, Work


# The start of an agent that another one called: the memory that agents of its name have.
#
# Hot path. Most agents have none, so what tells it is imported where one has.

SUBAGENT_START = "SubagentStart"


def answer_subagent(event: str, asked: "Event", here: "Here") -> "tuple[str, Work | None]":
    """What an agent of that name should know; nothing where it has no memories."""
    places = here.agents(asked.agent) if asked.agent else []
    if not places:
        return "", None
    # MOVED

    text = told(asked.agent, places, here)
    return asked.context(SUBAGENT_START, text) if text else "", None


# The start of a session: the standing rules; where the client has no memory on, all of it.
#
# Hot path. A session is told once, until a clear or a compact begins it anew.

SESSION_START = "SessionStart"
FORK = "fork"  # it goes on with what its session was told
ANEW = ("clear", "compact")
PROJECT, TEAM = "project", "team"
NONCE_BYTES = 4
BEGUN = ".begun"  # a stamp of its own: the worker after the first turn is not put off by it


def answer(event: str, asked: "Event", here: "Here") -> "tuple[str, Work | None]":
    """What a session starts with; nothing where it has that already."""
    if asked.source == FORK:
        return "", None
    sessions = Sessions(here.state)
    if asked.source in ANEW:
        sessions.begin_anew(asked.session)
    _make(here)
    nonce = os.urandom(NONCE_BYTES).hex()
    rules, notice = standing_text(here)
    text = _text(here, rules, nonce)
    whole = text.replace(nonce, "") + notice
    is_new = bool(whole) and _is_new(whole, sessions, asked.session)
    enqueue(event, asked, here)  # should the session be killed, the next start makes up for it
    if not is_new:
        return "", _work(asked.cwd, here)
    if os.environ.get(CALLER):  # only Claude Code shows the user a line of ours
        text, notice = "\n\n".join(filter(None, [text, notice])), ""
    told = asked.context(SESSION_START, text) if text else ""
    told = asked.with_report(told, notice) if notice else told
    return told, _work(asked.cwd, here)


def _is_new(text: str, sessions: Sessions, session: str) -> bool:
    """False where the session was told the same before; two hooks at once tell it once."""
    data = text.encode("utf-8", "replace")
    mark = f"start {crc32(data):08x} {len(data)}"
    with sessions.held(session):
        if mark in sessions.load(session).surfaced:
            return False
        sessions.add_told(session, [mark], len(data))
    return True


def _work(cwd: str, here: "Here") -> "Work | None":
    """Have the memories kept in the history: what the agent deletes must have been seen before."""
    if not cwd.startswith("/"):
        return None
    from memdir.hot.run import PAUSE_SECONDS

    code = here.checkout or cwd
    return os.path.join(here.cache, PLACES, store_key(code) + BEGUN), code, PAUSE_SECONDS


def _make(here: "Here") -> None:
    """The agent is told that the directory exists, by us or by its client: so it does."""
    root = here.scopes.get(PROJECT, "")
    if root and not os.path.isdir(root):
        try:
            Markdown(root).make()
        except MemdirError:
            return  # a disk that is full or read-only: there may still be rules to tell


def _text(here: "Here", standing: str, nonce: str) -> str:
    rules = frame(nonce, [], [], standing).text
    if BUILT_IN in here.holds or PROJECT not in here.scopes:
        return rules
    from memdir.hot.behaviour import NORMAL, Setting, instruct
    from memdir.hot.behaviour import TEAM as BOTH

    stores = dict(here.stores())
    mode = BOTH if TEAM in stores else NORMAL
    setting = Setting(here.scopes[PROJECT], mode, INDEX in here.holds, SHARED in here.holds)
    room = HOOK_CHARACTERS - (utf16_units(rules) + 2 if rules else 0)
    indexes = [found for scope, root in stores.items() if (found := read_index(scope, root, here))]
    text = instruct(setting, indexes, nonce=nonce, limit=room)
    return "\n\n".join(filter(None, [text, rules]))


def read_index(scope: str, root: str, here: "Here") -> tuple[str, str] | None:
    """The path and the text of a store's index; None where it cannot be read."""
    store = Markdown(root, here.most_bytes)
    try:
        view = view_of(scope, store, here)
        return f"{root}/{store.index_path}", decode((view or store).index() or b"")
    except MemdirError:
        return None


# What an agent is told of the memory that agents of its name have. Hot path.
#
# The client itself loads the one scope that an agent's definition names, where its own memory is
# on: that one is not told twice.

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
            header = memory.read(_start_of(path))
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
