"""Adopt a memory from elsewhere as it is: import, never overwrite."""

from __future__ import annotations

from memdir.core import frontmatter, secrets
from memdir.core.draft import CREATED, SKIPPED, Change
from memdir.core.drafting import Rules
from memdir.core.errors import Missing, Unwritable
from memdir.core.memory import is_memory, stem
from memdir.core.ports import Store
from memdir.core.revision import hash_of


def adopt(path: str, data: bytes, store: Store, rules: Rules) -> Change:
    """Write these bytes under this path, unless something speaks against it."""
    reason = _refusal(path, data, rules)
    if reason:
        return Change(SKIPPED, stem(path), path, reason=reason)
    try:
        standing = store.read(path)
    except Missing:
        store.put(path, data)
        return Change(CREATED, stem(path), path, hash_of(data))
    except Unwritable as error:  # a link or a directory: the others can still be taken
        return Change(SKIPPED, stem(path), path, reason=error.message)
    if standing == data:
        return Change(SKIPPED, stem(path), path, hash_of(data), "it is there already, the same")
    reason = "another memory of that name stands there; rename one of the two"
    return Change(SKIPPED, stem(path), path, hash_of(standing), reason)


def _refusal(path: str, data: bytes, rules: Rules) -> str:
    if not is_memory(path):
        return "it is not a memory (an index, a hidden file, or not Markdown)"
    if any(ord(char) < 32 or 127 <= ord(char) < 160 for char in path):
        return "its name holds a control character"
    if len(data) > rules.max_file_bytes:
        return f"it has {len(data):,} bytes (limit: {rules.max_file_bytes:,})"
    if not rules.shared:
        return ""
    if found := secrets.find_secrets(path):
        return f"its name holds what looks like a secret ({found[0].rule})"
    if found := secrets.find_secrets(frontmatter.decode(data)):
        return f"it holds what looks like a secret ({found[0].rule}, line {found[0].line})"
    return ""
