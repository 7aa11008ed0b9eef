"""What may leave a private store: its type allows it, it holds no secret, others can take it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from memdir.core import frontmatter, secrets, types
from memdir.core.inspection.page import Page
from memdir.core.inspection.safety import inspect_safety
from memdir.core.memory import UNKNOWN, Memory, stem
from memdir.core.outline import Lookup
from memdir.core.pointer import read_pointers

FEW = 3  # memories that a message names one by one
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


def concerns(memory: Memory, data: bytes, private: Lookup) -> list[str]:
    """What a person should look at before others find it there.

    `private` knows the memories that stay behind: a link to one of them leads others nowhere.
    """
    page = Page(memory, frontmatter.decode(data))
    found = [f"{page.path}:{one.line}: {one.message}" for one in inspect_safety(page)]
    pointers = [one for line in page.lines for one in read_pointers(line, 1)]
    left = dict.fromkeys(private.find(one.target, one.form) for one in pointers)
    names = [name for name in left if name]
    if names:
        more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
        found.append(f"{page.path} leads to what stays private: {', '.join(names[:FEW])}{more}")
    return found


def clash(path: str, files: Iterable[str]) -> str:
    """The other file that some disks, or a person, would take for this one; empty without one."""
    return next((file for file in files if file != path and _folded(file) == _folded(path)), "")


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold().replace("-", "_")
