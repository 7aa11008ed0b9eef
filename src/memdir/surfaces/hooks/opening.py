"""The start of a session: the standing rules; where the client has no memory on, all of it.

Hot path. A session is told once, until a clear or a compact begins it anew.
"""

import os
from binascii import crc32

from memdir.adapters.layouts.markdown import Markdown
from memdir.adapters.sessions import Sessions
from memdir.core.errors import MemdirError
from memdir.core.frontmatter import decode, utf16_units
from memdir.core.injection import HOOK_CHARACTERS, frame
from memdir.core.store_key import store_key
from memdir.surfaces.hooks.ending import CALLER, enqueue
from memdir.surfaces.hooks.place import BUILT_IN, INDEX, SHARED
from memdir.surfaces.hooks.place import FOLDER as PLACES
from memdir.surfaces.hooks.standing import standing_text
from memdir.surfaces.hooks.told import view_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.surfaces.hooks.detached import Work
    from memdir.surfaces.hooks.event import Event
    from memdir.surfaces.hooks.place import Here

NAME = "SessionStart"
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
    told = asked.context(NAME, text) if text else ""
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
    from memdir.surfaces.hooks.detached import PAUSE_SECONDS

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
    from memdir.core.prompting import NORMAL, Setting
    from memdir.core.prompting import TEAM as BOTH
    from memdir.steps.instruct import instruct

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
