"""What a memory says of itself, and which paths below a store are memories."""

from memdir.hot.memory import Memory, is_memory, read_memory
from tests.helpers.tables import cases

DAY = 86_400
NOON = 1_772_452_800.0  # 2026-03-02T12:00:00Z


def memory(header: str, path: str = "a.md", mtime: float = NOON) -> Memory:
    return read_memory(path, f"---\n{header}\n---\n\nBody\n".encode(), mtime)


@cases("path", "expected")
def test_what_counts_as_a_memory(path, expected):
    assert is_memory(path) is expected


@cases("header", "expected")
def test_the_type_is_read_on_top_or_below_metadata(header, expected):
    assert memory(header).type == expected


@cases("header", "expected")
def test_age_counts_from_what_was_confirmed_last(header, expected):
    assert memory(header).clock == expected
