"""Two changes of one text come together line by line; nothing of ours is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.text.merge import merge

ROWS = {
    # what: base, ours, theirs, merged, places that did not fit
    "nothing of ours": ("a\nb\n", "a\nb\n", "a\n", "a\n", 0),
    "nothing of theirs": ("a\nb\n", "a\nc\n", "a\nb\n", "a\nc\n", 0),
    "a line of theirs goes, one of ours came after it": ("a\nb\n", "a\nb\nc\n", "a\n", "a\nc\n", 0),
    "apart": ("a\nb\nc\n", "x\na\nb\nc\n", "a\nb\n", "x\na\nb\n", 0),
    "side by side": ("a\nb\n", "A\nb\n", "a\nB\n", "A\nB\n", 0),
    "both put in at one place": ("a\n", "a\nours\n", "a\ntheirs\n", "a\ntheirs\nours\n", 0),
    "both did the same": ("a\nb\n", "a\n", "a\n", "a\n", 0),
    "the same line, changed twice": ("a\nb\n", "a\nours\n", "a\ntheirs\n", "a\nours\n", 1),
    "changed here, gone there": ("a\nb\nc\nd\n", "a\nB\nc\nd\n", "a\nc\n", "a\nB\nc\n", 1),
    "put into what went": ("a\nb\nc\n", "a\nb\nx\nc\n", "", "a\nb\nx\nc\n", 1),
    "no line end": ("a\nb", "a\nb\nc", "a", "a\nc", 0),
    "line ends of others": ("a\r\nb\r\n", "a\r\nb\r\nc\r\n", "a\r\n", "a\r\nc\r\n", 0),
    "from nothing": ("", "ours", "", "ours", 0),
}


@pytest.mark.parametrize("row", ROWS)
def test_each_row_is_merged_as_it_says(row):
    base, ours, theirs, merged, conflicts = ROWS[row]
    assert merge(base, ours, theirs) == (merged, conflicts)


texts = st.lists(st.sampled_from(["a", "b", "c", "", "d\r"]), max_size=8).map("\n".join)


@given(texts, texts, texts)
def test_a_side_that_did_nothing_gives_way_and_every_line_of_ours_is_kept(base, ours, theirs):
    assert merge(base, base, theirs) == (theirs, 0)
    assert merge(base, ours, base) == (ours, 0)
    assert merge(base, ours, ours) == (ours, 0)
    merged, _ = merge(base, ours, theirs)
    new = [line for line in ours.split("\n") if line not in base.split("\n")]
    assert all(line in merged.split("\n") for line in new)


def numbered(count: int, changed: str) -> str:
    """Every other line is changed."""
    return "\n".join(f"{n} {changed if n % 2 else ''}" for n in range(count))


HOSTILE = {
    "the same line": ("x\n" * 20_000 + "c", "a\n" + "x\n" * 20_000 + "b\n", "y\n" + "x\n" * 20_000),
    "the same line, fewer": ("x\n" * 1_500 + "c", "a\n" + "x\n" * 1_500, "y\n" + "x\n" * 1_400),
    "changes everywhere": tuple(numbered(100_000, side) for side in "abc"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_text_made_to_cost_time_keeps_its_present_form(kind):
    base, ours, theirs = HOSTILE[kind]
    merged, clashing = merge(base, ours, theirs)
    assert merged == ours
    assert clashing == (50_000 if kind == "changes everywhere" else 1)
