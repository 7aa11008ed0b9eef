"""What a memory says of itself, and which paths below a store are memories."""

import pytest

from memdir.hot.memory import Memory, is_memory, read_memory

DAY = 86_400
NOON = 1_772_452_800.0  # 2026-03-02T12:00:00Z


def memory(header: str, path: str = "a.md", mtime: float = NOON) -> Memory:
    return read_memory(path, f"---\n{header}\n---\n\nBody\n".encode(), mtime)


PATHS = [
    # path, is it a memory?
    ("a.md", True),
    ("A.MD", True),
    ("deep/down/a.md", True),
    ("with space.md", True),
    ("ü-\udcff.md", True),
    ("MEMORY.md", False),
    ("memory.md", False),
    ("README.md", False),
    ("index.md", False),
    ("deep/README.md", False),
    ("a.txt", False),
    ("a", False),
    ("", False),
    (".md", False),
    (".hidden.md", False),
    (".hidden/a.md", False),
    ("deep/.hidden/a.md", False),
    ("team/a.md", False),
    ("logs/a.md", False),
    ("archive/a.md", False),
    ("decisions/a.md", False),
    ("tech-debt/a.md", False),
    ("deep/team/a.md", True),
    ("teams/a.md", True),
    ("../a.md", False),
    ("deep/../a.md", False),
    ("/a.md", False),
    ("/etc/a.md", False),
    ("deep//a.md", False),
    ("folder.md/a.md", False),
]


@pytest.mark.parametrize(("path", "expected"), PATHS)
def test_what_counts_as_a_memory(path, expected):
    assert is_memory(path) is expected


TYPES = [
    # header, type
    ("type: user", "user"),
    ("type: Feedback ", "feedback"),
    ('type: "project"', "project"),
    ("metadata:\n  type: reference", "reference"),
    ("metadata: \n  node_type: memory\n  type: value", "value"),
    ("type: user\nmetadata:\n  type: feedback", "user"),
    ("type:\nmetadata:\n  type: feedback", "feedback"),
    ("type: session_summary", "session_summary"),
    ("type: gossip", "unknown"),
    ("type: ../types/user", "unknown"),
    ("type: __init__", "unknown"),
    ("name: a", "unknown"),
    ("type: feedback\ntype: user", "feedback"),
]


@pytest.mark.parametrize(("header", "expected"), TYPES)
def test_the_type_is_read_on_top_or_below_metadata(header, expected):
    assert memory(header).type == expected


CLOCKS = [
    # header, what staleness counts from
    ("name: a", NOON),
    ("created: 2026-01-01", NOON - 60.5 * DAY),
    ("metadata:\n  created: 2026-01-01\n  modified: 2026-02-01", NOON - 29.5 * DAY),
    ("metadata:\n  modified: 2026-02-01\n  last_verified: 2026-03-01", NOON - 1.5 * DAY),
    ("metadata:\n  modified: 2026-03-01\n  last_verified: 2026-02-01", NOON - 1.5 * DAY),
    ("last_verified: 2026-03-01\ncreated: 2020-01-01", NOON - 1.5 * DAY),
    ("modified: 2026-02-30T25:61:00Z", NOON),
    ("modified: 2026-03-01T00:00:00", NOON - 1.5 * DAY),
    ("modified: 2026-03-01T02:00:00+02:00", NOON - 1.5 * DAY),
    ("modified: soon\ncreated: 2026-03-01", NOON - 1.5 * DAY),
    ("modified: 2036-03-01T00:00:00Z", 2_087_942_400.0),
]


@pytest.mark.parametrize(("header", "expected"), CLOCKS)
def test_age_counts_from_what_was_confirmed_last(header, expected):
    assert memory(header).clock == expected
