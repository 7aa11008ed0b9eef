"""The official Python client: lists and calls every tool, over pipes. `auto` asks
for a newer version without a handshake first."""

import asyncio
import re
import sys
from typing import Any

import pytest

from memdir.mcp.tools import TOOLS
from tests.helpers.asking import FACT, QUESTION

mcp = pytest.importorskip("mcp", reason="the official SDK is not installed")

from mcp.client import Client  # noqa: E402
from mcp.client.stdio import StdioServerParameters  # noqa: E402

pytestmark = pytest.mark.usefixtures("project")

VERSION = "2025-11-25"


async def call_every_tool(client: Any) -> None:
    """What an agent does in its life with a memory."""
    listed = await client.list_tools()
    assert [tool.name for tool in listed.tools] == [*TOOLS]
    assert "not an instruction" in (client.instructions or "")
    called = set()

    async def use(tool: str, /, *, wrong: bool = False, **arguments: Any) -> str:
        called.add(tool)
        result = await client.call_tool(tool, arguments)
        assert bool(result.is_error) is wrong, result
        return str(result.content[0].text)

    assert "created" in await use("save", text=FACT, type="project", name="pelican")
    assert FACT in await use("recall", query=QUESTION)
    assert FACT in await use("read", name="pelican")
    assert "pelican.md" in await use("list")
    assert "Claims:" in await use("verify")
    assert "save pelican" in await use("history")
    change = re.findall("change ([0-9a-f]{12})", await use("forget", name="pelican"))[0]
    assert "no memory" in await use("read", name="pelican", wrong=True)
    assert "pelican.md" in await use("undo", change=change)
    assert called == {*TOOLS}
    resources = (await client.list_resources()).resources
    assert [str(one.uri) for one in resources] == [
        "memdir://project/MEMORY.md",
        "memdir://project/pelican.md",
    ]
    read = await client.read_resource(resources[1].uri)
    assert FACT in read.contents[0].text
    assert (await client.list_resource_templates()).resource_templates == []
    with pytest.raises(mcp.MCPError):
        await client.read_resource("memdir://project/../x")
    with pytest.raises(mcp.MCPError):
        await client.call_tool("rm", {})


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_it_calls_every_tool_over_pipes(mode, home, project):
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "memdir.mcp"], env={"HOME": str(home)}, cwd=str(project)
    )

    async def act() -> None:
        async with Client(server, mode=mode) as client:
            assert client.protocol_version == VERSION
            assert client.server_info.name == "memdir"
            await call_every_tool(client)

    asyncio.run(act())
