"""The start of a session: standing rules; if the client's memory is off, also how to use ours.

A session is told once, and again after a clear or compact. A subagent gets the memory of agents of
its name.
"""

import os
from time import time

from memdir.errors import MemdirError
from memdir.hot import memory
from memdir.hot.acceptance import hook_view_without_waiting
from memdir.hot.disk import digest_of, read_start
from memdir.hot.inject import HOOK_CHARACTERS, list_index_to_inject, render_hook_frame
from memdir.hot.layout import Markdown
from memdir.hot.memory import MAX_CHARACTERS, MAX_LINES, decode, utf16_units
from memdir.hot.place import BUILT_IN, CALLER, FOLDER, INDEX, LOGS, SHARED, store_key
from memdir.hot.queue import enqueue_stop
from memdir.hot.recall import loaded_part
from memdir.hot.run import Sessions
from memdir.hot.safe import inert_line
from memdir.hot.standing import standing_rules_for_hook, without_told_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.hot.place import Here
    from memdir.hot.run import Event, Work

SUBAGENT_START = "SubagentStart"
SESSION_START = "SessionStart"
FORK = "fork"  # a fork knows everything its session was told
ANEW = ("clear", "compact")
PROJECT, TEAM = "project", "team"
NONCE_BYTES = 4
BEGUN = ".begun"  # a separate stamp, so the worker after the first turn is not delayed
PATH_BYTES = 800
SETTLED_SECONDS = 10  # from loading the index to this hook
FRAME_CHARACTERS = 1000  # reserved for the frame of indexes
DEFINITION_BYTES = 16 * 1024
MAX_DEFINITIONS = 300
_HOW = (
    "Agents of your name keep a memory of their own in {dir}: Markdown files, one for each memory, "
    "and an index of them, which follows. Read the file of a line that bears on your task, and see "
    "that what it says still holds. What later runs should know, and code or git do not show, save "
    "there as a file of its own with one line in MEMORY.md."
)


def answer_session_start_hook(
    event: str, asked: "Event", here: "Here"
) -> "tuple[str, Work | None]":
    if asked.source == FORK:
        return "", None
    sessions = Sessions(here.state)
    if asked.source in ANEW:
        sessions.begin_anew(asked.session)
    root = here.scopes.get(PROJECT, "")
    try:
        if root and not os.path.isdir(root):
            Markdown(root).make()
    except MemdirError:
        pass  # disk full or read-only: there may still be rules to tell
    nonce = os.urandom(NONCE_BYTES).hex()
    rules, notice = standing_rules_for_hook(here)
    index = read_index_at_session_start(PROJECT, root, here) if root else None
    sessions.keep_index(asked.session, loaded_part(_settled(*index)) if index else "")
    text = _text(here, rules, nonce, index[1] if index else "")
    whole = text.replace(nonce, "") + notice
    is_new = bool(whole) and _is_new(whole, sessions, asked.session)
    enqueue_stop(event, asked, here)  # if the session is killed, the next start catches up
    work = None
    if asked.cwd.startswith("/"):  # a memory must be in the history before the agent can delete it
        code = here.checkout or asked.cwd
        work = os.path.join(here.cache, FOLDER, store_key(code) + BEGUN), code, 0
    if not is_new:
        return "", work
    if os.environ.get(CALLER):  # only Claude Code shows our line to the user
        text, notice = "\n\n".join(filter(None, [text, notice])), ""
    if text and (folder := here.told_folder()):
        asked.told = folder, len(text), (), ()
    answer = asked.context(SESSION_START, text) if text else ""
    return asked.with_report(answer, notice) if notice else answer, work


def _settled(path: str, index: str) -> str:
    """Empty if it changed a moment ago: the client may have loaded the one before."""
    try:
        return index if time() - os.stat(path).st_mtime > SETTLED_SECONDS else ""
    except OSError:
        return ""


def _is_new(text: str, sessions: Sessions, session: str) -> bool:
    """False if the session was told the same before; of two hooks at once, one wins."""
    data = text.encode("utf-8", "replace")
    mark = f"start {digest_of(data)[:16]} {len(data)}"
    state = sessions.load(session)
    if mark in state.surfaced:
        return False
    start = sessions.add_told(session, [mark], len(data))
    return start <= state.end or mark not in sessions.load(session, start).surfaced


