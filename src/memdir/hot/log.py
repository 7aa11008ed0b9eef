"""The log of the hooks: bounded, a line per error, nothing of prompts or variables."""

import os
from time import gmtime, strftime

from memdir.hot import disk

NAME = "hooks.log"
OLD = ".1"  # a full log is renamed; there are at most two files
MAX_BYTES = 256 * 1024
MAX_LINE_CHARACTERS = 500


def log(state_dir: str, event: str, message: str) -> None:
    """Adds one line; failures are ignored, since there is nowhere to report them."""
    line = f"{event}: {message}"[:MAX_LINE_CHARACTERS]
    line = "".join(sign if sign.isprintable() else "?" for sign in line)
    data = f"{strftime('%Y-%m-%dT%H:%M:%SZ', gmtime())} {line}\n".encode("utf-8", "replace")
    path = os.path.join(state_dir, NAME)
    try:
        if not disk.append(path, data, MAX_BYTES):
            disk.move(path, path + OLD)
            disk.append(path, data)
    except OSError:
        return


def trouble(error: BaseException) -> str:
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
