"""Payload in (JSON by `_json.make_scanner`), answer out, one net, starts the worker."""

import os
import sys
from time import time

from memdir.hot.catalog import connect
from memdir.hot.log import NESTED, take_report
from memdir.hot.place import (
    BUILT_IN,
    INDEX,
    SILENT,
    Around,
    Here,
    checkout_root,
    file_of,
    look,
    read,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Work = tuple[str, str, int]  # a stamp, the directory to work for, seconds between two starts


# Starts the worker that does what no session waits for: detached, seldom, one at a time.
#
# Hot path. The client waits for a hook's output to be closed, so the worker gets none of it.

PAUSE_SECONDS = 60  # between two starts for the same checkout
STAMP = ".started"
START = os.path.dirname(os.path.abspath(__file__)) + "/start.py"
WORKER = "worker"
NOTHING = "/dev/null"
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def start_worker(stamp: str, code: str, pause: int) -> bool:
    """True where one was started; not within `pause` seconds after the last one."""
    try:
        if abs(time() - os.stat(stamp).st_mtime) < pause:
            return False
    except OSError:
        pass  # the first time
    try:
        os.makedirs(os.path.dirname(stamp), 0o700, exist_ok=True)
        os.close(os.open(stamp, _FLAGS, 0o600))
        os.utime(stamp)
    except OSError:
        return False  # without a stamp, every prompt would start one
    try:
        _spawn([sys.executable, "-I", "-S", START, WORKER, code])
    except OSError:
        return False
    return True


def _spawn(command: list[str]) -> None:
    closed = [(os.POSIX_SPAWN_OPEN, 0, NOTHING, os.O_RDWR, 0)]
    closed += [(os.POSIX_SPAWN_DUP2, 0, 1), (os.POSIX_SPAWN_DUP2, 0, 2)]  # type: ignore[list-item]
    try:
        os.posix_spawn(command[0], command, os.environ, file_actions=closed, setsid=True)
    except NotImplementedError:  # a system without it: at least no signal of the client's group
        os.posix_spawn(command[0], command, os.environ, file_actions=closed, setpgroup=0)


# What a client hands to a hook, and the form of the answer. Hot path.
#
# SQLite reads and writes the JSON: it is here anyway, and the json module costs as much as the
# interpreter.

MOST_BYTES = 16 * 1024 * 1024  # of what a client hands over
NUL, SPACE = b"\\u0000", b"\\u0020"  # as JSON writes them
FIELDS = (
    *("session_id", "cwd", "prompt", "source", "agent_type", "transcript_path"),
    "last_assistant_message",
)
AGAIN = "stop_hook_active"
TRUE = 1  # as SQLite says it
CALL = ("tool_name", "tool_input.file_path", "tool_input.notebook_path", "tool_input.command")
TEXT = "CASE json_type(?1, '$.{0}') WHEN 'text' THEN json_extract(?1, '$.{0}') END"


class Event:
    """The fields that our hooks go by; one that is missing or no text is empty."""

    __slots__ = (
        *("_database", "_given", "again", "agent", "cwd", "last", "prompt", "session", "source"),
        "transcript",
    )

    def __init__(self, given: bytes) -> None:
        """Raises an error of SQLite where it is no JSON."""
        self._database = connect(":memory:")
        self._database.text_factory = bytes  # half of a character is no reason to fail
        # To SQLite a text ends at a zero.
        self._given = given.replace(NUL, SPACE).decode("utf-8", "replace")
        *texts, again = self._texts(FIELDS, f", json_extract(?1, '$.{AGAIN}')")
        self.session, self.cwd, self.prompt, self.source, self.agent, self.transcript = texts[:6]
        self.last = texts[6]
        self.again = again == TRUE  # the agent goes on because a hook said so

    def call(self) -> "Sequence[str]":
        """The tool that is to run, its file, its notebook, its command line."""
        return self._texts(CALL)

    def _texts(self, fields: "Sequence[str]", more: str = "") -> "list[Any]":
        query = f"SELECT {', '.join(map(TEXT.format, fields))}{more}"
        found = self._database.execute(query, (self._given,)).fetchone()
        texts = [one.decode("utf-8", "replace") if isinstance(one, bytes) else "" for one in found]
        return [*texts[: len(fields)], *found[len(fields) :]]

    def context(self, event: str, text: str) -> str:
        """The answer that adds a text to what the model reads."""
        query = (
            "SELECT json_object('hookSpecificOutput', json_object("
            "'hookEventName', ?, 'additionalContext', ?))"
        )
        return self._made(query, event, text)

    def deny(self, reason: str) -> str:
        """The answer that keeps a tool from running."""
        query = (
            "SELECT json_object('hookSpecificOutput', json_object('hookEventName', 'PreToolUse', "
            "'permissionDecision', 'deny', 'permissionDecisionReason', ?))"
        )
        return self._made(query, reason)

    def block(self, reason: str) -> str:
        """The answer that makes the agent go on at the end of its turn."""
        return self._made("SELECT json_object('decision', 'block', 'reason', ?)", reason)

    def with_report(self, answer: str, report: str) -> str:
        """The answer with a line that the user sees and no model reads."""
        query = (
            "SELECT json_set(?1, '$.systemMessage', "
            "coalesce(json_extract(?1, '$.systemMessage') || char(10), '') || ?2)"
        )
        return self._made(query, answer or "{}", report)

    def line(self, **fields: str | int) -> str:
        """These fields as one line of JSON."""
        pairs = ", ".join(f"'{name}', ?" for name in fields)
        return self._made(f"SELECT json_object({pairs})", *fields.values())

    def _made(self, query: str, *values: str | int) -> str:
        # Bytes of a memory that are no UTF-8 become marks.
        whole = [
            one.encode("utf-8", "replace").decode() if isinstance(one, str) else one
            for one in values
        ]
        made: bytes = self._database.execute(query, whole).fetchone()[0]
        return made.decode()


# One hook from end to end: what the client hands over in, the answer out. Hot path.
#
# Whatever goes wrong, the session goes on: no answer, no word on stderr, a line in our own log.

MAX_FILE_BYTES = 4 * 1024 * 1024
REPORTING = ("prompt", "session-start", "stop")  # whose message the client shows to the user
MEMORY_OFF = "memory=off"  # the client has none of its own


# The module and function that answer an event.
EVENTS = {
    "prompt": ("memdir.hot.prompt", "answer"),
    "session-start": ("memdir.hot.session_start", "answer"),
    "subagent-start": ("memdir.hot.session_start", "answer_subagent"),
    "stop": ("memdir.hot.stop", "answer"),
    "pre-compact": ("memdir.hot.stop", "answer"),
    "session-end": ("memdir.hot.stop", "answer"),
    "pre-tool": ("memdir.records.guard", "answer"),
}
END = "session-end"
END_SECONDS = 0.4  # after one second the client ends the hook, and tells the user


def main(arguments: list[str]) -> None:
    """Answer an event, or work off what hooks left."""
    event = arguments[0] if arguments else ""
    if event == WORKER:
        from memdir.worker import main as work

        work(arguments[1:])
    elif event in EVENTS:
        if event == END:
            _leave_in_time()
        run(event, arguments[1:])


def _leave_in_time() -> None:
    """Where the end of a session takes long, let the client go and do the rest without it."""
    # The module around it costs a millisecond.
    import _signal  # type: ignore[import-not-found, unused-ignore]

    def leave(*_: object) -> None:
        if os.fork():
            os._exit(0)
        os.setsid()
        nothing = os.open("/dev/null", os.O_RDWR)  # the client waits for what we could still say
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)

    _signal.signal(_signal.SIGALRM, leave)
    _signal.setitimer(_signal.ITIMER_REAL, END_SECONDS)


