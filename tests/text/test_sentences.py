"""Sentences are found in Markdown, with their lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.text.prose import MOST_SENTENCES, sentences
from tests.helpers.data_tables import table


@pytest.mark.parametrize(("body", "found"), table("text", "a_body_is_taken_apart"))
def test_a_body_is_taken_apart(body, found):
    assert [[one.line, one.text] for one in sentences(body)] == found


def test_code_stands_line_by_line():
    found = sentences("Run this:\n```sh\nmake a. B\n\nmake c\n```\nDone.", first_line=10)
    assert [(one.line, one.text, one.code) for one in found] == [
        *((10, "Run this:", False), (12, "make a. B", True), (14, "make c", True)),
        (16, "Done.", False),
    ]


def test_a_body_without_an_end_is_cut():
    assert len(sentences("Stop. " * 6_000)) == MOST_SENTENCES


@given(st.text(alphabet="a .;-*`\n~#1)", max_size=200))
def test_every_sentence_has_a_line_of_the_body(body):
    last = body.count("\n") + 1
    lines = [one.line for one in sentences(body)]
    assert lines == sorted(lines) and all(1 <= line <= last for line in lines)
