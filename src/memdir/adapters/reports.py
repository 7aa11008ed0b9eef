"""What the user is to be told by the next hook, one small file per checkout. Hot path.

A client shows such a line to the user and keeps it from the model.
"""

import os

from memdir.core.store_key import store_key

FOLDER = "reports"
MOST_BYTES = 2_000
_ADD = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def leave_report(state_dir: str, place: str, line: str) -> None:
    """Keep one line for the next hook of a checkout; where that is impossible, it stays unsaid."""
    path = _path(state_dir, place)
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        handle = os.open(path, _ADD, 0o600)
        try:
            if os.fstat(handle).st_size < MOST_BYTES:
                os.write(handle, (" ".join(line.split()) + "\n").encode("utf-8", "replace"))
        finally:
            os.close(handle)
    except OSError:
        return


def take_report(state_dir: str, place: str) -> str:
    """What was left, each line once, for one hook only; empty nearly always."""
    path = _path(state_dir, place)
    if not os.path.lexists(path):
        return ""
    mine = f"{path}.{os.urandom(4).hex()}"
    try:
        os.rename(path, mine)  # two hooks at once: one of them has it
        handle = os.open(mine, _READ)
        try:
            data = os.read(handle, 2 * MOST_BYTES)
        finally:
            os.close(handle)
        os.unlink(mine)
    except OSError:
        return ""
    return "\n".join(dict.fromkeys(data.decode("utf-8", "replace").splitlines()))


def _path(state_dir: str, place: str) -> str:
    return os.path.join(state_dir, FOLDER, store_key(os.path.realpath(place)))
