"""The runner of the documents' examples finds what is wrong, and only that."""

import pytest

from tests.self.console import Terminal, differences


def block(text: str) -> str:
    return f"# Title\n\n```console\n{text}\n```\n\nwords\n"


def test_a_right_document_passes_and_a_directory_lasts(tmp_path):
    document = block("$ mkdir sub && cd sub\n$ pwd\n…/home/project/sub\n$ echo ~ >&2\n…/home")
    assert differences(document, Terminal(tmp_path)) == []


@pytest.mark.parametrize(
    "text",
    [
        "$ echo right\nwrong",
        "$ echo unexpected",
        "$ echo abc\na.c",
        "$ no-such-command-here\n…",
        "$ echo 'Traceback (most recent call last):'\n…",
    ],
)
def test_a_wrong_document_is_found(tmp_path, text):
    (found,) = differences(block(text), Terminal(tmp_path))
    assert found.startswith("line 4: $ ")
