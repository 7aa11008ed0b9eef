"""The end of a turn, a compact, the end of a session: a line for the worker.

There is no answer, since text on Stop makes the agent continue; except if the user wants the agent
to save records.
"""

import os
from time import time

from memdir.hot.place import BY_AGENT, CALLER, CAPTURE_OFF, FOLDER, RECORDS, store_key
from memdir.hot.queue import Queue
from memdir.hot.run import STAMP, hook_trouble, log_hook, write_hook_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.hot.place import Here
    from memdir.hot.run import Event, Work

CLIENT = "claude-code"
STOP = "stop"
ENDS = ("pre-compact", "session-end")


def answer_stop_hook(event: str, asked: "Event", here: "Here") -> "tuple[str, Work | None]":
    if not asked.cwd.startswith("/"):
        return "", None
    text = ""
    theirs = os.environ.get(CALLER)  # other clients do not understand this answer
    root = here.scopes.get(RECORDS) or here.scopes.get("local", "")  # may not be there yet
    try:
        if event == STOP and BY_AGENT in here.holds and not theirs and root:
            from memdir.records.handover import hand_over_to_records

            text = hand_over_to_records(asked, here, root)
    finally:  # after it: capture leaves to the agent what was handed over
        if not asked.again:
            enqueue_stop(event, asked, here)
    if asked.again:
        return "", None
    stamp = os.path.join(here.cache, FOLDER, store_key(here.checkout or asked.cwd) + STAMP)
    # No pause: the last worker may be done, and this line would wait for the next event.
    return text, (stamp, here.checkout or asked.cwd, 0)


def enqueue_stop(event: str, asked: "Event", here: "Here") -> None:
    message = "not noted: the queue is full, or the line is too long"
    try:
        if not asked.cwd.startswith("/") or Queue(here.state).add(_line(event, asked, here)):
            return
    except OSError as error:
        message = hook_trouble(error)
    log_hook(here.state, event, message)


def _line(event: str, asked: "Event", here: "Here") -> bytes:
    """Names no conversation if capture is off."""
    fields = {"event": event, "cwd": asked.cwd, "time": int(time()), "tries": 0}
    if CAPTURE_OFF not in here.holds:
        fields |= {"session": asked.session, "transcript": asked.transcript}
        fields["client"] = os.environ.get(CALLER) or CLIENT
    return write_hook_json(fields).encode()
