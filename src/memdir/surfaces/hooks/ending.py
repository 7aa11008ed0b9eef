"""The end of a turn, a compact, the end of a session: one line for the worker. Hot path.

No answer, ever: a text on Stop would make the agent go on.
"""

import os
from time import time

from memdir.adapters.queue import LONGEST, Queue
from memdir.core.store_key import store_key
from memdir.surfaces.hooks.detached import PAUSE_SECONDS, STAMP
from memdir.surfaces.hooks.place import UNHEARD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.surfaces.hooks.detached import Work
    from memdir.surfaces.hooks.event import Event
    from memdir.surfaces.hooks.place import Here

CLIENT = "claude-code"
ENDS = ("pre-compact", "session-end")
FOLDER = "places"
LAST_CHARACTERS = 1_000  # at the end of the last reply, which may not be in the transcript yet


def answer(event: str, asked: "Event", here: "Here") -> "tuple[str, Work | None]":
    """Note it, and have the worker look: after a turn seldom, at an end in any case."""
    if asked.again or not asked.cwd.startswith("/"):
        return "", None
    enqueue(event, asked, here)
    stamp = os.path.join(here.cache, FOLDER, store_key(here.checkout or asked.cwd) + STAMP)
    return "", (stamp, here.checkout or asked.cwd, 0 if event in ENDS else PAUSE_SECONDS)


def enqueue(event: str, asked: "Event", here: "Here") -> None:
    """A line in the queue; where that is impossible, one in the log: no answer waits for it."""
    what = "not noted: the queue is full, or the line is too long"
    try:
        if not asked.cwd.startswith("/") or Queue(here.state).add(_line(event, asked, here)):
            return
    except OSError as error:
        from memdir.adapters.log_file import trouble

        what = trouble(error)
    from memdir.adapters.log_file import log

    log(here.state, event, what)


def _line(event: str, asked: "Event", here: "Here") -> bytes:
    """What the worker needs; where nothing is learned, nothing of the conversation."""
    fields: dict[str, str | int] = {"event": event, "cwd": asked.cwd, "time": int(time())}
    fields["tries"] = 0
    if UNHEARD in here.holds:
        return asked.line(**fields).encode()
    fields |= {"session": asked.session, "transcript": asked.transcript, "client": CLIENT}
    if asked.last:
        line = asked.line(**fields, last=asked.last[-LAST_CHARACTERS:]).encode()
        if len(line) < LONGEST:
            return line
    return asked.line(**fields).encode()
