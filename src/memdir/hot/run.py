"""Runs a hook: reads the client's event, writes the answer.

On any error the session continues: no answer, nothing on stderr, a line in our own log.
"""

import os
import sys

# The C parts of `json`: importing `json` would double the start time.
from _json import encode_basestring, make_encoder, make_scanner  # type: ignore[import-not-found, unused-ignore]
from time import gmtime, strftime, time

from memdir.hot import disk
from memdir.hot.place import SILENT, Around, Here, path_of_kept_place, read_kept_place, store_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from memdir.hot.inject import Recalled

    Several = Sequence[Recalled]
    # State folder of a store, characters, and the memories in full and as a line.
    Told = tuple[str, int, Several, Several]
    Work = tuple[str, str, int]  # stamp file, directory to work for, seconds between two starts

# Set when we start an agent as a model: its hooks return at once, or they would start agents
# without end.
NESTED = "MEMDIR_NESTED"
MAX_PAYLOAD_BYTES = 16 * 1024 * 1024
PAUSE_SECONDS = 60  # between two workers for the same checkout
STAMP = ".started"
START = os.path.dirname(os.path.abspath(__file__)) + "/start.py"
WORKER = "worker"
REPORTS = "reports"
MAX_REPORT_BYTES = 2_000
REPORTING = ("prompt", "session-start", "stop")  # events whose message the client shows to the user
LOG = "hooks.log"
MAX_LOG_BYTES = 256 * 1024
MAX_LOG_LINE_CHARACTERS = 500
EVENTS = {  # module and function that answer
    "prompt": ("memdir.hot.prompt", "answer_prompt_hook"),
    "session-start": ("memdir.hot.session_start", "answer_session_start_hook"),
    "subagent-start": ("memdir.hot.session_start", "answer_subagent_start_hook"),
    "stop": ("memdir.hot.queue", "answer_stop_hook"),
    "pre-compact": ("memdir.hot.queue", "answer_stop_hook"),
    "session-end": ("memdir.hot.queue", "answer_stop_hook"),
    "pre-tool": ("memdir.hot.guard", "answer_tool_hook"),
}
END = "session-end"
END_SECONDS = 0.4  # after one second the client kills the hook and tells the user


def main(arguments: list[str]) -> None:
    event = arguments[0] if arguments else ""
    if event == WORKER:
        from memdir.worker import main as work

        work(arguments[1:])
    elif event in EVENTS:
        if event == END:
            _leave_in_time()
        run_hook(event)


def run_hook(event: str) -> None:
    if os.environ.get(NESTED):
        return  # we called this client ourselves
    state = ""
    try:
        asked = Event(sys.stdin.buffer.read(MAX_PAYLOAD_BYTES))
        here = find_hook_place(asked.cwd)
        if here is None or SILENT in here.holds:
            return
        state = here.state
        module, name = EVENTS[event]
        answer = getattr(__import__(module, fromlist=[name]), name)
        text, work = answer(event, asked, here)
        if event in REPORTING and (
            report := take_hook_report(here.state, here.checkout or asked.cwd)
        ):
            text = asked.with_report(text, report)
        if text:
            sys.stdout.buffer.write(f"{text}\n".encode())
            sys.stdout.flush()
        if asked.told:  # after the answer, so nobody waits for it
            keep_told(*asked.told, asked.session, asked.prompt)
        if work:
            start_worker_from_hook(*work)
    except Exception as error:  # the only catch-all: a memory is never worth a broken session
        if state:
            log_hook(state, event, hook_trouble(error))


def log_hook(state_dir: str, event: str, message: str) -> None:
    """Adds a line to the log, which keeps the last ones; nothing of prompts or variables."""
    line = f"{event}: {message}"[:MAX_LOG_LINE_CHARACTERS]
    line = "".join(sign if sign.isprintable() else "?" for sign in line)
    data = f"{strftime('%Y-%m-%dT%H:%M:%SZ', gmtime())} {line}\n".encode("utf-8", "replace")
    _append_bounded(os.path.join(state_dir, LOG), data)


