"""Sentences are found in Markdown; what surrounds a claim is known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.text.markdown import markdown_blocks, split_sentences
from tests.helpers.tables import table


@pytest.mark.parametrize(("body", "said"), table("text", "a_body_is_taken_apart"))
def test_a_body_is_taken_apart(body, said):
    assert [text for text, _ in split_sentences(body)] == [text for _, text in said]


def test_code_stands_line_by_line():
    assert split_sentences("Run this:\n```sh\nmake a. B\n\nmake c\n```\nDone.") == [
        ("Run this:", False),
        ("make a. B", True),
        ("make c", True),
        ("Done.", False),
    ]


@given(st.text(alphabet="a .;-*`\n~#1)|:", max_size=200))
def test_any_body_is_read_and_every_block_stands_where_it_says(body):
    assert all(text in " ".join(body.split()) for text, code in split_sentences(body) if not code)
    lines = body.split("\n")
    for block in markdown_blocks(body):
        assert lines[block.first - 1 :][: block.text.count("\n") + 1] == block.text.split("\n")
        assert block.place(0) == (block.first, 0)
