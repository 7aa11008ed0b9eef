"""The manifest: the list of memories a model chooses from."""

from memdir.core import dates
from memdir.core.memory import Memory

NEWEST = 200  # memories; more would crowd the prompt of the model that selects


def manifest(memories: list[Memory]) -> str:
    """One line per memory, the newest first: `- [type] path (time): description`."""
    newest = sorted(memories, key=lambda memory: (-memory.mtime, memory.path))[:NEWEST]
    return "\n".join(
        f"- [{memory.type}] {memory.path} ({dates.iso_time(memory.mtime)}): {memory.description}"
        for memory in newest
    )
