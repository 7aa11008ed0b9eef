"""mem0: what `get_all` or an export gives, as JSON or one JSON object on each line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memdir.adapters.exchange import Brought
from memdir.adapters.sources._files import BROKEN, Around, read_json, skip, unusable
from memdir.adapters.sources._pieces import Piece, brought_from
from memdir.core import types

TITLE = "mem0"
SOURCE = "mem0"
LISTS = ("results", "memories", "data")
TEXTS = ("memory", "text", "content", "data")
NEXT = "name the file: memdir import mem0 export.json"
# Categories of mem0 that say what a type of ours says.
TYPES = {"user_preferences": "preference", "preferences": "preference", "personal_details": "user"}


def read(path: str, around: Around) -> Brought:
    """Every memory of the file."""
    if not path:
        raise unusable(SOURCE, "the exported file is needed", NEXT)
    rows = _rows(read_json(path, NEXT))
    if rows is None:
        raise unusable(path, "it holds no memories of mem0", NEXT)
    brought = Brought()
    brought_from(SOURCE, _pieces(rows, brought), brought)
    return brought


def _rows(values: Any) -> list[Any] | None:
    if isinstance(values, list):
        return values
    for key in LISTS if isinstance(values, dict) else ():
        if isinstance(values.get(key), list):
            found: list[Any] = values[key]
            return found
    return None


def _pieces(rows: list[Any], brought: Brought) -> Iterator[Piece]:
    for number, row in enumerate(rows, 1):
        fields = row if isinstance(row, dict) else {}
        texts = [fields[key] for key in TEXTS if isinstance(fields.get(key), str)]
        id = fields.get("id")
        place = f"memory {id}" if isinstance(id, (str, int)) else f"entry {number}"
        if not texts or not texts[0].strip():
            skip(brought, place, "there is no text in it", BROKEN)
            continue
        times = {key: fields.get(key) for key in ("created_at", "updated_at")}
        created, modified = (one if isinstance(one, str) else "" for one in times.values())
        yield Piece(texts[0], texts[0], _type(fields), place, "", created, modified)


def _type(fields: dict[str, Any]) -> str:
    """The type that the row names, by our words or by mem0's; else it is about a person."""
    said = fields.get("metadata")
    named = [said.get("type"), said.get("category")] if isinstance(said, dict) else []
    more = fields.get("categories")
    named += more if isinstance(more, list) else []
    for one in (word.lower() for word in named if isinstance(word, str)):
        if one in types.names() or one in TYPES:
            return TYPES.get(one, one)
    return "user"
