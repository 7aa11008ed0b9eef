"""Codex: `memories/` of its own directory, a handbook of task groups and a summary.

What it makes those from (raw_memories.md, rollout_summaries/, its skills) is passed over.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from memdir.adapters.exchange import OTHER, Brought
from memdir.adapters.sources._files import (
    Around,
    files_below,
    folder_of,
    inside,
    names_in,
    skip,
    unusable,
)
from memdir.adapters.sources._pieces import Piece, about, brought_from, sections
from memdir.core.frontmatter import decode
from memdir.core.scope import below

TITLE = "Codex"
NEXT = "name its memories: memdir import codex ~/.codex/memories"
HANDBOOK, SUMMARY, NOTES = "MEMORY.md", "memory_summary.md", "extensions/ad_hoc/notes/"
GROUP = "Task Group:"
# What the summary holds of its own; the rest of it is a list of what the handbook says.
TYPES = {"user profile": "user", "user preferences": "feedback", "general tips": "feedback"}
_WHERE = re.compile(r"^applies_to:.{0,200}?cwd=(/[^;\n]{1,4000})", re.MULTILINE)
_SCOPE = re.compile(r"^scope:[ \t]{0,20}(\S.{0,1000})$", re.MULTILINE)


def read(path: str, around: Around) -> Brought:
    """Everything that Codex keeps for this project and for all of them."""
    brought = Brought()
    folders = [path] if path else _folders(around)
    files = (one for folder in folders for one in _files(folder, brought))
    pieces = (one for name, data in files for one in _pieces(name, decode(data), around, brought))
    brought_from("codex", pieces, brought)
    return brought


def _folders(around: Around) -> list[str]:
    top = folder_of(around, "CODEX_HOME", ".codex")
    found = [inside(top, name) for name in names_in(top, NEXT) if name.startswith("memories")]
    folders = [folder for folder in found if folder and os.path.isdir(folder)]
    if not folders:
        raise unusable(top, "Codex keeps no memories there", NEXT)
    return folders


def _files(folder: str, brought: Brought) -> Iterator[tuple[str, bytes]]:
    if not os.path.isdir(folder):
        raise unusable(folder, "it is no directory", NEXT)
    for name, data in files_below(folder, lambda _: True, brought):
        if name in (HANDBOOK, SUMMARY) or (name.startswith(NOTES) and name.endswith(".md")):
            yield name, data
        else:
            skip(brought, name, "Codex makes its memories from it", OTHER)


def _pieces(name: str, text: str, around: Around, brought: Brought) -> Iterator[Piece]:
    if name == SUMMARY:
        for title, part in sections(text, 2):
            type = TYPES.get(title.lower())
            said = part.partition("\n")[2]
            if type and said.strip():
                yield Piece(f"codex {title}", said, type, f"{name}: {title}")
        return
    if name != HANDBOOK:
        yield Piece(about(text), text, "project", name)
        return
    for title, part in sections(text, 1):
        if title.startswith(GROUP):
            title = title.removeprefix(GROUP).strip()
            elsewhere = _elsewhere(part, around)
            if elsewhere:
                skip(brought, f"{name}: {title}", f"it is about {elsewhere}", OTHER)
            else:
                scope = _SCOPE.search(part)
                yield Piece(title, part, "project", f"{name}: {title}", scope[1] if scope else "")
        elif part.strip():
            yield Piece(f"codex {title or about(part)}", part, "project", f"{name}: {title}")


def _elsewhere(part: str, around: Around) -> str:
    """The directory that a group is about, where that is another project."""
    found = _WHERE.search(part)
    if not found or not around.project:
        return ""
    where, here = os.path.normpath(found[1].strip()), around.project
    ours = where == here or below(where, here) or below(here, where)
    return "" if ours else where
