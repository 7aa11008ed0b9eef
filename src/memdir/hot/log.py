"""Hooks.log."""

import os
from time import gmtime, strftime

from memdir.hot.place import store_key

# The log of the hooks: bounded, one line per trouble, nothing of prompts or variables. Hot path.
#
# A full file becomes the old one, whose predecessor goes: two files at most.

NAME = "hooks.log"
OLD = ".1"
MOST_BYTES = 256 * 1024
LONGEST = 500  # characters of a line
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def log(state_dir: str, event: str, what: str) -> None:
    """Add one line; where that is impossible, nobody can be told."""
    said = "".join(sign if sign.isprintable() else "?" for sign in f"{event}: {what}"[:LONGEST])
    line = f"{strftime('%Y-%m-%dT%H:%M:%SZ', gmtime())} {said}\n".encode("utf-8", "replace")
    path = os.path.join(state_dir, NAME)
    try:
        os.makedirs(state_dir, 0o700, exist_ok=True)
        handle = os.open(path, _FLAGS, 0o600)
        try:
            if os.fstat(handle).st_size + len(line) > MOST_BYTES:
                os.replace(path, path + OLD)
                os.close(handle)
                handle = os.open(path, _FLAGS, 0o600)
            os.write(handle, line)
        finally:
            os.close(handle)
    except OSError:
        return


def trouble(error: BaseException) -> str:
    """An error in a line: its kind, its place, its file. Its text may repeat what a user wrote."""
    where, traced = "", error.__traceback__
    while traced is not None:
        code = traced.tb_frame.f_code
        # A bundle of the hooks knows no lines but the first of each function.
        line = traced.tb_lineno or code.co_firstlineno
        where = f"{code.co_filename.rpartition('/')[2]}:{line} ({code.co_name})"
        traced = traced.tb_next
    said = f"{type(error).__name__} at {where}"
    if isinstance(error, OSError) and error.errno:
        said += f": {os.strerror(error.errno)}"
        said += f": {error.filename}" if isinstance(error.filename, str) else ""
    return said


# What the user is to be told by the next hook, one small file per checkout. Hot path.
#
# A client shows such a line to the user and keeps it from the model.

FOLDER = "reports"
REPORTS_MOST_BYTES = 2_000
_ADD = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def leave_report(state_dir: str, place: str, line: str) -> None:
    """Keep one line for the next hook of a checkout; where that is impossible, it stays unsaid."""
    path = _path(state_dir, place)
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        handle = os.open(path, _ADD, 0o600)
        try:
            if os.fstat(handle).st_size < REPORTS_MOST_BYTES:
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
            data = os.read(handle, 2 * REPORTS_MOST_BYTES)
        finally:
            os.close(handle)
        os.unlink(mine)
    except OSError:
        return ""
    return "\n".join(dict.fromkeys(data.decode("utf-8", "replace").splitlines()))


def _path(state_dir: str, place: str) -> str:
    return os.path.join(state_dir, FOLDER, store_key(os.path.realpath(place)))


# The mark of a process that we started ourselves: hooks inside it do nothing.

# Set by whoever starts an agent as a model; a hook that sees it returns at once, or the agent
# would call us, and we the agent, without end.
NESTED = "MEMDIR_NESTED"
