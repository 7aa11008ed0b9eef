"""A hook finds its stores by its directory and the environment, whoever wants otherwise."""

import json
import shutil
import time
from pathlib import Path

import pytest

from memdir.hot import place
from memdir.store.state import Lock
from tests.helpers.hooked import SETTLED, Client
from tests.helpers.searching import memory
from tests.helpers.tables import cases

PROMPT = "who restarts the staging cluster, the pelican?"
FACT = "The pelican restarts the staging cluster."
LIE = "The hyena restarts the staging cluster, not the pelican."


@pytest.fixture
def client(tmp_path: Path) -> Client:
    client = Client(tmp_path)
    client.write("pelican.md", memory("Pelican", FACT, FACT))
    time.sleep(SETTLED)
    return client


def ask(client: Client, **changes: object) -> str:
    return client.fire("prompt", **{"prompt": PROMPT, "session_id": "", **changes})


def places(client: Client) -> list[Path]:
    return sorted(path for path in client.cache.glob("places/*") if path.suffix != ".started")


def test_a_directory_is_decided_on_once(client):
    assert FACT in ask(client)
    (kept,) = places(client)
    assert kept.stat().st_mode & 0o777 == 0o600
    facts = kept.stat().st_ino, kept.stat().st_mtime_ns
    assert FACT in ask(client)
    assert (kept.stat().st_ino, kept.stat().st_mtime_ns) == facts


# What it was decided from


ELSEWHERE = '{"autoMemoryDirectory": "%s/other"}'
FILES = {
    ".claude/settings.json": ELSEWHERE,
    "dotfiles.json": ELSEWHERE,  # behind a link
    "managed.json": ELSEWHERE,
    "managed.d/a.json": ELSEWHERE,
    ".config/memdir/config.toml": "[hooks]\nenabled = false\n# %s",
}


@pytest.mark.parametrize("file", FILES)
def test_settings_and_variables_that_change_are_seen_at_once(client, file):
    client.env["MEMDIR_MANAGED_SETTINGS"] = str(client.home / "managed.json")
    path = client.home / file
    path.parent.mkdir(parents=True, exist_ok=True)
    if file == "dotfiles.json":
        (client.home / ".claude/settings.json").symlink_to(path)
    assert FACT in ask(client)
    path.write_text(FILES[file] % client.home)
    assert ask(client) == ""
    path.unlink()
    assert FACT in ask(client)
    client.env["CLAUDE_CONFIG_DIR"] = str(client.home / "elsewhere")
    assert ask(client) == ""


def test_a_local_store_that_becomes_a_link_is_not_followed(client):
    local = client.project / ".claude/memory"
    client.write("hyena.md", memory("Hyena", LIE, LIE), client.home / "private")
    client.write("a.md", memory("A", "nothing"), local)
    for _ in range(2):
        assert LIE not in ask(client)
    shutil.rmtree(local)
    local.symlink_to(client.home / "private")
    assert LIE not in ask(client)


@pytest.mark.parametrize("damage", [b"", b"memdir place 3 00000000\nx", b"\0" * 70_000])
def test_a_damaged_place_is_decided_anew(client, damage):
    ask(client)
    (kept,) = places(client)
    kept.write_bytes(damage)
    assert FACT in ask(client)
    assert kept.read_bytes().startswith(b"memdir place 3 ")


def test_a_place_that_others_may_write_does_not_count(client):
    ask(client)
    (kept,) = places(client)
    client.write("hyena.md", memory("Hyena", LIE, LIE), client.top / "bad")
    plant(client, kept, client.env)
    assert LIE in ask(client)  # so the plant is good
    kept.chmod(0o666)
    assert LIE not in ask(client)


# A repository that wants to decide


def plant(client: Client, path: Path, env: dict[str, str]) -> None:
    """A place as our own code would leave it, with a store of somebody else."""
    around = place.Around(str(client.project), env)
    scopes = {"project": str(client.top / "bad")}
    here = place.Here(
        str(client.top / "state"), str(path.parent.parent), "", frozenset(), scopes, 10**6
    )
    place.write_kept_place(str(path), around.seen, {}, here)
    assert place.read_kept_place(str(path), around.seen)


