"""Which Python hooks run with: one that will still be there when nobody thinks of it any more."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass

STEADY = ("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/opt/local/bin")
OLDEST, NEWEST = 11, 15  # minor versions of Python 3 that are looked for
# What systems and tools empty when they like.
TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/var/folders", "/private/var/folders")
CACHES = {".cache", "Caches"}
_PATCH = re.compile(r"(cpython-3\.\d{1,3})\.\d{1,3}(?=[-+])")  # uv: a link without it stays


@dataclass(frozen=True)
class Running:
    """The Python that runs now."""

    executable: str
    base: str  # what a virtual environment was made from; else the same
    version: tuple[int, int]


def find_python(running: Running, folders: Iterable[str] = STEADY) -> tuple[str, str]:
    """Its path, and why that one."""
    venv = os.path.abspath(running.executable) != os.path.abspath(running.base)
    base = os.path.abspath(running.base)
    why = "the Python that runs memdir now"
    if venv:
        why = "what the virtual environment was made from: hooks need no packages"
    if not is_temporary(base):
        return _steady_name(base, running.version, folders), why
    for folder in folders:
        for minor in range(NEWEST, OLDEST - 1, -1):
            path = os.path.join(folder, f"python3.{minor}")
            if os.access(path, os.X_OK):
                return path, f"the Python that runs memdir now ({base}) may vanish"
    return base, "the only Python there is; it lies where things vanish"


def is_temporary(path: str) -> bool:
    """True below a place that is emptied without asking."""
    real = os.path.realpath(path)
    places = {*TEMPORARY, os.path.realpath(tempfile.gettempdir())}
    if any(real.startswith(place + "/") for place in places):
        return True
    return not CACHES.isdisjoint(real.split("/"))


def _steady_name(base: str, version: tuple[int, int], folders: Iterable[str]) -> str:
    """A name that leads to the same Python and outlives its next patch release."""
    real = os.path.realpath(base)
    names = [os.path.join(folder, f"python{version[0]}.{version[1]}") for folder in folders]
    names.append(_PATCH.sub(r"\1", base))
    return next((name for name in names if os.path.realpath(name) == real), base)
