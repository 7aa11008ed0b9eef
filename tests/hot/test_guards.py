"""A command that a memory forbids is stopped once, with the memory as the reason."""

import json
from pathlib import Path
from typing import Any

import pytest

from memdir.format.prohibitions import find_guards
from memdir.hot.guard import read_programs
from tests.helpers.hooked import Client
from tests.helpers.tables import toml_cases as cases
from tests.helpers.terminal import process

RULE = "Never run `git push --force`; it ate a day of work."
PUSH = "git push --force"


def memory(text: str, kind: str = "feedback") -> str:
    return f"---\nname: x\ndescription: about x\ntype: {kind}\n---\n\n{text}\n"


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path)


OWN = dict.fromkeys(("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"), "")


def guards(client: Client, *words: str) -> Any:
    place = ("--json", "--project", str(client.project))
    return process("guards", *words, *place, **client.env, **OWN).json


def run(client: Client, command: str, **changes: object) -> dict[str, str]:
    """What the client is told before this command runs; empty if nothing."""
    guards(client)  # as the worker does after somebody else wrote a memory
    given = {"tool_name": "Bash", "tool_input": {"command": command}, **changes}
    printed = client.run("pre-tool", client.event("PreToolUse-Bash", **given))
    assert client.log() == ""
    return json.loads(printed)["hookSpecificOutput"] if printed else {}


@cases("guards")
def test_a_strict_sentence_guards_a_command(sentence, form, command, other, stops):
    (guard,) = find_guards(sentence)
    assert (guard.form, str(guard.command), guard.stops) == (form, command, stops)
    assert str(guard.other or "") == other


@cases("guards")
def test_another_sentence_guards_nothing(sentence):
    assert find_guards(sentence) == []


@cases("guards")
def test_a_command_is_matched_by_its_words(client, sentence, command, stopped):
    client.write("rule.md", memory(sentence))
    assert (run(client, command).get("permissionDecision") == "deny") is stopped


@cases("guards")
def test_an_act_in_prose_is_many_commands(sentence, command, stopped):
    programs = list(read_programs(command, {}))
    assert any(guard.concerns(programs, frozenset()) for guard in find_guards(sentence)) is stopped


def test_it_is_stopped_once_with_the_reason_and_passes_then(client):
    client.write("no-force.md", memory(RULE))
    first = run(client, PUSH)
    assert "Never run `git push --force`" in first["permissionDecisionReason"]
    assert "memdir guards off no-force" in first["permissionDecisionReason"]
    assert run(client, PUSH) == {}
    assert run(client, PUSH, session_id="another")["permissionDecision"] == "deny"
    assert run(client, PUSH, agent_id="a-sub-agent")["permissionDecision"] == "deny"
    assert run(client, PUSH, agent_id="a-sub-agent") == {}


def test_a_condition_reminds_and_lets_it_run(client):
    client.write("rule.md", memory("Never `git switch -c` in the main checkout."))
    told = run(client, "git switch -c x")
    assert "permissionDecision" not in told
    assert "in the main checkout" in told["additionalContext"]
    assert run(client, "git switch -c x") == {}


def test_what_must_come_first_is_remembered(client):
    client.write("rule.md", memory("Run `make gen` before every `git commit`."))
    assert run(client, "make gen") == {}
    assert run(client, "git commit -m x") == {}


def test_a_memory_that_is_gone_or_says_something_else_stops_nothing(client):
    path = client.write("rule.md", memory(RULE))
    assert run(client, "ls") == {}
    path.unlink()
    assert run(client, PUSH) == {}
    client.write("rule.md", memory("Force pushes are fine."))
    assert run(client, PUSH) == {}


def test_only_rules_of_the_user_count(client):
    client.write("fact.md", memory(RULE, "project"))
    client.write("planted.md", memory(RULE), client.project / ".claude/memory")
    assert run(client, PUSH) == {}


def test_a_guard_is_switched_off_and_on(client):
    client.write("no-force.md", memory(RULE))
    assert guards(client, "off", "no-force", "--dry-run")["guards"][0]["on"] is False
    assert guards(client, "test", PUSH)["test"]["stops"][0]["path"] == "no-force.md"
    assert guards(client, "off", "no-force")["guards"][0]["on"] is False
    assert run(client, PUSH) == {}
    assert guards(client, "test", PUSH)["test"]["stops"] == []
    assert guards(client, "on", "all")["guards"][0]["on"] is True
    assert run(client, PUSH)["permissionDecision"] == "deny"
    assert guards(client, "off", "nothing")["error"]["next"].startswith("memdir guards")
    client.env["MEMDIR_GUARDS"] = "false"
    assert run(client, PUSH, session_id="another") == {}


@pytest.mark.parametrize(
    "text",
    [
        "Never run `" + "a" * 100_000 + "`.",
        "Never run " + "git " * 20_000,
        "Never " * 50_000,
        "`" * 50_001,
        "Never run `(a+)+$` `[[[[` `$(rm -rf /)` `;;;`.",
        "Use a instead of cat, " + "cat or " * 40_000,
        "Never run any destructive, dangerous or " * 9_000 + "git commands (" + "a, " * 9_000,
        "Never add co-authored lines or commit or push or " * 9_000,
        "只有" * 50_000 + "`git push`",
    ],
    ids=[
        *("a long word", "many words", "many nevers", "ticks", "odd marks", "many instead"),
        *("many dangers", "many acts", "another script"),
    ],
)
def test_hostile_text_compiles_to_nothing_harmful(client, text):
    client.write("rule.md", memory(text))
    client.write("good.md", memory(RULE))
    assert run(client, "ls -la") == {}
    assert run(client, PUSH)["permissionDecision"] == "deny"


EVERYTHING = ("ls", "cat", "git", "grep", "python", "npm", "make", "rm", "cd", "find")


def test_rules_against_everything_stop_each_session_once_and_go_at_one_word(client):
    client.write("all.md", memory("Never run " + ", ".join(f"`{name}`" for name in EVERYTHING)))
    line = " && ".join(f"{name} x" for name in EVERYTHING)
    assert run(client, line)["permissionDecision"] == "deny"
    assert run(client, line) == {}
    for name in EVERYTHING:
        run(client, f"{name} y")
        assert run(client, f"{name} y") == {}
    assert guards(client, "off", "all")["guards"][0]["on"] is False
    assert run(client, "git z", session_id="another") == {}


@pytest.mark.parametrize("scope, folder", [("local", ".claude/memory"), ("team", "team")])
def test_a_rule_of_a_repository_counts_as_long_as_it_says_what_was_accepted(client, scope, folder):
    own = client.write("own.md", memory("About the blue box.", "project"))
    below = client.project / folder if scope == "local" else own.parent / folder
    planted = client.write("planted.md", memory(RULE), below)
    assert run(client, PUSH) == {}
    place = ("--scope", scope, "--project", str(client.project))
    accepted = process("review", "accept", "--all", "--yes", *place, **client.env, **OWN)
    assert accepted.code == 0, accepted.stderr
    if scope == "local":
        assert run(client, PUSH)["permissionDecision"] == "deny"
    planted.write_text(memory("Never run `ls`. " + RULE))
    for command in ("ls", PUSH):
        assert run(client, command, session_id="another") == {}
