"""Gemini CLI: the section of GEMINI.md that it adds to, and its notes on a project."""

from __future__ import annotations

import os
from collections.abc import Iterator

from memdir.adapters.exchange import MAX_FILE_BYTES, OTHER, Brought
from memdir.adapters.sources._files import (
    Around,
    files_below,
    folder_of,
    inside,
    names_in,
    read_whole,
    skip,
    unusable,
)
from memdir.adapters.sources._pieces import Piece, bullets, marked, sections, store_path
from memdir.adapters.sources._pieces import brought_from as add
from memdir.core.errors import BadInput
from memdir.core.frontmatter import decode
from memdir.core.memory import INDEX

TITLE = "Gemini CLI"
SOURCE = "gemini-cli"
CONTEXT, SECTION = "GEMINI.md", "gemini added memories"
ROOT_FILE = ".project_root"  # says which project a folder of notes is for
NEXT = "name a GEMINI.md or a folder of notes: memdir import gemini-cli ~/.gemini/GEMINI.md"


def read(path: str, around: Around) -> Brought:
    """What it was told to remember: everywhere, in this project, and its private notes on it."""
    brought = Brought()
    if path:
        _folder(path, brought) if os.path.isdir(path) else _context(path, brought)
        return brought
    top = os.path.join(folder_of(around, "GEMINI_CLI_HOME", ""), ".gemini")
    places = [inside(top, CONTEXT), inside(around.project, CONTEXT) if around.project else ""]
    notes = [folder for folder in _private(top, around.project) if folder]
    for place in filter(None, places):
        _context(place, brought)
    for folder in notes:
        _folder(folder, brought)
    if not any(places) and not notes:
        raise unusable(top, "Gemini CLI keeps no memories there", NEXT)
    return brought


def _context(path: str, brought: Brought) -> None:
    text = decode(read_whole(path, NEXT)[:MAX_FILE_BYTES])
    for title, part in sections(text, 2):
        if title.lower() == SECTION:
            add(SOURCE, _facts(part, f"{CONTEXT}: {title}", "user"), brought)


def _folder(folder: str, brought: Brought) -> None:
    """Notes as they are; the index beside them may say something itself."""
    for path, data in files_below(folder, lambda path: not path.startswith("skills/"), brought):
        if path == INDEX:
            add(SOURCE, _facts(decode(data), f"notes {path}", "project"), brought)
        elif path[-3:].lower() != ".md":
            skip(brought, path, "it is not Markdown", OTHER)
        else:
            brought.files.append((store_path(SOURCE, path), marked(SOURCE, path, data, {})))


def _facts(text: str, place: str, type: str) -> Iterator[Piece]:
    for fact in bullets(text):
        if ".md)" not in fact.partition("\n")[0]:  # a pointer to a note
            yield Piece(fact, fact, type, place)


def _private(top: str, project: str) -> Iterator[str]:
    """The folders of notes on this project."""
    tmp = os.path.join(top, "tmp")
    for name in names_in(tmp, NEXT) if project else ():
        try:
            root = decode(read_whole(os.path.join(tmp, name, ROOT_FILE), NEXT)[:4096]).strip()
        except BadInput:
            continue
        if root and "\0" not in root and os.path.realpath(root) == os.path.realpath(project):
            yield inside(tmp, name, "memory")
