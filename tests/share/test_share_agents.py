"""The memory of an agent (`memory: user | project | local` of a custom agent): a store like any."""

from pathlib import Path

import pytest

from memdir.audit import ages
from memdir.config.config import read_config
from memdir.format.draft import Draft, Wishes
from memdir.recall import answer
from memdir.share.share import share_memories
from memdir.store import changes
from memdir.store.writer import App, open_app
from tests.helpers.repositories import Checkout

NOON = 1_772_452_800.0
RULE = "Check the migrations for a missing index."


@pytest.fixture
def project(tmp_path) -> Path:
    return Checkout((tmp_path / "shop").resolve()).folder


@pytest.fixture
def opened(project, home):
    """Opens the store of a scope."""

    def app(scope: str) -> App:
        config = read_config({"HOME": str(home)}, str(project), scope=scope)
        return open_app(config, now=lambda: NOON, tell=lambda text: None, actor="tester")

    return app


def save(app: App, body: str = RULE, name: str = "migrations", **fields: str):
    draft = Draft(body, name=name, type=fields.pop("type", "feedback"), **fields)
    return changes.save_memory(app, draft, Wishes(anyway=True))


def test_another_agent_and_the_project_do_not_get_it(opened):
    agent = opened("agent:reviewer@project")
    save(agent)
    assert RULE in answer.recall([("agent:reviewer@project", agent)], "review the migrations").text
    for scope in ("agent:tester@project", "project", "user", "local", "team"):
        app = opened(scope)
        assert ages.list_memory_ages(app)[0] == []
        assert not answer.recall([(scope, app)], "review the migrations, please").text


def test_the_shared_scope_of_an_agent_takes_no_secret(opened):
    token = "ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R"
    (change,) = save(opened("agent:reviewer@project"), f"The token is {token}", "key").changes
    assert change.kind == "skipped" and "shared" in change.reason


def test_a_memory_that_git_leaves_out_is_told_for_the_scope_that_is_shared(opened, project):
    (project / ".gitignore").write_text(".claude/\n")
    for place, said in (("project", 1), ("local", 0), ("user", 0)):
        done = save(opened(f"agent:reviewer@{place}"))
        assert sum("git ignores" in text for text in done.remarks) == said


def test_what_an_agent_learned_can_be_shared_with_the_team(opened):
    agent, team = opened("agent:reviewer@user"), opened("team")
    save(agent)
    shared = share_memories(agent, team, ["migrations"])
    assert [change.kind for change in shared.changes] == ["created"]
    assert shared.diff[0][0] == "team/migrations.md"
    assert ages.list_memory_ages(team)[0][0].memory.path == "migrations.md"
