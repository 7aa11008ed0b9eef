"""The log of the hooks: bounded, one line per trouble, nothing of prompts or variables. Hot path.

A full file becomes the old one, whose predecessor goes: two files at most.
"""

import os
from time import gmtime, strftime

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
