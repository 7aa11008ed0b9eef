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
    return f"---\n{head}---\n\nSuperseded by the handbook.\n\nThe body of {name}.\n"


@pytest.fixture
def worn(store: Path) -> Path:
    """Four that are old and superseded, one that is superseded but not old, one fresh."""
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
KILL = "#"
REPEATED = 50  # looks of a tenth of a second without a word, before a key is pressed again


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
    key, quiet = "", 0
    while time.monotonic() < end:
        ready, _, _ = select.select([ours], [], [], 0.1)
        try:
            shown += os.read(ours, 65_536) if ready else b""
        except OSError:
            break  # the terminal is closed
        quiet = 0 if ready else quiet + 1
        if key in KEYS and quiet and quiet % REPEATED == 0:
            os.write(ours, KEYS[key])  # as a person does whose key had no effect
        # Only at a new question: an interrupt throws away what was typed and not yet read.
        if waiting and shown[answered:].rstrip().endswith(b"?"):
            answered = len(shown)
            key = waiting.pop(0)
            if key == KILL:
                child.kill()
                break
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


def test_an_edit_opens_the_editor_and_belongs_to_the_batch(worn, tmp_path):
    script = tmp_path / "editor.sh"
    script.write_text("#!/bin/sh\nsed -i 's/The body/The new body/' \"$1\"\n")
    script.chmod(0o700)
    at_terminal("eq", EDITOR=str(script))
    assert "The new body" in (worn / "four.md").read_text()
    memdir("undo")
    assert "The new body" not in (worn / "four.md").read_text()


@pytest.mark.parametrize("end", ["^", "!", KILL])
def test_a_run_that_ends_early_has_what_was_answered_and_can_be_undone(worn, end):
    before = contents(worn)
    shown = at_terminal(f"xd{end}")
    assert "d moves it to the trash" in shown  # an answer that is none is explained
    assert names(worn) == ALL - {"four"}
    batches = set(re.findall(r"memdir undo --batch (prune-\d+)", shown))
    assert len(batches) == (end != KILL)
    assert memdir("undo", *(word for batch in batches for word in ("--batch", batch))).code == 0
    assert contents(worn) == before


@pytest.mark.parametrize(("option", "room"), [("--retire", "trash"), ("--archive", "archive")])
def test_a_script_takes_all_but_pinned_ones_as_one_batch(worn, option, room):
    assert memdir("prune").code == 1  # without a terminal nothing happens
    (worn / "one.md").write_text(text("one", more="pinned: true\n"))
    before = contents(worn)
    answer = memdir("prune", option, "--json").json
    assert names(worn) == {"one", "doubtful", "fresh"}
    assert answer["tokens_saved"] > 0
    assert {item["room"] for item in memdir("restore", "--json").json["memories"]} == {room}
    assert memdir("undo", "--batch", answer["batch"]).code == 0
    assert contents(worn) == before
    assert memdir("restore", "--json").json["memories"] == []  # all of them are back


def test_an_agent_prunes_the_memories_it_names_and_no_other(worn):
    answer = memdir("prune", "two", "fresh", "--json")
    assert answer.code == 0
    assert {item["path"] for item in answer.json["candidates"]} == {"two.md", "fresh.md"}
    assert names(worn) == ALL - {"two", "fresh"}
    assert memdir("undo", "--batch", answer.json["batch"]).code == 0
    assert names(worn) == ALL


def test_a_standalone_index_is_pruned_as_it_is_advised(store):
    store.mkdir(parents=True)
    index = store / "MEMORY.md"
    index.write_text("Superseded by the wiki.\n\nWe deploy by hand.\n")
    os.utime(index, (1_500_000_000, 1_500_000_000))
    (advised,) = memdir("audit", "--json").json["memories"]
    assert (advised["path"], advised["advice"]) == ("MEMORY.md", "retire")
    archived = memdir("prune", "--archive", "--json").json  # an archive cannot hold it
    assert archived["changes"] == [] and index.exists()
    (change,) = memdir("prune", "--retire", "--json").json["changes"]
    assert (change["change"], change["path"]) == ("retired", "MEMORY.md")
    assert memdir("restore", "MEMORY.md").code == 0 and index.exists()
