"""Records at the prompt and at the end of a turn, as the hooks tell them."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memdir.hot import prompt, queue
from memdir.hot.place import BY_AGENT, Here
from memdir.hot.run import Event
from memdir.records import handover
from memdir.records.fields import FOLDERS
from memdir.records.folders import Records
from memdir.records.hook import LightRecords
from memdir.records.record import write_record
from tests.acceptance.recording import read
from tests.helpers.accepted import accept
from tests.helpers.conversing import AGENT, Conversation
from tests.helpers.hooked import EVENTS, SETTLED, Client
from tests.helpers.samples import CONTENTS, sample
from tests.helpers.searching import memory
from tests.helpers.tables import toml_cases as cases
from tests.self.source import SRC
from tests.self.test_hot_path import ANSWER, NOT_FOR_A_HOOK

pytestmark = pytest.mark.usefixtures("project")

RECORDED = read()
ASKED = "why do we use SQLite for the catalog?"
WHY = "nobody should have to run a server"
DECIDED = "We decided on SQLite because nobody runs a server.\nWe chose it over X due to its size."
DECISION = "decisions/use-sqlite-for-the-catalog.json"


class Project:
    """A project with records, and the place of its hooks."""

    def __init__(self, top: Path) -> None:
        self.top, self.records = top, top / "project/.claude/memory"
        self.holds: frozenset[str] = frozenset()
        (top / "project").mkdir()

    def put(self, name: str = "use-sqlite-for-the-catalog", type: str = "decision", **changed):
        folder = Records(str(self.records), 1 << 20)
        data = write_record(sample(type, id=name, **changed))
        folder.put(f"{FOLDERS[type]}/{name}.json", data)

    def set(self, **values: object) -> None:
        self.records.mkdir(parents=True, exist_ok=True)
        (self.records / "memory-config.json").write_text(json.dumps(values))

    def here(self) -> Here:
        scopes = {"project": str(self.top / "store"), "local": str(self.records)}
        state, cache = str(self.top / "state"), str(self.top / "cache")
        return Here(state, cache, "", self.holds, scopes, 1 << 20)

    def event(self, name: str, **changes: object) -> Event:
        given = {**RECORDED[name], "cwd": str(self.top / "project"), **changes}
        return Event(json.dumps(given).encode())

    def ask(self, text: str = ASKED, session: str = "") -> str:
        accept(self.top / "state", self.records)
        accept(self.top / "state", self.records, "records")
        asked = self.event("UserPromptSubmit", prompt=text, session_id=session)
        told, _ = prompt.answer_prompt_hook("prompt", asked, self.here())
        return json.loads(told)["hookSpecificOutput"]["additionalContext"] if told else ""

    def stop(self, talk: Conversation, **changes: object) -> str:
        """Why the agent is to go on; empty where its turn ends."""
        given = {"session_id": talk.session, "transcript_path": str(talk.path)}
        asked = self.event("Stop", **{**given, "last_assistant_message": "", **changes})
        told, _ = queue.answer_stop_hook("stop", asked, self.here())
        if not told:
            return ""
        said = json.loads(told)
        assert set(said) == {"decision", "reason"}
        assert said["decision"] == "block"
        return said["reason"]


def unlike(number: int) -> dict[str, object]:
    """A content that has few words in common with those of other numbers."""
    words = [f"w{number}x{at}" for at in range(40)]
    return {"context": " ".join(words), "decision": words[0], "rationale": [words[1]]}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


# At the prompt


def test_a_prompt_brings_records_and_memories_of_one_project(project):
    project.put()
    about = memory("Heron", "the heron server and its port", "The heron listens on 8071.")
    (project.records / "heron.md").write_text(about)
    assert WHY in (told := project.ask())
    assert "scope: records" in told
    told = project.ask("on which port does the heron server listen?")
    assert "The heron listens on 8071." in told
    assert "scope: local" in told


@pytest.mark.parametrize("status", ["retired", "archived"])
def test_what_was_put_away_is_not_told(project, status):
    project.put()
    assert WHY in project.ask()
    project.put(record_status=status, **{f"{status}_at": "2026-03-01T00:00:00Z"})
    time.sleep(SETTLED)
    assert project.ask() == ""
    project.put()
    assert WHY in project.ask()


@pytest.mark.parametrize(
    ("most", "shown"), [(0, 0), (1, 1), (3, 3), (None, 5), (99, 8), (-1, 0), ("3", 5), (2.0, 5)]
)
def test_at_most_so_many_records_are_told_as_the_settings_say(project, most, shown):
    for number in range(12):
        project.put(f"use-sqlite-{number}", content=unlike(number), tags=[f"tag{number}"])
    if most is not None:
        project.set(retrieval={"max_inject": most})
    told = project.ask()
    assert sum(f"use-sqlite-{number}.json" in told for number in range(12)) == shown


def test_a_category_that_is_switched_off_is_not_told(project):
    project.put()
    project.put("sqlite-is-slow", "tech_debt")
    assert "decisions/" in project.ask()
    project.set(categories={"decision": {"enabled": False}, "tech_debt": {"enabled": True}})
    told = project.ask()
    assert "decisions/" not in told
    assert "tech-debt/sqlite-is-slow.json" in told


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"retrieval": 3}', "{\0}", "\ufeff{}"])
def test_settings_that_nobody_can_read_leave_the_defaults(project, text):
    project.put()
    (project.records / "memory-config.json").write_text(text)
    assert WHY in project.ask()


def test_records_are_told_without_heavy_modules(tmp_path):
    client = Client(tmp_path)
    store = Records(str(client.project / ".claude/memory"), 1 << 20)
    store.put(DECISION, write_record(sample()))
    accept(client.state, client.project / ".claude/memory", "records")
    given = client.event(EVENTS["prompt"], prompt=ASKED, session_id="")
    command = [sys.executable, "-I", "-S", "-c", ANSWER, str(SRC), "prompt"]
    for _ in range(3):  # the first one decides on the place, its worker makes the catalog
        time.sleep(SETTLED)
        run = subprocess.run(command, input=given, capture_output=True, env=client.env)
        client.wait()
    said, _, held = run.stdout.decode().strip().rpartition("\n")
    assert WHY in said
    assert set(held.split()) & NOT_FOR_A_HOOK == set()


@pytest.mark.parametrize("type", CONTENTS)
def test_a_record_looks_the_same_on_the_hot_path(tmp_path, type):
    data = write_record(sample(type))
    light, whole = LightRecords(str(tmp_path), 1 << 20), Records(str(tmp_path), 1 << 20)
    path = f"decisions/{type}.json"
    assert light.view(path, data) == whole.view(path, data)


# At the end of a turn


@pytest.fixture
def keeping(project: Project) -> Project:
    """With records, and a user who wants the agent to save them."""
    project.holds = frozenset((BY_AGENT,))
    (project.records / "decisions").mkdir(parents=True)
    return project


def talk(project: Project, session: str = "one") -> Conversation:
    return Conversation(project.top / f"home/{session}.jsonl").say("Which database?", DECIDED)


def contexts(project: Project) -> list[Path]:
    return sorted((project.top / "state").glob("contexts/*/context-*.txt"))


def test_a_decision_is_handed_to_the_agent_once(keeping):
    said = talk(keeping)
    reason = keeping.stop(said)
    data = json.loads(reason.partition("<triage_data>")[2].partition("</triage_data>")[0])
    [one] = data["categories"]
    assert one["category"] == "decision"
    assert DECIDED.split("\n")[0] in Path(one["context_file"]).read_text()
    assert data["parallel_config"]["enabled"] is True
    assert "memdir:records" in reason
    assert len(reason) < 10_000
    assert keeping.stop(said) == ""


@pytest.fixture
def sleeps(monkeypatch) -> list[Callable[[], object]]:
    """What happens while a hook waits for a client, each once."""
    waiting: list[Callable[[], object]] = []

    def sleep(_: float) -> None:
        assert waiting, "nothing is expected, and the hook waits all the same"
        waiting.pop(0)()

    monkeypatch.setattr(handover.time, "sleep", sleep)
    return waiting


def test_a_turn_that_the_client_writes_down_late_is_handed_over_once(keeping, sleeps):
    said = Conversation(keeping.top / "home/late.jsonl")
    sleeps += [bool, lambda: said.say("Which database?")]  # the reply comes later still
    assert "decision" in keeping.stop(said, last_assistant_message=DECIDED)
    said.record(AGENT, DECIDED)
    said.record(AGENT, "Saved.")
    assert keeping.stop(said, stop_hook_active=True, last_assistant_message="Saved.") == ""
    assert (keeping.stop(said, last_assistant_message="Saved."), sleeps) == ("", [])
    more = DECIDED.replace("SQLite", "Redis")
    sleeps += [lambda: said.say("And the cache?", more)]
    assert "decision" in keeping.stop(said, last_assistant_message=more)


def test_a_stop_in_which_nobody_spoke_does_not_wait(keeping, sleeps):
    said = talk(keeping)
    assert keeping.stop(said, last_assistant_message=DECIDED.split("\n")[1])
    said.record(AGENT, "The background task is done.")
    told = {"last_assistant_message": "The background task is done."}
    assert keeping.stop(said, **told) == keeping.stop(said) == ""


def test_a_stop_that_a_hook_caused_is_left_alone_and_its_words_are_not_handed_over(keeping):
    said = talk(keeping)
    assert keeping.stop(said, stop_hook_active=True) == ""
    assert keeping.stop(said)
    said.record(AGENT, "Drafted. " + DECIDED)
    assert keeping.stop(said, stop_hook_active=True) == ""
    assert keeping.stop(said) == ""
    said.say("And the cache?", DECIDED.replace("SQLite", "Redis"))
    assert "decision" in keeping.stop(said)


@cases("records")
def test_what_the_project_does_not_want_is_not_handed_over(keeping, said):
    keeping.set(**said)
    assert keeping.stop(talk(keeping)) == ""
    assert contexts(keeping) == []


def test_the_users_word_is_enough_also_for_the_first_record_of_a_project(project):
    assert project.stop(talk(project)) == ""
    project.holds = frozenset((BY_AGENT,))
    assert not project.records.exists()
    assert "decision" in project.stop(talk(project))


def test_descriptions_of_any_length_leave_the_answer_within_the_clients_limit(keeping):
    types = {name: {"description": "<x>" * 160} for name in CONTENTS}
    keeping.set(categories=types, triage={"thresholds": dict.fromkeys(CONTENTS, 0.0)})
    said = Conversation(keeping.top / "home/all.jsonl").say(
        "Go on.",
        f"{DECIDED}\nAn error, fixed by a restart.\nA limitation, it turns out.\n"
        "A todo for now.\nFrom now on we agreed to always use it.",
    )
    reason = keeping.stop(said)
    assert reason.count("context_file") > 3
    assert len(reason) < 10_000


def test_a_reply_that_no_mark_can_follow_is_not_handed_over_at_every_stop(keeping):
    said = talk(keeping)
    said.path.write_bytes(b"")
    assert [keeping.stop(said, last_assistant_message=DECIDED) for _ in range(2)] == ["", ""]


@pytest.mark.parametrize("trouble", ["no transcript", "no state", "odd transcript", "no session"])
def test_whatever_fails_the_turn_ends(keeping, trouble):
    said, changes = talk(keeping), {}
    if trouble == "no transcript":
        said.path.unlink()
    elif trouble == "no state":
        (keeping.top / "state").write_text("in the way")
    elif trouble == "odd transcript":
        said.path.write_bytes(b"\xff\x00{" * 100)
    else:
        changes = {"session_id": ""}
    assert keeping.stop(said, **changes) == ""
