"""No header is lost, nothing that was not edited changes, whatever the text."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.hot import memory
from tests.helpers.hostile import inputs
from tests.helpers.tables import cases, rows

DAY = 86_400
NOON = 1_772_452_800.0  # 2026-03-02T12:00:00Z
FEWEST_FILES = 371  # of the corpus; fewer would mean that this test looks at nothing


@pytest.fixture(scope="module")
def corpus(shared: Path) -> dict[str, bytes]:
    """The memory files of the wild, by their paths."""
    top = shared / "corpus"
    files = [path for path in top.rglob("*.md") if "mem" in str(path.relative_to(top).parent)]
    assert len(files) >= FEWEST_FILES
    return {str(path.relative_to(top)): path.read_bytes() for path in files}


def header_lines(data: bytes) -> list[str] | None:
    """The header as a plain reader finds it: independent of the code under test."""
    found = re.match(r"\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", data.decode(), re.S | re.M)
    return found[1].splitlines() if found else None


def changed_lines(old: str, new: str) -> tuple[list[str], list[str]]:
    """The lines that went and the lines that came, between equal beginnings and ends."""
    before, after = old.split("\n"), new.split("\n")
    while before and after and before[0] == after[0]:
        del before[0], after[0]
    while before and after and before[-1] == after[-1]:
        del before[-1], after[-1]
    return before, after


def test_no_header_of_the_wild_is_lost(corpus):
    with_header = 0
    for path, data in corpus.items():
        lines, document = header_lines(data), memory.read_header(memory.decode(data))
        assert memory.encode(document.text) == data, path
        assert (document.lines is None) == (lines is None), path
        nest = ""
        for line in lines or []:
            found = re.match(r"([ \t]*)([\w-]+):(?:[ \t](.*)|$)", line)
            if not found or (found[1] and not nest):
                continue  # the rest of the value above
            key = (nest if found[1] else "") + found[2]
            nest = "metadata." if key == "metadata" or found[1] else ""
            assert key in document.values, f"{path}: {line}"
            said = (found[3] or "").strip().strip("\"'")
            plain = document.values[key].replace('"', "").replace("\\", "")
            assert plain.startswith(said.replace("\\", "").replace('"', "")[:40]), f"{path}: {line}"
        with_header += lines is not None
    assert with_header > 300


def test_an_edit_of_any_field_changes_exactly_its_line(corpus):
    edits = 0
    for path, data in corpus.items():
        document = memory.read_header(memory.decode(data))
        for key in document.values:
            if key == "metadata":
                continue
            edited = memory.edit_header(document, key, "Something: else")
            gone, come = changed_lines(document.text, edited.text)
            assert len(come) == 1, f"{path}: {key}"
            # Only a value that ran over several lines takes them along.
            assert (
                len(gone)
                == document.ends.get(key, document.starts[key] + 1) - (document.starts[key])
            ), f"{path}: {key}"
            others = {k: v for k, v in document.values.items() if k != key}
            assert edited.values == others | {key: "Something: else"}, f"{path}: {key}"
            assert edited.body == document.body
            edits += 1
    assert edits > 1000


@given(st.text(), st.booleans())
def test_quote_and_unquote_are_inverses(value, always):
    quoted = memory.quote_value(value, always=always)
    assert "\n" not in quoted
    assert memory.unquote_value(quoted) == value


FORMS = rows(globals(), "FORMS")


@pytest.mark.parametrize(("header", "key", "value"), FORMS, ids=[form[0] for form in FORMS])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_field_is_read_in_every_form_of_the_wild(header, key, value, end):
    text = f"---\n{header}\n---\n\nBody\n".replace("\r\n", "\n").replace("\n", end)
    if value is None:
        value = header.partition(": ")[2]
    document = memory.read_header(text)
    assert document.get(key) == value
    assert document.body == f"{end}Body{end}"
    edited = memory.edit_header(document, key, "new")
    assert edited.get(key) == "new"
    assert edited.text.count("\n") <= text.count("\n")
    assert edited.text.count("\r") == (edited.text.count("\n") if end == "\r\n" else 0)


@cases("text")
def test_without_two_fences_all_is_body(text):
    document = memory.read_header(text)
    assert (document.lines, document.values, document.body) == (None, {}, text)
    opened = text.startswith("---\n")
    assert [line for line, _ in document.problems] == ([1] if opened else [])
    edited = memory.edit_header(document, "name", "b")
    assert edited.get("name") == "b"
    assert edited.body == text


@cases("text", "body")
def test_fences_are_forgiven_their_spaces_and_the_body_keeps_its_own(text, body):
    document = memory.read_header(text)
    assert (document.get("name"), document.body, document.text) == ("a", body, text)


@cases("header", "line", "problem")
def test_what_is_odd_is_reported_with_its_line(header, line, problem):
    assert memory.read_header(f"---\n{header}\n---\n").problems == [(line, problem)]


@pytest.mark.parametrize("hostile", inputs("frontmatter"))
def test_a_hostile_header_is_text_and_comes_back_byte_for_byte(hostile):
    text = hostile.value
    whole = f"---\n{text}\n---\nbody\n" if hostile.field == "frontmatter" else text
    document = memory.read_header(whole)
    assert document.text == whole
    assert all(isinstance(value, str) for value in document.values.values())
    assert document.body.endswith("body\n" if hostile.field == "frontmatter" else text[-5:])


# What a memory says of itself, and which paths below a store are memories.


@cases("path", "expected")
def test_what_counts_as_a_memory(path, expected):
    assert memory.is_memory_file(path) is expected


@cases("header", "expected")
def test_the_type_is_read_on_top_or_below_metadata(header, expected):
    assert memory.read_memory("a.md", f"---\n{header}\n---\n".encode(), NOON).type == expected


@cases("header", "expected")
def test_age_counts_from_what_was_confirmed_last(header, expected):
    assert memory.read_memory("a.md", f"---\n{header}\n---\n".encode(), NOON).clock == expected
