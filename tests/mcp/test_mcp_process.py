"""The server as a process: how it ends, what it writes where, two of it on one store."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.helpers import asking
from tests.self.source import ROOT

pytestmark = pytest.mark.usefixtures("project")

PING = asking.request("p", "ping")
HEAVY = ("click", "memdir.store.writer", "memdir.store.changes", "asyncio", "http.server", "mcp")


def ask(running: subprocess.Popen[bytes], *messages: object) -> list:
    """One answer for each of these messages."""
    assert running.stdin and running.stdout
    running.stdin.write(asking.lines(*messages))
    running.stdin.flush()
    return [json.loads(running.stdout.readline()) for _ in messages]


def test_the_end_of_the_input_ends_it_after_what_was_asked(store):
    code, answers, err = asking.served(
        asking.lines(asking.hello(), asking.use(1, "save", text=asking.FACT, type="user", name="a"))
    )
    assert (code, err, [answer["id"] for answer in answers]) == (0, b"", [0, 1])
    assert asking.FACT in (store / "a.md").read_text()


def test_a_signal_ends_it_cleanly():
    with asking.start() as running:
        ask(running, PING)
        running.send_signal(signal.SIGTERM)
        out, err = running.communicate(timeout=asking.SECONDS)
    assert (running.returncode, out, err) == (0, b"", b"")


def test_a_client_that_reads_no_more_ends_it_cleanly(store):
    with asking.start() as running:
        ask(running, asking.hello())
        assert running.stdin and running.stdout and running.stderr
        running.stdout.close()
        running.stdin.write(
            asking.lines(asking.use(1, "save", text=asking.FACT, type="user", name="a"))
        )
        running.stdin.flush()  # and stays open: only the failing answer tells
        assert running.wait(asking.SECONDS) == 0
        assert running.stderr.read() == b""
    assert asking.FACT in (store / "a.md").read_text()


@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_trouble(closed):
    line = f"{sys.executable} -m memdir.surfaces.mcp {closed}"
    done = subprocess.run(
        ["sh", "-c", line], input=asking.lines(PING), capture_output=True, timeout=asking.SECONDS
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(sys.platform != "linux", reason="measured in /proc, which is Linux's")
def test_garbage_of_any_kind_leaves_it_alive_and_small(tmp_path):
    data = os.urandom(3_000_000) + b"\n" + b"[" * 3_000_000 + b"\n" + asking.lines(PING)
    measured = tmp_path / "measured.py"
    measured.write_text(
        "import sys\n"
        "from memdir.mcp.stdio import run\n"
        "code = run([])\n"
        # Not ru_maxrss: after a vfork it counts the test's own process, too.
        "used = open('/proc/self/status').read().partition('VmHWM:')[2].split()[0]\n"
        "sys.stderr.write(used)\nsys.exit(code)\n"
    )
    done = subprocess.run(
        [sys.executable, str(measured)], input=data, capture_output=True, timeout=asking.SECONDS
    )
    assert done.returncode == 0 and b'"id":"p","result":{}' in done.stdout
    assert int(done.stderr) < 120_000  # kilobytes


def test_the_first_answers_import_neither_memories_nor_packages():
    code = (
        "import sys\nfrom memdir.mcp.stdio import run\nrun([])\n"
        f"sys.stderr.write(' '.join(name for name in {HEAVY} if name in sys.modules))"
    )
    asked = asking.lines(asking.hello(), asking.request(1, "tools/list"))
    done = subprocess.run([sys.executable, "-c", code], input=asked, capture_output=True)
    assert done.stdout.count(b"\n") == 2 and done.stderr == b""


def test_another_project_and_another_directory_are_served_by_name(tmp_path, store, home):
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    asking.Agent(project=str(other)).use("save", text=asking.FACT, type="user", name="a")
    named = asking.Agent(dir=str(tmp_path / "named"))
    named.use("save", text=asking.FACT, type="user", name="b")
    assert "b.md" in named.use("list") and "a.md" not in named.use("list")
    assert not store.exists() and (tmp_path / "named/b.md").exists()
    assert [path.name for path in home.glob(".claude/projects/*other/memory/a.md")] == ["a.md"]


def test_two_servers_on_one_store_lose_nothing(store):
    """Both save at once, each its own memories and one of the same name."""
    names = [[*(f"b{at}-{number}" for number in range(6)), "shared"] for at in range(2)]
    answers: list = []

    def work(running: subprocess.Popen[bytes], own: list[str]) -> None:
        for name in own:
            text = f"Bird {name} nests in tower {own[0]}."
            answers.extend(
                ask(
                    running,
                    asking.use(name, "save", text=text, type="user", name=name, anyway=True),
                )
            )
        running.communicate(timeout=asking.SECONDS)

    threads = [threading.Thread(target=work, args=(asking.start(), own)) for own in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 14 and not any(answer["result"]["isError"] for answer in answers)
    index, log = (store / "MEMORY.md").read_text(), asking.Agent().use("history", limit=100)
    for name in {*names[0], *names[1]}:
        assert (store / f"{name}.md").exists() and f"({name}.md)" in index
    assert log.count(": save b") == 12 and log.count(": save shared") == 2


def test_the_plugin_starts_it_with_a_python_that_has_no_packages(tmp_path, home):
    plugin = tmp_path / "plugin"
    shutil.copytree(ROOT / "plugin", plugin, ignore=shutil.ignore_patterns("__pycache__"))
    [(name, server)] = json.loads((plugin / ".mcp.json").read_bytes())["mcpServers"].items()
    command = server["command"].replace("${CLAUDE_PLUGIN_ROOT}", str(plugin))
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in ("sh", "dirname"):
        (folder / tool).symlink_to(str(shutil.which(tool)))
    python = folder / "python3"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    python.chmod(0o755)

    def begin(home: Path) -> tuple[int, bytes]:
        done = subprocess.run(
            [command, *server["args"]],
            input=asking.lines(asking.hello(), asking.request(1, "tools/list")),
            capture_output=True,
            env={"PATH": str(folder), "HOME": str(home)},
            timeout=asking.SECONDS,
        )
        return done.stdout.count(b"\n"), done.stderr

    assert (name, "alwaysLoad" in server) == ("memdir", False)
    assert begin(home) == (2, b"")
    # Left by a hook: no search any more.
    noted = plugin / "memdir/hot/__pycache__/launcher/python"
    noted.parent.mkdir(0o700, parents=True)
    noted.write_text(f"{python.rename(tmp_path / 'kept')}\n")
    noted.chmod(0o600)
    assert begin(home) == (2, b"")
    noted.unlink()
    assert b"needs Python" in begin(home)[1]
