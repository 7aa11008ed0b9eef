"""Whatever is missing, broken, slow or locked around the installed hooks, the session goes on."""

import fcntl
import shlex
import sqlite3
import sys
from contextlib import ExitStack

import pytest

from memdir.hot.run import NESTED
from tests.acceptance import client
from tests.acceptance.cases.conftest import ALWAYS, FACT, OFF, PROMPT, RULE
from tests.acceptance.cases.test_sessions import assert_told_once, bash, counts
from tests.acceptance.equipped import HOOKS, PLUGIN, copy_checkout
from tests.acceptance.scripted_api import last_words, said
from tests.faults import mounts
from tests.helpers.tables import toml_cases

REAL = shlex.quote(str(sys._base_executable))
HELD_KILOBYTES = 64
SLOW = """import sys
from time import sleep
TOUCH = {"open", "os.listdir", "os.mkdir", "os.rename", "os.scandir", "sqlite3.connect"}
SECONDS = 0.05 if "session-end" in sys.argv else 0.01  # long enough to be too late for the client
sys.addaudithook(lambda event, _: sleep(SECONDS) if event in TOUCH else None)
"""


@pytest.fixture
def own(equipped, tmp_path, template):
    """With the plugin from a checkout of its own, to break it."""
    equipped.checkout = copy_checkout(tmp_path / "checkout")
    equipped.copy_plugin(template)
    return equipped


def test_a_slow_python_only_makes_the_answer_late(plugged):
    """SessionEnd has a second in the client, and then it is killed."""
    plugged.own_path(f'sleep 1.2; exec {REAL} "$@"')
    assert_told_once(plugged)


@toml_cases("acceptance")
def test_a_crash_in_our_code_breaks_no_session(own, file, code, told):
    ours = own.checkout / HOOKS / file
    text = ours.read_text("utf-8")
    assert text.count(code.partition("*")[0]) == 1 or "*" not in code, "it replaces nothing"
    ours.write_text(f"{text}\n\n{code}\n", encoding="utf-8")
    assert own.ask(PROMPT).succeeded
    (request,) = own.requests()
    assert "Traceback" not in said(request)
    assert not told or counts(request) == tuple(told)


def test_on_a_slow_disk_the_session_gets_its_memories_late(own):
    start = own.checkout / HOOKS / "start.py"
    docstring, rest = start.read_text("utf-8").split('"""\n\n', 1)
    start.write_text(f'{docstring}"""\n\n{SLOW}{rest}', encoding="utf-8")
    assert_told_once(own)


def test_locked_files_break_no_session(plugged):
    """Every lock of ours and every database is held while another session runs."""
    plugged.finish("hello")
    with ExitStack() as held:
        for top in (".cache/memdir", ".local/state/memdir"):
            for path in (plugged.home / top).rglob("*"):
                if path.suffix == ".sqlite":
                    base = sqlite3.connect(path, isolation_level=None)
                    held.callback(base.close)
                    base.execute("BEGIN EXCLUSIVE")
                elif path.is_file():
                    file = held.enter_context(path.open("rb"))
                    fcntl.flock(file, fcntl.LOCK_EX)
        plugged.write_memory("new.md", "restart the staging cluster with the new zebra\n")
        assert_told_once(plugged)


def test_a_disk_without_room_breaks_no_session_of_the_plugin(plugged):
    folders = [plugged.home / ".cache", plugged.home / ".local"]
    for folder in folders:
        folder.mkdir(exist_ok=True)
        mounts.tmpfs(str(folder), HELD_KILOBYTES)
        with pytest.raises(OSError), open(folder / "full", "wb", 0) as file:
            while True:
                file.write(b"x" * 1024)
    try:
        assert_told_once(plugged)
        plugged.rest()
    finally:
        for folder in folders:
            mounts.command("umount", str(folder))


# Loops


def test_the_end_of_a_turn_never_asks_for_another(equipped):
    """Not even where somebody else's hook does, once: then ours is called a second time."""
    again = '{"decision": "block", "reason": "once more"}'
    mark = shlex.quote(str(equipped.top / "mark"))
    once = f"test -e {mark} || {{ touch {mark}; echo {shlex.quote(again)}; }}"
    equipped.hook("Stop", once)
    equipped.listen("Stop")
    equipped.install(PLUGIN)
    assert equipped.ask(PROMPT).succeeded
    assert [event["stop_hook_active"] for event in equipped.events("Stop")] == [False, True]
    assert len(equipped.requests()) == 2
    assert counts(equipped.requests()[-1]) == (1, 1, 1)
    assert equipped.ask(PROMPT).succeeded
    assert len(equipped.requests()) == 3


def test_a_client_inside_a_session_is_silent_with_our_mark(installed):
    installed.variables |= {OFF: "1", ALWAYS: "1"}
    words = [*client.command(installed.program), "-p", f"inside: {PROMPT}"]
    nested = shlex.join(words)
    installed.api.replies[:] = [bash(f"{NESTED}=1 {nested} </dev/null")]
    assert installed.ask(f"outside: {PROMPT}", "--allowedTools", "Bash").succeeded
    for request in installed.requests():
        inside = "inside: " in last_words(request) and "outside: " not in said(request)
        assert (FACT in said(request)) != inside
        assert (RULE in said(request)) != inside
    assert any("outside: " not in said(request) for request in installed.requests())
    folder = installed.home / ".local/state/memdir/sessions"
    assert len({path.stem for path in folder.iterdir()}) == 1  # with its `.index`
