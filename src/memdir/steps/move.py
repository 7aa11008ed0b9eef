"""Move a file of a store to another path, whole: at no moment is it in neither place."""

from __future__ import annotations

from memdir.core import frontmatter, naming
from memdir.core.draft import UPDATED, Change
from memdir.core.errors import MemdirError
from memdir.core.memory import Memory, read_memory, stem
from memdir.core.pointer import write_pointer
from memdir.core.ports import Store
from memdir.core.revision import hash_of


def move(path: str, to: str, store: Store) -> Change:
    """The same bytes under the new path; the line of the index that led to it leads there."""
    data = store.read(path)
    store.put(to, data)
    store.drop(path)
    if store.is_memory(path) and store.is_memory(to):
        _lead_on(store, read_memory(path, data, 0), read_memory(to, data, 0))
    return Change(UPDATED, stem(to), to, hash_of(data), remarks=(f"renamed from {path}",))


def _lead_on(store: Store, before: Memory, after: Memory) -> None:
    """A line that a person wrote keeps its words; ours is written anew, in its place."""
    try:
        text = frontmatter.decode(store.index() or b"")
    except MemdirError:
        return  # an index that cannot be read is reported when it is brought in step
    ours, mark = _line(before), f"]({before.path})"
    lines = [
        _line(after) if line.rstrip() == ours else line.replace(mark, f"]({after.path})")
        for line in text.split("\n")
    ]
    if "\n".join(lines) != text:
        store.put(store.index_path, frontmatter.encode("\n".join(lines)))


def _line(memory: Memory) -> str:
    return write_pointer(naming.title_for(memory), memory.path, memory.description)
