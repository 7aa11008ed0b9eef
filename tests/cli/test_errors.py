"""What goes wrong is one sentence and a next step; a program gets the same as JSON."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memdir.audit import ages
from tests.conftest import XDG
from tests.helpers.terminal import SCRIPT, memdir, process, tree

pytestmark = pytest.mark.usefixtures("project")

RULE = "Use uv, never pip, to install packages."
HOLD = """
import fcntl, os, sys, time
handle = os.open(sys.argv[1], os.O_RDWR)
fcntl.flock(handle, fcntl.LOCK_EX)
os.pwrite(handle, b"pid 4242 (a writer that hangs)".ljust(200), 0)
print("held", flush=True)
time.sleep(600)
"""


@contextmanager
def held(home: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Another process has the lock of the only store."""
    (lock,) = home.glob(".local/state/memdir/stores/*/lock")
    words = [sys.executable, "-c", HOLD, str(lock)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as holder:
        try:
            assert holder.stdout and holder.stdout.readline() == b"held\n"
            yield holder
        finally:
            holder.kill()


def save(name: str = "use-uv") -> str:
    return str(memdir("remember", RULE, "--name", name, "--json").json["hash"])


def test_a_conflict_shows_both_texts_and_writes_nothing(store):
    read = save()
    (store / "use-uv.md").write_text("---\nname: use-uv\n---\n\nSomebody else's words.\n")
    words = ("edit", "use-uv", "--body-file", "-", "--if-hash", read)
    answer = memdir(*words, "--json", stdin=b"My words.\n")
    assert (answer.code, answer.error["code"]) == (1, "conflict")
    assert answer.error["ours"] == "---\nname: use-uv\n---\n\nMy words.\n"
    assert "Somebody else's words." in answer.error["theirs"]
    said = memdir(*words, stdin=b"My words.\n")
    assert "-Somebody else's words." in said.stderr and "+My words." in said.stderr
    assert "My words" not in (store / "use-uv.md").read_text()


def test_a_held_lock_is_named_and_nothing_is_written(store, home):
    save()
    with held(home) as holder:
        holder.send_signal(signal.SIGSTOP)
        before = tree(store)
        quick = {"MEMDIR_LOCK_SECONDS": "0.6", "MEMDIR_LOCK_NOTICE_SECONDS": "0.2"}
        answer = process("remember", "Another rule to always keep.", "--json", **quick)
        assert (answer.code, answer.error["code"]) == (1, "busy")
        assert "pid 4242" in answer.error["message"]
        assert "waiting for the store's lock, held by pid 4242" in " ".join(answer.stderr.split())
        assert process("list", "--json").json["memories"], "readers never wait"
        checks = {c["name"]: c for c in process("doctor", "--json").json["checks"]}
        assert not checks["lock"]["ok"] and "4242" in checks["lock"]["message"]
        assert tree(store) == before
    assert process("remember", "Another rule to always keep.", "--json").code == 0


def test_a_mistake_of_ours_is_exit_code_3_with_a_report(monkeypatch, home):
    def broken(*_: object) -> None:
        raise RuntimeError("a planted mistake")

    monkeypatch.setattr(ages, "list_memory_ages", broken)
    answer = memdir("list")
    assert (answer.code, answer.bytes) == (3, b"")
    assert "Traceback" not in answer.stderr and "planted" not in answer.stderr
    (report,) = home.glob(".local/state/memdir/reports/*.txt")
    assert str(report) in "".join(answer.stderr.split())
    assert "a planted mistake" in report.read_text()
    assert oct(report.stat().st_mode)[-3:] == "600"
    assert memdir("list", "--json").error["code"] == "internal"


@pytest.mark.parametrize("words", [("list",), ("show", "nothing", "--json"), ("--help",)])
def test_a_reader_that_goes_away_hears_no_complaint(words):
    """As in `memdir list | head -1`; the reader is gone before a byte is written."""
    save()
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*SCRIPT, *words], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (done.stderr, done.returncode) == (b"", 141)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_an_answer_that_cannot_be_written_is_a_failure_but_the_change_stands(store):
    for words in (["remember", RULE, "--name", "kept", "--json"], ["--help"], ["--version"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([*SCRIPT, *words], stdout=full, stderr=subprocess.PIPE)
        assert done.returncode == 1
        assert b"the answer cannot be written: No space left" in done.stderr
    assert (store / "kept.md").exists()
    assert memdir("log", "--json").json["changes"][0]["verb"] == "save"


def test_a_change_stands_although_nobody_reads_what_is_said(store):
    """Stderr is closed while a remark is due: the memory is saved, and the history has it."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    env = {**os.environ, "MEMDIR_TRASH_DAYS": "many"}  # a finding, so that there is a remark
    words = [*SCRIPT, "remember", RULE, "--name", "kept"]
    with subprocess.Popen(words, env=env, **streams) as pipe:
        assert pipe.stdout and pipe.stderr
        pipe.stderr.close()
        assert pipe.stdout.read().startswith(b"created kept.md")
        assert pipe.wait() == 0
    assert (store / "kept.md").exists()


def test_a_current_directory_that_is_gone_is_said(project, tmp_path):
    os.rmdir(project / ".git")
    os.rmdir(project)
    for words in ((), ("--dir", "memory"), ("--dir", str(tmp_path), "--project", "shop")):
        answer = process("list", *words, "--json")
        assert (answer.code, answer.error["code"]) == (1, "bad_input")
        assert "current directory is gone" in answer.error["message"]
    assert process("list", "--project", str(tmp_path), "--json").code == 0
    where = ("--dir", str(tmp_path / "memory"))
    assert process("remember", RULE, *where, "--json").code == 0
    assert len(process("list", *where, "--json").json["memories"]) == 1
    assert process("export", *where, "--output", "x.zip", "--json").error["code"] == "bad_input"


@pytest.mark.parametrize(
    "words", [("",), (" ",), ("--batch", ""), ("--batch", " "), ("--since", "")]
)
def test_an_undo_of_nothing_in_particular_undoes_nothing(words, store):
    save()
    answer = memdir("undo", *words, "--json")
    assert (answer.code, answer.error["code"]) == (1, "bad_input")
    assert (store / "use-uv.md").exists()


def test_an_argument_that_is_no_text_breaks_nothing(store):
    word = b"odd \xff \xed\xa0\x80".decode("utf-8", "surrogateescape")
    answer = process("remember", f"Always {word}", "--name", "odd", "--json")
    assert answer.code == 0, answer.stderr
    assert b"odd \xff \xed\xa0\x80" in (store / "odd.md").read_bytes()
    for words in (("show", "odd"), ("list",), ("show", word), ("list", "--dir", word)):
        answer = process(*words)
        assert answer.code in (0, 1) and "\udcff" not in answer.text + answer.stderr


def test_closed_streams_do_not_break_a_command(store):
    save()
    for closed in (">&-", "2>&-", "<&-"):
        line = f'exec "$@" {closed}'
        done = subprocess.run(["sh", "-c", line, "sh", *SCRIPT, "list"], capture_output=True)
        assert done.returncode == 0, done.stderr


def test_an_interrupt_is_quiet(home, store):
    save()
    # It must not give up before we interrupt it, however long a busy machine lets us wait.
    env = {**os.environ, "MEMDIR_LOCK_NOTICE_SECONDS": "0.1", "MEMDIR_LOCK_SECONDS": "600"}
    words = [*SCRIPT, "touch", "use-uv"]
    with held(home), subprocess.Popen(words, stderr=subprocess.PIPE, env=env) as waiting:
        assert waiting.stderr
        assert b"waiting" in waiting.stderr.readline()
        waiting.send_signal(signal.SIGINT)
        rest = waiting.stderr.read()
        assert waiting.wait(timeout=60) == 130, rest
        assert b"Traceback" not in rest


@pytest.mark.parametrize(
    ("machine", "said"),
    [("sys.platform = 'win32'", "WSL"), ("sys.version_info = (3, 9)", "Python 3.11 or newer")],
)
def test_where_it_does_not_run_one_sentence_says_so(machine, said):
    code = f"import sys; {machine}; import memdir.cli.main"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert said in done.stderr and "Next: " in done.stderr


@pytest.mark.parametrize("words", [("remember", RULE), ("setup", "claude-code")])
def test_a_home_that_cannot_be_written_is_named(words, monkeypatch, project):
    monkeypatch.setenv("HOME", "/proc/no-home")  # also for root
    for name in XDG:
        monkeypatch.delenv(name, raising=False)
    assert memdir("list").code == memdir("where").code == 0
    answer = memdir(*words)
    assert answer.code == 1 and "/proc/no-home" in answer.stderr and "Next: " in answer.stderr
