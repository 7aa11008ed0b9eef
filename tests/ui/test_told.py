"""The log of what agents were told: each answer once, bounded, private, without secrets, or off."""

import json
import os
import stat
from pathlib import Path

import pytest

from memdir.hot.run import MAX_LOG_BYTES, TOLD, TOLD_PROMPT_CHARACTERS, hook_prompt_for_log
from memdir.library import Memdir
from memdir.text.secrets import find_secrets
from memdir.ui.overview import read_told
from memdir.ui.workspace import Census
from tests.helpers.hooked import Client
from tests.helpers.served import Page
from tests.helpers.terminal import memdir
from tests.text.secret_kinds import TOKENS, Draw
from tests.text.test_secrets import AROUND

MEMORY = (
    "---\nname: use-uv\ndescription: Use uv, never pip\ntype: feedback\n---\n\nUse uv, never pip.\n"
)
PROMPT = "Which package manager installs uv here, pip or uv?"


@pytest.fixture
def client(tmp_path):
    client = Client(tmp_path)
    client.write("use-uv.md", MEMORY)
    return client


def logs_of(state: Path) -> list[Path]:
    return [*state.glob(f"stores/*/{TOLD}")]


def test_each_answer_of_the_hook_leaves_one_line(client, monkeypatch):
    began = client.fire("session-start", session_id="s1")
    client.fire("session-start", session_id="s1", source="resume")  # is told nothing new
    told = client.fire("prompt", prompt=PROMPT, session_id="s1")
    assert "Use uv" in told
    client.fire("prompt", prompt=PROMPT, session_id="s1")  # nothing is told twice
    (log,) = logs_of(client.state)
    assert stat.S_IMODE(os.stat(log).st_mode) == 0o600
    start, line = map(json.loads, log.read_text().splitlines())
    assert (start["session"], start["prompt"], start["memories"]) == ("s1", "", [])
    assert (line["session"], line["prompt"], line["characters"]) == ("s1", PROMPT, len(told))
    (memory,) = line["memories"]
    assert memory["path"] == "use-uv.md" and memory["whole"] and "uv" in memory["words"]
    assert client.log() == ""
    for name in [it for it in os.environ if it.startswith(("XDG_", "MEMDIR_", "CLAUDE"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(client.home))
    with Page("--project", str(client.project)) as page:
        shown = page.enter().get("told").text
    assert f"what the session began with {len(began)} characters" in shown and PROMPT in shown


def test_the_setting_switches_it_off(client):
    client.env["MEMDIR_TOLD_LOG"] = "false"
    assert client.fire("session-start", session_id="s1")
    assert client.fire("prompt", prompt=PROMPT, session_id="s1")
    assert logs_of(client.state) == []


def test_it_stays_bounded_and_keeps_the_newest(client):
    client.fire("prompt", prompt=PROMPT, session_id="s0")
    (log,) = logs_of(client.state)
    line = log.read_text()
    log.write_text(line * ((MAX_LOG_BYTES - 10) // len(line)))
    client.fire("prompt", prompt=PROMPT, session_id="newest")
    assert log.stat().st_size <= MAX_LOG_BYTES
    assert "newest" in log.read_text().splitlines()[-1]


def test_recall_for_a_session_leaves_a_line_too(project):
    memdir("remember", "Use uv, never pip.", "--name", "use-uv")
    memdir("recall", PROMPT, "--session", "cli-1")
    memdir("recall", PROMPT)  # without a session nobody was told
    Memdir.open().recall(PROMPT, session="library-1")
    assert [it.session for it in read_told(Memdir.open().app, Census())] == ["library-1", "cli-1"]


@pytest.mark.parametrize("kind", TOKENS)
def test_no_secret_of_a_known_form_is_in_the_log(kind):
    draw = Draw(f"told {kind}")
    for text in AROUND:
        prompt = text.format(TOKENS[kind](draw))
        assert not find_secrets(hook_prompt_for_log(prompt)), prompt
        assert len(hook_prompt_for_log(prompt)) <= TOLD_PROMPT_CHARACTERS


def test_an_ordinary_prompt_is_kept_as_it_is():
    for prompt in (
        "how do we cut release 2.10.3 in src/memdir/store/changes.py?",
        "why does issue 1234 fail in test_foo2_bar3 since 2026-11-16?",
        "¿qué gestor de paquetes usamos? パッケージ",
    ):
        assert hook_prompt_for_log(prompt) == prompt
