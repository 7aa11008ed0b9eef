"""From a hook to a memory: requests, the worker, what it makes up for, what the user is told."""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from memdir import worker
from memdir.capture import plan
from memdir.capture.capture import capture as capture_capture
from memdir.errors import Unwritable
from memdir.hot.queue import Queue
from memdir.worker import DEADLY_TRIES
from tests.helpers.conversing import OSLO, TUESDAY, Conversation
from tests.helpers.hooked import EVENTS, PATIENCE, Client
from tests.helpers.terminal import SCRIPT
from tests.self.source import SRC

pytestmark = pytest.mark.usefixtures("project")


class Speaking(Client):
    """A client whose sessions leave transcripts."""

    def __init__(self, top: Path) -> None:
        super().__init__(top)
        self.projects = self.home / ".claude/projects/-project"

    def talk(self, session: str = "s1") -> Conversation:
        return Conversation(self.projects / f"{session}.jsonl", str(self.project))

    def hook(self, event: str, talk: Conversation, **changes: object) -> bytes:
        named = {"session_id": talk.session, "transcript_path": str(talk.path), **changes}
        return self.run(event, self.event(EVENTS[event], **named))

    def memories(self) -> list[str]:
        found = self.store.glob("*.md") if self.store.exists() else []
        return sorted(path.stem for path in found if path.name != "MEMORY.md")

    def settle(self) -> None:
        """Until nothing is queued and no worker is left: a hook may go on after its client."""
        end = time.monotonic() + PATIENCE
        while self.queue() or self.workers():
            assert time.monotonic() < end, "the queue does not drain"
            time.sleep(0.05)

    def ask(self, *words: str) -> subprocess.Popen[str]:
        """The command line, for this home and this project."""
        env = {**self.env, "PYTHONPATH": str(SRC)}
        line = [*SCRIPT, *words, "--json", "--project", str(self.project)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(line, text=True, env=env, cwd=self.top, **pipes)

    def answer(self, *words: str) -> Any:
        asked = self.ask(*words)
        out, err = asked.communicate()
        assert asked.returncode == 0, out + err
        return json.loads(out)


@pytest.fixture
def client(tmp_path):
    client = Speaking(tmp_path)
    yield client
    client.wait()


@pytest.fixture
def inside(client, monkeypatch):
    """The worker's code in this process, for this client."""
    for name in [*os.environ]:
        if name.startswith(("XDG_", "MEMDIR_", "CLAUDE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(client.home))
    return client


def put(client: Speaking, talk: Conversation, event: str = "stop", **more: object) -> None:
    client.state.mkdir(parents=True, exist_ok=True)
    line = {"event": event, "tries": 0, "cwd": str(client.project), "session": talk.session}
    line |= {"transcript": str(talk.path), **more}
    assert Queue(str(client.state)).add(json.dumps(line).encode())


def told(printed: bytes) -> str:
    return json.loads(printed)["systemMessage"] if printed else ""


def test_what_was_said_in_a_turn_is_a_memory_soon_after(client):
    talk = client.talk().say(TUESDAY, "I will.")
    assert client.hook("stop", talk) == b""
    client.settle()
    assert client.memories() == ["we-deploy-only-on-tuesdays"]
    assert client.queue() == []
    assert client.log() == ""
    found = client.answer("status")
    assert (found["received"], found["saved"], found["queued"]) == (1, 1, 0)
    assert found["balances"]


def test_turns_that_end_while_a_worker_starts_works_or_ends_wait_for_no_further_event(client):
    """A worker may have read the queue, or be about to go, when a line is added."""
    talks = [client.talk(f"s{number}") for number in range(12)]
    for number, talk in enumerate(talks):
        talk.say(f"Remember that the host of team {number} is called node-{number}.", "Yes.")
        client.hook("stop", talk)
        time.sleep(0.07 * (number % 4))
    client.wait()
    assert client.queue() == []
    assert len(client.memories()) == len(talks)


@pytest.mark.parametrize("event", ["prompt", "session-start", "stop"])
def test_the_user_is_told_once_and_the_model_never(client, event):
    talk = client.talk().say(TUESDAY, "I will.")
    client.hook("stop", talk)
    client.settle()
    first = client.hook(event, client.talk("s2"), prompt="when do we deploy?")
    assert told(first) == "memdir: saved 1 memory (we-deploy-only-on-tuesdays)"
    assert "saved 1 memory" not in json.dumps(json.loads(first).get("hookSpecificOutput", {}))
    client.wait()
    second = client.hook(event, client.talk("s3"), prompt="when do we deploy?")
    assert b"systemMessage" not in second


def test_memories_are_put_in_order_where_the_settings_want_it_and_the_user_is_told(client):
    client.env["MEMDIR_DREAM"] = "on"
    client.store.mkdir(parents=True)
    body = "Deploys run on Tuesdays only, because the release team is there on Tuesdays.\n"
    for name in ("deploys", "deploy-day"):
        text = f"---\nname: {name}\ndescription: {body.strip()}\ntype: project\n---\n\n{body}"
        (client.store / f"{name}.md").write_text(text)
    for number in range(6):
        past = client.store.parent / f"past-{number}.jsonl"
        Conversation(past, str(client.project)).say("What does this do?", "It adds.")
    talk = client.talk().say("What does this do?", "It adds.")
    client.hook("stop", talk)
    client.settle()
    index = client.store / "MEMORY.md"
    assert "(deploys.md)" in index.read_text()
    assert "memdir undo takes it back" in told(client.hook("stop", talk))
    client.answer("undo")
    assert not index.exists()
    assert client.memories() == ["deploy-day", "deploys"]


def test_a_session_that_was_killed_is_made_up_for_at_the_next_start(client):
    talk = client.talk()
    client.hook("session-start", talk)
    client.settle()
    talk.say(TUESDAY)  # and then the client is killed: no hook
    other = client.talk("s2").say("Hello.", "Hello.")
    client.hook("session-start", other)
    client.hook("stop", other)
    client.settle()
    assert client.memories() == ["we-deploy-only-on-tuesdays"]


def test_switched_off_nothing_of_a_conversation_is_noted(client):
    client.env["MEMDIR_CAPTURE"] = "false"
    (client.cache).mkdir(parents=True)
    (client.cache / "places").write_text("no worker starts: a file where a folder should be")
    client.hook("stop", client.talk().say(TUESDAY), last_assistant_message="I will.")
    (line,) = client.queue()
    assert set(line) == {"event", "cwd", "time", "tries"}


# Several at once


def test_two_stops_and_a_remember_at_once_are_one_extraction(client):
    talk = client.talk().say(TUESDAY, "I will.")
    hooks = [threading.Thread(target=client.hook, args=("stop", talk)) for _ in range(2)]
    by_hand = client.ask("remember", "We deploy only on Tuesdays.")
    for one in hooks:
        one.start()
    for one in hooks:
        one.join()
    by_hand.communicate()
    assert by_hand.returncode in (0, 1)  # refused, where the other was faster
    client.settle()
    assert len(client.memories()) == 1
    found = client.answer("status")
    assert (found["received"], found["balances"]) == (1, True)
    assert client.queue() == []


# What fails


def test_a_request_that_has_to_wait_is_never_given_up(inside, monkeypatch):
    later = worker.time.time() + 3600
    waits = plan.Outcome(waiting=1, reason="over budget", after=later)
    monkeypatch.setattr(worker.captures, "capture", lambda app, request: waits)
    talk = inside.talk().say(TUESDAY)
    for number in range(3):
        put(inside, talk, last=f"reply {number}")
    for number in range(10):
        if number % 2:
            put(inside, talk, last="another turn")
        worker.run_jobs(str(inside.project))
        (line,) = inside.queue()
        assert (line["session"], line["after"], line["tries"]) == ("s1", later, 0)
    assert "last" not in line
    monkeypatch.undo()
    monkeypatch.setenv("HOME", str(inside.home))
    monkeypatch.setattr(worker.time, "time", lambda: later + 1)
    worker.run_jobs(str(inside.project))
    assert inside.queue() == []
    assert inside.memories() == ["we-deploy-only-on-tuesdays"]


def test_one_session_that_fails_harms_no_other(inside, monkeypatch):
    original = capture_capture

    def capture(app, request):
        if request.session == "bad":
            raise Unwritable("the disk is full", next="free some")
        return original(app, request)

    monkeypatch.setattr(worker.captures, "capture", capture)
    bad, good = inside.talk("bad").say(OSLO), inside.talk("good").say(TUESDAY)
    put(inside, bad)
    put(inside, good)
    worker.run_jobs(str(inside.project))
    assert inside.memories() == ["we-deploy-only-on-tuesdays"]
    assert [(line["session"], line["tries"]) for line in inside.queue()] == [("bad", 1)]


def test_a_transcript_that_is_gone_or_elsewhere_does_not_stay_in_the_queue(inside):
    put(inside, inside.talk("gone"))
    outside = Conversation(inside.top / "elsewhere.jsonl").say(TUESDAY)
    put(inside, outside)
    worker.run_jobs(str(inside.project))
    assert inside.queue() == []
    assert inside.memories() == []
    assert "is not in the folder of the client's sessions" in inside.log()


def test_a_worker_that_is_killed_again_and_again_loses_nothing_and_saves_nothing_twice(client):
    talks = [client.talk(f"s{number}") for number in range(6)]
    for number, talk in enumerate(talks):
        talk.say(f"Remember that the service s{number} listens on port 80{number}0.", "Yes.")
        put(client, talk)
    words = [sys.executable, "-I", "-S", str(client.start), "worker"]
    for delay in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.2, 1.5):
        run = subprocess.Popen([*words, str(client.project)], env=client.env)
        with contextlib.suppress(subprocess.TimeoutExpired):
            run.wait(delay)
        run.kill()
        run.wait()
        for job in client.queue():
            assert job["tries"] < DEADLY_TRIES
    assert subprocess.run([*words, str(client.project)], env=client.env).returncode == 0
    assert client.queue() == []
    found = client.answer("status")
    assert (found["received"], found["balances"], found["waiting"]) == (6, True, 0)
    assert found["saved"] == len(client.memories())
    for number in range(6):
        texts = [path.read_text() for path in client.store.glob("*.md") if path.stem != "MEMORY"]
        assert (
            sum(f"service s{number} listens" in text.partition("---\n\n")[2] for text in texts) == 1
        )


def test_a_line_that_ends_every_worker_does_not_do_so_for_ever(inside, monkeypatch):
    def capture(app, request):
        raise KeyboardInterrupt

    monkeypatch.setattr(worker.captures, "capture", capture)
    put(inside, inside.talk().say(TUESDAY))
    for _ in range(DEADLY_TRIES):
        with pytest.raises(KeyboardInterrupt):
            worker.run_jobs(str(inside.project))
    worker.run_jobs(str(inside.project))
    assert inside.queue() == []
    assert "workers end with it" in inside.log()


def test_a_session_counts_for_the_project_it_was_started_in(inside, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    talk = inside.talk()
    talk.say("Hello.", "Hi.")
    talk.cwd = str(elsewhere)
    talk.say(OSLO, "Yes.")
    inside.hook("stop", talk, cwd=str(elsewhere))
    inside.settle()
    assert inside.memories() == ["staging-cluster-oslo"]