def run(event: str, arguments: list[str]) -> None:
    """Answer one event; `arguments` name the place, where nobody has to look for it."""
    if os.environ.get(NESTED):
        return  # we are what called the client
    state = arguments[0] if arguments else ""
    try:
        asked = Event(sys.stdin.buffer.read(MOST_BYTES))
        here = _named(arguments, asked) if arguments else find_here(asked.cwd)
        if here is None or SILENT in here.holds:
            return
        state = here.state
        module, name = EVENTS[event]
        answer = getattr(__import__(module, fromlist=[name]), name)
        text, work = answer(event, asked, here)
        if event in REPORTING and (report := take_report(here.state, here.checkout or asked.cwd)):
            text = asked.with_report(text, report)
        if text:
            sys.stdout.buffer.write(f"{text}\n".encode())
            sys.stdout.flush()
        if work:  # only after the answer: nobody waits for it
            start_worker(*work)
    except Exception as error:  # the one broad net: a memory is never worth a broken session
        from memdir.hot.log import log, trouble

        if state:
            log(state, event, trouble(error))


def find_here(cwd: str) -> Here | None:
    """What holds in a directory; None where that cannot be told, or must not be."""
    if not cwd.startswith("/") or "\0" in cwd:
        return None
    around = Around(cwd, os.environ)
    path = "" if around.doubtful else file_of(around, os.environ)
    here = read(path, around.seen) if path else None
    if here is None:
        from memdir.config.config import settle

        here = settle(cwd, os.environ, around, path)
    return here


def _named(arguments: list[str], asked: Event) -> Here | None:
    """The place that the arguments say: STATE CACHE SCOPE=DIRECTORY ..."""
    if len(arguments) < 2:
        return None
    state, cache, *named = arguments
    scopes = {scope: at for scope, equals, at in (one.partition("=") for one in named) if equals}
    holds = {INDEX} if MEMORY_OFF in named else {INDEX, BUILT_IN}
    scopes.pop(MEMORY_OFF.partition("=")[0], None)
    inside = asked.cwd.startswith("/") and "\0" not in asked.cwd
    code = checkout_root(asked.cwd, look) if inside else ""
    return Here(state, cache, code, frozenset(holds), scopes, MAX_FILE_BYTES)
