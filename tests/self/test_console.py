"""The runner of the documents' examples finds what is wrong, and only that."""

import pytest

from tests.self.console import Terminal, differences, matches


def block(text: str) -> str:
    return f"# Title\n\n```console\n{text}\n```\n\nwords\n"


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a b", "a b", True),
        ("a b", "a  b", False),
        ("a … c", "a b c", True),
        ("a.c", "abc", False),
        ("a\n…\nd", "a\nb\nc\nd", True),
        ("a\n…\nd", "a\nb", False),
        ("", "surprise", False),
        ("a\n", "\na  \n\n", True),
        ("a\n\nb", "a\nb", False),
    ],
)
def test_output_is_compared_line_by_line(shown, printed, same):
    assert matches(shown.split("\n"), printed.split("\n")) is same


def test_a_right_document_passes_and_a_directory_lasts(tmp_path):
    document = block("$ mkdir sub && cd sub\n$ pwd\n…/home/project/sub\n$ echo ~ >&2\n…/home")
    assert differences(document, Terminal(tmp_path)) == []


@pytest.mark.parametrize(
    "text",
    [
        "$ echo right\nwrong",
        "$ echo unexpected",
        "$ no-such-command-here\n…",
        "$ echo 'Traceback (most recent call last):'\n…",
        "$ exit 3",
    ],
)
def test_a_wrong_document_is_found(tmp_path, text):
    (found,) = differences(block(text), Terminal(tmp_path))
    assert found.startswith("line 4: $ ")


def test_nothing_of_the_real_home_is_visible(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMDIR_PLANTED", "1")
    _, printed = Terminal(tmp_path).run("env; git rev-parse --show-toplevel")
    assert "MEMDIR_PLANTED=1" not in printed
    assert f"HOME={tmp_path}/home" in printed
    assert printed[-1] == str((tmp_path / "home/project").resolve())
