"""A proposed change as a patch that the real git takes."""

import subprocess

import pytest

from memdir.capture.pages import LEARNED, fits, patch, with_lines, with_section
from tests.helpers.toml_cases import cases


def applied(folder, path, old, new):
    """What git makes of the file."""
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    if old is not None:
        file.write_bytes(old)
    text = patch(path, old, new).encode("utf-8", "surrogateescape")
    run = subprocess.run(["git", "apply", "-"], cwd=folder, input=text, capture_output=True)
    assert run.returncode == 0, run.stderr.decode()
    return file.read_bytes()


OLD = [
    None,
    b"",
    b"# Rules\n",
    b"# Rules",
    b"# Rules\n\n- one\n\n\n",
    b"# Rules\r\n\r\n- one\r\n",
    b"# Rules\r\n- one",
    b"\n",
    b"caf\xe9 \xff\n- no UTF-8\n",
    "# Regeln\n\n- größer\u2028zwei\n".encode(),
    f"# Rules\n\n{LEARNED}\n\n- before\n\n## More\n\ntext\n".encode(),
    f"{LEARNED}".encode(),
    f"{LEARNED}\n\n- before".encode(),
    f"# Rules\n\n{LEARNED}\n\n## More".encode(),
    b"".join(b"line %d\n" % number for number in range(500)),
]


@pytest.mark.parametrize("old", OLD)
def test_git_makes_of_the_patch_what_was_meant(tmp_path, old):
    new = with_lines(old, ["Never force-push to main.", "Ask before a release."])
    assert applied(tmp_path, "CLAUDE.md", old, new) == new


@pytest.mark.parametrize("old", OLD)
def test_git_makes_a_page_with_one_more_section(tmp_path, old):
    new = with_section(old, "## 2026-03-02: SQLite", "We take it.\n\nReasons.", "# Decisions")
    assert applied(tmp_path, "docs/knowledge/decisions.md", old, new) == new


@pytest.mark.parametrize("old", [one for one in OLD if one])
def test_nothing_that_stood_there_is_taken_away(old):
    for new in (with_lines(old, ["One."]), with_section(old, "## Two", "Three.")):
        gone = set(old.strip().split(b"\n")) - set(new.replace(b"\r\n", b"\n").split(b"\n"))
        assert {line.rstrip(b"\r") for line in gone} <= set(new.replace(b"\r", b"").split(b"\n"))


def test_a_second_time_the_lines_join_the_same_section():
    first = with_lines(b"# Rules\n", ["One."])
    assert first == f"# Rules\n\n{LEARNED}\n\n- One.\n".encode()
    assert with_lines(first, ["Two."]) == f"# Rules\n\n{LEARNED}\n\n- One.\n- Two.\n".encode()


def test_line_ends_of_the_file_are_kept():
    assert b"\n" not in with_lines(b"# Rules\r\n", ["One."]).replace(b"\r\n", b"")


@cases("capture")
def test_only_a_plain_path_is_named_in_a_patch(path, yes):
    assert fits(path) is yes
