"""The next version of a memory: what was asked for changes, the rest is the writer's own."""

import pytest

from memdir.errors import BadInput
from memdir.format.draft import (
    PLACES,
    Draft,
    Revision,
    Style,
    format_new_memory,
    format_revised_memory,
    guess_header_style,
)
from memdir.hot import safe
from memdir.hot.memory import decode, encode, read_header
from tests.helpers.tables import cases

NOON = 1_772_452_800.0  # 2026-03-02T12:00:00Z
DAY = 86_400

SEED = b"""---
name: use-tabs
description: Use tabs
type: feedback
x-team-key: keep me
metadata:
  created: 2026-01-01T00:00:00Z
  modified: 2026-01-02T00:00:00Z
  source: cli
  ticket: A-1
---

Use tabs.
"""
CLAUDE = b"""---
name: Use tabs
description: "Use tabs: always"
metadata: \n  node_type: memory
  type: feedback
  originSessionId: 1234
---

Use tabs.
"""
FLAT = b"---\nname: a\ntype: user\ncreated: 2026-01-01\n---\nText\n"
BARE = b"Only text\n"


def revised(
    old: bytes, *fields: tuple[str, str], body: str | None = None, now: float = NOON
) -> str:
    return decode(format_revised_memory(old, Revision("a.md", fields, body), now))


@pytest.mark.parametrize(
    "old", [SEED, CLAUDE, FLAT, BARE, b"", b"\xff\xfe", SEED.replace(b"\n", b"\r\n")]
)
def test_what_says_nothing_new_changes_no_byte(old):
    document = read_header(decode(old))
    said = tuple(
        (field, document.get(*PLACES[field])) for field in ("name", "type") if document.values
    )
    said = tuple((field, value) for field, value in said if value)
    assert format_revised_memory(old, Revision("a.md", said, document.body), NOON) == old
    assert format_revised_memory(old, Revision("a.md"), NOON) == old


def lines_of(text: str) -> list[str]:
    return text.split("\n")


def differing(old: bytes, new: str) -> list[str]:
    """The lines of the new text that the old one does not have."""
    before = lines_of(decode(old))
    return [line for line in lines_of(new) if line not in before]


@cases("old", "field", "value", "lines")
def test_an_edit_changes_its_line_and_the_time_of_the_change(old, field, value, lines):
    new = revised(old, (field, value))
    assert differing(old, new) == lines
    assert set(lines_of(decode(old))) - set(lines_of(new)) <= {
        line for line in lines_of(decode(old)) if field in line or "modified" in line
    }


@pytest.mark.parametrize("old", [SEED, CLAUDE, FLAT])
def test_unknown_keys_and_their_order_survive_every_update(old):
    new = revised(old, ("description", "New: one"), ("type", "value"), body="New body")
    keys = list(read_header(decode(old)).values)
    assert [key for key in read_header(new).values if key in keys] == keys
    for key in keys:
        if key not in ("description", "type", "metadata.type", "metadata.modified"):
            assert read_header(new).values[key] == read_header(decode(old)).values[key]


@pytest.mark.parametrize("field", ["type", "description"])
def test_a_key_that_stands_twice_is_not_guessed_at(field):
    old = f"---\n{field}: a\nname: b\n{field}: c\n---\n".encode()
    with pytest.raises(BadInput) as refused:
        format_revised_memory(old, Revision("a.md", ((field, "d"),)), NOON)
    assert f"`{field}` stands twice" in refused.value.message


@pytest.mark.parametrize(
    "body", ["---\ntype: user\n---\nx", "\ufeff---\ntype: user\n---\n", " ---\na: b\n---"]
)
def test_a_new_body_cannot_become_a_header(body):
    for old in (BARE, SEED, b""):
        new = read_header(revised(old, body=body))
        assert new.values.get("type") == read_header(decode(old)).values.get("type")
        assert body.strip() in new.body


@pytest.mark.parametrize("days", [-1, -365, -9999, 0, 1, 3650])
def test_no_clock_makes_a_memory_older_than_its_birth(days):
    first = encode(format_new_memory(Draft("Text", description="d"), "a", NOON, Style()))
    second = read_header(revised(first, body="New", now=NOON + days * DAY))
    created = safe.parse_time(second.get("metadata.created"))
    modified = safe.parse_time(second.get("metadata.modified"))
    assert created == NOON
    assert modified == max(NOON, NOON + days * DAY)


@cases("files", "type_key", "prefix")
def test_new_files_look_like_most_of_their_neighbours(files, type_key, prefix):
    samples = [(path, read_header(decode(data))) for path, data in files]
    assert guess_header_style(samples) == Style(type_key, prefix)
