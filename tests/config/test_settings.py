"""What settings may decide: a repository's nothing but "off", a broken file nothing at all."""

import json
import os
from dataclasses import fields, replace
from pathlib import Path

import pytest

from memdir.config.settings import Options
from memdir.errors import BadInput
from tests.helpers.tables import cases, rows
from tests.helpers.world import OVERRIDE, REMOTE, World, kinds


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


# A hostile repository


@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
@pytest.mark.parametrize("key", ["autoMemoryDirectory", "memoryDirectory"])
@pytest.mark.parametrize("value", ["~/.ssh", "../../other-project/memory", "/tmp/x", 7, None])
def test_a_repository_never_decides_where(world, name, key, value):
    file = world.repository(name, **{key: value})
    config = world.read()
    assert (config.store, config.step) == (world.default(world.project), "default")
    (finding,) = config.findings
    assert (finding.kind, finding.path) == ("redirect-attempt", str(file))
    assert key in finding.message


def test_the_shared_list_of_hostile_settings_has_no_effect(world, shared):
    lines = (shared / "hostile/inputs.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    rows = [row for row in rows if row["field"] in ("project settings", "settings file")]
    assert rows
    for row in rows:
        file = world.project / ".claude/settings.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(row["value"])
        config = world.read()
        assert config.store == world.default(world.project), row["id"]
        assert config.options == Options(), row["id"]
        assert file.read_text() == row["value"], row["id"]
        if "emoryDirectory" in row["value"]:
            assert kinds(config) == ["redirect-attempt"], row["id"]


def test_settings_above_the_current_directory_are_heard_too(world):
    world.repository_with_a_commit()
    deep = world.project / "a/b"
    deep.mkdir(parents=True)
    world.repository(autoMemoryDirectory="/tmp/x")
    world.settings(world.project / "a/.claude/settings.json", autoMemoryDirectory="/tmp/y")
    assert kinds(world.read(deep)) == ["redirect-attempt", "redirect-attempt"]


def test_in_a_home_that_is_a_project_settings_and_links_are_the_user_s(world):
    (world.top / "dotfiles").mkdir()
    (world.home / ".claude").symlink_to(world.top / "dotfiles")
    world.user(autoMemoryDirectory="~/mine", autoMemoryEnabled=False)
    config = world.read(world.home)
    assert (config.store, config.findings) == (str(world.home / "mine"), ())
    assert config.enabled_by == "user setting autoMemoryEnabled"
    assert world.read(world.home, scope="local").store == str(world.top / "dotfiles/memory")


PLACES = [OVERRIDE, REMOTE, "CLAUDE_CONFIG_DIR", "HOME", "XDG_STATE_HOME", "MEMDIR_STATE_DIR"]


@pytest.mark.parametrize("variable", [*PLACES, "XDG_CONFIG_HOME", "MEMDIR_CONFIG_DIR"])
def test_a_repository_cannot_redirect_through_the_client_s_environment(world, variable):
    """The client hands `env` of a repository's settings on to every hook."""
    evil = str(world.top / "evil")
    world.repository(env={variable: evil})
    environ = {variable: evil}
    config = world.read(**environ)
    assert evil not in str((config.store, config.state_dir, config.claude_dir, config.config_file))
    assert kinds(config) == ["redirect-attempt"]
    assert variable in config.findings[0].message


def test_a_variable_of_the_user_s_own_stays(world):
    world.repository(env={OVERRIDE: str(world.top / "evil")})
    mine = str(world.top / "mine")
    assert world.read(**{OVERRIDE: mine}).store == mine


def test_a_repository_cannot_pass_its_folder_off_as_the_user_s(world):
    evil = str(world.project / ".claude")
    world.repository(env={"CLAUDE_CONFIG_DIR": evil}, autoMemoryDirectory=str(world.top / "evil"))
    world.repository("settings.local.json", env={OVERRIDE: str(world.top / "evil")})
    config = world.read(CLAUDE_CONFIG_DIR=evil, **{OVERRIDE: str(world.top / "evil")})
    assert config.store == world.default(world.project)
    assert kinds(config) == ["redirect-attempt"] * 3


def test_a_repository_cannot_switch_the_history_off(world):
    world.repository(env={"MEMDIR_HISTORY": 0, "MEMDIR_INDEX": False, "OTHER": "x", "LIST": []})
    config = world.read(MEMDIR_HISTORY="0", MEMDIR_INDEX="false")
    assert config.options == Options()
    assert kinds(config) == ["redirect-attempt", "redirect-attempt"]


@cases("scope", "link")
def test_a_link_planted_by_the_repository_is_refused(world, scope, link):
    target = world.home / ".ssh"
    (target / "x").mkdir(parents=True)
    path = world.project / link
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)
    with pytest.raises(BadInput) as refusal:
        world.read(scope=scope)
    assert refusal.value.path == str(path)
    assert refusal.value.next

    config = world.read()
    assert config.store == world.default(world.project)
    assert str(target) not in "".join(config.scopes.values())
    assert str(path) in [finding.path for finding in config.findings] or "agent" in scope


