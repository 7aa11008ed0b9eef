"""What an agent is told was checked: by a worker beforehand, confirmed by a glance in the hook."""

import os
import time
from pathlib import Path

import pytest

from memdir.hot.place import store_key
from tests.helpers.hooked import PATIENCE, Client
from tests.helpers.searching import memory

pytestmark = pytest.mark.usefixtures("project")

FACT = "Sessions are handled in src/auth/session.py by `handle_auth`, tests are in tests/auth.py."
PROMPT = "where are sessions handled, in which file by handle_auth?"


class Checked(Client):
    """A checkout whose memory speaks of the code."""

    def __init__(self, top: Path) -> None:
        super().__init__(top)
        self.code.commit({"src/auth/session.py": "def handle_auth(): ...\n", "tests/auth.py": "1"})
        self.code.move("src/auth/session.py", "src/auth/login.py")
        self.code.commit()
        self.say()
        store, code = (store_key(os.path.realpath(path)) for path in (self.store, self.project))
        self.kept = self.cache / "stores" / store / "verdicts" / code

    def say(self, more: str = "") -> None:
        self.write("sessions.md", memory("Sessions", FACT, FACT + more))

    def ask(self, session: str) -> str:
        return self.fire("prompt", prompt=PROMPT, session_id=session)

    def ask_first(self) -> None:
        """Until the worker has left verdicts behind and is gone."""
        assert FACT in self.ask("first")
        end = time.monotonic() + PATIENCE
        while not list(self.kept.glob("sessions-md-*")):
            assert time.monotonic() < end, "the worker left nothing behind"
            time.sleep(0.05)
        self.wait()


@pytest.fixture
def client(tmp_path: Path) -> Checked:
    return Checked(tmp_path)


def test_the_first_prompt_does_not_wait_and_the_next_ones_are_verified(client):
    client.ask_first()
    told = client.ask("second")
    assert "checked: src/auth/session.py renamed to src/auth/login.py in " in told
    assert "handle_auth" in told.partition("checked: ")[2].partition("\n")[0]
    assert "tests/auth.py" in told.partition(" found\n")[0].rpartition("\n")[2]


def test_a_file_that_vanished_after_the_look_is_gone_at_once(client):
    client.ask_first()
    (client.project / "tests/auth.py").unlink()
    assert "tests/auth.py is gone; it was there at " in client.ask("second")


@pytest.mark.parametrize("damage", [b"", b"memdir verdicts 1 0\n1 2 x", b"\0" * 70_000])
def test_damaged_verdicts_are_no_verdicts(client, damage):
    client.ask_first()
    for file in client.kept.iterdir():
        file.write_bytes(damage)
    told = client.ask("second")
    assert FACT in told
    assert "checked:" not in told


def test_a_memory_that_changed_is_checked_anew_by_one_worker_a_minute(client):
    client.ask_first()
    client.say(" Really.")
    stamp = Path(f"{client.kept}.started")
    started = stamp.stat().st_mtime_ns
    assert "checked:" not in client.ask("second")
    assert stamp.stat().st_mtime_ns == started
    os.utime(stamp, (0, 0))
    client.ask("third")
    assert stamp.stat().st_mtime_ns > started
    client.wait()


def test_a_pipe_in_the_place_of_the_stamp_holds_up_no_prompt(client):
    client.kept.parent.mkdir(parents=True)
    stamp = f"{client.kept}.started"
    os.mkfifo(stamp)
    os.utime(stamp, (0, 0))
    assert FACT in client.ask("first")
    assert not client.workers()