def _append_bounded(path: str, data: bytes) -> None:
    try:
        if not disk.append_to_file(path, data, MAX_LOG_BYTES):
            disk.keep_derived_file(path, disk.read_end_of_file(path, MAX_LOG_BYTES // 2)[0] + data)
    except OSError:
        return  # there is nowhere to report it


TOLD = "told.jsonl"  # what agents were told: a line for each answer, below a store's state folder
TOLD_PROMPT_CHARACTERS = 80
MAX_TOLD_WORDS = 6  # that matched, of a memory
# Characters: what is longer may be a secret.
LONGEST_WORD, LONGEST_MIXED, LONGEST_CODED, LONGEST_NUMBER = 20, 12, 9, 12
_ODD = "!#%^*+~&$"  # signs of passwords
_HUSH = ("passw", "passphrase", "passcode", "pwd", "secret", "credential", "contrase", "kennwort")


def keep_told(
    folder: str, characters: int, bodies: "Several", pointers: "Several", session: str, prompt: str
) -> None:
    memories = [
        {
            "path": item.memory.path,
            "scope": item.scope,
            "whole": item in bodies,
            "sure": round(item.sure, 2),
            "words": [hook_prompt_for_log(word) for word in list(item.words)[:MAX_TOLD_WORDS]],
        }
        for item in (*bodies, *pointers)
    ]
    line = {"time": int(time()), "session": session, "prompt": hook_prompt_for_log(prompt)}
    line |= {"characters": characters, "memories": memories}
    _append_bounded(os.path.join(folder, TOLD), f"{write_hook_json(line)}\n".encode())


def hook_prompt_for_log(prompt: str) -> str:
    """The start of a prompt, without words that may be a secret; a hook has no rules for these."""
    shown: list[str] = []
    for word in prompt[: 4 * TOLD_PROMPT_CHARACTERS].split():
        pieces = "".join([sign if sign.isalnum() and sign.isascii() else " " for sign in word])
        coded = "".join([piece for piece in pieces.split() if any(map(str.isdigit, piece))])
        mixed = [piece for piece in pieces.split() if piece[1:].lower() != piece[1:]]
        odd = max(map(len, pieces.split()), default=0) > LONGEST_WORD or "@" in word
        odd = odd or max(map(len, mixed), default=0) > LONGEST_MIXED
        odd = odd or len(coded) > (LONGEST_NUMBER if coded.isdigit() else LONGEST_CODED)
        odd = odd or (coded != "" and not word.isalnum() and any(map(_ODD.count, word.rstrip("!"))))
        hush = any(map(word.lower().count, _HUSH))
        shown.append("…" if odd or (hush and ("=" in word or ":" in word)) else word)
        if hush:
            shown.append("…")
            break
    return " ".join(shown)[:TOLD_PROMPT_CHARACTERS]


def hook_trouble(error: BaseException) -> str:
    """Kind, place and file of an error, never its text: that may quote the user."""
    where, traced = "", error.__traceback__
    while traced is not None:
        code = traced.tb_frame.f_code
        where = f"{code.co_filename.rpartition('/')[2]}:{traced.tb_lineno} ({code.co_name})"
        traced = traced.tb_next
    message = f"{type(error).__name__} at {where}"
    if isinstance(error, OSError) and error.errno:
        message += f": {os.strerror(error.errno)}"
        message += f": {error.filename}" if isinstance(error.filename, str) else ""
    return message


def find_hook_place(cwd: str) -> Here | None:
    """None if the place cannot be decided safely."""
    if not cwd.startswith("/") or "\0" in cwd:
        return None
    around = Around(cwd, os.environ)
    path = "" if around.doubtful else path_of_kept_place(around, os.environ)
    here = read_kept_place(path, around.seen) if path else None
    if here is None:
        from memdir.config.config import decide_config

        here = decide_config(cwd, os.environ, around, path)
    return here


def _leave_in_time() -> None:
    """If the end of a session takes long, lets the client go on and finishes in a fork."""
    # `signal` itself costs a millisecond.
    import _signal  # type: ignore[import-not-found, unused-ignore]

    def leave(*_: object) -> None:
        if os.fork():
            os._exit(0)
        os.setsid()
        nothing = os.open("/dev/null", os.O_RDWR)  # the client waits until our output is closed
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)

    _signal.signal(_signal.SIGALRM, leave)
    _signal.setitimer(_signal.ITIMER_REAL, END_SECONDS)


class _Reader:
    strict = True
    object_hook = object_pairs_hook = None
    parse_float = parse_constant = float

    @staticmethod
    def parse_int(digits: str) -> float:
        return int(digits) if len(digits) < 4_000 else float(digits)  # the limit of `int`


_scan = make_scanner(_Reader())  # type: ignore[arg-type, unused-ignore]
_OPTIONS = (None, None, encode_basestring, None, ":", ",", False, False, False)
_encode = make_encoder(*_OPTIONS)  # type: ignore[arg-type, unused-ignore]


def read_hook_json(data: bytes) -> "Any":
    # A zero byte would truncate paths and SQLite texts.
    text = data.replace(b"\\u0000", b"\\u0020").decode("utf-8", "replace").strip(" \t\r\n")
    try:
        value, end = _scan(text, 0)
    except StopIteration:
        raise ValueError("not JSON") from None
    if end != len(text):
        raise ValueError("not JSON")
    return value


def write_hook_json(value: object) -> str:
    """A single line; lone surrogates, which no client could read, are replaced."""
    return "".join(_encode(value, 0)).encode("utf-8", "replace").decode()


class Event:
    def __init__(self, data: bytes) -> None:
        fields = read_hook_json(data)
        self.fields: dict[str, Any] = fields if isinstance(fields, dict) else {}
        self.session = _text(self.fields, "session_id")
        self.cwd = _text(self.fields, "cwd")
        self.prompt = _text(self.fields, "prompt")
        self.source = _text(self.fields, "source")
        self.agent = _text(self.fields, "agent_type")
        self.agent_id = _text(self.fields, "agent_id")
        self.transcript = _text(self.fields, "transcript_path")
        self.last = _text(self.fields, "last_assistant_message")
        self.told: Told | None = None  # for the log, once the answer is printed
        self.again = self.fields.get("stop_hook_active") == 1  # a hook made the turn continue

    def call(self) -> list[str]:
        given = self.fields.get("tool_input")
        names = ("file_path", "notebook_path", "command")
        return [_text(self.fields, "tool_name"), *(_text(given, name) for name in names)]

    def context(self, event: str, text: str) -> str:
        output = {"hookEventName": event, "additionalContext": text}
        return write_hook_json({"hookSpecificOutput": output})

    def deny(self, reason: str) -> str:
        output = {"hookEventName": "PreToolUse", "permissionDecision": "deny"}
        return write_hook_json(
            {"hookSpecificOutput": {**output, "permissionDecisionReason": reason}}
        )

    def block(self, reason: str) -> str:
        return write_hook_json({"decision": "block", "reason": reason})

    def with_report(self, answer: str, report: str) -> str:
        """Adds a line that the user sees, but the model does not."""
        fields = read_hook_json(answer.encode()) if answer else {}
        lines = [fields.get("systemMessage", ""), report]
        return write_hook_json({**fields, "systemMessage": "\n".join(filter(None, lines))})


def _text(fields: object, name: str) -> str:
    value = fields.get(name) if isinstance(fields, dict) else None
    if not isinstance(value, str):
        return ""
    return value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def leave_hook_report(state_dir: str, place: str, line: str) -> None:
    data = (" ".join(line.split()) + "\n").encode("utf-8", "replace")
    try:
        disk.append_to_file(_report_path(state_dir, place), data, MAX_REPORT_BYTES)
    except OSError:
        return


def take_hook_report(state_dir: str, place: str) -> str:
    """Stored lines; each is returned to one hook only."""
    path = _report_path(state_dir, place)
    mine = f"{path}.{os.urandom(4).hex()}"
    try:
        disk.move(path, mine)
        data = disk.read_start(mine, MAX_REPORT_BYTES, follow=False)[0]
        os.unlink(mine)
    except OSError:
        return ""
    return "\n".join(dict.fromkeys(data.decode("utf-8", "replace").splitlines()))


def _report_path(state_dir: str, place: str) -> str:
    return os.path.join(state_dir, REPORTS, store_key(os.path.realpath(place)))


def start_worker_from_hook(stamp: str, code: str, pause: int) -> bool:
    """Starts it detached, at most once every `pause` seconds."""
    try:
        if abs(time() - os.stat(stamp).st_mtime) < pause:
            return False
    except OSError:
        pass  # never started yet
    command = [sys.executable, "-I", "-S", START, WORKER, code]
    # The client waits until a hook's output is closed, so the worker must not inherit it.
    closed = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDWR, 0)]
    closed += [(os.POSIX_SPAWN_DUP2, 0, 1), (os.POSIX_SPAWN_DUP2, 0, 2)]  # type: ignore[list-item]
    try:
        os.close(disk.open_file_to_append(stamp))
        os.utime(stamp)  # without a stamp, every prompt would start a worker
        os.posix_spawn(command[0], command, os.environ, file_actions=closed, setsid=True)
    except OSError:
        return False
    return True