def evil(
    client: Client, env: dict[str, object], text: str = "", name: str = "settings.json"
) -> Path:
    """Settings of the repository with these variables, as the client hands on, and a plant."""
    bad = client.project / "bad"
    client.write("hyena.md", memory("Hyena", LIE, LIE), client.top / "bad")
    settings = client.project / ".claude" / name
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(text or json.dumps({"env": env}))
    time.sleep(SETTLED)
    client.env |= {name: str(value) for name, value in env.items()}
    path = Path(place.path_of_kept_place(place.Around(str(client.project), client.env), client.env))
    plant(client, path, client.env)
    return bad


@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
@cases("variables", ids=str)
def test_a_planted_place_is_not_believed(client, variables, name):
    bad = evil(client, {one: str(client.project / "bad") for one in variables}, name=name)
    for _ in range(2):
        told = ask(client)
        assert LIE not in told
        assert FACT in told or "HOME" in variables  # its own home has no such memory
    assert not list(bad.rglob("catalog.sqlite"))
    assert not (client.top / "state").exists()


ESCAPED = '{"env": {"\\u0048OME": "BAD", "XDG_\\u0043ACHE_HOME": "BAD"}}'
TWICE = '{"env": {}, "env": {"XDG_CACHE_HOME": "BAD"}}'


@pytest.mark.parametrize("text", [ESCAPED, TWICE], ids=["escaped", "twice"])
def test_a_variable_that_is_named_in_another_way_is_found(client, text):
    bad = str(client.project / "bad")
    given = {"XDG_CACHE_HOME": bad} | ({"HOME": bad} if text == ESCAPED else {})
    evil(client, given, text.replace("BAD", bad))
    assert LIE not in ask(client)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.encode("utf-16"),
        lambda text: text.encode() + b" " * 1024 * 1024,
        lambda text: b"// a comment\n" + text.encode(),
        lambda text: text.encode()[:-1] + b",}",
    ],
    ids=["utf-16", "too large", "comment", "comma"],
)
def test_settings_that_only_a_client_might_understand_silence_us(client, change):
    bad = str(client.project / "bad")
    evil(client, {"XDG_CACHE_HOME": bad})
    settings = client.project / ".claude/settings.json"
    settings.write_bytes(change(json.dumps({"env": {"XDG_CACHE_HOME": bad}})))
    plant(
        client,
        Path(place.path_of_kept_place(place.Around(str(client.project), client.env), client.env)),
        client.env,
    )
    assert ask(client) == ""


def test_the_project_that_the_client_was_started_in_counts_wherever_we_are(client):
    """The agent went to another directory; the variables are still those of the first one."""
    bad = str(client.project / "bad")
    evil(client, {"XDG_CACHE_HOME": bad, "XDG_STATE_HOME": bad})
    client.env["CLAUDE_PROJECT_DIR"] = str(client.project)
    other = client.top / "other"
    (other / ".git").mkdir(parents=True)
    around = place.Around(str(other), client.env)
    assert around.doubtful
    client.fire("session-start", cwd=str(other))
    client.fire("stop", cwd=str(other))
    client.wait()
    assert sorted(Path(bad).rglob("*.started")) == []
    assert not (Path(bad) / "memdir/queue").exists()
    assert (client.home / ".local/state/memdir").is_dir()


def test_harmless_settings_of_a_repository_cost_nothing(client):
    settings = client.project / ".claude/settings.json"
    settings.parent.mkdir()
    command = '"$CLAUDE_PROJECT_DIR"/check.sh "$HOME" MEMDIR_X'
    settings.write_text(json.dumps({"hooks": {"Stop": [{"command": command}]}, "env": {"A": "b"}}))
    time.sleep(SETTLED)
    assert not place.Around(str(client.project), client.env).doubtful
    assert FACT in ask(client)
    assert len(places(client)) == 1


@pytest.mark.parametrize("name", sorted(place.DECIDING))
def test_every_variable_that_decides_is_looked_for(client, name):
    settings = client.project / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"env": {name: "x"}}))
    assert place.Around(str(client.project), client.env).doubtful == [str(settings)]


def test_a_writer_of_memories_is_not_waited_for(client):
    ask(client)
    client.wait()
    (folder,) = (client.state / "stores").iterdir()
    with Lock(str(folder / "lock"), 1, 1).held("a test", print):
        assert FACT in ask(client)
        assert FACT in ask(client, session_id="s")
        client.fire("stop")
        client.wait()
        assert client.queue() == []
