"""Two changes of one text come together line by line; nothing of ours is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.format.merge import merge_three_texts
from tests.helpers.tables import table

ROWS = table("text", "rows")


@pytest.mark.parametrize("row", ROWS)
def test_each_row_is_merged_as_it_says(row):
    base, ours, theirs, merged, conflicts = ROWS[row]
    assert merge_three_texts(base, ours, theirs) == (merged, conflicts)


texts = st.lists(st.sampled_from(["a", "b", "c", "", "d\r"]), max_size=8).map("\n".join)


@given(texts, texts, texts)
def test_a_side_that_did_nothing_gives_way_and_every_line_of_ours_is_kept(base, ours, theirs):
    assert merge_three_texts(base, base, theirs) == (theirs, 0)
    assert merge_three_texts(base, ours, base) == (ours, 0)
    assert merge_three_texts(base, ours, ours) == (ours, 0)
    merged, _ = merge_three_texts(base, ours, theirs)
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
    merged, clashing = merge_three_texts(base, ours, theirs)
    assert merged == ours
    assert clashing == (50_000 if kind == "changes everywhere" else 1)
