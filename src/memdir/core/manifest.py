"""The manifest: the list of memories a model chooses from."""

from memdir.core import dates
from memdir.core.memory import Memory
from memdir.core.pointer import one_line

NEWEST = 200  # memories; more would crowd the prompt of the model that selects


def manifest(memories: list[Memory]) -> str:
    """One line per memory, the newest first: `- [type] path (time): description`."""
    newest = sorted(memories, key=lambda memory: (-memory.mtime, memory.path))[:NEWEST]
    return "\n".join(map(_line, newest))


def _line(memory: Memory) -> str:
    when = dates.iso_time(memory.mtime)
    return one_line(f"- [{memory.type}] {memory.path} ({when}): {memory.description}")
