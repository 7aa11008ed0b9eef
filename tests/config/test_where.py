"""Where memories lie: real repositories, real links, real files; only the environment is given."""

import os
from pathlib import Path

import pytest

from memdir.config.config import read_config
from memdir.config.scope import Scope, project_scope_name
from memdir.errors import BadInput
from tests.helpers.world import OVERRIDE, REMOTE, World, kinds


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


# Roots


def test_a_subdirectory_shares_the_store_of_its_repository(world):
    world.repository_with_a_commit()
    deep = world.project / "a/b"
    deep.mkdir(parents=True)
    assert world.read(deep).store == world.default(world.project)
    assert world.read(world.top, project=str(deep)).store == world.default(world.project)
    assert world.read(world.project, project="a").store == world.default(world.project)


@pytest.mark.parametrize("place", ["beside", "project/inside"])
def test_a_linked_worktree_shares_the_store_and_keeps_its_own_local_scope(world, place):
    world.repository_with_a_commit()
    tree = world.top / place
    world.git("worktree", "add", "-q", tree)
    config = world.read(tree)
    assert config.store == world.default(world.project)
    assert config.project_root == str(world.project)
    assert config.checkout == str(tree)
    assert config.scopes["local"] == str(tree / ".claude/memory")


def test_worktrees_of_a_bare_repository_share_its_store(world):
    world.repository_with_a_commit()
    bare = world.top / "bare.git"
    world.git("clone", "-q", "--bare", world.project, bare)
    for name in ("one", "two"):
        world.git("worktree", "add", "-q", world.top / name, cwd=bare)
    assert world.read(world.top / "one").store == world.default(bare)
    assert world.read(world.top / "two").store == world.default(bare)


def test_a_submodule_is_a_project_of_its_own(world):
    world.repository_with_a_commit()
    other = world.top / "other"
    other.mkdir()
    world.git("init", "-q", cwd=other)
    world.git("commit", "-q", "--allow-empty", "-m", "first", cwd=other)
    world.git("submodule", "add", "-q", other, "sub")
    assert world.read(world.project / "sub").store == world.default(world.project / "sub")


def test_a_forged_git_file_does_not_reach_another_project(world):
    world.repository_with_a_commit()
    world.git("worktree", "add", "-q", world.top / "tree")
    evil = world.top / "evil"
    evil.mkdir()
    (evil / ".git").write_bytes((world.top / "tree/.git").read_bytes())
    assert world.read(evil).store == world.default(evil)


def test_a_link_and_a_relative_worktree_cannot_pass_for_the_real_one(world):
    """By text alone evil/sym/../wt is evil/wt; on disk it lies beside the victim."""
    world.repository_with_a_commit()
    world.git("worktree", "add", "-q", world.top / "wt")
    back = world.project / ".git/worktrees/wt/gitdir"
    back.write_text("../../../../wt/.git\n")
    (world.top / "wt/.git").write_text("gitdir: ../project/.git/worktrees/wt\n")
    assert world.read(world.top / "wt").store == world.default(world.project)

    evil = world.top / "evil"
    (evil / "wt").mkdir(parents=True)
    (evil / "sym").symlink_to(world.project)
    (evil / "wt/.git").write_text("gitdir: ../sym/.git/worktrees/wt\n")
    assert world.read(evil / "wt").store == world.default(evil / "wt")


def test_git_that_is_a_fifo_or_a_huge_file_blocks_nothing(world):
    os.mkfifo(world.project / ".git")
    assert world.read().store == world.default(world.project)
    (world.project / ".git").unlink()
    with open(world.project / ".git", "wb") as file:
        file.truncate(1 << 30)
    assert world.read().store == world.default(world.project)


def test_a_path_that_is_not_utf_8_works(world):
    odd = os.fsdecode(os.fsencode(world.project) + b"/\xff\xfe")
    os.mkdir(odd)
    config = world.read(odd, scope="local")
    assert config.project_name == project_scope_name(str(world.project)) + "---"
    assert config.store == f"{odd}/.claude/memory"


@pytest.mark.parametrize(
    "options", [{"project": ""}, {"project": "a\0b"}, {"dir": ""}, {"dir": "\0"}]
)
def test_what_cannot_be_a_directory_is_refused(world, options):
    with pytest.raises(BadInput):
        world.read(**options)
    with pytest.raises(BadInput):
        read_config(world.env, "")


