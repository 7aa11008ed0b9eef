"""The harness itself, without a client: part of `make test`."""

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.acceptance import client, fence
from tests.acceptance.recording import CLIENT, fields, read
from tests.acceptance.sandbox import Sandbox
from tests.acceptance.scripted_api import (
    AGENT,
    CAPTURE,
    COMPACT,
    MAIN,
    SIDE,
    Api,
    Rule,
    kind,
    serve_api,
)
from tests.helpers.scripted_server import Reply, Request
from tests.self.source import PACKAGE, ROOT

RUN = [sys.executable, str(ROOT / "tests/acceptance/run.py")]
TOOLS = [{"name": "Bash"}, {"name": "Write"}]
fenced = pytest.mark.skipif(bool(fence.why_not()), reason=f"no namespaces here: {fence.why_not()}")


def asked(text: str, headers: dict[str, str] | None = None, **body: object) -> Request:
    messages = [{"role": "user", "content": text}, {"role": "system", "content": "later"}]
    return Request("/v1/messages", headers or {}, {"messages": messages, **body})


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


def test_the_newest_client_is_taken(tmp_path, monkeypatch):
    monkeypatch.setenv("ACCEPTANCE_DIR", str(tmp_path))
    below = {
        "2.1.99": "claude-code/cli.js",
        "2.1.100": "claude-code-linux-x64/claude",
        "2.1.101": "claude-code-linux-x64-musl/claude",
        "other": "claude-code/cli.js",
    }
    for version, path in below.items():
        file = tmp_path / version / "node_modules/@anthropic-ai" / path
        file.parent.mkdir(parents=True)
        file.touch()
    assert client.versions() == ["2.1.100", "2.1.99"]
    assert client.command(str(client.program("2.1.99")))[0] == "node"


def test_requests_are_told_apart():
    assert kind(asked("hello", tools=TOOLS)) == MAIN
    assert kind(asked("hello")) == SIDE
    assert kind(asked("hello", {"x-claude-code-agent-id": "a1"}, tools=TOOLS)) == AGENT
    assert kind(asked("Please create a detailed summary of it all", tools=TOOLS)) == COMPACT
    assert kind(Request("/", {}, None, "HEAD")) == SIDE
    ours = (PACKAGE / "capture/prompts/capture.md").read_text(encoding="utf-8")
    assert kind(asked("hello", system=ours, tools=TOOLS)) == CAPTURE


def test_replies_come_by_rule_then_in_order():
    api = Api([Reply("first"), Reply("second")], rules=[Rule(MAIN, Reply("ruled"), "zebra")])
    texts = ["hello", "the zebra", "hello", "hello"]
    given = [api.choose(asked(text, tools=TOOLS)).text for text in texts]
    assert given == ["first", "ruled", "second", "Done."]


def test_every_request_is_written_down_and_no_key(tmp_path):
    record = tmp_path / "requests.jsonl"
    with serve_api(record) as api:
        api.replies[:] = [Reply(tool="Write", data={"x": 1})]
        url = f"{api.address}/v1/messages?beta=true"
        answers = [
            _post(url, {**asked("hello").body, "model": "m", "tools": TOOLS}),
            _post(f"{api.address}/v1/messages/count_tokens", {"messages": []}),
        ]
        urllib.request.urlopen(f"{api.address}/v1/models").close()
        urllib.request.urlopen(urllib.request.Request(api.address, method="HEAD")).close()
    assert answers[0]["content"][0]["name"] == "Write"
    assert answers[0]["stop_reason"] == "tool_use"
    assert answers[1]["input_tokens"] > 0
    rows = [json.loads(line) for line in record.read_text().splitlines()]
    assert [row["method"] for row in rows] == ["POST", "POST", "GET", "HEAD"]
    assert "hush" not in record.read_text()


def _post(url: str, body: object) -> dict[str, object]:
    headers = {"content-type": "application/json", "x-api-key": "hush"}
    data = json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data, headers)) as answer:
        return json.load(answer)


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
