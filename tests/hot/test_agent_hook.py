"""The memory of an agent that another one called, where the client does not bring it itself."""

from pathlib import Path

import pytest

from tests.helpers.hooked import Client, units
from tests.helpers.tables import rows

pytestmark = pytest.mark.usefixtures("project")

LINE = "- [Care](care.md) — explore with care"
PLACES = dict(rows(globals(), "PLACES"))


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path)


def root(client: Client, place: str, agent: str = "Explore") -> Path:
    top = client.home if place == "user" else client.project
    return top / PLACES[place] / agent


def define(client: Client, text: str, file: str = "Explore.md", top: str = "project") -> None:
    folder = (client.project if top == "project" else client.home) / ".claude/agents"
    client.write(file, text, folder)


@pytest.mark.parametrize("place", PLACES)
def test_an_agent_is_told_of_its_memory(client, place):
    client.write("MEMORY.md", LINE, root(client, place))
    told = client.fire("subagent-start")
    assert LINE in told
    assert f"in {root(client, place)}:" in told
    assert told.startswith("<memdir-")
    assert client.fire("subagent-start", agent_type="Plan") == ""


@pytest.mark.parametrize("name", ["", "..", "../Explore", ".", "/", "x" * 5000, "\ud800", 5, None])
def test_an_odd_name_leads_nowhere(client, name):
    client.write("MEMORY.md", LINE, root(client, "user"))
    client.write("MEMORY.md", LINE, client.home / ".claude")
    assert client.fire("subagent-start", agent_type=name) == ""


@pytest.mark.parametrize("top", ["project", "user"])
@pytest.mark.parametrize("file", ["Explore.md", "another-name.md"])
def test_what_the_client_loads_itself_is_not_told_twice(client, file, top):
    for place in ("user", "project"):
        client.write("MEMORY.md", f"{LINE} {place}", root(client, place))
    define(client, "---\nname: Explore\nmemory: user\n---\nExplore.\n", file, top)
    told = client.fire("subagent-start")
    assert f"{LINE} project" in told
    assert f"{LINE} user" not in told


def test_a_client_whose_memory_is_off_loads_none(client):
    client.write("MEMORY.md", LINE, root(client, "user"))
    define(client, "---\nname: Explore\nmemory: user\n---\nExplore.\n")
    assert client.fire("subagent-start") == ""
    client.env |= {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1", "MEMDIR_HOOKS_ALWAYS": "1"}
    assert LINE in client.fire("subagent-start")


def test_a_folder_that_becomes_a_link_is_not_followed_either(client):
    client.write("MEMORY.md", "- [Key](key.md) — private", client.home / "private")
    client.write("MEMORY.md", LINE, root(client, "project"))
    for _ in range(2):
        assert LINE in client.fire("subagent-start")
    root(client, "project").rename(client.top / "away")
    root(client, "project").symlink_to(client.home / "private")
    assert "private" not in client.fire("subagent-start")


@pytest.mark.parametrize("sign", ["w", "🧠"])
def test_long_indexes_stay_below_the_limit(client, sign):
    for place in PLACES:
        lines = [f"- [M{n}](m{n}.md) — {sign * 80}" for n in range(199)]
        client.write("MEMORY.md", "\n".join(lines), root(client, place))
    told = client.fire("subagent-start")
    assert 8_000 < units(told) <= 10_000
    assert told.count("(cut here: ") == 3
