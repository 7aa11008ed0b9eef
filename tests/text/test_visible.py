"""Nothing that a memory holds reaches the terminal as a command, and columns are counted right."""

import pytest

from memdir.text.terminal import cut_text, visible_text, wrap_text
from tests.helpers.tables import table

pytestmark = pytest.mark.usefixtures("project")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2Jx", "␛[2Jx"),
        ("\x1b]0;t\x07", "␛]0;t␇"),
        ("\x9b31m", "\\x9b31m"),
        ("a\b\b", "a␈␈"),
        ("a\rb", "a␍b"),
        ("\x00\x7f", "␀␡"),
        ("a\u202eb", "a<U+202E>b"),
        ("a\u200bb", "a<U+200B>b"),
        ("\ufeffa", "<U+FEFF>a"),
        ("a\u00adb", "a<U+00AD>b"),
        ("\U000e0041", "<U+E0041>"),
        ("\u2028", "<U+2028>"),
        ("\udcff", "\\xff"),
        ("\ud800", "<U+D800>"),
        ("❤\ufe0f", "❤\ufe0f"),
        ("❤\ufe0f\ufe0f", "❤\ufe0f<U+FE0F>"),
        ("line\nbreak\ttab", "line\nbreak\ttab"),
        ("naïve 日本 🧠 ￼", "naïve 日本 🧠 ￼"),
    ],
)
def test_what_would_command_or_hide_is_shown(text, shown):
    assert visible_text(text) == shown


def test_every_control_character_is_harmless():
    everything = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0)]))
    assert [
        c for c in visible_text(everything) if c != "\n" and c != "\t" and not c.isprintable()
    ] == []


@pytest.mark.parametrize(
    ("text", "columns", "short"), table("text", "a_cut_text_fits_and_shows_that_it_was_cut")
)
def test_a_cut_text_fits_and_shows_that_it_was_cut(text, columns, short):
    assert cut_text(text, columns) == short


@pytest.mark.parametrize(
    ("text", "lines"), table("text", "words_are_wrapped_whole_and_wide_text_anywhere")
)
def test_words_are_wrapped_whole_and_wide_text_anywhere(text, lines):
    assert wrap_text(text, 10, "> ", "  ") == lines
