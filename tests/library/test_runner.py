"""The official SDK's tool runner with our tool, against a server on loopback that speaks SSE."""

import asyncio
import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from memdir.errors import BadInput
from memdir.library import Memdir
from memdir.memory_tool import MemoryTool, memory_tool
from tests.helpers.scripted_server import Reply, Script, serve

pytestmark = pytest.mark.usefixtures("project")

needs_sdk = pytest.mark.skipif(
    importlib.util.find_spec("anthropic") is None,
    reason="the SDK is not installed: pip install anthropic",
)
ASK: Any = [{"role": "user", "content": "Remember that we use uv."}]
CALLS: list[dict[str, object]] = [
    {"command": "view", "path": "/memories"},
    {"command": "create", "path": "/memories/a.md", "file_text": "Use uv.\n"},
    {"command": "create", "path": "/memories/a.md", "file_text": "again"},
    {"command": "str_replace", "path": "/memories/a.md", "old_str": "uv", "new_str": "uv, not pip"},
    {"command": "insert", "path": "/memories/a.md", "insert_line": 1, "insert_text": "Always."},
    {"command": "view", "path": "/memories/a.md", "view_range": [1, 2]},
    {"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/b.md"},
    {"command": "delete", "path": "/memories/b.md"},
    {"command": "view", "path": "/memories/../secret"},
    {"command": "fly"},
]
ERRORS = {2: "File /memories/a.md already exists", 8: "would escape", 9: "Unknown command"}
TEXTS = {
    0: "0B\t/memories",
    1: "File created successfully at: /memories/a.md",
    3: "     1\tUse uv, not pip.",
    4: "The file /memories/a.md has been edited.",
    5: "with line numbers:\n     1\tUse uv, not pip.\n     2\tAlways.",
    6: "Successfully renamed /memories/a.md to /memories/b.md",
    7: "Successfully deleted /memories/b.md",
}


@pytest.fixture
def tool(tmp_path: Path) -> MemoryTool:
    return memory_tool(dir=str(tmp_path / "store"))


def replies() -> list[Reply]:
    return [*(Reply(data=given, tool="memory") for given in CALLS), Reply("Done.")]


def results(script: Script) -> list[tuple[str, bool]]:
    """What the model was told after each of its calls."""
    told = [request.body["messages"][-1]["content"][0] for request in script.requests[1:]]
    return [(_text(one["content"]), bool(one.get("is_error"))) for one in told]


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


def check(script: Script) -> None:
    assert script.requests[0].body["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    told = results(script)
    assert len(told) == len(CALLS)
    for at, (text, failed) in enumerate(told):
        assert failed == (at in ERRORS)
        assert (ERRORS.get(at) or TEXTS[at]) in text


@needs_sdk
def test_every_command_goes_through_the_runner_as_a_stream(tool, tmp_path):
    from anthropic import Anthropic

    with serve(*replies()) as script:
        client = Anthropic(api_key="k", base_url=script.address, max_retries=0)
        runner = client.beta.messages.tool_runner(
            model="m", max_tokens=100, tools=[tool.runner()], messages=ASK, stream=True
        )
        said = ["".join(stream.text_stream) for stream in runner]
        client.close()
    assert said[-1] == "Done."
    assert all(request.body["stream"] for request in script.requests)
    check(script)
    verbs = [one.verb for one in Memdir.open(dir=str(tmp_path / "store")).app.history.log()]
    assert verbs[:5] == ["retire", "rename", "edit", "edit", "save"]


@needs_sdk
def test_the_async_runner_does_the_same(tool):
    from anthropic import AsyncAnthropic

    async def talk(address: str) -> str:
        async with AsyncAnthropic(api_key="k", base_url=address, max_retries=0) as client:
            last = await client.beta.messages.tool_runner(
                model="m", max_tokens=100, tools=[tool.async_runner()], messages=ASK
            ).until_done()
            return str(last.content[0].text)  # type: ignore[union-attr]

    with serve(*replies()) as script:
        assert asyncio.run(talk(script.address)) == "Done."
    check(script)


def test_without_the_sdk_the_way_on_is_named(tool, monkeypatch):
    monkeypatch.setitem(sys.modules, "anthropic.lib.tools", None)
    monkeypatch.delitem(sys.modules, "memdir.memory_tool", raising=False)
    for open_runner in (tool.runner, tool.async_runner):
        with pytest.raises(BadInput) as refused:
            open_runner()
        assert "pip install" in refused.value.next
