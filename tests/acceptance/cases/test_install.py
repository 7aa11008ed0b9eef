"""In and out again: the plugin, setup, both of them; what stays, and what does not."""

import json
import shutil

import pytest

from tests.acceptance.cases.conftest import PROMPT
from tests.acceptance.cases.test_sessions import EDITS, assert_told_once, bash, call
from tests.acceptance.equipped import ID, MARKETPLACE, PLUGIN, SETTINGS, copy_checkout
from tests.helpers.searching import memory

THINKING = 2  # seconds until a model calls its first tool: till then the store is in the history
THEIRS = b'{\n  "model": "claude-opus-5-5",\n  "unknownKey": [1, {"a": null}]\n}\n'


def test_the_plugin_alone_recalls_and_setup_on_top_changes_nothing(equipped):
    assert shutil.which("memdir", path=equipped.environment()["PATH"]) is None
    equipped.install(PLUGIN)
    before = equipped.settings.read_bytes()
    assert_told_once(equipped)
    for _ in range(2):
        done = equipped.memdir("setup", "claude-code")
        assert [file["change"] for file in done["files"]] == ["unchanged"]
        assert equipped.settings.read_bytes() == before
    assert_told_once(equipped)


def test_a_plugin_on_top_of_setup_tells_nothing_twice(equipped):
    equipped.install(SETTINGS)
    equipped.install(PLUGIN)
    assert_told_once(equipped)
    equipped.memdir("setup", "claude-code", "--remove")  # from now on the plugin speaks
    assert_told_once(equipped)


@pytest.mark.parametrize("way", ["--settings", "--plugin"])
def test_setup_taken_out_leaves_memories_and_settings_as_they_were(equipped, way):
    equipped.settings.write_bytes(THEIRS)
    memories = equipped.memories()
    equipped.memdir("setup", "claude-code", way)
    assert_told_once(equipped)
    equipped.memdir("setup", "claude-code", "--remove")
    assert equipped.settings.read_bytes() == THEIRS
    assert equipped.memories() == memories
    assert equipped.ask(PROMPT).succeeded
    assert equipped.told() == []


def test_a_plugin_that_is_uninstalled_leaves_the_memories(equipped):
    """It is the client that writes the settings: it sets them anew and leaves two empty keys."""
    equipped.settings.write_bytes(THEIRS)
    memories = equipped.memories()
    equipped.install(PLUGIN)
    equipped.finish(PROMPT)
    history = equipped.memdir("log")
    equipped.manage("uninstall", ID)
    equipped.manage("marketplace", "remove", MARKETPLACE)
    assert equipped.memories() == memories
    assert equipped.memdir("log") == history
    assert equipped.ask(PROMPT).succeeded
    assert equipped.told() == []
    left = json.loads(equipped.settings.read_bytes())
    assert {key: value for key, value in left.items() if value != {}} == json.loads(THEIRS)


def test_an_update_of_the_plugin_loses_nothing(equipped, tmp_path):
    equipped.checkout = copy_checkout(tmp_path / "checkout")
    equipped.install(PLUGIN)
    first = equipped.ask(PROMPT)
    memories = equipped.memories()
    manifest = equipped.checkout / "plugin/.claude-plugin/plugin.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "version": "99.0.0"}))
    equipped.manage("marketplace", "update", MARKETPLACE)
    assert "99.0.0" in equipped.manage("update", ID)
    assert equipped.memories() == memories
    session = first.data["session_id"]
    assert_told_once(equipped, PROMPT, "--resume", session)  # nor does a session begin anew


# What the client does to memories by itself


def test_what_the_client_did_to_memories_comes_back(installed):
    """In the very first session it deletes one, writes another anew, and changes the index."""
    before = installed.memories()
    store = installed.store()
    anew = memory("Rule", "Work on main.", "Work on main.", type="feedback")
    installed.api.replies[:] = [
        bash(f"sleep {THINKING}"),
        call("Read", file_path=str(store / "worktree.md")),
        call("Write", file_path=str(store / "worktree.md"), content=anew),
        bash(f"rm {store}/pelican.md; echo '- [Rule](worktree.md)' > {store}/MEMORY.md"),
    ]
    installed.finish("Tidy up.", *EDITS)
    assert "Work on main." in (store / "worktree.md").read_text()
    assert not (store / "pelican.md").exists()
    installed.memdir("undo")
    assert installed.memories() == before
    assert_told_once(installed)


def test_sessions_leave_no_process_no_connection_and_nothing_in_the_project(installed):
    with installed.converse() as talk:
        talk.say(PROMPT)
        talk.say("/compact")
    assert talk.err == ""
    assert installed.rest() == []  # of the worker, which was there
    assert installed.memdir("log")["changes"]
    assert list(installed.project.iterdir()) == []
