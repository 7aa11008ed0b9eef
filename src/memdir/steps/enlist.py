"""Enlist records: index.md says what is active, always the same bytes for the same records."""

from __future__ import annotations

from collections.abc import Mapping

from memdir.core.errors import Missing
from memdir.core.frontmatter import encode
from memdir.core.ports import Store
from memdir.core.records import index_text
from memdir.core.records.fields import Record


def enlist(records: Mapping[str, Record], store: Store) -> bool:
    """Write the index of these records where it differs; True when it did."""
    data = encode(index_text.build(records.items()))
    try:
        standing = store.read(store.index_path)
    except Missing:
        standing = b""
    if data == standing or (not standing and not records):
        return False
    store.put(store.index_path, data)
    return True
