"""`memdir edit NAME`: a private copy in the person's editor, saved only over what was read."""

import os
from pathlib import Path

import pytest

from tests.helpers.terminal import memdir

pytestmark = pytest.mark.usefixtures("project")

RULE = "Use uv, never pip, to install packages."


@pytest.fixture
def editor(tmp_path, monkeypatch):
    """An editor that runs a line of shell on the file."""

    def make(line: str) -> None:
        script = tmp_path / "my editor.sh"
        script.write_text(f"#!/bin/sh\n{line}\n")
        script.chmod(0o700)
        monkeypatch.setenv("EDITOR", f"'{script}' --wait")
        monkeypatch.setenv("TMPDIR", str(tmp_path))
        monkeypatch.setattr("tempfile.tempdir", None)

    memdir("remember", RULE, "--name", "use-uv", "--type", "feedback")
    return make


def copies(tmp_path: Path) -> list[Path]:
    return sorted(tmp_path.glob("memdir-edit-*/*"))


def test_what_was_edited_is_saved(editor, store, tmp_path):
    editor("sed -i -e 's/^description: .*/description: uv it is/' -e 's/packages/things/' \"$2\"")
    answer = memdir("edit", "use-uv", "--json")
    assert (answer.code, answer.json["change"]) == (0, "updated")
    text = (store / "use-uv.md").read_text()
    assert "description: uv it is\n" in text and "install things." in text
    assert copies(tmp_path) == []


def test_the_copy_is_private(editor, tmp_path):
    editor(f'stat -c %a "$2" > {tmp_path}/mode')
    assert memdir("edit", "use-uv", "--json").json["reason"] == "it says exactly this already"
    assert (tmp_path / "mode").read_text() == "600\n"


def test_a_change_made_meanwhile_is_not_overwritten(editor, store, tmp_path):
    editor(f"echo mine >> \"$2\"; echo theirs >> '{store}/use-uv.md'")
    answer = memdir("edit", "use-uv", "--json")
    assert (answer.code, answer.error["code"]) == (1, "conflict")
    assert "mine" in answer.error["ours"] and "theirs" in answer.error["theirs"]
    (copy,) = copies(tmp_path)
    assert str(copy) in answer.error["next"] and "mine" in copy.read_text()
    assert "mine" not in (store / "use-uv.md").read_text()


@pytest.mark.parametrize("line", ["s/^type: .*/type: novel/", "/^description:/d", "$s/$/\\x00/"])
def test_what_cannot_be_saved_is_kept(line, editor, store, tmp_path):
    before = (store / "use-uv.md").read_bytes()
    editor(f"sed -i '{line}' \"$2\"")
    answer = memdir("edit", "use-uv", "--json")
    assert (answer.code, answer.error["code"]) == (1, "bad_input")
    assert str(copies(tmp_path)[0]) in answer.error["next"]
    assert (store / "use-uv.md").read_bytes() == before


def test_an_editor_that_fails_saves_nothing(editor, monkeypatch):
    editor("exit 1")
    assert memdir("edit", "use-uv", "--json").error["code"] == "bad_input"
    editor('rm "$2"')
    assert memdir("edit", "use-uv", "--json").error["code"] == "bad_input"
    monkeypatch.setenv("EDITOR", "/not/there")
    error = memdir("edit", "use-uv", "--json").error
    assert error["code"] == "bad_input" and "EDITOR" in error["next"]


def test_without_a_terminal_no_editor_is_chosen(editor, tmp_path, monkeypatch):
    editor(f"touch {tmp_path}/started")
    (tmp_path / "my editor.sh").rename(tmp_path / "sensible-editor")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("EDITOR")
    error = memdir("edit", "use-uv", "--json").error
    assert error["code"] == "bad_input" and "terminal" in error["message"]
    assert "--body-file" in error["next"] and not (tmp_path / "started").exists()


def test_no_usable_temporary_directory_is_said(monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("tempfile._candidate_tempdir_list", lambda: ["/not/there"])
    answer = memdir("doctor", "--json")
    assert (answer.code, answer.error["code"]) == (1, "unwritable")
    assert "TMPDIR" in answer.error["next"]


def test_reasons_are_changed_or_added_where_they_belong(store):
    memdir("remember", RULE, "--name", "use-uv", "--type", "feedback")
    assert memdir("edit", "use-uv", "--how", "every install").code == 0
    assert memdir("edit", "use-uv", "--why", "uv.lock").code == 0
    assert memdir("edit", "use-uv", "--why", "the lock file is uv's", "--pin").code == 0
    text = (store / "use-uv.md").read_text()
    reasons = "**Why:** the lock file is uv's\n**How to apply:** every install\n"
    assert text.endswith(f"{RULE}\n\n{reasons}") and "pinned: true" in text
    for empty in ("", "two\nlines"):
        assert memdir("edit", "use-uv", "--why", empty, "--json").error["code"] == "bad_input"


def test_what_an_editor_saved_before_it_failed_is_kept(editor, tmp_path):
    editor('echo "My new words." >> "$2"; exit 1')
    refused = memdir("edit", "use-uv")
    (copy,) = copies(tmp_path)
    assert refused.code == 1 and "your text" in refused.stderr
    assert copy.read_text().endswith("My new words.\n")
