"""Records that a model drafts in the worker: held, and saved when a person says so."""

import json
import os
import time
from pathlib import Path

import pytest

from memdir.capture.inbox import Held
from memdir.capture.plan import CLIENT
from memdir.capture.sessions import capture_reader
from memdir.capture.signals import Origin
from memdir.config.config import read_config
from memdir.records.batch import hold_records
from memdir.records.record import write_record
from memdir.store.writer import open_app
from tests.helpers.conversing import Conversation
from tests.helpers.hooked import SETTLED, Client
from tests.helpers.samples import sample
from tests.helpers.tables import toml_cases as cases
from tests.helpers.terminal import memdir

pytestmark = pytest.mark.usefixtures("project")

DECIDED = "We decided on SQLite because nobody runs a server.\nWe chose it over X due to its size."
RULED = "From now on we always use SQLite, never a server."
HELD = ("review", "--json")
DRAFT = {
    "action": "CREATE",
    "title": "SQLite as the database",
    "tags": ["sqlite"],
    "confidence": 0.8,
    "content": {
        "status": "accepted",
        "context": "A database was needed.",
        "decision": "SQLite",
        "rationale": ["Nobody runs a server."],
    },
}
PASS = {"verdict": "PASS", "issues": []}


@pytest.fixture
def root(project: Path) -> Path:
    (project / ".claude/memory/decisions").mkdir(parents=True)
    return project / ".claude/memory"


@pytest.fixture
def talk(tmp_path: Path) -> Conversation:
    return Conversation(tmp_path / "one.jsonl").say("Which database?", DECIDED)


@pytest.fixture
def answers(tmp_path: Path, monkeypatch):
    """Sets the model that gives these answers."""

    def set_model(*given: object) -> None:
        rows = [{"fails": it} if isinstance(it, str) else {"answer": it} for it in given]
        script = tmp_path / "answers.jsonl"
        script.write_text("".join(json.dumps(row) + "\n" for row in rows))
        monkeypatch.setenv("MEMDIR_MODEL", f"scripted:{script}")

    return set_model


def hold(talk: Conversation, ends: bool = True) -> list[Held]:
    config = read_config(os.environ, os.getcwd(), scope="records")
    app = open_app(config, now=time.time, tell=lambda text: None)
    reader = capture_reader(app, CLIENT, str(talk.path))
    origin = Origin(client=CLIENT, session=talk.session)
    return hold_records(app, str(talk.path), reader, origin, ends=ends)


def test_without_a_model_nothing_is_drafted(root, talk):
    assert hold(talk) == []


def test_a_decision_waits_for_a_yes_and_becomes_a_record(root, talk, answers):
    answers(DRAFT, PASS)
    assert len(hold(talk)) == 1
    assert list(root.glob("decisions/*")) == []
    [held] = memdir(*HELD).json["held"]
    assert DRAFT["title"] in memdir("review").text
    shown = memdir("review", "show", held["id"])
    assert "Nobody runs a server." in shown.text
    approved = memdir("review", "approve", held["id"])
    assert approved.code == 0, approved.text + approved.stderr
    assert "memdir undo --scope records" in approved.text
    [path] = root.glob("decisions/*.json")
    assert json.loads(path.read_text())["content"] == DRAFT["content"]
    assert memdir(*HELD).json["held"] == []
    assert memdir("records", "index", "--validate").code == 0


@cases("records")
def test_a_configured_model_drafts_and_verifies(root, talk, answers, replies, title):
    answers(*replies)
    held = hold(talk)
    assert [it.catch.draft.description for it in held] == ([title] if title else [])
    assert [it["id"] for it in memdir(*HELD).json["held"]] == [it.id for it in held]
    assert "records" in memdir("budget", "--json").text


