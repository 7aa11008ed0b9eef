"""Bodies, pointers or nothing: what the hooks tell an agent, in stores of every size."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.hooked import PATIENCE, Client
from tests.helpers.searching import memory
from tests.helpers.tables import cases

pytestmark = pytest.mark.usefixtures("project")

RUN = "from memdir.cli.main import main; main()"
DEPLOY = "We deploy only on Tuesdays."
# A prompt that touches the memory below, by the number of others; the larger, the more it needs.
UNSURE = {
    5: "the printer driver of the reception desk crashes: older than the scanner, or postgres?",
    40: "is the printer driver of the reception desk older than the postgres server?",
    200: "printer driver and scanner of reception and office crash, the postgres archive too",
}
WAL = memory(
    "Postgres archive", "the postgres archive has no WAL", "Postgres keeps no WAL archive."
)


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path)


def ask(client: Client, prompt: str, session: str = "s", **more: object) -> str:
    return client.fire("prompt", prompt=prompt, session_id=session, **more)


def memdir(client: Client, *words: str, codes: tuple[int, ...] = (0,)) -> str:
    done = subprocess.run(
        [sys.executable, "-c", RUN, *words],
        env=client.env,
        cwd=client.project,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode in codes, done.stderr
    return done.stdout


def fill(client: Client, count: int) -> None:
    for number in range(count):
        text = f"subject{number} has matter{number} and detail{number}"
        client.write(f"other{number}.md", memory(f"Subject {number}", text, f"{text}. " * 20))


@pytest.mark.parametrize("others", [0, 2, 5, 200])
def test_a_content_word_of_the_rule_is_enough_in_any_store(client, others):
    fill(client, others)
    client.write("deploy.md", memory("Deploy", DEPLOY, DEPLOY))
    assert "deploy.md" in ask(client, "on which day of the week do we deploy?")


@pytest.mark.parametrize("others", [5, 200])
def test_sure_unsure_and_nothing_are_the_same_in_small_and_large_stores(client, others):
    fill(client, others)
    client.write("wal.md", WAL)
    sure = ask(client, "does postgres have a WAL archive?", "a")
    assert "Postgres keeps no WAL archive." in sure
    unsure = ask(client, UNSURE[others], "b")
    assert "- wal.md (" in unsure and "Postgres keeps no WAL" not in unsure
    assert len(unsure) <= 400
    assert ask(client, "rename this variable to something clearer", "c") == ""


def test_unsure_is_at_most_three_lines_and_400_characters(client):
    for number in range(9):
        about = f"the postgres archive of shop {number} and what else there is to say of it " * 3
        client.write(f"a-rather-long-name-of-a-memory-{number}.md", memory(f"M{number}", about))
    told = ask(client, UNSURE[5])
    assert 1 <= told.count("\n- ") <= 3
    assert len(told) <= 400


def test_a_pointer_never_counts_as_told(client):
    client.write("wal.md", WAL)
    fill(client, 40)
    assert "Postgres keeps no WAL" not in ask(client, UNSURE[40])
    assert ask(client, UNSURE[40]) == ""  # but the line is not repeated
    assert "Postgres keeps no WAL archive." in ask(client, "does postgres have a WAL archive?")
    assert ask(client, "does postgres have a WAL archive?") == ""


def test_a_line_that_the_index_got_after_the_start_is_pointed_to(client):
    client.write("wal.md", WAL)
    fill(client, 40)
    client.fire("session-start", session_id="a", source="startup")
    client.write("MEMORY.md", "- [Postgres](wal.md) — no WAL archive\n")
    client.fire("session-start", session_id="b", source="startup")  # loaded before or after that?
    os.utime(client.store / "MEMORY.md", (0, 0))
    client.fire("session-start", session_id="c", source="startup")
    assert ["- wal.md (" in ask(client, UNSURE[40], name) for name in "abc"] == [True, True, False]
    assert ask(client, UNSURE[40], "without a start") == ""
    assert "keeps no WAL archive." in ask(client, "does postgres have a WAL archive?", "c")


def test_a_memory_saved_or_edited_a_moment_ago_is_told(client):
    fill(client, 40)
    assert ask(client, "does postgres have a WAL archive?", "a") == ""
    client.write("wal.md", WAL)
    assert "keeps no WAL archive." in ask(client, "does postgres have a WAL archive?", "b")
    client.write("wal.md", WAL.replace("keeps no", "has a"))
    assert "has a WAL archive." in ask(client, "does postgres have a WAL archive?", "c")


def test_the_frame_is_full_once_a_session_and_a_memory_costs_120_characters(client):
    for name in ("one", "two"):
        fact = f"The {name} pelican restarts the {name} cluster."
        client.write(f"{name}.md", memory(f"Pelican {name}", fact, fact))
    first = ask(client, "who restarts the one cluster, the one pelican?")
    again = ask(client, "who restarts the two cluster, the two pelican?")
    assert "verify it before you rely on it" in first and "verify it before" not in again
    assert str(client.home) not in first + again and "~/.claude/projects/" in again
    header = again.partition("\nMemory (")[2].partition("\n\n")[0]
    assert len(f"Memory ({header}\n\n") <= 120
    assert "two.md" in header


def test_a_fresh_clone_is_not_saved_today(client, tmp_path):
    source = tmp_path / "source"
    (source / ".claude/memory").mkdir(parents=True)
    (source / ".claude/memory/deploy.md").write_text(memory("Deploy", DEPLOY, DEPLOY))
    moment = {
        "GIT_AUTHOR_DATE": "2025-01-05T12:00:00Z",
        "GIT_COMMITTER_DATE": "2025-01-05T12:00:00Z",
    }
    names = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    for words in (["init", "-q"], ["add", "-A"], [*names, "commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=source, check=True, env={**client.env, **moment})
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", source, clone], check=True, env=client.env)
    client.project = clone
    (waiting,) = json.loads(memdir(client, "review", "--json"))["sources"]
    memdir(client, "review", "accept", waiting["id"])
    prompt = "on which day of the week do we deploy?"
    listed = json.loads(memdir(client, "list", "--scope", "local", "--json"))
    days = listed["memories"][0]["age_days"]
    assert f"{days} days old" in memdir(client, "recall", prompt)
    assert "of unknown age" in ask(client, prompt, "a")  # nobody has looked yet
    client.start_with("startup", cwd=str(clone))
    client.wait()
    assert f"{days} days old" in ask(client, prompt, "b")


def test_an_index_of_2000_lines_hides_only_what_the_client_loads(client):
    client.write("wal.md", WAL)
    fill(client, 40)
    lines = [f"- [Other {number}](other{number}.md) — x" for number in range(2000)]
    client.write("MEMORY.md", "\n".join([*lines, "- [Postgres](wal.md) — no WAL"]))
    assert "- wal.md (" in ask(client, UNSURE[40])


# The tools in use (M14)

USAGE = "How to call the spawn tool of the zoo server: spawn(name, size) starts an animal."
WARNING = "The spawn tool of the zoo server never frees its animals: stop them by hand."


def transcript(client: Client, *tools: str) -> Path:
    lines = [
        json.dumps(
            {"message": {"content": [{"type": "tool_use", "id": "t", "name": tool, "input": {}}]}},
            separators=(",", ":"),
        )
        for tool in tools
    ]
    path = client.top / "transcript.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_how_to_use_a_tool_in_use_is_not_told_and_its_warnings_are(client):
    client.write("usage.md", memory("Zoo spawn", USAGE, USAGE, type="reference"))
    client.write("warning.md", memory("Zoo spawn leak", WARNING, WARNING, type="reference"))
    prompt = "spawn an elephant with the zoo server"
    idle = ask(client, prompt, "a", transcript_path=str(transcript(client, "Read", "Bash")))
    assert "usage.md" in idle
    busy = ask(client, prompt, "b", transcript_path=str(transcript(client, "mcp__zoo__spawn")))
    assert "warning.md" in busy and "usage.md" not in busy
    for odd in ("/nowhere", "relative.jsonl", str(client.top)):
        assert "usage.md" in ask(client, prompt, f"c{odd}", transcript_path=odd)


# A model chooses (M13), where the setting says so


@cases("setting", "hook", "command")
def test_the_setting_says_where_a_model_chooses(client, setting, hook, command):
    client.write("deploy.md", memory("Deploy", DEPLOY, DEPLOY))
    client.write("chosen.md", memory("Other", "nothing of the kind", "The model wants this one."))
    script = client.top / "answers.jsonl"
    script.write_text(json.dumps({"answer": {"memories": ["chosen.md"]}}) + "\n")
    client.env |= {"MEMDIR_MODEL": f"scripted:{script}", "MEMDIR_RECALL_MODEL": setting}
    prompt = "on which day of the week do we deploy?"
    assert ("The model wants" in ask(client, prompt)) == hook
    assert ("The model wants" in memdir(client, "recall", prompt)) == command
    code = f"from memdir import Memdir; print(Memdir.open().prefetch({prompt!r}).result().text)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=client.env,
        cwd=client.project,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert ("The model wants" in done.stdout) == command, done.stderr


# Memory that is off


@pytest.mark.parametrize("way", ["environment", "user", "own setting"])
def test_memory_off_means_off_for_every_hook_unless_our_setting_says_otherwise(client, way):
    client.write("deploy.md", memory("Deploy", DEPLOY, DEPLOY, type="feedback"))
    if way == "user":
        settings = client.home / ".claude/settings.json"
        settings.write_text(json.dumps({"autoMemoryEnabled": False}))
    else:
        client.env["CLAUDE_CODE_DISABLE_AUTO_MEMORY"] = "1"
    if way == "own setting":
        config = client.home / ".config/memdir/config.toml"
        config.parent.mkdir(parents=True)
        config.write_text("[hooks]\nalways = true\n")
    told = [client.start_with("startup"), ask(client, "on which day do we deploy?")]
    client.fire("stop")
    assert all(map(bool, told)) == (way == "own setting")
    assert os.path.exists(client.state) == (way == "own setting")
    where, doctor = memdir(client, "where"), memdir(client, "doctor", codes=(0, 1))
    assert ("and so are the hooks" in " ".join(where.split())) == (way != "own setting")
    assert ("hooks.always = true" in " ".join(doctor.split())) == (way != "own setting")
