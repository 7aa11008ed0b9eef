"""The end of a turn, a compact, the end of a session: a line in the queue for the worker.

The queue is a file in the state directory. A line is added with a single write and removed only
after its work is done: the worker moves the file aside and removes line by line, so a crash repeats
work but loses none. A full queue refuses new lines: the worker is not running, and the oldest lines
have waited longest.
"""

import fcntl
import os
from time import sleep, time

from memdir.hot import disk
from memdir.hot.place import BY_AGENT, CALLER, CAPTURE_OFF, FOLDER, RECORDS, store_key
from memdir.hot.run import STAMP, hook_trouble, log_hook, write_hook_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.hot.place import Here
    from memdir.hot.run import Event, Work

CLIENT = "claude-code"
STOP = "stop"
ENDS = ("pre-compact", "session-end")
NAME, TAKEN = "queue", "queue.taken"
MAX_BYTES = 1024 * 1024
MAX_TAKEN_BYTES = 8 * MAX_BYTES  # taken but not done; more has to wait
READ_BYTES = 4 * MAX_TAKEN_BYTES  # rewritten lines may be longer, and none may be cut off
MAX_LINE_BYTES = 4096  # written atomically
TRIES, PAUSE_SECONDS = 20, 0.005  # to lock the file


def answer_stop_hook(event: str, asked: "Event", here: "Here") -> "tuple[str, Work | None]":
    """Says nothing, since text on Stop makes the agent continue; unless it is to save records."""
    if not asked.cwd.startswith("/"):
        return "", None
    text = ""
    root = here.scopes.get(RECORDS) or here.scopes.get("local", "")  # may not be there yet
    theirs = os.environ.get(CALLER)  # other clients do not understand this answer
    try:
        if event == STOP and BY_AGENT in here.holds and not theirs and root:
            from memdir.records.handover import ask_agent_for_records

            text = ask_agent_for_records(asked, here, root)
    finally:  # after it: capture leaves to the agent what was handed over
        if not asked.again:
            enqueue_stop(event, asked, here)
    if asked.again:
        return "", None
    stamp = os.path.join(here.cache, FOLDER, store_key(here.checkout or asked.cwd) + STAMP)
    # No pause: the last worker may be done, and this line would wait for the next event.
    return text, (stamp, here.checkout or asked.cwd, 0)


def enqueue_stop(event: str, asked: "Event", here: "Here") -> None:
    """Names no conversation if capture is off."""
    if not asked.cwd.startswith("/"):
        return
    fields = {"event": event, "cwd": asked.cwd, "time": int(time()), "tries": 0}
    if CAPTURE_OFF not in here.holds:
        fields |= {"session": asked.session, "transcript": asked.transcript}
        fields["client"] = os.environ.get(CALLER) or CLIENT
    try:
        if Queue(here.state).add(write_hook_json(fields).encode()):
            return
        message = "not noted: the queue is full, or the line is too long"
    except OSError as error:
        message = hook_trouble(error)
    log_hook(here.state, event, message)


class Queue:
    def __init__(self, state_dir: str) -> None:
        self.path = os.path.join(state_dir, NAME)
        self.taken = os.path.join(state_dir, TAKEN)

    def add(self, line: bytes) -> bool:
        """False if the line is too long or the queue is full."""
        data = line + b"\n"
        if len(data) > MAX_LINE_BYTES or b"\n" in line:
            return False
        for _ in range(TRIES):
            handle = self._open()
            try:
                if not _write(handle, data):
                    return False
                # The worker may have moved the file without our line: try again.
                if self._is_there(handle):
                    return True
            finally:
                os.close(handle)
        return False

    def take(self) -> list[bytes]:
        """All waiting lines, those of an earlier worker first; `keep` removes them."""
        lines = _lines(self.taken)
        if sum(map(len, lines)) > MAX_TAKEN_BYTES:
            return lines
        try:
            handle = os.open(self.path, disk.READ)
        except FileNotFoundError:
            return lines
        try:
            if not _hold(handle, fcntl.LOCK_EX):
                return lines  # a hook is writing: its line waits for the next round
            new = _lines(self.path)
            if new:
                self.keep(lines + new)
            os.unlink(self.path)
        finally:
            os.close(handle)
        return lines + new

    def keep(self, lines: list[bytes]) -> None:
        """Removes all taken lines except these."""
        if lines:
            folder, name = os.path.split(self.taken)
            disk.Disk(folder).put(name, b"".join(line + b"\n" for line in lines))
        else:
            disk.remove_file(self.taken)

    def _open(self) -> int:
        """Opens and locks the file, so the worker cannot move it before the write."""
        for _ in range(TRIES):
            handle = disk.open_file_to_append(self.path)
            _hold(handle, fcntl.LOCK_SH)
            if self._is_there(handle):
                return handle
            os.close(handle)  # the worker has just moved it: open the new file
        raise BlockingIOError("the queue cannot be held")

    def _is_there(self, handle: int) -> bool:
        try:
            return os.path.samestat(os.fstat(handle), os.lstat(self.path))
        except FileNotFoundError:
            return False


def _write(handle: int, data: bytes) -> bool:
    size = os.fstat(handle).st_size
    if size + len(data) > MAX_BYTES:
        return False
    if size and os.pread(handle, 1, size - 1) != b"\n":
        data = b"\n" + data  # the disk was full: half a line must not corrupt the next
    return os.write(handle, data) == len(data)


def _hold(handle: int, mode: int) -> bool:
    for _ in range(TRIES):
        try:
            fcntl.flock(handle, mode | fcntl.LOCK_NB)
        except BlockingIOError:
            sleep(PAUSE_SECONDS)
        except OSError:
            return True  # some file systems have no locks
        else:
            return True
    return False


def _lines(path: str) -> list[bytes]:
    """Whole lines only: a full disk may have cut the last one."""
    try:
        data = disk.read_start(path, READ_BYTES, follow=False)[0]
    except FileNotFoundError:
        return []
    return [line for line in data.split(b"\n")[:-1] if line]