def test_a_long_path_gets_a_hash_and_finds_the_folder_with_another_hash(world):
    deep = world.project / ("a" * 120) / ("b" * 120)
    deep.mkdir(parents=True)
    first = world.read(deep)
    assert first.store == world.default(deep)
    assert first.step == "default"

    start = first.project_name[:200]
    for name in (f"{start}-0other", f"{start}-zclient/memory", f"{start[:-1]}x-1/memory"):
        (world.home / ".claude/projects" / name).mkdir(parents=True)
    second = world.read(deep)
    assert second.store == str(world.home / f".claude/projects/{start}-zclient/memory")

    Path(world.default(deep)).parent.mkdir()
    assert world.read(deep).store == world.default(deep)


# The chain


def test_each_step_of_the_chain_gives_way_to_the_one_before(world):
    def found(**given: str) -> tuple[str, str]:
        config = world.read(**given)
        assert config.findings == ()
        return config.step, config.store

    managed, user, chosen, base = (
        str(world.top / name) for name in ("managed", "user", "chosen", "base")
    )
    assert found() == ("default", world.default(world.project))
    store = f"{base}/projects/{project_scope_name(str(world.project))}/memory"
    assert found(**{REMOTE: base}) == (f"remote base {REMOTE}", store)
    world.user(autoMemoryDirectory=user)
    assert found(**{REMOTE: base}) == ("user setting autoMemoryDirectory", user)
    world.settings(world.managed, autoMemoryDirectory=managed)
    assert found(**{REMOTE: base}) == ("managed setting autoMemoryDirectory", managed)
    assert found(**{OVERRIDE: chosen}) == (f"environment {OVERRIDE}", chosen)
    assert found(**{OVERRIDE: chosen}, dir=managed) == ("--dir", managed)


def test_managed_settings_may_come_in_parts(world):
    world.settings(world.managed, autoMemoryDirectory=str(world.top / "base"))
    for name in ("10.json", "20.json", ".30.json", "40.txt"):
        world.settings(world.top / "managed.d" / name, autoMemoryDirectory=str(world.top / name))
    assert world.read().store == str(world.top / "20.json")


def test_the_client_s_directory_can_be_elsewhere(world):
    claude = str(world.top / "claude")
    config = world.read(CLAUDE_CONFIG_DIR=claude)
    assert config.store == f"{claude}/projects/{config.project_name}/memory"
    assert config.scopes["user"] == f"{claude}/memory"
    assert config.claude_dir == claude
    assert world.read(CLAUDE_CONFIG_DIR="").store == world.default(world.project)
    assert world.read(CLAUDE_CONFIG_DIR="conf").claude_dir == str(world.project / "conf")
    assert kinds(world.read(MEMDIR_STATE_DIR="/a\0b")) == ["rejected-override"]


REJECTED = ["memory", "/", "/a", "C:\\", "\\\\srv\\x", "//srv/x", "/tmp/a\0", "/tmp/a\n", "~"]


@pytest.mark.parametrize("value", [*REJECTED, "~/", "~/.", "~/..", 7, [], {"a": 1}, True])
def test_a_rejected_setting_is_reported_and_the_next_step_decides(world, value):
    file = world.user(autoMemoryDirectory=value)
    config = world.read()
    assert (config.store, config.step) == (world.default(world.project), "default")
    (finding,) = config.findings
    assert (finding.kind, finding.path) == ("rejected-override", str(file))
    assert finding.fix


def test_a_rejected_variable_is_reported_and_the_next_step_decides(world):
    (world.top / "file").write_text("")
    world.user(autoMemoryDirectory="~/my memory/")
    above = (world.home, world.home.parent, f"{world.home}/x/..", world.top / "file")
    for value in (*REJECTED, "~/x", *above):  # a tilde is expanded in settings only
        config = world.read(**{OVERRIDE: value})
        assert config.store == str(world.home / "my memory")
        assert kinds(config) == ["rejected-override"]
    for option in ("dir", "project"):
        with pytest.raises(BadInput):
            world.read(**{option: str(world.top / "file")})


