"""The end of a turn, a compact, the end of a session: a line for the worker, and not a word."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memdir import worker
from memdir.hot.queue import MAX_BYTES, MAX_LINE_BYTES, Queue
from tests.helpers.hooked import EVENTS, PATIENCE, RECORDED, Client
from tests.helpers.searching import memory
from tests.helpers.tables import cases
from tests.self.source import SRC

pytestmark = pytest.mark.usefixtures("project")

ENDS = ["stop", "pre-compact", "session-end"]


@pytest.fixture
def client(tmp_path: Path):
    client = Client(tmp_path)
    client.write("pelican.md", memory("Pelican", "the pelican is in src/a.py", "See src/a.py."))
    client.code.commit({"src/a.py": "a = 1\n"})
    yield client
    client.wait()


@pytest.fixture
def idle(client, monkeypatch):
    """A client whose worker does not start: somebody holds the stamp's place."""
    client.cache.mkdir(parents=True)
    (client.cache / "places").write_text("a file where a folder should be")
    return client


@pytest.mark.parametrize("event", ENDS)
def test_what_the_worker_needs_is_noted_and_nothing_is_said(idle, event):
    for _ in range(2):
        assert idle.run(event, idle.event(EVENTS[event])) == b""
    first, second = idle.queue()
    recorded = RECORDED[EVENTS[event]]
    assert first["event"] == event
    assert first["session"] == recorded["session_id"]
    assert first["transcript"] == recorded["transcript_path"]
    assert first["cwd"] == str(idle.project)
    assert first["tries"] == 0
    assert {**first, "time": 0} == {**second, "time": 0}
    assert (idle.state / "queue").stat().st_mode & 0o777 == 0o600
    assert first["client"] == "claude-code"
    assert "Done." not in first.values()  # nothing of what was said
    assert idle.run("stop", idle.event("Stop", stop_hook_active=True)) == b""  # a hook caused it
    assert len(idle.queue()) == 2


@cases("given", ids=lambda given: ascii(given[:20]))
@pytest.mark.parametrize("event", ["stop", "session-start", "subagent-start"])
def test_whatever_comes_in_nothing_goes_out(client, event, given):
    assert client.run(event, given) == b""
    assert client.queue() == []


def test_a_line_too_long_and_a_full_queue_are_refused_and_logged(idle):
    idle.run("stop", idle.event("Stop", transcript_path="secret" * MAX_LINE_BYTES))
    assert idle.queue() == []
    assert "stop: not noted" in idle.log() and "secret" not in idle.log()
    (idle.state / "queue").write_text("x" * (MAX_BYTES - 100))
    idle.run("stop", idle.event("Stop"))
    assert (idle.state / "queue").stat().st_size == MAX_BYTES - 100
    assert "the queue is full" in idle.log()


@pytest.mark.parametrize("event", sorted(EVENTS))
def test_a_state_that_is_not_ours_to_write_is_no_trouble(client, event):
    """Special files wherever a hook would write: a pipe would block it, a link lead it away."""
    client.state.mkdir(parents=True)
    target = client.top / "target"
    target.write_text("")
    os.mkfifo(client.state / "queue")
    (client.state / "sessions").symlink_to("/nowhere/at/all")
    (client.state / "hooks.log").symlink_to(target)
    client.fire(event)
    assert target.read_text() == ""


def test_trouble_stands_in_the_log_without_what_the_user_said(client):
    client.state.mkdir(parents=True)
    os.mkfifo(client.state / "queue")
    client.env["SECRET_KEY"] = "sk-secret"
    client.run("stop", client.event("Stop", last_assistant_message="sk-secret"))
    assert "stop: " in client.log()
    assert str(client.state / "queue") in client.log()
    assert "secret" not in client.log()


def test_an_end_that_takes_long_lets_the_client_go_and_is_noted_all_the_same(tmp_path):
    """It would wait for what it is told; the process that the client knows does not."""
    client = Client(tmp_path)
    event = "session-end"
    words = [sys.executable, "-I", "-S", str(client.start), event]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    hook = subprocess.Popen(words, env=client.env, **pipes)
    assert hook.wait(PATIENCE) == 0
    assert hook.stdout.read() == b""  # and nobody holds it open
    assert client.queue() == []
    hook.stdout.close()
    hook.stdin.write(client.event(EVENTS[event]))
    hook.stdin.close()
    client.wait("session-end")
    client.wait()
    places = client.cache / "places"
    assert any(path.name.endswith(".started") for path in places.iterdir())


# What the worker does with it


@pytest.mark.parametrize("event", ENDS)
def test_the_worker_keeps_history_catalog_and_verdicts_and_is_gone(client, event):
    client.fire(event)
    client.wait()
    assert client.queue() == []
    assert client.log() == ""
    assert list(client.state.glob("stores/*/history*")), list(client.state.glob("stores/*/*"))
    assert list(client.cache.glob("stores/*/catalog.sqlite"))
    assert list(client.cache.glob("stores/*/verdicts/*/pelican-md-*"))
    assert list(client.cache.glob("standing/*"))


