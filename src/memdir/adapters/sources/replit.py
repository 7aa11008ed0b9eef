"""Replit and its like: `.agents/memory` of a project, Markdown files that come as they are."""

from __future__ import annotations

import os

from memdir.adapters.exchange import Brought, read_source
from memdir.adapters.sources._files import Around, inside, unusable

TITLE = "Replit (.agents/memory)"
FOLDER = ".agents/memory"
NEXT = "name the project: memdir import replit ../shop"


def read(path: str, around: Around) -> Brought:
    """Byte for byte; the index beside them is not taken."""
    top = os.path.abspath(path or around.project or ".")
    if os.path.isdir(top) and not top.endswith(FOLDER):
        found = inside(top, *FOLDER.split("/"))
        if not found:
            raise unusable(top, f"there is no {FOLDER} in it", NEXT)
        top = found
    return read_source(top)
