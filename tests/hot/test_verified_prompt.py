"""What an agent is told was checked: by a worker beforehand, confirmed by a glance in the hook."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memdir.hot.place import store_key
from tests.helpers.repositories import Checkout
from tests.helpers.searching import memory
from tests.self.source import PACKAGE

pytestmark = pytest.mark.usefixtures("project")

HOOKS = PACKAGE / "hot"
FACT = "Sessions are handled in src/auth/session.py by `handle_auth`, tests are in tests/auth.py."
PROMPT = "where are sessions handled, in which file by handle_auth?"
PATIENCE = 60  # seconds for a process beside a busy machine


class Project:
    """A home and a checkout whose memory speaks of the code."""

    def __init__(self, top: Path) -> None:
        self.home = top / "home"
        self.code = Checkout(top / "code")
        self.code.commit({"src/auth/session.py": "def handle_auth(): ...\n", "tests/auth.py": "1"})
        self.code.move("src/auth/session.py", "src/auth/login.py")
        self.code.commit()
        self.root = os.path.realpath(self.code.folder)
        name = "".join(sign if sign.isalnum() else "-" for sign in self.root)
        self.store = self.home / ".claude/projects" / name / "memory"
        self.store.mkdir(parents=True)
        (self.store / "sessions.md").write_text(memory("Sessions", FACT, FACT))
        self.cache = self.home / ".cache/memdir"
        kept = self.cache / "stores" / store_key(os.path.realpath(self.store)) / "verdicts"
        self.kept = kept / store_key(self.root)

    @property
    def env(self) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": os.environ["PATH"]}

    def ask(self, session: str) -> str:
        """What the hook tells; it ends at once, whatever it started."""
        state = self.home / ".local/state/memdir"
        command = [sys.executable, "-I", "-S", str(HOOKS / "start.py"), "prompt"]
        event = {"prompt": PROMPT, "session_id": session, "cwd": f"{self.root}/src"}
        done = subprocess.run(
            [*command, str(state), str(self.cache), f"project={self.store}"],
            input=json.dumps(event).encode(),
            capture_output=True,
            timeout=PATIENCE,
            env=self.env,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]

    def wait(self) -> None:
        """Until the worker has left verdicts behind and is gone."""
        end = time.monotonic() + PATIENCE
        while not list(self.kept.glob("sessions-md-*")) or self.workers():
            assert time.monotonic() < end, "the worker left nothing behind"
            time.sleep(0.05)

    def workers(self) -> list[str]:
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"worker" in words and self.root.encode() in words:
                found.append(folder.name)
        return found


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_the_first_prompt_does_not_wait_and_the_next_ones_are_verified(project):
    assert FACT in project.ask("first")
    project.wait()
    told = project.ask("second")
    assert "checked: src/auth/session.py renamed to src/auth/login.py in " in told
    assert "handle_auth" in told.partition("checked: ")[2].partition("\n")[0]
    assert "tests/auth.py" in told.partition(" found\n")[0].rpartition("\n")[2]


def test_a_file_that_vanished_after_the_look_is_gone_at_once(project):
    project.ask("first")
    project.wait()
    (project.code.folder / "tests/auth.py").unlink()
    assert "tests/auth.py is gone; it was there at " in project.ask("second")


def test_a_memory_that_changed_says_nothing_of_its_old_claims(project):
    project.ask("first")
    project.wait()
    (project.store / "sessions.md").write_text(memory("Sessions", FACT, FACT + " Really."))
    assert "checked:" not in project.ask("second")


@pytest.mark.parametrize("damage", [b"", b"memdir verdicts 1 0\n1 2 x", b"\0" * 70_000])
def test_damaged_verdicts_are_no_verdicts(project, damage):
    project.ask("first")
    project.wait()
    for file in project.kept.iterdir():
        file.write_bytes(damage)
    told = project.ask("second")
    assert FACT in told
    assert "checked:" not in told


def test_one_worker_a_minute_and_none_where_nothing_is_lacking(project):
    project.ask("first")
    project.wait()
    (project.store / "sessions.md").write_text(memory("Sessions", FACT, FACT + " Really."))
    stamp = Path(f"{project.kept}.started")
    started = stamp.stat().st_mtime_ns
    project.ask("second")
    assert stamp.stat().st_mtime_ns == started
    os.utime(stamp, (0, 0))
    project.ask("third")
    assert stamp.stat().st_mtime_ns > started
    project.wait()
    os.utime(stamp, (0, 0))
    assert "checked:" in project.ask("fourth") or project.workers()


def test_a_pipe_in_the_place_of_the_stamp_holds_up_no_prompt(project):
    project.kept.parent.mkdir(parents=True)
    stamp = f"{project.kept}.started"
    os.mkfifo(stamp)
    os.utime(stamp, (0, 0))
    assert FACT in project.ask("first")
    assert not project.workers()
