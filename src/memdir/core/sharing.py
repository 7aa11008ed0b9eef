"""What may leave a private store: its type allows it, it holds no secret, others can take it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from memdir.core import frontmatter, secrets, types
from memdir.core.memory import UNKNOWN, Memory, stem

PRIVATE = "private"
INSTEAD = "Others would read it: say where the secret is kept, not what it is."


def refusal(memory: Memory, data: bytes, limit: int) -> str:
    """Why a memory stays private, as a sentence; empty when it may be shared."""
    type = types.get(memory.type)
    if type.scope == PRIVATE:
        other = f" (memdir edit {stem(memory.path)} --type TYPE)" if type.name == UNKNOWN else ""
        return f"memories of type {type.name} are not shared. {type.scope_lean}{other}"
    if len(data) > limit:
        return f"it has {len(data):,} bytes (limit: {limit:,}); share the part that others need"
    if b"\0" in data:
        return "it holds a NUL byte: it is not text"
    if found := secrets.find_secrets(memory.path):
        return f"its name looks like a secret ({found[0].rule}). {INSTEAD}"
    if found := secrets.find_secrets(frontmatter.decode(data)):
        places = ", ".join(dict.fromkeys(f"{one.rule}, line {one.line}" for one in found))
        return f"it holds what looks like a secret ({places}). {INSTEAD}"
    return ""


def clash(path: str, files: Iterable[str]) -> str:
    """The other file that some disks, or a person, would take for this one; empty without one."""
    return next((file for file in files if file != path and _folded(file) == _folded(path)), "")


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold().replace("-", "_")
