"""`memdir setup`: what it says, what it refuses, and what the hooks it writes do."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memdir.clients.claude_code import claude_code_hook_line
from memdir.clients.setup import CODE, Host, find_python_for_client
from tests.helpers.terminal import memdir

pytestmark = pytest.mark.usefixtures("project")

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def settings(home: Path) -> Path:
    (home / ".claude").mkdir()
    return home / ".claude/settings.json"


def shell(line: str, **variables: str) -> tuple[int, str, str]:
    """As the client runs a hook."""
    done = subprocess.run(
        ["/bin/sh", "-c", line],
        input="{}",
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", "HOME": os.environ["HOME"], **variables},
    )
    return done.returncode, done.stdout, done.stderr


def host(python: str, package: Path) -> Host:
    return Host(python, str(package), "/", "/", {})


def test_a_dry_run_needs_no_home_that_can_be_written(monkeypatch):
    monkeypatch.setenv("HOME", "/proc/no-home")
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert memdir("setup", "claude-code", "--dry-run").code == 0
    refused = memdir("setup", "claude-code", "--json")
    assert refused.code == 1 and "/proc/no-home" in refused.error["message"]


def test_the_client_may_keep_its_files_elsewhere(home, tmp_path, monkeypatch):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "else where"))
    memdir("setup", "claude-code")
    assert (tmp_path / "else where/settings.json").is_file()
    assert not (home / ".claude").exists()
    memdir("setup", "claude-code", "--remove")
    assert not (tmp_path / "else where").exists()


def test_a_plugin_that_is_there_keeps_hooks_out_of_the_settings(settings):
    text = '{"enabledPlugins": {"memdir@elsewhere": true}}'
    settings.write_text(text)
    answer = memdir("setup", "claude-code", "--json").json
    assert answer["way"] == "plugin"
    assert answer["remarks"][0] == (
        "the plugin memdir@elsewhere is installed: its hooks run already"
    )
    refused = memdir("setup", "claude-code", "--settings", "--json")
    assert refused.code == 1 and "run twice" in refused.error["message"]
    assert memdir("setup", "claude-code", "--remove").code == 0
    assert settings.read_text() == text


def test_a_secret_beside_our_lines_is_not_shown(settings, home):
    settings.write_text(json.dumps({"env": {"GITHUB_TOKEN": SECRET}}, indent=2))
    answer = memdir("setup", "claude-code", "--diff")
    assert SECRET not in answer.text and "not shown" in answer.text
    assert SECRET in settings.read_text()
    [receipt] = home.rglob("clients/*.json")  # it holds the settings as they were
    assert receipt.stat().st_mode & 0o077 == 0


def test_a_command_of_somebody_else_stays(home):
    theirs = home / ".claude/commands/memory/save.md"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("mine")
    answer = memdir("setup", "claude-code", "--commands", "--json").json
    assert {Path(one["path"]).name: one["change"] for one in answer["files"]} == {
        "settings.json": "created",
        "config.md": "created",
        "save.md": "unchanged",
        "search.md": "created",
        "status.md": "created",
    }
    (theirs.parent / "search.md").write_text("changed")
    remarks = memdir("setup", "claude-code", "--remove", "--json").json["remarks"]
    assert any("search.md was changed since" in remark for remark in remarks)
    assert sorted(path.name for path in theirs.parent.iterdir()) == ["save.md", "search.md"]


# The command lines


@pytest.fixture
def package(tmp_path) -> Path:
    """A package in a folder whose name a shell could take for something else."""
    package = tmp_path / 'it\'s a "place" $HOME `x`;\n/memdir'
    (package / "hot").mkdir(parents=True)
    (package.parent / CODE).write_text("import sys\nprint(sys.flags.isolated, sys.argv[1:])\n")
    return package


def test_a_hook_runs_its_event_whatever_the_path_is_called(package):
    link = package.parent / "py th'on"
    link.symlink_to(sys.executable)
    line = claude_code_hook_line(host(str(link), package), "prompt")
    assert shell(line) == (0, "1 ['prompt']\n", "")


def test_a_hook_without_python_or_code_is_silent(package):
    assert shell(claude_code_hook_line(host("/no/python", package), "stop")) == (0, "", "")
    (package.parent / CODE).unlink()
    assert shell(claude_code_hook_line(host(sys.executable, package), "stop")) == (0, "", "")


# Which Python


def test_a_name_that_outlives_a_patch_release_is_preferred(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3.12").symlink_to("/bin/sh")
    assert find_python_for_client("/bin/sh", (3, 12), []) == "/bin/sh"
    python = find_python_for_client("/bin/sh", (3, 12), [str(tmp_path / "bin")])
    assert python == str(tmp_path / "bin/python3.12")


def test_a_python_that_may_vanish_is_not_chosen_where_there_is_another(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3.13").symlink_to("/bin/sh")
    python = find_python_for_client("/tmp/x/python", (3, 11), [str(tmp_path / "bin")])
    assert python == str(tmp_path / "bin/python3.13")
    assert find_python_for_client("/tmp/x/python", (3, 11), []) == "/tmp/x/python"
