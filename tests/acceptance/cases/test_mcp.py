"""The MCP server with real clients: each lists and calls every tool."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memdir.mcp.tools import TOOLS
from tests.acceptance.cases.conftest import FACT
from tests.acceptance.cases.test_sessions import call
from tests.acceptance.equipped import Equipped
from tests.acceptance.sandbox import RUN_SECONDS
from tests.acceptance.scripted_api import Reply, flat
from tests.helpers.tables import table

PREFIX = "mcp__plugin_memdir_memdir__"  # how the client calls the tools of a plugin
NAMES = [PREFIX + tool for tool in TOOLS]
SEARCH = "ToolSearch"
CALLS = table("acceptance", "calls")
NEW = CALLS["save"]["text"]
INSPECTOR = "mcp-inspector"


def replies() -> list[Reply]:
    """First the tools that the client holds back, then each of them but undo."""
    asked = call(SEARCH, query=f"select:{','.join(NAMES)}", max_results=20)
    return [asked, *(call(PREFIX + tool, **given) for tool, given in CALLS.items())]


def results(sandbox: Equipped) -> list[str]:
    """What the tools answered, as the model was told."""
    messages = sandbox.requests()[-1].body["messages"]
    blocks = [block for one in messages for block in one["content"] if isinstance(block, dict)]
    return [flat(block) for block in blocks if block.get("type") == "tool_result"]


def test_claude_code_lists_and_calls_every_tool_of_the_plugin(plugged):
    plugged.api.replies = replies()
    words = ("--allowedTools", ",".join(NAMES))
    run = plugged.ask("use your memory", *words)
    assert run.succeeded, run.err
    found, saved, recalled, read, listed, verified, history, forgot = results(plugged)[-8:]
    assert "heron.md" in saved and FACT in recalled and NEW in read
    assert "pelican.md" in listed and "Claims:" in verified
    assert "mcp:claude-code: save heron" in history
    assert not (plugged.store() / "pelican.md").exists()
    change = re.findall("change ([0-9a-f]{12})", forgot)[0]
    plugged.api.replies = [replies()[0], call(PREFIX + "undo", change=change)]
    assert plugged.ask("take it back", *words).succeeded
    assert "pelican.md" in results(plugged)[-1]
    assert (plugged.store() / "pelican.md").exists()
    offered = {tool["name"] for one in plugged.requests() for tool in one.body["tools"]}
    assert {*NAMES} <= {name for name in NAMES if name in found} | offered


def inspector() -> str:
    """Installed with npm into a folder of its own; never part of the repository."""
    folder = os.environ.get("ACCEPTANCE_INSPECTOR", "")
    found = shutil.which(INSPECTOR, path=str(Path(folder) / "node_modules/.bin")) if folder else ""
    if not found:
        pytest.skip(
            "the inspector is not installed: npm install --prefix DIR "
            "@modelcontextprotocol/inspector, then ACCEPTANCE_INSPECTOR=DIR"
        )
    return str(found)


def test_the_inspector_lists_and_calls_every_tool(equipped):
    program = inspector()
    server = [sys.executable, "-m", "memdir.mcp"]
    given = {**equipped.environment(), "PYTHONPATH": str(equipped.checkout / "src")}

    def inspect(*words: str) -> dict:
        done = subprocess.run(
            [program, "--cli", *server, *words],
            cwd=equipped.project,
            env=given,
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    listed = inspect("--method", "tools/list")["tools"]
    assert [tool["name"] for tool in listed] == [*TOOLS]
    told = ""
    for tool, arguments in CALLS.items():
        pairs = [f"{key}={value}" for key, value in arguments.items()]
        words = ("--method", "tools/call", "--tool-name", tool)
        answer = inspect(*words, *(word for pair in pairs for word in ("--tool-arg", pair)))
        assert not answer.get("isError"), answer
        told = answer["content"][0]["text"]
    change = re.findall("change ([0-9a-f]{12})", told)[0]
    words = ("--method", "tools/call", "--tool-name", "undo", "--tool-arg", f"change={change}")
    assert not inspect(*words).get("isError")
    assert len(inspect("--method", "resources/list")["resources"]) >= 3
