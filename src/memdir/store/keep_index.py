"""Keeps MEMORY.md in sync: every memory has a pointer, every pointer a memory."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from memdir.errors import MemdirError
from memdir.format import index as index_module
from memdir.format import names
from memdir.format.draft import Rules
from memdir.format.outline import Lookup, unquoted
from memdir.format.pointer import SUFFIX, Pointer, write_pointer
from memdir.hot import memory, types
from memdir.hot.memory import Memory, read_memory, stem
from memdir.store.ports import Store
from memdir.store.writer import list_few

SPECIAL = "special-file"  # a link, a hidden file, a folder where a memory could be
VALUE = {"feedback": 0, "user": 1, "value": 1}  # types that an agent must not miss come first


class Targets:
    """Resolves pointers; a line that leads to any existing file stays."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._special: Lookup | None = None

    def lost(self, pointer: Pointer) -> bool:
        """True if the pointer leads nowhere; asks twice, since an error may be temporary."""
        try:
            return self._is_lost(pointer)
        except MemdirError:
            try:
                return self._is_lost(pointer)
            except MemdirError:
                if "/" in pointer.target:
                    return False
                raise

    def _is_lost(self, pointer: Pointer) -> bool:
        names = dict.fromkeys((pointer.target, unquoted(pointer.target)))
        paths = [*names, *(name + SUFFIX for name in names if name[-3:].lower() != SUFFIX)]
        if not all(map(self._gone, paths)):
            return False
        if self._special is None:
            skipped = [item.path for item in self.store.scan().findings if item.kind == SPECIAL]
            self._special = Lookup(skipped, {})
        return self._special.find(pointer.target, pointer.form) is None

    def _gone(self, path: str) -> bool:
        folder = path.rpartition("/")[0]
        inside = not {"", ".", ".."}.intersection(path.split("/"))
        return inside and not self.store.exists(path) and (not folder or self.store.exists(folder))


@dataclass(frozen=True)
class Indexed:
    changed: bool = False
    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    arranged: bool = False
    cut_lines: int = 0
    cut_characters: int = 0

    def remarks(self, expected: Collection[str] = ()) -> list[str]:
        remarks = []
        added = [path for path in self.added if path not in expected]
        dropped = [path for path in self.dropped if path not in expected]
        if added:
            remarks.append(f"the index also got a pointer to {list_few(added)}")
        if dropped:
            remarks.append(f"the index lost a pointer to nothing: {list_few(dropped)}")
        if self.repeated:
            remarks.append(
                "one list of the index said this twice, its first line stays: "
                + list_few(self.repeated)
            )
        if self.cut_lines or self.cut_characters:
            order = "the most valuable pointers come first now; " if self.arranged else ""
            remarks.append(
                f"agents do not see the last {self.cut_lines or 'part of the'} lines of the index, "
                f"it is over its limit; {order}retire or archive what is old (memdir list), "
                "shorten long lines (memdir index --check)"
            )
        return remarks


def update_index(
    store: Store, rules: Rules, before: Memory | None = None, *, anew: bool = False
) -> Indexed:
    if not rules.index and not anew:
        return Indexed()
    old = store.index()
    text = memory.decode(old or b"")
    files = store.files()
    if before is not None and before.path in files:
        # Update the pointer of a changed memory if we wrote the old one.
        title, hook, _ = _describe(_memory(store, before.path))
        text = index_module.replace_pointer(
            text, before.path, title, hook, old=pointer_line(before)
        )
    if not old:
        files = [path for _, path in sorted((m.clock, m.path) for m in _memories(store, files))]
    # Only a [[wikilink]] can name a memory by its label.
    names = {memory.name: memory.path for memory in _memories(store, files)} if "[[" in text else {}
    describe = lambda path: _describe(_memory(store, path))  # noqa: E731
    text = "" if anew and not text.strip() else text
    healed = index_module.heal(text, files, describe, names, Targets(store).lost)
    text, arranged = _arrange_if_cut(healed.text, store, files)
    data = memory.encode(text)
    if data != (old or b""):
        store.put(store.index_path, data)
    lines, characters = index_module.over_limit(text)
    came_and_went = tuple(healed.added), tuple(healed.dropped), tuple(healed.repeated)
    return Indexed(data != (old or b""), *came_and_went, arranged, lines, characters)


def _describe(memory: Memory) -> tuple[str, str, str]:
    return names.title_for(memory), memory.description, types.get(memory.type).section


def pointer_line(memory: Memory) -> str:
    title, hook, _ = _describe(memory)
    return write_pointer(title, memory.path, hook)


def _arrange_if_cut(text: str, store: Store, files: list[str]) -> tuple[str, bool]:
    if not any(index_module.over_limit(text)):
        return text, False
    memories = sorted(
        _memories(store, files),
        key=lambda item: (not item.pinned, VALUE.get(item.type, 2), -item.clock, item.path),
    )
    ours = {memory.path: pointer_line(memory) for memory in memories}
    arranged = index_module.arrange(text, [*ours], ours)
    return arranged, arranged != text


def _memories(store: Store, files: list[str]) -> list[Memory]:
    known = {memory.path: memory for memory in store.scan().memories}
    return [known.get(path) or _memory(store, path) for path in files]


def _memory(store: Store, path: str) -> Memory:
    try:
        data = store.read(path)
    except MemdirError:
        data = f"---\nname: {stem(path)}\n---\n".encode("utf-8", "surrogateescape")
    facts = store.facts(path) or (0,)
    return read_memory(path, data, facts[0] / 1e9)
