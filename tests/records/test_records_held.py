"""Records without a model: drafted by the worker, held, and saved when a person says so."""

import json
import os
import time
from pathlib import Path

import pytest

from memdir.capture.inbox import Held
from memdir.capture.plan import CLIENT
from memdir.capture.sessions import open_reader
from memdir.capture.signals import Origin
from memdir.clients.conversation import AGENT, PERSON, Message
from memdir.config.config import read_config
from memdir.records.memory_config import read_settings
from memdir.records.proposals import UNSAID, draft_by_words, hold_records
from memdir.records.triage import score
from memdir.records.validate import check, repair
from memdir.store.writer import open_app
from tests.helpers.conversing import Conversation
from tests.helpers.hooked import SETTLED, Client
from tests.helpers.samples import NOW
from tests.helpers.terminal import memdir
from tests.helpers.toml_cases import cases

pytestmark = pytest.mark.usefixtures("project")

DECIDED = "We decided on SQLite because nobody runs a server.\nWe chose it over X due to its size."
HELD = ("review", "list", "--scope", "records", "--json")


@pytest.fixture
def root(project: Path) -> Path:
    (project / ".claude/memory/decisions").mkdir(parents=True)
    return project / ".claude/memory"


@pytest.fixture
def talk(tmp_path: Path) -> Conversation:
    return Conversation(tmp_path / "one.jsonl").say("Which database?", DECIDED)


def hold(talk: Conversation, ends: bool = True) -> list[Held]:
    config = read_config(os.environ, os.getcwd(), scope="records")
    app = open_app(config, now=time.time, tell=lambda text: None)
    reader = open_reader(app, CLIENT, str(talk.path))
    origin = Origin(client=CLIENT, session=talk.session)
    return hold_records(app, str(talk.path), reader, origin, ends=ends)


def test_a_decision_waits_for_a_yes_and_becomes_a_record(root, talk):
    assert len(hold(talk)) == 1
    assert list(root.glob("decisions/*")) == []
    [held] = memdir(*HELD).json["held"]
    shown = memdir("review", "show", held["id"], "--scope", "records")
    assert "because nobody runs a server" in shown.text
    approved = memdir("review", "approve", held["id"], "--scope", "records")
    assert approved.code == 0, approved.text + approved.stderr
    [path] = root.glob("decisions/*.json")
    record = json.loads(path.read_text())
    assert record["content"]["decision"] == DECIDED.split("\n")[0]
    assert record["content"]["context"] == "Which database?"
    assert record["content"]["status"] == "proposed"
    assert "because nobody runs a server." in record["content"]["rationale"]
    assert memdir(*HELD).json["held"] == []
    assert memdir("records", "index", "--validate").code == 0


@cases("records")
def test_a_configured_model_drafts_and_verifies_within_the_budget(
    root, talk, tmp_path, monkeypatch, answers, title
):
    rows = [{"fails": one} if isinstance(one, str) else {"answer": one} for one in answers]
    script = tmp_path / "answers.jsonl"
    script.write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setenv("MEMDIR_MODEL", f"scripted:{script}")
    held = hold(talk)
    assert [one.catch.draft.description for one in held] == ([title] if title else [])
    assert [one["id"] for one in memdir(*HELD).json["held"]] == [one.id for one in held]
    spent = memdir("budget", "--json").text
    assert "records" in spent
    monkeypatch.setenv("MEMDIR_DAY_TOKENS", "10")
    other = Conversation(tmp_path / "other.jsonl").say("Which?", DECIDED.replace("SQLite", "Redis"))
    assert len(hold(other)) == 1  # without the model, in the words of the conversation


def test_what_was_held_or_rejected_is_not_held_again(root, talk):
    [held] = hold(talk)
    assert hold(talk) == []
    assert memdir("review", "reject", held.id, "--scope", "records").code == 0
    assert hold(talk) == []
    talk.say("And the cache?", DECIDED.replace("SQLite", "Redis"))
    assert len(hold(talk)) == 1


def test_a_session_is_summed_up_when_it_ends(root, tmp_path):
    wanted = {"triage": {"thresholds": {"session_summary": 0.0}}}
    (root / "memory-config.json").write_text(json.dumps(wanted))
    talk = Conversation(tmp_path / "four.jsonl").say("Rename the parser.", "It is renamed.")
    assert hold(talk, ends=False) == []
    [held] = hold(talk)
    assert held.catch.draft.type == "session_summary"
    assert "Rename the parser." in held.catch.draft.body


def test_a_draft_with_a_secret_is_not_held(root, tmp_path):
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    talk = Conversation(tmp_path / "two.jsonl")
    talk.say("Which?", f"We decided on the token {secret} because it works.\nWe chose it over X.")
    assert hold(talk) == []


def test_a_mechanical_draft_of_every_type_is_a_valid_record():
    wanted = {"triage": {"thresholds": dict.fromkeys(read_settings(None)[0].types, 0.0)}}
    settings, _ = read_settings(json.dumps(wanted))
    texts = [
        *(DECIDED, "The error was fixed by a restart.", "A limitation: it turns out to be slow."),
        "A todo, deferred for now.\nFrom now on we agreed to always use it.",
    ]
    said = [Message("1", PERSON, "Go on with it."), Message("2", AGENT, "\n".join(texts))]
    for text in (said, []):
        scored = score(text, settings)
        assert len(scored.triggered) == 6
        for one in scored.triggered:
            record, _ = repair(
                {**draft_by_words(scored, one), "id": "x", "record_status": "active"}, NOW
            )
            assert [found.field for found in check(record)] in ([], ["title"])
    empty = draft_by_words(score([], settings), score([], settings).triggered[1])
    assert empty["content"]["decision"] == UNSAID


@pytest.mark.parametrize("agent", [False, True])
def test_the_worker_holds_drafts_unless_the_agent_saves_them(tmp_path, agent):
    client = Client(tmp_path)
    (client.project / ".claude/memory/decisions").mkdir(parents=True)
    if agent:
        client.write("config.toml", "records.agent = true\n", client.home / ".config/memdir")
    path = client.home / ".claude/projects/x/one.jsonl"
    said = Conversation(path, str(client.project)).say("Which database?", DECIDED)
    time.sleep(SETTLED)
    given = client.event("Stop", session_id=said.session, transcript_path=str(path))
    assert bool(client.run("stop", given)) == agent
    client.wait()
    held = list(client.state.glob("stores/*/held/*.json"))
    texts = [one for one in held if '"type": "decision"' in one.read_text()]
    assert len(texts) == (not agent), client.log()


def test_what_was_put_away_can_be_listed(root):
    values = ("--set", "topic=indent", "--set", "value=tabs", "--set", "reason=taste")
    words = ("--category", "preference", "--title", "Tabs", "--tag", "style", *values)
    assert memdir("records", "save", *words, "--set", "strength=soft").code == 0
    assert memdir("records", "archive", "tabs").code == 0
    listed = memdir("records", "status", "--list", "archived", "--json").json["records"]
    assert [one["path"] for one in listed] == ["preferences/tabs.json"]
    assert memdir("records", "status", "--list", "retired").text == "no record is retired\n"
