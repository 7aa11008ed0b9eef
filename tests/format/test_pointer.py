"""A pointer is read in every form met in the wild, and written in one that reads back."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memdir.format.pointer import format_line, format_pointer, parse_pointers
from memdir.hot.memory import POINTER_AIM
from tests.helpers.tables import cases, rows


def read(line: str) -> list[tuple[str, str, str, str]]:
    return [(p.form, p.target, p.title, p.hook) for p in parse_pointers(line, 1)]


@cases("line", "form", "target", "title", "hook")
def test_every_form_is_read(line, form, target, title, hook):
    assert read(line) == [(form, target, title, hook)]


@cases("line")
def test_what_is_no_pointer_is_left_alone(line):
    assert read(line) == []


@cases("title", "target", "hook", "line")
def test_a_pointer_is_written_plainly_where_it_can_be(title, target, hook, line):
    assert format_pointer(title, target, hook) == line


WORDS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=60)
MARKS = st.text("[]()<>`\\!|*_-—:#. ab\u3000😀", max_size=30)
TARGETS = st.from_regex(r"[a-z0-9_\-]{1,20}\.md", fullmatch=True)


@settings(deadline=None)  # a busy machine is no finding
@given(WORDS | MARKS, TARGETS, WORDS | MARKS)
@example("![", "a.md", "](b.md)")
@example("`", "a.md", "`` ` [x](b.md)")
@example("a\\", "a.md", "\\")
@example("", "a.md", "(")
@example("`-->`", "a.md", "`-->`")
def test_reading_is_the_inverse_of_writing(title, target, hook):
    line = format_pointer(title, target, hook)
    (pointer,) = parse_pointers(line, 1)
    assert pointer.target == target
    assert pointer.title == (format_line(title) or target.removesuffix(".md"))
    assert pointer.form == "link"
    cut = format_line(hook)
    assert pointer.hook == cut or (
        len(line) > POINTER_AIM / 2 and (not pointer.hook or pointer.hook.endswith("…"))
    )
    assert "-->" not in line


@settings(deadline=None)  # a busy machine is no finding
@given(st.text(), st.text(), st.text())
def test_a_pointer_is_one_line_whatever_comes_in(title, target, hook):
    assert len(format_pointer(title, target, hook).splitlines()) == 1


def test_a_long_hook_is_cut_at_a_word():
    line = format_pointer("Title", "file.md", "word " * 100)
    assert POINTER_AIM - 6 <= len(line) <= POINTER_AIM
    assert line.endswith(" word…")


HOSTILE = rows(globals(), "HOSTILE")


@pytest.mark.parametrize("line", HOSTILE, ids=[f"{h[:12]!r}x{len(h)}" for h in HOSTILE])
def test_hostile_lines_are_read_to_their_end(line):
    assert all(pointer.end <= len(line) for pointer in parse_pointers(line, 1))
    written = format_pointer(line, "file.md", line)
    assert [pointer.target for pointer in parse_pointers(written, 1)] == ["file.md"]
