"""basic-memory: a folder of notes with observations and relations, which stay as they are."""

from __future__ import annotations

import os
import re

from memdir.adapters.exchange import OTHER, Brought
from memdir.adapters.sources._files import BROKEN, Around, files_below, skip, unusable
from memdir.adapters.sources._pieces import about, marked, store_path
from memdir.core import types
from memdir.core.frontmatter import decode, edit
from memdir.core.frontmatter import read as read_header

TITLE = "basic-memory"
SOURCE = "basic-memory"
FOLDER = "basic-memory"
KIND = "metadata.basic_memory_type"
NEXT = "name the folder: memdir import basic-memory ~/basic-memory"
_OBSERVATION = re.compile(r"^[-*] \[([\w -]{1,60})\] (\S.{0,500})$", re.MULTILINE)


def read(path: str, around: Around) -> Brought:
    """Every note; `[[links]]` between them go on leading to each other."""
    top = path or os.path.join(around.home, FOLDER)
    if not os.path.isdir(top):
        raise unusable(top, "there is no such folder", NEXT)
    brought = Brought()
    for name, data in files_below(top, lambda _: True, brought):
        if name[-3:].lower() != ".md":
            skip(brought, name, "it is no note", OTHER)
        elif not decode(data).strip():
            skip(brought, name, "it says nothing", BROKEN)
        else:
            brought.files.append((store_path(SOURCE, name), _labelled(name, data)))
    return brought


def _labelled(name: str, data: bytes) -> bytes:
    document = read_header(decode(data))
    kind = document.values.get("type", "").strip().lower()
    if kind and kind not in types.names():
        document = read_header(edit(document, KIND, kind).text)
        document = read_header(edit(document, "type", "reference").text)
    said = _OBSERVATION.search(document.body)
    fields = {
        "name": document.values.get("title", ""),
        "description": about(said[2] if said else document.body),
        "type": "reference",
    }
    return marked(SOURCE, name, document.text.encode("utf-8", "surrogateescape"), fields)