# What a session was told: a file of lines per session, so that nothing is told twice.

SESSION_BYTES = 61_440  # injected per session
SESSIONS = "sessions"
SECTION = ".section"
LOADED = ".index"  # the index as the client loaded it: later lines the agent has not seen
KEPT_SECONDS = 7 * 86_400
MAX_ID_CHARACTERS = 100  # of an id that is used unchanged as a file name
MAX_SESSION_BYTES = 1 << 20  # read from the end of a file
SURFACED, POINTED, INJECTED = "surfaced", "pointed", "injected"
DIGITS = 9  # of a byte count; we never write more


class SessionState:
    def __init__(
        self,
        surfaced: "frozenset[str]" = frozenset(),
        injected: int = 0,
        end: int = 0,
        pointed: "frozenset[str]" = frozenset(),
    ) -> None:
        self.surfaced = surfaced  # versions of memories whose body it was told
        self.pointed = pointed  # versions of memories it was given a line of
        self.begun = injected > 0  # it knows what the frame means
        self.left = max(0, SESSION_BYTES - injected)  # bytes that may still be injected
        self.end = end  # size of its file when it was read
        self.tools: frozenset[str] = frozenset()  # in use, by name


class Sessions:
    """One file of lines per session; an empty id stores nothing.

    Lines are appended before a memory is told. If another hook has appended lines since this one
    read the file, it chooses again: two hooks at once repeat nothing, and neither waits. There is
    no fsync: a line lost in a power cut only means that a memory is told twice.
    """

    def __init__(self, state_dir: str) -> None:
        self.folder = os.path.join(state_dir, SESSIONS)

    def load(self, session: str, end: int = 0) -> SessionState:
        if not session:
            return SessionState()
        data, end = disk.read_end_of_file(self.path_of(session), MAX_SESSION_BYTES, end)
        told: dict[str, list[str]] = {SURFACED: [], POINTED: []}
        injected = 0
        for line in _text_of(data).split("\n"):
            kind, _, value = line.partition(" ")
            if kind in told and value:
                told[kind].append(value)
            elif kind == INJECTED and value[:DIGITS].isdecimal():
                injected += int(value[:DIGITS])
        return SessionState(frozenset(told[SURFACED]), injected, end, frozenset(told[POINTED]))

    def add_told(
        self, session: str, told: list[str], injected: int, pointed: "Sequence[str]" = ()
    ) -> int:
        """Returns the offset in the session's file where these lines begin."""
        if not session:
            return 0
        lines = [f"{SURFACED} {name}" for name in told]
        lines += [*(f"{POINTED} {name}" for name in pointed), f"{INJECTED} {injected}\n"]
        data = _bytes("\n".join(lines))
        try:
            return disk.append_to_file(self.path_of(session), data) - len(data)
        except OSError:
            return 0  # telling twice is better than not at all

    def begin_anew(self, session: str) -> None:
        if session:
            disk.remove_file(self.path_of(session))
            disk.remove_file(self.path_of(session) + SECTION)

    def keep_index(self, session: str, index: str) -> None:
        if session:  # a line end at least: no index is known as well
            disk.keep_derived_file(self.path_of(session) + LOADED, _bytes(index + "\n"))

    def section(self, session: str, suffix: str = SECTION) -> str:
        if not session:
            return ""
        return _text_of(disk.read_end_of_file(self.path_of(session) + suffix, MAX_SESSION_BYTES)[0])

    def keep_section(self, session: str, text: str) -> None:
        """Keeps the first text; later ones are ignored."""
        data = _bytes(text)
        if session and len(data) <= MAX_SESSION_BYTES:
            try:
                disk.make_private_folder(self.folder)
                disk.create_file_once(self.path_of(session) + SECTION, data)
            except OSError:
                return  # it is made again each time

    def prune(self, now: float) -> None:
        try:
            with os.scandir(self.folder) as entries:
                for entry in entries:
                    if entry.stat(follow_symlinks=False).st_mtime < now - KEPT_SECONDS:
                        disk.remove_file(entry.path)
        except OSError:
            return

    def path_of(self, session: str) -> str:
        """Ids come from outside: one that is not a plain name is replaced by its digest."""
        plain = session.replace("-", "").replace("_", "")
        if not plain.isascii() or not plain.isalnum() or len(session) > MAX_ID_CHARACTERS:
            session = f"odd.{disk.digest_of(_bytes(session))[:32]}"
        return os.path.join(self.folder, session)


def _bytes(text: str) -> bytes:
    """Accepts any text: a client may send lone surrogates."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def _text_of(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
