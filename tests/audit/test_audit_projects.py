"""All projects of a client: each found, none changed, one that is gone is said."""

import json
from pathlib import Path

import pytest

from memdir.audit.audit import audit
from memdir.audit.projects import GONE, find_projects_to_audit, open_projects_to_audit
from tests.helpers.opened import NOON, memory
from tests.helpers.world import World


@pytest.fixture
def world(tmp_path) -> World:
    return World(tmp_path)


def project(world: World, root: Path, *names: str) -> Path:
    store = Path(world.default(root))
    store.mkdir(parents=True)
    for name in names:
        (store / f"{name}.md").write_text(memory(name))
    return store


def places(world: World):
    return open_projects_to_audit(world.read(), lambda: NOON, lambda _: None)


def test_a_project_that_is_gone_is_said_and_its_memories_are_still_shown(world):
    store = project(world, world.top / "was-here", "a")
    (place,) = places(world)
    assert [one.kind for one in place.findings] == [GONE]
    assert place.app.store.root == str(store)
    assert place.app.config.code == ""  # never judged by the code of another project
    assert [one.path for one in audit(place.app, deep=True).memories] == ["a.md"]


def test_a_transcript_tells_where_a_project_was(world):
    root = world.top / "gone/for.good"
    store = project(world, root, "a")
    line = json.dumps({"type": "user", "cwd": str(root / "sub")})
    (store.parent / "s1.jsonl").write_text("not json\n" + line + "\n")
    (found,) = find_projects_to_audit(str(store.parent.parent))
    assert (found.root, found.was) == ("", str(root / "sub"))
    root.mkdir(parents=True)
    (found,) = find_projects_to_audit(str(store.parent.parent))
    assert found.root == str(root)


@pytest.mark.parametrize(
    "data", [b"", b"\xff\xfe\x00", b'{"cwd": 7}\n', b'["cwd"]\n', b'{"cwd": "x"}']
)
def test_a_transcript_that_says_nothing_does_no_harm(world, data):
    store = project(world, world.top / "was-here", "a")
    (store.parent / "s1.jsonl").write_bytes(data)
    (found,) = find_projects_to_audit(str(store.parent.parent))
    assert (found.root, found.was) == ("", "")


def test_the_user_store_and_agents_belong_to_it(world):
    user = world.home / ".claude/memory"
    user.mkdir(parents=True)
    (user / "me.md").write_text(memory("me"))
    agent = world.home / ".claude/agent-memory/reviewer"
    agent.mkdir(parents=True)
    (agent / "it.md").write_text(memory("it"))
    assert [place.title for place in places(world)] == ["user", "agent:reviewer@user"]


def test_what_a_team_shares_is_a_store_of_its_own(world):
    store = project(world, world.top / "was-here", "a")
    (store / "team").mkdir()
    (store / "team/rule.md").write_text(memory("rule"))
    found = {place.title.rpartition(" ")[2]: place.app.store.root for place in places(world)}
    assert found.pop("(team)") == str(store / "team")
    assert list(found.values()) == [str(store)]
