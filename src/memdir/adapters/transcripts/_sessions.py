"""Finds the transcripts that a client left behind."""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

from memdir.core.scope import below

MOST = 10_000  # names of one folder


class Listed(NamedTuple):
    """One name in a folder."""

    name: str
    path: str
    facts: tuple[float, int]  # when it was modified, and how large it is


def listed(folder: str, suffix: str = "") -> list[Listed]:
    """The folders in a folder, or with a suffix its regular files; none where it is not there."""
    found: list[Listed] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if len(found) < MOST and entry.name.endswith(suffix) and entry.name[0] != ".":
                    facts = entry.stat(follow_symlinks=not suffix)
                    wanted = stat.S_ISREG if suffix else stat.S_ISDIR
                    if wanted(facts.st_mode):
                        seen = (facts.st_mtime, facts.st_size)
                        found.append(Listed(entry.name, entry.path, seen))
    except OSError:
        return found  # a client that was never used, or a file that has just gone
    return found


def belongs(cwd: str, project: str) -> bool:
    """True for a session of the project or of a folder in it; and where nobody knows."""
    if not cwd or "\0" in cwd:
        return True
    tops = (project.rstrip("/"), os.path.realpath(project))
    return any(
        one == top or below(one, top) for one in (cwd, os.path.realpath(cwd)) for top in tops
    )
