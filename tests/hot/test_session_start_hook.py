"""What a session starts with: the standing rules once, and everything where the client has none."""

import json
import time
from pathlib import Path

import pytest

from tests.helpers.accepted import accept
from tests.helpers.hooked import EVENTS, SETTLED, Client, units
from tests.helpers.repositories import TEXT
from tests.helpers.searching import memory
from tests.helpers.tables import cases

pytestmark = pytest.mark.usefixtures("project")

RULE = "Always use a git worktree for a change of more than one file."
LIMIT = 10_000
OFF = {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}
INSTEAD = {**OFF, "MEMDIR_HOOKS_ALWAYS": "1"}  # memdir instead of the client's own memory


def rule(text: str = RULE, kind: str = "feedback") -> str:
    return memory("Rule", text, text, type=kind)


@pytest.fixture
def client(tmp_path: Path) -> Client:
    client = Client(tmp_path)
    client.write("worktree.md", rule())
    client.write("MEMORY.md", "- [Worktree](worktree.md) — never on main\n")
    return client


def test_a_session_starts_with_the_standing_rules_and_not_with_the_index(client):
    told = client.start_with("startup")
    assert f"\n- {RULE}\n" in told
    assert told.startswith("<memdir-")
    assert told.endswith(f"</{told[1:].partition('>')[0]}>")
    assert "never on main" not in told  # the client itself loads it
    assert "## How to save" not in told


def test_the_directory_exists_afterwards_and_a_long_index_is_told(tmp_path):
    client = Client(tmp_path)
    assert client.start_with("startup") == ""
    assert client.store.stat().st_mode & 0o777 == 0o700
    client.write("MEMORY.md", "- [Fact](fact.md) — one of many\n" * 300)
    assert "The memory index has 300 lines" in client.start_with("startup")


def test_a_resumed_session_is_told_only_what_changed(client):
    client.start_with("startup")
    assert client.start_with("resume") == client.start_with("fork") == ""
    client.write("short.md", rule("Answer in one sentence where one is enough."))
    told = client.start_with("resume")
    assert "Answer in one sentence" in told
    assert client.start_with("resume") == ""


@pytest.mark.parametrize("source", ["clear", "compact"])
def test_a_clear_and_a_compact_begin_anew_for_rules_and_memories(client, source):
    client.write("pelican.md", memory("Pelican", "the pelican restarts the staging cluster"))
    asked = {"prompt": "who restarts the staging cluster, the pelican?"}
    assert "pelican.md" in client.fire("prompt", **asked)
    assert RULE in client.start_with("startup")
    assert client.fire("prompt", **asked) == ""
    assert client.start_with("resume") == ""
    assert RULE in client.start_with(source)
    assert "pelican.md" in client.fire("prompt", **asked)
    assert client.start_with("resume") == ""


def test_what_the_user_holds_to_be_better_is_a_rule_and_a_fact_is_none(client):
    client.write("taste.md", rule("Readable over clever, also when it is longer.", "Value"))
    client.write("fact.md", rule("The staging cluster is in Oslo.", "project"))
    told = client.start_with("startup")
    assert "Readable over clever" in told and "Oslo" not in told


def test_rules_come_from_every_scope(client):
    client.write(
        "me.md", rule("The user is a data scientist.", "user"), client.home / ".claude/memory"
    )
    client.write("team.md", rule("Tests need no network."), client.store / "team")
    client.write("here.md", rule("Name branches after tickets."), client.project / ".claude/memory")
    for shared in (client.store / "team", client.project / ".claude/memory"):
        accept(client.state, shared)
    told = client.start_with("startup")
    for text in (RULE, "The user is a data scientist.", "no network.", "after tickets."):
        assert text in told


def test_a_rule_that_changed_is_told_as_it_is_now(client):
    time.sleep(SETTLED)
    for session in ("a", "b"):  # the second reads what the first left behind
        assert RULE in client.start_with("startup", session_id=session)
    client.write("worktree.md", rule("Never use a worktree."))
    told = client.start_with("startup", session_id="c")
    assert "Never use a worktree." in told
    assert RULE not in told
    (client.store / "worktree.md").unlink()
    assert client.start_with("startup", session_id="d") == ""


@pytest.mark.slow
def test_an_edit_in_place_in_a_large_store_is_noticed_at_the_next_start(client):
    for number in range(1_100):
        client.write(f"m{number}.md", memory(f"M{number}", f"matter {number}", type="reference"))
    time.sleep(SETTLED)
    for session in ("a", "b"):  # the second reads what the first left behind
        assert RULE in client.start_with("startup", session_id=session)
    client.write("worktree.md", rule("Never use a worktree."))
    told = client.start_with("startup", session_id="c")
    assert "Never use a worktree." in told and RULE not in told


# A client whose own memory is off


def test_without_a_memory_of_the_client_it_is_told_how_and_what(client):
    client.env |= INSTEAD
    told = client.start_with("startup")
    assert "## How to save" in told
    assert f"\n{client.store}\n" in told
    assert told.count("never on main") == 1
    assert told.count(RULE) == 1
    assert client.start_with("resume") == ""


