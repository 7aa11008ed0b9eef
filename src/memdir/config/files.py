"""Reading files nobody has vouched for: what cannot be used is a finding, never a failure."""

from __future__ import annotations

import errno
import json
import os
import stat
from typing import Literal

from memdir.core.finding import Finding
from memdir.core.scope import GIT_FILE_BYTES

# No client writes more; what is larger is a mistake or an attack on our start-up time.
SETTINGS_BYTES = 1024 * 1024


def look(path: str) -> bytes | Literal[True] | None:
    """What lies at a path, for `core.scope`: a file's bytes, True for a directory, or nothing."""
    try:
        return True if os.path.isdir(path) else _content(path, GIT_FILE_BYTES)
    except (OSError, ValueError):
        return None


def _content(path: str, limit: int) -> bytes:
    """At most one byte more than the limit; a FIFO or device never blocks us."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        with open(handle, "rb", closefd=False) as file:
            return file.read(limit + 1)
    finally:
        os.close(handle)


def read_text(path: str, findings: list[Finding]) -> str:
    """The file's text; empty when there is none, or when a finding says why it is not used."""
    try:
        content = _content(path, SETTINGS_BYTES)
        if len(content) > SETTINGS_BYTES:
            raise OSError(errno.EFBIG, f"larger than {SETTINGS_BYTES // 1024} KiB")
        return content.decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        findings.append(broken(path, f"cannot be read: {error.strerror}"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        findings.append(broken(path, "is not UTF-8 text", line))
    return ""


def broken(path: str, problem: str, line: int = 0) -> Finding:
    fix = "Repair the file; it is left as it is, and the defaults apply until then."
    return Finding("broken-settings", path, f"{problem}; the file is ignored", fix, line)


def read_settings(path: str, findings: list[Finding]) -> dict[str, object]:
    """A settings file of the client; empty when it is missing or broken."""
    text = read_text(path, findings)
    if not text.strip():
        return {}
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        problem = f"is not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        findings.append(broken(path, problem, error.lineno))
    except (ValueError, RecursionError):
        findings.append(broken(path, "is not JSON: a number too long or a nesting too deep"))
    else:
        if isinstance(values, dict):
            return values
        findings.append(broken(path, "holds no JSON object"))
    return {}


def read_managed(path: str, findings: list[Finding]) -> dict[str, object]:
    """Managed settings: the file, then the parts in its `.d` directory, later ones winning."""
    folder = os.path.splitext(path)[0] + ".d"
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    except OSError:
        names = []
    values = read_settings(path, findings)
    for name in names:
        if not name.startswith("."):
            values |= read_settings(os.path.join(folder, name), findings)
    return values