def test_an_override_behind_a_link_is_rejected(world):
    (world.home / "real").mkdir()
    (world.home / "link").symlink_to(world.home / "real")
    (world.top / "link").symlink_to(world.home / "real")
    for path in (world.home / "link", world.home / "link/sub", world.top / "link/sub"):
        config = world.read(**{OVERRIDE: str(path)})
        assert config.store == world.default(world.project)
        assert str(world.home / "real") in config.findings[0].message


def test_a_home_that_is_itself_a_link_is_no_escape(world):
    (world.top / "alias").symlink_to(world.home)
    config = world.read(HOME=str(world.top / "alias"), **{OVERRIDE: str(world.top / "alias/mem")})
    assert config.store == str(world.home / "mem")
    assert config.findings == ()


def test_a_directory_that_others_can_write_is_rejected(world):
    shared = world.top / "open"
    shared.mkdir()
    for mode, path in ((0o777, shared), (0o777, shared / "sub"), (0o1777, shared)):
        shared.chmod(mode)
        config = world.read(**{OVERRIDE: str(path)})
        assert config.store == world.default(world.project)
        assert "other users" in config.findings[0].message
    # As in /tmp: what we create there stays ours.
    assert world.read(**{OVERRIDE: str(shared / "sub")}).store == str(shared / "sub")
    if os.geteuid() == 0:
        (shared / "sub").mkdir()
        os.chown(shared / "sub", 4711, 4711)
        assert kinds(world.read(**{OVERRIDE: str(shared / "sub")})) == ["rejected-override"]


def test_a_bad_remote_base_is_reported_and_counts_as_no_storage(world):
    config = world.read(CLAUDE_CODE_REMOTE="1", **{REMOTE: "relative"})
    assert config.store == world.default(world.project)
    assert kinds(config) == ["rejected-override"]
    assert not config.enabled


# Scopes


def test_every_scope_has_its_place(world):
    for path in (
        *(world.home / ".claude/agent-memory/helper", world.home / ".claude/agent-memory/.hidden"),
        world.project / ".claude/agent-memory/tester",
        world.project / ".claude/agent-memory-local/tester",
    ):
        path.mkdir(parents=True)
    (world.home / ".claude/agent-memory/file").write_text("")
    config = world.read()
    assert dict(config.scopes) == {
        "project": world.default(world.project),
        "user": str(world.home / ".claude/memory"),
        "local": str(world.project / ".claude/memory"),
        "team": world.default(world.project) + "/team",
        "agent:helper@user": str(world.home / ".claude/agent-memory/helper"),
        "agent:tester@project": str(world.project / ".claude/agent-memory/tester"),
        "agent:tester@local": str(world.project / ".claude/agent-memory-local/tester"),
    }
    for name, path in config.scopes.items():
        chosen = world.read(scope=name)
        assert chosen.store == path
        assert str(chosen.scope) == name
        assert chosen.step == ("default" if name == "project" else f"scope {name}")


def test_an_agent_s_name_is_made_safe(world):
    config = world.read(scope="agent:plugin:../x@user")
    assert config.store == str(world.home / ".claude/agent-memory/plugin-..-x")
    assert not config.shared


def test_a_named_directory_is_taken_as_its_real_path(world):
    (world.top / "real").mkdir()
    (world.top / "link").symlink_to(world.top / "real")
    config = world.read(dir="../link")
    assert (config.store, config.step) == (str(world.top / "real"), "--dir")
    assert config.scopes["project"] == config.store
    assert world.read(dir="../link", scope="team").store == str(world.top / "real/team")
    with pytest.raises(BadInput):
        world.read(dir="../link", scope="user")


def test_a_named_directory_of_a_known_scope_keeps_its_rules(world):
    config = world.read(dir=".claude/memory")
    assert config.scope == Scope("local")
    assert config.shared
    assert config.scopes["project"] == world.default(world.project)


def test_what_git_can_carry_away_counts_as_shared(world):
    inside = str(world.project / "docs/memory")
    assert not world.read(dir=inside).shared
    world.repository_with_a_commit()
    assert world.read(dir=inside).shared
    world.user(autoMemoryDirectory=inside)
    assert world.read().shared
    assert not world.read(scope="user").shared
    world.git("init", "-q", cwd=world.home)
    (world.home / ".claude/settings.json").unlink()
    assert not world.read(world.home).shared