def test_what_was_held_or_rejected_is_not_held_again(root, talk, answers):
    answers(DRAFT, PASS)
    [held] = hold(talk)
    assert hold(talk) == []
    assert memdir("review", "reject", "--all", "--yes").code == 0
    assert [it["id"] for it in memdir(*HELD, "--rejected").json["held"]] == [held.id]
    assert hold(talk) == []
    talk.say("And the cache?", DECIDED.replace("SQLite", "Redis"))
    answers(DRAFT | {"title": "Redis as the cache"}, PASS)
    assert len(hold(talk)) == 1


def test_a_session_is_summed_up_when_it_ends(root, tmp_path, answers):
    wanted = {"triage": {"thresholds": {"session_summary": 0.0}}}
    (root / "memory-config.json").write_text(json.dumps(wanted))
    content = {"goal": "Rename it", "outcome": "success", "completed": ["x"], "next_actions": []}
    answers(DRAFT | {"content": content}, PASS)
    talk = Conversation(tmp_path / "four.jsonl").say("Rename the parser.", "It is renamed.")
    assert hold(talk, ends=False) == []
    [held] = hold(talk)
    assert held.catch.draft.type == "session_summary"


def test_a_draft_with_a_secret_is_not_held(root, talk, answers):
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    answers(DRAFT | {"content": DRAFT["content"] | {"decision": f"The token {secret}"}}, PASS)
    assert hold(talk) == []


def test_what_the_check_noted_is_shown_in_the_review(root, talk, answers):
    answers(DRAFT, {"verdict": "ADVISORY", "issues": ["one tag is too few"]})
    [held] = hold(talk)
    assert held.reason.endswith("noted: one tag is too few")
    assert "one tag is too few" in " ".join(memdir("review").text.split())


@pytest.mark.parametrize("agent", [False, True])
def test_the_worker_holds_drafts_unless_the_agent_saves_them(tmp_path, agent):
    client = Client(tmp_path)
    (client.project / ".claude/memory/decisions").mkdir(parents=True)
    script = tmp_path / "answers.jsonl"
    script.write_text("".join(json.dumps({"answer": it}) + "\n" for it in (DRAFT, PASS)))
    settings = f'records.agent = {str(agent).lower()}\nmodel.name = "scripted:{script}"\n'
    client.write("config.toml", settings, client.home / ".config/memdir")
    path = client.home / ".claude/projects/x/one.jsonl"
    said = Conversation(path, str(client.project)).say("Which database?", DECIDED)
    time.sleep(SETTLED)
    given = client.event("Stop", session_id=said.session, transcript_path=str(path))
    assert bool(client.run("stop", given)) == agent
    client.wait()
    held = list(client.state.glob("stores/*/held/*.json"))
    texts = [it for it in held if '"type": "decision"' in it.read_text()]
    assert len(texts) == (not agent), client.log()


@pytest.mark.parametrize("agent", [False, True])
def test_a_decision_that_the_agent_is_to_save_is_not_held_as_well(tmp_path, agent):
    client = Client(tmp_path)
    client.write(
        "config.toml", f"records.agent = {str(agent).lower()}\n", client.home / ".config/memdir"
    )
    path = client.home / ".claude/projects/x/one.jsonl"
    said = Conversation(path, str(client.project)).say(f"{RULED}\n{DECIDED}", "Fine.")
    time.sleep(SETTLED)
    given = client.event("Stop", session_id=said.session, transcript_path=str(path))
    assert bool(client.run("stop", given)) == agent
    client.wait()
    held = list(client.state.glob("stores/*/held/*.json"))
    assert len(held) == (not agent), client.log()


def test_a_record_past_its_days_is_retired_by_the_worker(tmp_path):
    client = Client(tmp_path)
    folder = client.project / ".claude/memory/sessions"
    old = {"created_at": "2020-01-01T00:00:00Z", "updated_at": "2020-01-01T00:00:00Z"}
    folder.mkdir(parents=True)
    (folder / "one.json").write_bytes(write_record(sample("session_summary", id="one", **old)))
    client.fire("session-start", session_id="one")
    client.fire("stop", session_id="one")
    client.wait()
    record = json.loads((folder / "one.json").read_bytes())
    assert record["record_status"] == "retired", client.log()
    assert "retention_days" in record["retired_reason"]