def test_no_turn_waits_for_the_next_event_to_be_worked_off(client):
    starts = ("session-start", "session-start")  # two within a minute
    for event in (*starts, "stop", "stop", "session-end"):  # the worker before is gone
        client.fire(event)
        client.wait()
        assert client.queue() == []


def put(client: Client, *jobs: dict[str, object]) -> Queue:
    client.state.mkdir(parents=True, exist_ok=True)
    queue = Queue(str(client.state))
    for job in jobs:
        assert queue.add(json.dumps({"event": "stop", "tries": 0, **job}).encode())
    return queue


@pytest.fixture
def inside(client, monkeypatch):
    """The worker's code in this process, for this client."""
    for name in [*os.environ]:
        if name.startswith("XDG_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(client.home))
    return client


def test_lines_that_nobody_can_work_on_do_not_stay(inside):
    gone = {"cwd": str(inside.top / "gone")}
    queue = put(inside, gone, {"cwd": "relative"}, {"cwd": str(inside.project)})
    for line in (b"", b"{", b"[]", b'{"cwd": 5, "tries": 0}', b'{"cwd": "/x"}', b"[" * 3000):
        queue.add(line)
    worker.run_jobs(str(inside.project))
    assert inside.queue() == []


def failing(times: list[str], error: BaseException):
    def look_after(environ, cwd, config):
        times.append(cwd)
        if cwd == "/bad":
            raise error

    return look_after


def test_what_fails_is_tried_again_by_the_next_ones_and_then_given_up(inside, monkeypatch):
    times: list[str] = []
    monkeypatch.setattr(worker, "_look_after", failing(times, OSError(5, "broken")))
    put(inside, {"cwd": "/bad"}, {"cwd": "/good"}, {"cwd": "/bad"})
    for tries in (1, 2):
        worker.run_jobs(str(inside.project))
        assert [(line["cwd"], line["tries"]) for line in inside.queue()] == [("/bad", tries)] * 2
    worker.run_jobs(str(inside.project))
    assert inside.queue() == []
    assert times.count("/bad") == 3
    assert times.count("/good") == 1
    assert "given up after 3 tries: /bad" in inside.log()


def test_what_kills_the_worker_is_still_there_and_counts(inside, monkeypatch):
    times: list[str] = []
    monkeypatch.setattr(worker, "_look_after", failing(times, KeyboardInterrupt()))
    put(inside, {"cwd": "/bad"}, {"cwd": "/good"})
    with pytest.raises(KeyboardInterrupt):
        worker.run_jobs(str(inside.project))
    found = [(line["cwd"], line["tries"]) for line in inside.queue()]
    assert found == [("/bad", 1), ("/good", 0)]


# The queue itself


ADD = """
import sys; sys.path.insert(0, sys.argv[1])
from memdir.hot.queue import Queue
for number in range(300):
    assert Queue(sys.argv[2]).add(f"{sys.argv[3]} {number}".encode())
"""


def test_nothing_that_is_added_while_another_takes_is_lost(tmp_path):
    words = [sys.executable, "-I", "-S", "-c", ADD, str(SRC), str(tmp_path)]
    adding = [subprocess.Popen([*words, name]) for name in ("a", "b", "c")]
    queue, found = Queue(str(tmp_path)), list[bytes]()
    while True:
        ended = all(one.poll() is not None for one in adding)
        found += queue.take()
        queue.keep([])
        if ended:
            break
    assert [one.returncode for one in adding] == [0, 0, 0]
    assert sorted(found) == sorted(f"{a} {n}".encode() for a in "abc" for n in range(300))


def test_what_was_taken_stays_until_it_is_let_go_of(tmp_path):
    Queue(str(tmp_path)).add(b"one")
    assert Queue(str(tmp_path)).take() == [b"one"]
    Queue(str(tmp_path)).add(b"two")
    assert Queue(str(tmp_path)).take() == [b"one", b"two"]
    Queue(str(tmp_path)).keep([b"two"])
    assert Queue(str(tmp_path)).take() == [b"two"]


def test_a_line_that_a_full_disk_cut_spoils_no_other(tmp_path):
    (tmp_path / "queue").write_bytes(b"half a li")
    assert Queue(str(tmp_path)).add(b"whole")
    assert b"whole" in Queue(str(tmp_path)).take()


def test_no_line_is_lost_however_much_was_taken_before(tmp_path):
    box, noted = Queue(str(tmp_path)), 0
    for _ in range(12):  # a worker that is slow, and hooks that fill the queue each time
        while box.add(b"%07d" % noted + b"x" * 4_000):
            noted += 1
        box.take()
    found = box.take()
    box.keep([])
    found += box.take()
    assert [int(line[:7]) for line in found] == list(range(noted))
    assert not os.path.exists(box.path)
