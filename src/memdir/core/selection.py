"""Selection by a model: the question it gets, and what its answer means."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from string import Template

from memdir.core.inert import inert_line
from memdir.core.manifest import NEWEST, manifest
from memdir.core.memory import Memory
from memdir.core.model import Question

MOST = 5  # memories; more would crowd the agent's context
TOP = 20  # of the local ranking: they may be older than the newest 200
MAX_TOKENS = 256
SECONDS = 3.0
PROMPT_CHARACTERS = 4_000  # the start of a prompt says what it is about; the rest is often a paste
LINE_CHARACTERS = 300
MARK_CHARACTERS = 12
CUT = " […]"
SPLIT = "\n---\n"  # in the words: what the model is, then what it is given

SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "memories": {
            "type": "array",
            "items": {"type": "string"},
            "maxItems": MOST,
            "description": f"Paths from the list, the most useful first, at most {MOST}.",
        }
    },
    "required": ["memories"],
    "additionalProperties": False,
}

MODEL, LOCAL = "model", "local"


@dataclass(frozen=True)
class Selected:
    """The chosen paths, best first; `by` says who chose, `reason` why the model did not."""

    paths: tuple[str, ...]
    by: str
    reason: str = ""


def candidates(memories: Sequence[Memory], top: Sequence[str]) -> dict[str, str]:
    """The manifest's line of each memory that may be chosen: the newest, and the local top."""
    newest = sorted(memories, key=lambda memory: (-memory.mtime, memory.path))[:NEWEST]
    by_path = {memory.path: memory for memory in memories}
    chosen = {memory.path: memory for memory in newest}
    chosen |= {path: by_path[path] for path in top[:TOP] if path in by_path}
    return {path: _line(memory) for path, memory in chosen.items()}


def build_question(words: str, prompt: str, lines: Sequence[str], seconds: float) -> Question:
    """What the model is asked. All of it but the words is data, between marks nobody can guess."""
    system, _, given = words.partition(SPLIT)
    asked, listed = _cut(prompt.strip(), PROMPT_CHARACTERS), "\n".join(lines)
    # Made of the data itself: the same question has the same mark, and no memory can contain it.
    mark = hashlib.sha256(f"{asked}\0{listed}".encode("utf-8", "replace")).hexdigest()
    user = Template(given.strip() + "\n").substitute(
        mark=mark[:MARK_CHARACTERS],
        prompt=asked,
        memories=listed,
    )
    system = Template(system.strip() + "\n").substitute(most=MOST)
    return Question(system, user, SCHEMA, MAX_TOKENS, seconds)


def parse(data: object, known: Sequence[str]) -> tuple[str, ...]:
    """The memories that an answer names: known ones, each once, at most 5; compared exactly."""
    names = data.get("memories") if isinstance(data, dict) else None
    given = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    allowed = frozenset(known)
    return tuple(dict.fromkeys(name for name in given if name in allowed))[:MOST]


def names_any(data: object) -> bool:
    """Whether the answer names something at all; naming nothing is a choice."""
    return isinstance(data, dict) and bool(data.get("memories"))


def _line(memory: Memory) -> str:
    return _cut(inert_line(manifest([memory])), LINE_CHARACTERS)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - len(CUT)] + CUT
