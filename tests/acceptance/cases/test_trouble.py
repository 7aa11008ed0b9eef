"""Whatever happens to the hook, the session comes to its answer and nobody sees an error."""

import fcntl
import shlex
import sqlite3
import sys
from pathlib import Path

import pytest

from tests.acceptance.cases.conftest import FACT, PROMPT
from tests.acceptance.sandbox import START
from tests.faults import mounts

SLOW_DISK = str(Path(__file__).parents[1] / "slow_disk.py")
TOO_SHORT, ENOUGH = 1, 20  # seconds that the client waits for a hook
HELD_KILOBYTES = 64


def python(code: str) -> str:
    return shlex.join([sys.executable, "-I", "-S", "-c", code])


@pytest.mark.parametrize(
    "command",
    [
        python("raise RuntimeError('broken')"),
        python("import os; os.abort()"),
        python("import os; os.kill(os.getpid(), 9)"),
        python("print('{\"hookSpecificOutput\": ')"),
        python("import sys; sys.stdin.close(); sys.stdout.close()"),
        f"/no/such/python -I -S {START} prompt a b project=c",
        f"{sys.executable} -I -S /no/such/start.py prompt a b project=c || :",
        f"{sys.executable} -I -S {START} prompt",
        f"{sys.executable} -I -S {START} no-such-hook a b",
    ],
    ids=[
        *("raises", "aborts", "killed", "half-an-answer", "closes-everything"),
        *("no-interpreter", "no-script", "no-arguments", "no-such-hook"),
    ],
)
def test_a_hook_that_crashes_breaks_no_session(sandbox, command):
    sandbox.hook("UserPromptSubmit", command)
    assert sandbox.ask(PROMPT).succeeded
    assert len(sandbox.requests()) == 1
    assert "Traceback" not in sandbox.sent()


def test_on_a_slow_disk_the_answer_comes_late(remembering):
    remembering.hooks.clear()
    remembering.prompt_hook(SLOW_DISK, "0.03", timeout=ENOUGH)
    assert remembering.ask(PROMPT).succeeded
    assert FACT in remembering.sent()


def test_on_a_disk_that_hangs_the_session_goes_on_without_memory(remembering):
    remembering.hooks.clear()
    remembering.prompt_hook(SLOW_DISK, "30", timeout=TOO_SHORT)
    assert remembering.ask(PROMPT).succeeded
    assert FACT not in remembering.sent()
    assert remembering.left_over() == []


def test_a_locked_catalog_breaks_no_session(remembering):
    assert remembering.ask(PROMPT).succeeded
    (catalog,) = remembering.cache.glob("stores/*/catalog.sqlite")
    holder = sqlite3.connect(catalog, isolation_level=None)
    try:
        holder.execute("BEGIN EXCLUSIVE")
        remembering.write_memory("new.md", "restart the staging cluster with the new zebra\n")
        assert remembering.ask(PROMPT).succeeded
    finally:
        holder.close()
    assert FACT in remembering.sent()


def test_a_session_that_another_process_holds_breaks_nothing(remembering):
    first = remembering.ask("hello, what is the weather like?")
    remembering.state.mkdir()
    (remembering.state / "sessions").mkdir()
    with open(remembering.state / "sessions" / first.data["session_id"], "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert remembering.ask(PROMPT, "--resume", first.data["session_id"]).succeeded
    assert FACT in remembering.sent()


def test_a_full_disk_breaks_no_session(remembering):
    """State and cache have no byte left; the memory is told all the same."""
    for folder in (remembering.state, remembering.cache):
        folder.mkdir()
        mounts.tmpfs(str(folder), HELD_KILOBYTES)
        with pytest.raises(OSError), open(folder / "full", "wb", 0) as file:
            while True:
                file.write(b"x" * 1024)
    assert remembering.ask(PROMPT).succeeded
    assert FACT in remembering.sent()
    for folder in (remembering.state, remembering.cache):
        mounts.command("umount", str(folder))


@pytest.mark.parametrize("where", ["/proc/none", "/dev/null"])
def test_a_place_that_cannot_be_written_breaks_no_session(remembering, where):
    remembering.hooks.clear()
    remembering.state = remembering.cache = Path(where)
    remembering.prompt_hook()
    assert remembering.ask(PROMPT).succeeded
    assert FACT in remembering.sent()


@pytest.mark.parametrize("store", ["/no/such/store", "/dev/null", "/proc/self/mem", "''"])
def test_a_store_that_is_none_breaks_no_session(sandbox, store):
    sandbox.prompt_hook(store=store)
    assert sandbox.ask(PROMPT).succeeded
    assert sandbox.told() == []
