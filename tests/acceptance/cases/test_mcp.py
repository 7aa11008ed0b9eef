"""The MCP server with the real client, which lists and calls every tool."""

import re

from memdir.mcp.tools import TOOLS
from tests.acceptance.cases.conftest import FACT
from tests.acceptance.cases.test_sessions import call
from tests.acceptance.equipped import Equipped
from tests.acceptance.scripted_api import Reply, flat
from tests.helpers.tables import table

PREFIX = "mcp__plugin_memdir_memdir__"  # how the client calls the tools of a plugin
NAMES = [PREFIX + tool for tool in TOOLS]
SEARCH = "ToolSearch"
CALLS = table("acceptance", "calls")
NEW = CALLS["save"]["text"]


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