@pytest.mark.parametrize("sign", ["w", "ä", "🧠"])
def test_whatever_there_is_the_text_stays_below_the_limit(client, sign):
    lines = [f"- [M{n}](m{n}.md) — {sign * 60} {n}" for n in range(300)]
    client.write("MEMORY.md", "\n".join(lines))
    client.write("MEMORY.md", "\n".join(lines), client.home / ".claude/memory")
    for number in range(40):
        client.write(f"m{number}.md", rule(f"Rule {number}: {sign * 100}"))
    client.env |= INSTEAD
    told = client.start_with("startup")
    assert LIMIT - 500 < units(told) <= LIMIT
    assert f"in {client.store}/MEMORY.md)" in told  # where the rest is
    assert "more)\n" in told


# Where it stays silent


@cases("variables", ids=str)
@pytest.mark.parametrize("event", sorted(EVENTS))
def test_every_hook_is_silent_where_memory_is_off_for_good(client, event, variables):
    client.write("MEMORY.md", "- [A](a.md) — b\n", client.home / ".claude/agent-memory/Explore")
    client.env |= variables
    asked = {"prompt": "must a change of more than one file always use a git worktree?"}
    for _ in range(2):  # the second goes by what the first left behind
        assert client.fire(event, **asked) == ""
    assert not client.state.exists()


def test_a_repository_may_switch_memory_off_for_itself(client):
    settings = client.project / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"autoMemoryEnabled": False}))
    assert client.start_with("startup") == ""
    settings.unlink()
    assert RULE in client.start_with("startup")


# Trouble


@pytest.mark.parametrize(("what", "again"), [(".local", True), (".cache", False)])
def test_folders_that_cannot_be_made_cost_no_answer(client, what, again):
    (client.home / what).write_text("a file where a folder should be")
    assert RULE in client.start_with("startup")
    # Without a state nobody can remember that it was told.
    assert (RULE in client.start_with("startup")) == again


# Which rules, and what stands there already


def test_the_strongest_and_broadest_rules_come_first_and_none_by_the_alphabet(client):
    (client.store / "worktree.md").unlink()
    for number in range(40):
        text = f"In zone {number:02} the colours of charts are taken from palette {number:02}."
        client.write(f"z{number:02}.md", rule(text))
    client.write("a-merge.md", rule("NEVER merge a PR — merging is the user's own act."))
    client.write("m-file.md", rule("Always run `make lint` before src/app.py is pushed."))
    pinned = rule("Answer in short sentences.").replace("---\n", "---\npinned: true\n", 1)
    client.write("n-pinned.md", pinned)
    lines = [line for line in client.start_with("startup").split("\n") if line.startswith("- ")]
    assert lines[:2] == ["- Answer in short sentences.", "- NEVER merge a PR"]
    assert lines[2].startswith("- Always run `make lint`")
    zones = [line[10:12] for line in lines if line.startswith("- In zone")]
    assert len(zones) > 5 and zones not in (sorted(zones), sorted(zones, reverse=True))
    assert all(line.endswith((".", "PR", "more)")) for line in lines)  # no sentence is cut


def test_a_rule_that_was_told_in_other_sessions_comes_before_its_like(client):
    text = "The {} pelican never restarts the staging cluster twice a day."
    for name in ("grey", "pink"):
        client.write(f"{name}.md", rule(text.format(name)))
    orders = set()
    for name in ("grey", "pink"):
        for number in range(3):
            asked = {"prompt": f"may the {name} pelican restart the staging cluster twice a day?"}
            client.fire("prompt", session_id=f"{name}{number}", **asked)
            (client.state / "sessions" / f"{'pink' if name == 'grey' else 'grey'}{number}").unlink(
                missing_ok=True
            )
        client.write("touched.md", rule(f"Keep the notes of {name}."))  # the cache is made anew
        told = client.start_with("startup", session_id=f"new-{name}")
        orders.add(told.index("grey pelican") < told.index("pink pelican"))
    assert orders == {True, False}


def test_a_rule_that_names_a_file_that_is_gone_says_so(client):
    client.code.commit({"tools/lint.sh": TEXT})
    client.write("lint.md", rule("Always run `tools/lint.sh` before a commit."))
    client.code.move("tools/lint.sh", "tools/check.sh")
    client.code.commit()
    client.start_with("startup", session_id="a")
    client.wait()
    told = client.start_with("startup", session_id="b")
    assert "- Always run `tools/lint.sh` before a commit. (checked: tools/lint.sh" in told


def test_a_rule_that_stands_in_the_index_word_for_word_is_not_repeated(client):
    client.write("MEMORY.md", f"- [Worktree](worktree.md) — {RULE}\n")
    client.write("short.md", rule("Answer in one sentence where one is enough."))
    told = client.start_with("startup")
    assert RULE not in told and "Answer in one sentence" in told


def test_indexes_of_team_and_repository_reach_the_agent_though_the_client_has_a_memory(client):
    places = {"team": client.store / "team", "local": client.project / ".claude/memory"}
    for name, root in places.items():
        client.write(f"{name}.md", memory(name, f"the {name} pays with pelicans"), root)
        accept(client.state, root)
        lines = [f"- [Pay](pay{number}.md) — of {name} {number}" for number in range(400)]
        client.write("MEMORY.md", "\n".join([f"- [Pay]({name}.md) — pelicans", *lines]), root)
    told = client.start_with("startup")
    assert f"]({'team'}.md)" in told and "](local.md)" in told
    assert "never on main" not in told  # the client itself loads the project's
    assert units(told) <= LIMIT
