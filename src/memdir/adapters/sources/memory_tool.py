"""The directory of an Anthropic memory tool: Markdown as it is, other text in a memory."""

from __future__ import annotations

import os

from memdir.adapters.exchange import OTHER, Brought
from memdir.adapters.sources._files import Around, files_below, skip, unusable
from memdir.adapters.sources._pieces import Piece, about, store_path, written
from memdir.core.memory import INDEX

TITLE = "Anthropic memory tool"
SOURCE = "memory-tool"
NEXT = "name the directory: memdir import memory-tool ./memories"


def read(path: str, around: Around) -> Brought:
    """Every text file below the directory."""
    if not path or not os.path.isdir(path):
        raise unusable(path or "memory-tool", "the directory of the tool is needed", NEXT)
    brought = Brought()
    for name, data in files_below(path, lambda _: True, brought):
        try:
            text = data.decode()
        except UnicodeDecodeError:
            skip(brought, name, "it is no text", OTHER)
            continue
        if not text.strip() or "\0" in text:
            skip(brought, name, "it says nothing" if "\0" not in text else "it is no text", OTHER)
        elif name[-3:].lower() == ".md" and name != INDEX:
            brought.files.append((store_path(SOURCE, name), data))
        else:
            path = store_path(SOURCE, name.rpartition(".")[0] or name)
            piece = Piece(name, text, "project", name, about(text))
            brought.files.append((path, written(SOURCE, piece, path.rpartition("/")[2][:-3])))
    return brought