def test_a_link_in_the_team_folder_is_refused_only_inside_the_repository(world):
    world.repository_with_a_commit()
    for store in (world.project / "memory", Path(world.default(world.project))):
        store.mkdir(parents=True)
        (store / "team").symlink_to(world.top)
    assert world.read(scope="team").store == str(world.top)
    world.user(autoMemoryDirectory=str(world.project / "memory"))
    with pytest.raises(BadInput):
        world.read(scope="team")


# Whether memory is on


USER, REPOSITORY, MANAGED = (
    f"{name} setting autoMemoryEnabled" for name in ("user", "repository", "managed")
)


@cases("managed", "user", "repository", "on", "by")
def test_a_repository_may_only_switch_memory_off(world, managed, user, repository, on, by):
    if managed is not None:
        world.settings(world.managed, autoMemoryEnabled=managed)
    if user is not None:
        world.user(autoMemoryEnabled=user)
    if repository is not None:
        world.repository(autoMemoryEnabled=repository)
    config = world.read()
    assert (config.enabled, config.enabled_by) == (on, by)


def test_the_environment_decides_before_any_setting(world):
    variable = "CLAUDE_CODE_DISABLE_AUTO_MEMORY"
    world.settings(world.managed, autoMemoryEnabled=False)
    config = world.read(**{variable: "0"})
    assert (config.enabled, config.enabled_by) == (True, f"environment {variable}")

    world.repository(env={variable: "0"})
    assert not world.read(**{variable: "0"}).enabled
    world.repository(env={variable: "1"})
    config = world.read(**{variable: "1"})
    assert not config.enabled
    assert config.findings == ()


@pytest.mark.parametrize("value", ["yes", 0, 1, [], {}])
def test_a_switch_that_is_neither_true_nor_false_is_reported(world, value):
    file = world.user(autoMemoryEnabled=value)
    config = world.read()
    (finding,) = config.findings
    assert (config.enabled, finding.kind, finding.path) == (True, "bad-setting", str(file))


# Files that cannot be used


BROKEN = rows(globals(), "BROKEN")


@pytest.mark.parametrize(("content", "line", "words"), BROKEN, ids=range(len(BROKEN)))
def test_a_broken_settings_file_is_reported_and_left_as_it_is(world, content, line, words):
    file = world.user()
    file.write_bytes(content)
    config = world.read()
    assert config.store == world.default(world.project)
    (finding,) = config.findings
    assert (finding.kind, finding.path, finding.line) == ("broken-settings", str(file), line)
    assert words in finding.message
    assert file.read_bytes() == content


def test_settings_that_are_no_file_are_reported_without_waiting(world):
    os.mkfifo(world.user().with_name("settings.local.json"))
    world.user().unlink()
    os.mkfifo(world.home / ".claude/settings.json")
    (world.project / ".claude/settings.json").mkdir(parents=True)
    (world.project / ".claude/settings.local.json").symlink_to("settings.local.json")
    config = world.read()
    assert config.store == world.default(world.project)
    assert kinds(config) == ["broken-settings"] * 3


# Our own options and directories


def test_our_directories_follow_xdg(world):
    config = world.read()
    found = config.state_dir, config.cache_dir, config.config_file
    names = (".local/state/memdir", ".cache/memdir", ".config/memdir/config.toml")
    assert found == tuple(str(world.home / name) for name in names)
    names = ("XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")
    config = world.read(**{name: f"/xdg/{name}" for name in names})
    assert config.state_dir == "/xdg/XDG_STATE_HOME/memdir"
    assert config.cache_dir == "/xdg/XDG_CACHE_HOME/memdir"
    assert config.config_file == "/xdg/XDG_CONFIG_HOME/memdir/config.toml"
    assert world.read(XDG_STATE_HOME="relative").state_dir == world.read().state_dir
    assert world.read(MEMDIR_STATE_DIR="/own/state").state_dir == "/own/state"


def toml(world: World, text: str | bytes) -> Path:
    file = world.home / ".config/memdir/config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


WHOLE = """
[store]
index = false
trash_days = 0
[lock]
seconds = 1
notice_seconds = 0.5
"""
CHOSEN = Options(index=False, trash_days=0, lock_seconds=1.0, lock_notice_seconds=0.5)


def test_options_come_from_the_file_and_then_from_the_environment(world):
    assert world.read().options == Options()
    toml(world, WHOLE)
    assert (world.read().options, world.read().findings) == (CHOSEN, ())
    config = world.read(MEMDIR_INDEX="on", MEMDIR_LOCK_SECONDS="7", MEMDIR_TRASH_DAYS="9")
    given = replace(CHOSEN, index=True, lock_seconds=7.0, trash_days=9)
    assert config.options == given
    for option in fields(Options):
        assert type(getattr(config.options, option.name)) is type(option.default)


@pytest.mark.parametrize("value", ["maybe", "2", "-"])
def test_a_wrong_variable_keeps_what_the_file_says(world, value):
    toml(world, WHOLE)
    config = world.read(MEMDIR_INDEX=value)
    assert config.options == CHOSEN
    assert kinds(config) == ["bad-setting"]


@cases("kind", "text", "line", "fix")
def test_what_config_toml_cannot_mean_is_reported_and_the_defaults_apply(
    world, kind, text, line, fix
):
    file = toml(world, text)
    config = world.read()
    assert config.options == Options()
    (finding,) = config.findings
    assert (finding.kind, finding.path, finding.line) == (kind, str(file), line)
    assert fix in finding.fix
