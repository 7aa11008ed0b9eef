"""Whatever happens to the hook, the session comes to its answer and nobody sees an error."""

import fcntl
import shlex
import sys
from pathlib import Path

import pytest

from tests.acceptance.cases.conftest import FACT, PROMPT
from tests.acceptance.sandbox import START

SLOW_DISK = str(Path(__file__).parents[1] / "slow_disk.py")
TOO_SHORT = 1  # seconds that the client waits for a hook


def python(code: str) -> str:
    return shlex.join([sys.executable, "-I", "-S", "-c", code])


CRASHES = (
    python("raise RuntimeError('broken')"),
    python("import os; os.abort()"),
    python("import os; os.kill(os.getpid(), 9)"),
    python("print('{\"hookSpecificOutput\": ')"),
    python("import sys; sys.stdin.close(); sys.stdout.close()"),
    f"/no/such/python -I -S {START} prompt a b project=c",
    f"{sys.executable} -I -S /no/such/start.py prompt a b project=c || :",
    f"{sys.executable} -I -S {START} prompt",
    f"{sys.executable} -I -S {START} no-such-hook a b",
)


def test_hooks_that_crash_break_no_session(sandbox):
    """In nine ways at once; each of them alone would be enough."""
    for command in CRASHES:
        sandbox.hook("UserPromptSubmit", command)
    assert sandbox.ask(PROMPT).succeeded
    assert len(sandbox.requests()) == 1
    assert "Traceback" not in sandbox.sent()


def test_on_a_disk_that_hangs_the_session_goes_on_without_memory(remembering):
    remembering.hooks.clear()
    remembering.prompt_hook(SLOW_DISK, "30", timeout=TOO_SHORT)
    assert remembering.ask(PROMPT).succeeded
    assert FACT not in remembering.sent()
    assert remembering.left_over() == []


def test_a_session_that_another_process_holds_breaks_nothing(remembering):
    first = remembering.ask("hello, what is the weather like?")
    remembering.state.mkdir()
    (remembering.state / "sessions").mkdir()
    with open(remembering.state / "sessions" / first.data["session_id"], "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert remembering.ask(PROMPT, "--resume", first.data["session_id"]).succeeded
    assert FACT in remembering.sent()


@pytest.mark.parametrize("where", ["/proc/none", "/dev/null"])
def test_a_place_that_cannot_be_written_breaks_no_session(remembering, where):
    remembering.hooks.clear()
    remembering.state = remembering.cache = Path(where)
    remembering.prompt_hook()
    assert remembering.ask(PROMPT).succeeded
    assert FACT in remembering.sent()


def test_stores_that_are_none_break_no_session(sandbox):
    for store in ("/no/such/store", "/dev/null", "/proc/self/mem", "''"):
        sandbox.prompt_hook(store=store)
    assert sandbox.ask(PROMPT).succeeded
    assert sandbox.told() == []
