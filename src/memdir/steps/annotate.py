"""Put a value into the header of a memory; its text and its age stay as they are."""

from __future__ import annotations

from memdir.core import frontmatter
from memdir.core.draft import SKIPPED, UPDATED, Change
from memdir.core.memory import stem
from memdir.core.ports import Store
from memdir.core.revision import hash_of


def annotate(path: str, key: str, value: str, store: Store, reason: str) -> Change:
    """One line of the header, and no other: `modified` tells when somebody meant something."""
    old = store.read(path)
    document = frontmatter.read(frontmatter.decode(old))
    if document.get(key) == value or document.lines is None:
        return Change(SKIPPED, stem(path), path, hash_of(old), reason)
    data = frontmatter.encode(frontmatter.edit(document, key, value).text)
    store.put(path, data)
    return Change(UPDATED, stem(path), path, hash_of(data), reason)
