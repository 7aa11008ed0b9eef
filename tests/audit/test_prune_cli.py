"""`memdir prune`: one by one or all at once; every answer is written, all of it is one undo."""

import fcntl
import os
import pty
import re
import select
import subprocess
import termios
import time
from pathlib import Path

import pytest

from tests.helpers.terminal import SCRIPT, memdir

pytestmark = pytest.mark.usefixtures("project")


def text(name: str, modified: str = "2020-01-01", more: str = "") -> str:
    head = f"name: {name}\ndescription: About {name}\ntype: project\nmodified: {modified}\n{more}"
    return f"---\n{head}---\n\nThe body of {name}.\n"


@pytest.fixture
def worn(store: Path) -> Path:
    """Four worn-out memories, one to review, one fresh."""
    memdir("remember", "Use uv, never pip, to install packages.", "--name", "fresh")
    week = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 20 * 86_400))
    for name in ("one", "two", "three", "four"):
        (store / f"{name}.md").write_text(text(name))
    (store / "doubtful.md").write_text(text("doubtful", week))
    memdir("index", "--rebuild")
    return store


def names(store: Path) -> set[str]:
    return {path.stem for path in store.glob("*.md")} - {"MEMORY"}


def contents(store: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in store.iterdir()}


ALL = {"one", "two", "three", "four", "doubtful", "fresh"}


KEYS = {"^": b"\x04", "!": b"\x03"}  # the end of the input, and an interrupt


def at_terminal(keys: str, *words: str, **env: str) -> str:
    """The command at a terminal where somebody types; what the terminal shows."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [*SCRIPT, "prune", *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, **env},
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # so that keys can interrupt
    )
    os.close(theirs)
    shown, waiting, end = b"", list(keys), time.monotonic() + 120
    answered = 0  # bytes shown when the last key was typed
    while time.monotonic() < end:
        ready, _, _ = select.select([ours], [], [], 0.1)
        try:
            shown += os.read(ours, 65_536) if ready else b""
        except OSError:
            break  # the terminal is closed
        # Only at a new question: an interrupt throws away what was typed and not yet read.
        if waiting and shown[answered:].rstrip().endswith(b"?"):
            answered = len(shown)
            key = waiting.pop(0)
            os.write(ours, KEYS.get(key, key.encode() + b"\n"))
        if not ready and child.poll() is not None:
            break
    child.wait(60)
    os.close(ours)
    return shown.decode("utf-8", "replace")


def test_each_is_shown_and_does_what_was_answered(worn):
    shown = at_terminal("daks")
    # four, one, three, two: all have 100 points, so they come by name
    assert "[1/4] four.md" in shown and "The body of four." in shown
    assert names(worn) == ALL - {"four", "one"}
    assert "last_verified" in (worn / "three.md").read_text()
    assert "last_verified" not in (worn / "two.md").read_text()
    rooms = {
        one["name"]: one["room"] for one in memdir("restore", "--list", "--json").json["memories"]
    }
    assert rooms == {"four": "trash", "one": "archive"}
    assert "1 retired, 1 archived, 1 updated, 1 skipped" in shown
    assert "tokens saved" in shown and "memdir undo --batch prune-" in shown


def test_an_undo_of_one_decision_leaves_the_others_and_then_the_rest_goes_at_once(worn):
    at_terminal("ddq")
    first = memdir("log", "--json").json["changes"][0]["id"]
    assert memdir("undo", first).code == 0
    assert names(worn) == ALL - {"four"}
    assert memdir("undo").code == 0
    assert names(worn) == ALL


def test_the_end_of_the_input_is_a_quit(worn):
    shown = at_terminal("d^")
    assert names(worn) == ALL - {"four"}
    assert "1 retired" in shown


@pytest.mark.parametrize("key", ["x", "?", " "])
def test_an_answer_that_is_none_is_explained_and_asked_again(worn, key):
    shown = at_terminal(f"{key}dq")
    assert "d moves it to the trash" in shown
    assert names(worn) == ALL - {"four"}


def test_an_interrupted_run_says_how_to_take_it_back(worn):
    before = contents(worn)
    shown = at_terminal("d!")
    assert "1 retired" in shown
    (batch,) = set(re.findall(r"memdir undo --batch (prune-\d+)", shown))
    assert memdir("undo", "--batch", batch).code == 0
    assert contents(worn) == before


def test_a_long_memory_leaves_the_question_on_the_screen(worn):
    (worn / "four.md").write_text(text("four") + "One more line.\n" * 120)
    shown = at_terminal("q", LINES="24", COLUMNS="80")
    assert "memdir show four.md" in shown
    assert shown.replace("\r", "").split("[s]kip")[0].count("\n") <= 24


def test_an_edit_opens_the_editor_and_belongs_to_the_batch(worn, tmp_path):
    script = tmp_path / "editor.sh"
    script.write_text("#!/bin/sh\nsed -i 's/The body/The new body/' \"$1\"\n")
    script.chmod(0o700)
    at_terminal("eq", EDITOR=str(script))
    assert "The new body" in (worn / "four.md").read_text()
    memdir("undo")
    assert "The new body" not in (worn / "four.md").read_text()


def test_a_killed_run_has_what_was_answered_and_can_be_undone(worn):
    before = contents(worn)
    ours, theirs = pty.openpty()
    child = subprocess.Popen([*SCRIPT, "prune"], stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    os.write(ours, b"d\n")
    shown = b""
    while b"[2/4]" not in shown:  # the first answer is written
        shown += os.read(ours, 65_536)
    child.kill()
    child.wait()
    os.close(ours)
    assert names(worn) == ALL - {"four"}
    memdir("undo")
    assert contents(worn) == before


def test_without_a_terminal_nothing_happens_and_the_way_is_said(worn):
    before = contents(worn)
    answer = memdir("prune", "--json")
    assert answer.code == 1
    assert "memdir prune --retire" in answer.error["next"]
    assert contents(worn) == before


def test_a_dry_run_shows_and_writes_nothing(worn):
    before = contents(worn)
    answer = memdir("prune", "--dry-run", "--json").json
    assert {one["path"] for one in answer["candidates"]} == {
        f"{name}.md" for name in ("one", "two", "three", "four")
    }
    assert answer["before"]["memories"] == 6 and answer["after"]["memories"] == 2
    assert answer["batch"] == "" and answer["lost"] == []
    assert contents(worn) == before
    assert "dry run: nothing was written" in memdir("prune", "--dry-run").text


@pytest.mark.parametrize(("option", "room"), [("--retire", "trash"), ("--archive", "archive")])
def test_a_script_takes_all_of_them_as_one_batch(worn, option, room):
    before = contents(worn)
    answer = memdir("prune", option, "--json").json
    assert names(worn) == {"doubtful", "fresh"}
    assert answer["before"]["memories"] == 6 and answer["after"]["memories"] == 2
    assert answer["lost"] == [] and answer["tokens_saved"] > 0
    assert {one["change"] for one in answer["changes"]} == {
        "retired" if room == "trash" else "archived"
    }
    assert {one["room"] for one in memdir("restore", "--json").json["memories"]} == {room}
    assert memdir("undo", "--batch", answer["batch"]).code == 0
    assert contents(worn) == before
    assert memdir("restore", "--json").json["memories"] == []  # all of them are back


def test_what_is_pinned_stays_when_nobody_looks(worn):
    (worn / "one.md").write_text(text("one", more="pinned: true\n"))
    memdir("prune", "--retire")
    assert names(worn) == {"one", "doubtful", "fresh"}
