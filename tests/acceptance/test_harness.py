"""The harness itself, without a client: part of `make test`."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance import client, fence
from tests.acceptance.recording import CLIENT, fields, read
from tests.acceptance.sandbox import Sandbox
from tests.acceptance.scripted_api import Api
from tests.self.source import ROOT, functions, modules, parse

RUN = [sys.executable, str(ROOT / "tests/acceptance/run.py")]
fenced = pytest.mark.skipif(bool(fence.why_not()), reason=f"no namespaces here: {fence.why_not()}")


def inside(code: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-I", fence.__file__, sys.executable, "-c", code]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [*fence.unshare(), *words], capture_output=True, text=True, env=environment, check=False
    )


@fenced
def test_inside_the_fence_there_is_loopback_and_nobody_else():
    done = inside(
        "import socket\n"
        "from tests.acceptance import fence\n"
        "fence.refuse_if_open()\n"
        "with socket.create_server(('127.0.0.1', 0)) as server:\n"
        "    socket.create_connection(server.getsockname(), 5).close()\n"
        "try:\n"
        "    socket.create_connection(('192.0.2.1', 80), 5)\n"
        "except OSError as error:\n"
        "    print(error.strerror)\n"
    )
    assert done.stdout == "Network is unreachable\n", done.stderr


def test_where_a_network_is_up_no_client_starts(tmp_path, monkeypatch):
    monkeypatch.setattr(fence, "reachable", lambda: ["eth0"])
    with pytest.raises(RuntimeError, match="make acceptance"):
        Sandbox(tmp_path, "/bin/true", Api())
    assert list(tmp_path.iterdir()) == []


def test_without_a_client_the_run_is_skipped_and_says_how_to_get_one(tmp_path):
    environment = {**os.environ, "ACCEPTANCE_DIR": str(tmp_path), "ACCEPTANCE_CLIENT": ""}
    done = subprocess.run(RUN, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"skipped: Claude Code is not installed. Get it with: {client.INSTALL}\n"


def test_what_is_recorded_holds_nothing_private():
    recorded = read()
    assert recorded.pop(CLIENT)["version"]
    events = {event["hook_event_name"] for event in recorded.values()}
    assert {"SessionStart", "UserPromptSubmit", "PreToolUse", "Stop"} <= events
    assert {"SubagentStart", "PreCompact", "SessionEnd"} <= events
    for name, event in recorded.items():
        assert event["cwd"] == "/home/user/project", name
        assert {"session_id", "transcript_path"} <= fields(event), name
        assert str(Path.home()) not in json.dumps(event), name


GUIDE = ROOT / "docs/design/acceptance.md"
CASES = Path(__file__).parent / "cases"


def test_the_table_names_every_case_and_no_other():
    _, _, table = GUIDE.read_text(encoding="utf-8").partition("## What is proven")
    named = re.findall(r"`(test_\w{1,120})`", table)
    found = [one.name for path in modules(CASES) for one in functions(parse(path))]
    cases = [name for name in found if name.startswith("test_")]
    assert sorted(named) == sorted(cases)
