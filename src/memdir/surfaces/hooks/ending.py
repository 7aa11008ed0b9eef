"""The end of a turn, a compact, the end of a session: one line for the worker. Hot path.

No answer, ever: a text on Stop would make the agent go on.
"""

import os
from time import time

from memdir.adapters.queue import Queue
from memdir.core.store_key import store_key
from memdir.surfaces.hooks.detached import PAUSE_SECONDS, STAMP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.surfaces.hooks.detached import Work
    from memdir.surfaces.hooks.event import Event
    from memdir.surfaces.hooks.place import Here

STOP = "stop"
FOLDER = "places"


def answer(event: str, asked: "Event", here: "Here") -> "tuple[str, Work | None]":
    """Note it, and have the worker look: after a turn seldom, at an end in any case."""
    if asked.again or not asked.cwd.startswith("/"):
        return "", None
    line = asked.line(
        event=event,
        session=asked.session,
        transcript=asked.transcript,
        cwd=asked.cwd,
        time=int(time()),
        tries=0,
    )
    if not Queue(here.state).add(line.encode()):
        from memdir.adapters.log_file import log

        log(here.state, event, "not noted: the queue is full, or the line is too long")
    stamp = os.path.join(here.cache, FOLDER, store_key(here.checkout or asked.cwd) + STAMP)
    return "", (stamp, here.checkout or asked.cwd, PAUSE_SECONDS if event == STOP else 0)