def _text(here: "Here", standing: str, nonce: str, index: str) -> str:
    hint = _hint_at_long_index(index)
    if PROJECT not in here.scopes or (BUILT_IN in here.holds and LOGS not in here.holds):
        rules = _rules_and_other_indexes(here, standing, nonce)
        return "\n\n".join(filter(None, [rules, hint]))
    rules = render_hook_frame(nonce, [], [], standing).text
    rules = "\n\n".join(filter(None, [rules, hint]))
    from memdir.hot.behaviour import LOG, NORMAL, Setting, agent_prompt
    from memdir.hot.behaviour import TEAM as BOTH

    stores = {} if BUILT_IN in here.holds else dict(here.stores())
    mode = LOG if LOGS in here.holds else BOTH if TEAM in stores else NORMAL
    setting = Setting(here.scopes[PROJECT], mode, INDEX in here.holds, SHARED in here.holds)
    room = HOOK_CHARACTERS - (utf16_units(rules) + 2 if rules else 0)
    indexes = [
        told
        for scope, root in stores.items()
        if (told := read_index_at_session_start(scope, root, here, standing))
    ]
    text = agent_prompt(setting, indexes, nonce=nonce, limit=room)
    return "\n\n".join(filter(None, [text, rules]))


def _rules_and_other_indexes(here: "Here", standing: str, nonce: str) -> str:
    """The client loads only the project's index."""
    parts = [standing]
    others = [(scope, root) for scope, root in here.stores() if scope != PROJECT]
    room = HOOK_CHARACTERS - FRAME_CHARACTERS - utf16_units(standing)
    for left, (scope, root) in zip(range(len(others), 0, -1), others, strict=True):
        other = read_index_at_session_start(scope, root, here, standing)
        parts.append(list_index_to_inject(*other, room // left) if other else "")
        room -= utf16_units(parts[-1]) + 2
    return render_hook_frame(nonce, [], [], "\n\n".join(filter(None, parts))).text


def _hint_at_long_index(index: str) -> str:
    """Nobody sees the end of an index that is too long, so somebody has to say it."""
    lines, characters = index.count("\n"), utf16_units(index)
    if lines <= MAX_LINES and characters <= MAX_CHARACTERS:
        return ""
    return (
        f"The memory index has {lines:,} lines and {characters:,} characters; no agent sees more "
        f"than {MAX_LINES} and {MAX_CHARACTERS:,}. Tell the user once, and offer to run "
        "`memdir restructure --dry-run`."
    )


def read_index_at_session_start(
    scope: str, root: str, here: "Here", standing: str = ""
) -> tuple[str, str] | None:
    store = Markdown(root, here.max_file_bytes)
    try:
        view = hook_view_without_waiting(scope, store, here)
        index = decode((view or store).index() or b"")
        index = index if scope == PROJECT else without_told_lines(index, standing)
        return f"{root}/{store.index_path}", index
    except MemdirError:
        return None


def answer_subagent_start_hook(
    event: str, asked: "Event", here: "Here"
) -> "tuple[str, Work | None]":
    places = here.agents(asked.agent) if asked.agent else []
    if places and BUILT_IN in here.holds:
        # The client loads the scope in the agent's definition itself.
        loaded = _loaded_by_client(asked.agent, here)
        places = [(place, root) for place, root in places if place != loaded]
    parts: list[str] = []
    room = HOOK_CHARACTERS - FRAME_CHARACTERS
    for number, (_, root) in enumerate(places):
        how = _HOW.format(dir=inert_line(root, PATH_BYTES))
        share = room // (len(places) - number) - utf16_units(how) - 2
        index = read_index_at_session_start("agent", root, here)
        listed = list_index_to_inject(*index, share) if index else ""
        if listed:
            parts.append(f"{how}\n\n{listed}")
            room -= utf16_units(parts[-1])
        room -= 2
    text = render_hook_frame(os.urandom(NONCE_BYTES).hex(), [], [], "\n\n".join(parts)).text
    return asked.context(SUBAGENT_START, text) if text else "", None


def _loaded_by_client(agent: str, here: "Here") -> str:
    # Memories of a user's agents are stored beside the agents' definitions.
    user = here.scopes.get("user", "").rpartition("/")[0]
    folders = [here.checkout and f"{here.checkout}/.claude/agents", user and f"{user}/agents"]
    for folder in filter(None, folders):
        try:
            names = [name for name in os.listdir(folder) if name.endswith(".md")]
        except OSError:
            continue
        names.sort(key=lambda name: (name != f"{agent}.md", name))
        for name in names[:MAX_DEFINITIONS]:
            try:
                start = read_start(f"{folder}/{name}", DEFINITION_BYTES)[0]
            except OSError:
                continue
            values = memory.read_header(start.decode("utf-8", "replace")).values
            if values.get("name", "").strip() == agent:
                return values.get("memory", "").strip()
    return ""
