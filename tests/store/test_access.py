"""Permissions and the lock: who may not write is told why, and nothing is lost meanwhile."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from memdir.audit import ages
from memdir.errors import Busy, Unwritable
from memdir.store import changes, look
from tests.helpers.opened import Opened, edit, findings, memory, still_works


@pytest.fixture
def opened(tmp_path):
    opened = Opened(tmp_path)
    opened.save("Good words", "good")
    return opened


def as_a_user(folder: Path, work) -> None:
    """Run `work` without root's rights, so that permissions bite; skip where that cannot be."""
    if os.geteuid() != 0:
        work()
        return
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setgroups([])
            os.setgid(65_534)
            os.setuid(65_534)
            work()
            code = 0
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.fixture
def readable(tmp_path):
    """A store of an ordinary user; everything on the way to it can be entered."""
    opened = Opened(tmp_path)
    opened.save("Good words", "good")
    opened.write("beta.md", memory("beta"))
    opened.write("deep/x.md", memory("x"))
    opened.save("More", "more")
    still_works(opened)  # whatever is imported late is imported now
    if os.geteuid() == 0:
        for path in (opened.top, *opened.top.rglob("*")):
            os.chown(path, 65_534, 65_534)
        for path in opened.top.parents:
            if not path.stat().st_mode & 0o001:
                if not str(path).startswith("/tmp/"):
                    pytest.skip(f"root's tests cannot show this here: {path} is closed to others")
                path.chmod(path.stat().st_mode | 0o011)
    return opened


def test_an_unreadable_file_is_named_kept_and_stays_in_the_index(readable):
    def work() -> None:
        (readable.root / "beta.md").chmod(0)
        assert "Permission denied" in findings(readable)["beta.md"]
        changes.touch_memories(readable.app(), ["good"])
        readable.save("Third", "third")
        assert "beta.md" in readable.index
        try:
            readable.save("New", "beta")
        except Unwritable as refused:
            assert "beta.md" in refused.message
        else:
            raise AssertionError("an unreadable memory was replaced")
        (readable.root / "beta.md").chmod(0o600)
        assert readable.read("beta.md") == memory("beta")
        assert "outside beta.md" not in readable.verbs()

    as_a_user(readable.root, work)


def test_an_unreadable_folder_is_named_and_its_memories_are_not_gone(readable):
    def work() -> None:
        (readable.root / "deep").chmod(0)
        assert "Permission denied" in str(findings(readable))
        readable.save("Third", "third")
        (readable.root / "deep").chmod(0o700)
        assert readable.read("deep/x.md") == memory("x")
        assert "deep/x.md" in readable.index
        removed = [
            path
            for one in look.store_log(readable.app())
            for kind, path in one.paths
            if kind == "D"
        ]
        assert removed == []

    as_a_user(readable.root, work)


def test_a_directory_that_may_not_be_written_is_said_and_nothing_is_lost(readable):
    def work() -> None:
        before = readable.files()
        readable.root.chmod(0o500)
        for call in (lambda: readable.save("x", "x"), lambda: edit(readable, "good", "New")):
            try:
                call()
            except Unwritable as refused:
                assert "Permission denied" in refused.message
                assert "permissions" in refused.next
            else:
                raise AssertionError("a read-only directory was written")
        readable.root.chmod(0o700)
        assert readable.files() == before

    as_a_user(readable.root, work)


# -- the lock ------------------------------------------------------------------------------


HOLDER = """
import fcntl, os, sys, time
handle = os.open(sys.argv[1], os.O_RDWR)
fcntl.flock(handle, fcntl.LOCK_EX)
os.pwrite(handle, b"pid %d (a stopped process) since noon".ljust(200) % os.getpid(), 0)
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def holder(opened):
    """Another process that holds the lock and is stopped."""
    line = [sys.executable, "-c", HOLDER, str(opened.state / "lock")]
    with subprocess.Popen(line, stdout=subprocess.PIPE) as process:
        assert process.stdout and process.stdout.readline() == b"held\n"
        process.send_signal(signal.SIGSTOP)
        yield process
        process.kill()


def test_a_stopped_holder_is_named_and_nothing_is_written(opened, holder):
    opened.options |= {"MEMDIR_LOCK_SECONDS": "0.3", "MEMDIR_LOCK_NOTICE_SECONDS": "0.1"}
    before = opened.files()
    with pytest.raises(Busy) as busy:
        opened.save("x", "x")
    assert f"pid {holder.pid} (a stopped process)" in busy.value.message
    assert any(f"pid {holder.pid}" in line for line in opened.said)
    assert opened.files() == before
    ages.list_memory_ages(opened.app())  # readers never wait
    look.store_log(opened.app())


def test_a_killed_holder_blocks_nobody(opened, holder):
    waiting = threading.Timer(0.2, holder.kill)
    waiting.start()
    opened.save("Mine", "mine")
    waiting.join()
    assert "Mine" in opened.read("mine.md")
