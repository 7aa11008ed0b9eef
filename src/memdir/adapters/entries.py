"""Names of entries in a source: safe or not, tidy, and the folder that holds the memories."""

from __future__ import annotations

import re
from collections.abc import Iterable

from memdir.core.memory import INDEX

_DRIVE = re.compile(r"[A-Za-z]:")


def unsafe_name(name: str) -> str:
    """Why a name in a source is not safe; empty when it is."""
    if "\0" in name:
        return "its name holds a NUL character"
    if "\\" in name:
        return "its name holds a backslash"
    if name.startswith("/") or _DRIVE.match(name):
        return "its name is an absolute path"
    if ".." in name.split("/"):
        return "its name leads out of the directory"
    return ""


def tidy(name: str) -> str:
    """The name without empty and dot parts."""
    return "/".join(part for part in name.split("/") if part not in ("", "."))


def is_markdown(name: str) -> bool:
    """By its ending, in any case."""
    return name[-3:].lower() == ".md"


def base_of(names: Iterable[str]) -> str:
    """The folder that holds the only index: the memories lie beside it."""
    found = [tidy(name) for name in names if tidy(name).rpartition("/")[2] == INDEX]
    return found[0][: -len(INDEX)] if len(found) == 1 else ""
