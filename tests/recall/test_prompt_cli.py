"""`memdir prompt`: what tells an agent how to use its memory, for the store that is asked for."""

import stat

import pytest

from tests.helpers.terminal import memdir

pytestmark = pytest.mark.usefixtures("project")

RULE = "Use uv, never pip, to install packages."
OFF = {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}


def told(*words: str) -> str:
    answer = memdir("prompt", *words)
    assert answer.code == 0, answer.stderr
    return answer.text


def test_the_directory_exists_before_an_agent_is_told_so(store):
    assert not store.exists()
    assert "It exists" in told()
    assert store.is_dir() and not (store / "team").exists()
    assert "Both exist" in told("--mode", "team")
    assert (store / "team").is_dir()
    assert stat.S_IMODE(store.stat().st_mode) == 0o700


def test_where_there_is_a_team_its_directory_and_index_belong_to_the_prompt(store):
    memdir("remember", RULE, "--name", "use-uv")
    memdir("remember", "Merges stop on 2026-03-05.", "--name", "freeze", "--scope", "team")
    found = memdir("prompt", "--json").json
    assert found["mode"] == "team"
    first, second = (found["text"].index(name) for name in ("(use-uv.md)", "(freeze.md)"))
    assert first < second
    assert f"Contents of {store}/team/MEMORY.md" in found["text"]
    for other in ("normal", "log"):
        assert "(freeze.md)" not in told("--mode", other)


def test_other_scopes_have_no_team_but_a_prompt_of_their_own(home, store):
    user = memdir("prompt", "--scope", "user", "--json").json
    assert f"{home}/.claude/memory\n" in user["text"] and user["mode"] == "normal"
    refused = memdir("prompt", "--scope", "user", "--mode", "team", "--json")
    assert (refused.code, refused.error["code"]) == (1, "bad_input")
    assert "--scope project" in refused.error["next"]
    team = told("--scope", "team")
    assert f"\n{store}/team\n" in team and "agents read this directory" in " ".join(team.split())


@pytest.mark.parametrize("mode", ["normal", "team", "log"])
def test_where_memory_is_off_nothing_is_told_and_nothing_made(mode, store, monkeypatch):
    for name, value in OFF.items():
        monkeypatch.setenv(name, value)
    answer = memdir("prompt", "--mode", mode)
    assert (answer.code, answer.text) == (0, "")
    assert "memory is off" in answer.stderr
    found = memdir("prompt", "--mode", mode, "--json").json
    assert (found["text"], found["tokens"]) == ("", 0)
    assert not store.exists()


def test_an_index_that_cannot_be_read_does_not_hide_the_rest(store):
    memdir("remember", "Merges stop on 2026-03-05.", "--name", "freeze", "--scope", "team")
    (store / "MEMORY.md").mkdir()
    answer = memdir("prompt")
    assert answer.code == 0 and "MEMORY.md" in answer.stderr
    assert "## How to save" in answer.text and "(freeze.md)" in answer.text
    assert "empty so far" not in answer.text
