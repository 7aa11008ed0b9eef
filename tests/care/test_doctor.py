"""doctor finds what is broken, mends what it can, and proves the rest by doing it."""

import os
import re

import pytest

from memdir.store import changes
from tests.helpers.terminal import memdir, process, tree

pytestmark = pytest.mark.usefixtures("project")

RULE = "Use uv, never pip, to install packages."


def checks(*words: str) -> dict[str, dict]:
    answer = memdir("doctor", "--json", *words)
    found = {check["name"]: check for check in answer.json["checks"]}
    assert answer.json["ok"] == all(check["ok"] for check in answer.json["checks"])
    assert answer.code == int(not answer.json["ok"])
    return found


def test_a_healthy_store_is_well_and_proven(store):
    memdir("remember", RULE)
    before = tree(store)
    found = checks()
    names = ["python", "git", "settings", "store", "state", "lock", "history", "index", "memories"]
    assert [*found] == [*names, "trash", "setup", "proof"]
    assert all(check["ok"] for check in found.values())
    assert re.search(r"memory in \d+ ms", found["proof"]["message"])
    assert tree(store) == before


@pytest.fixture
def settings(home):
    (home / ".claude").mkdir()
    return home / ".claude/settings.json"


@pytest.mark.parametrize("way", ["--settings", "--plugin"])
def test_a_client_that_runs_memdir_is_named_with_its_way(settings, way):
    assert memdir("setup", "claude-code", way).code == 0
    found = checks()["setup"]
    assert found["ok"], found
    assert ("plugin" if way == "--plugin" else str(settings)) in found["message"]
    memdir("setup", "claude-code", "--remove")
    assert "not set up" in checks()["setup"]["message"]


def test_hooks_of_a_python_that_is_gone_are_outdated(settings):
    gone = "'/a folder with blanks/python3'"
    memdir("setup", "claude-code", "--settings")
    text = settings.read_text()
    python = re.search(r"exec (\S+) -I", text)[1]
    settings.write_text(text.replace(python, gone))
    found = checks()["setup"]
    assert not found["ok"] and f"{gone} does not run" in found["message"]
    assert found["fix"] == "run: memdir setup claude-code"
    assert memdir("setup", "claude-code").code == 0
    assert checks()["setup"]["ok"]


def test_hooks_beside_the_plugin_run_twice(settings):
    memdir("setup", "claude-code", "--settings")
    text = settings.read_text().rstrip().removesuffix("}")
    settings.write_text(text + ', "enabledPlugins": {"memdir@elsewhere": true}}')
    found = checks()["setup"]
    assert not found["ok"] and "plugin and hooks" in found["message"]
    assert memdir("setup", "claude-code").code == 0
    assert checks()["setup"]["ok"]


def test_a_plugin_without_a_python_is_silent_and_said_to_be(settings, monkeypatch):
    settings.write_text('{"enabledPlugins": {"memdir@elsewhere": true}}')
    assert checks()["setup"]["ok"]
    monkeypatch.setenv("PATH", "/nonexistent")
    found = checks()["setup"]
    assert not found["ok"] and "Python 3.11" in found["fix"]


OTHERS = {
    "codex": ".codex/hooks.json",
    "gemini-cli": ".gemini/settings.json",
    "opencode": ".config/opencode/opencode.json",
    "cursor": ".cursor/hooks.json",
}


def test_every_other_client_that_runs_memdir_is_named_too(home):
    assert not OTHERS.keys() & checks().keys()
    for client in OTHERS:
        memdir("setup", client)
    found = checks()
    for client, name in OTHERS.items():
        assert found[client]["ok"] and str(home / name) in found[client]["message"]
    for client in OTHERS:
        memdir("setup", client, "--remove")
    assert not OTHERS.keys() & checks().keys()


def test_another_client_is_told_only_where_memdir_is_in_its_files(home):
    memdir("setup", "opencode")
    plugin = home / ".config/opencode/plugins/memdir.js"
    plugin.unlink()
    found = checks()["opencode"]
    assert not found["ok"] and str(plugin) in found["message"]
    path = home / OTHERS["codex"]
    path.parent.mkdir()
    path.write_text("{ // mine\n}")
    assert "codex" not in checks()
    path.unlink()
    memdir("setup", "codex")
    path.write_text("{ // mine\n}")
    found = checks()["codex"]
    assert not found["ok"] and str(path) in found["message"] and found["fix"]


def test_no_git_is_no_failure(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    git = checks()["git"]
    assert git["ok"] and "not found" in git["message"] and "install git" in git["fix"]


def test_a_state_directory_that_others_can_use_is_said(home):
    memdir("remember", RULE)
    (home / ".local/state/memdir").chmod(0o755)
    found = checks()["state"]
    assert not found["ok"] and "chmod 700" in found["fix"]


def test_a_broken_setting_and_a_broken_memory_are_said(store, home):
    memdir("remember", RULE)
    (store / "odd.md").write_text("---\nname: a\nname: b\n---\nx\n")
    (home / ".config/memdir").mkdir(parents=True)
    (home / ".config/memdir/config.toml").write_text("[store]\nindx = true\n")
    found = checks()
    assert not found["settings"]["ok"] and "indx" in found["settings"]["message"]
    assert not found["memories"]["ok"] and "twice" in found["memories"]["message"]


def test_a_store_that_is_a_file_or_open_to_others_is_said(store):
    store.parent.mkdir(parents=True)
    store.write_text("")
    found = checks()
    assert "is in the way" in found["store"]["message"] and found["store"]["fix"]
    assert found["state"]["ok"]
    assert not found["index"]["ok"]  # what cannot be looked at is not well
    store.unlink()
    store.mkdir(mode=0o777)
    store.chmod(0o777)
    found = checks()["store"]
    assert "other users have access" in found["message"] and "chmod go-w" in found["fix"]


def test_a_full_disk_is_said(monkeypatch):
    full = os.statvfs_result((1024, 1024, 100, 1, 1, 1, 1, 1, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda path: full)
    assert "only 1 KiB" in checks()["store"]["message"]


def test_the_proof_fails_for_a_store_that_does_not_keep_its_word(monkeypatch):
    save = changes.save_memory

    def save_half(app, *given):
        done = save(app, *given)
        app.store.put(done.changes[0].path, b"half of it")
        return done

    monkeypatch.setattr(changes, "save_memory", save_half)
    found = checks()["proof"]
    assert not found["ok"] and "not read back" in found["message"]


def test_the_proof_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    process("doctor", TMPDIR=str(tmp_path))
    assert [name for name in os.listdir(tmp_path) if name.startswith("memdir")] == []


def test_a_missing_index_is_told_and_mended(store):
    memdir("remember", "Use uv, never pip.", "--name", "use-uv")
    (store / "MEMORY.md").unlink()
    assert "1 file without a pointer" in memdir("doctor").text
    assert memdir("doctor", "--fix").code == 0
    assert "use-uv.md" in (store / "MEMORY.md").read_text()
