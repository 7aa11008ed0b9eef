"""Cursor: the rules of a project, `.cursor/rules/*.mdc` and the older `.cursorrules`."""

from __future__ import annotations

import os

from memdir.adapters.exchange import OTHER, Brought
from memdir.adapters.sources._files import (
    BROKEN,
    Around,
    files_below,
    inside,
    read_whole,
    skip,
    unusable,
)
from memdir.adapters.sources._pieces import Piece, about, brought_from, marked, store_path
from memdir.core.frontmatter import decode
from memdir.core.frontmatter import read as read_header

TITLE = "Cursor"
SOURCE = "cursor"
FOLDER, OLD = ".cursor/rules", ".cursorrules"
OURS = "memdir.mdc"
NEXT = "name the project: memdir import cursor ../shop"


def read(path: str, around: Around) -> Brought:
    """Every rule as feedback: its globs and its words stay as they are."""
    top = os.path.abspath(path or around.project or ".")
    brought = Brought()
    if os.path.isfile(top):
        _take(os.path.basename(top), read_whole(top, NEXT), brought)
        return brought
    rules, old = inside(top, *FOLDER.split("/")), inside(top, OLD)
    for name, data in files_below(rules, lambda _: True, brought) if rules else ():
        _take(name, data, brought)
    if old:
        text = decode(read_whole(old, NEXT))
        brought_from(SOURCE, [Piece("cursor rules", text, "feedback", OLD)], brought)
    if not rules and not old:
        if os.path.isdir(top) and top.endswith("rules"):
            for name, data in files_below(top, lambda _: True, brought):
                _take(name, data, brought)
        else:
            raise unusable(top, f"there is neither {FOLDER} nor {OLD} in it", NEXT)
    return brought


def _take(name: str, data: bytes, brought: Brought) -> None:
    base = name.rpartition("/")[2]
    stem, _, ending = name.rpartition(".")
    if base == OURS or ending.lower() not in ("mdc", "md") or not stem:
        skip(brought, name, "it is no rule of yours", OTHER)
        return
    document = read_header(decode(data))
    if not document.body.strip():
        skip(brought, name, "it says nothing", BROKEN)
        return
    path = store_path(SOURCE, stem)
    fields = {
        "name": path.rpartition("/")[2][:-3],
        "description": about(document.body),
        "type": "feedback",
    }
    brought.files.append((path, marked(SOURCE, name, data, fields)))
