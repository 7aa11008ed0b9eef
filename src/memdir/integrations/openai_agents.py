"""OpenAI Agents SDK: `Agent(tools=memory_tools(m))`, with `remind(m)` in the `RunConfig`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from memdir.integrations.toolbox import AgentTool, Reminder, agent_tools, needs
from memdir.library import Memdir

with needs("openai-agents"):
    from agents import FunctionTool
    from agents.run import CallModelData, ModelInputData
    from agents.tool_context import ToolContext


def memory_tools(memory: Memdir, *, only: Sequence[str] = ()) -> list[FunctionTool]:
    """For `tools`: recall, save, read, list, forget, verify, history and undo, or `only` some."""
    return [_tool(it) for it in agent_tools(memory, "openai-agents", only)]


def _tool(tool: AgentTool) -> FunctionTool:
    async def invoke(context: ToolContext[Any], arguments: str) -> str:
        try:
            given = json.loads(arguments or "{}")
        except ValueError:
            return "The arguments are no JSON; send an object."
        if not isinstance(given, dict):
            return "The arguments are an object."
        return await asyncio.to_thread(tool.call, given)

    # Not strict: there every argument would have to be given.
    return FunctionTool(tool.name, tool.description, tool.schema, invoke, strict_json_schema=False)


def remind(
    memory: Memdir, session: str = ""
) -> Callable[[CallModelData[Any]], Awaitable[ModelInputData]]:
    """For `RunConfig`: what memory has to say stands above each prompt of the session."""
    reminder = Reminder(memory, session)

    def add(item: Any) -> Any:
        if item.get("role") == "user" and isinstance(item.get("content"), str):
            return {**item, "content": reminder.before(item["content"])}
        return item

    async def filter(data: CallModelData[Any]) -> ModelInputData:
        given = data.model_data
        items = await asyncio.to_thread(lambda: [add(item) for item in given.input])
        return ModelInputData(input=items, instructions=given.instructions)

    return filter


def memory_instructions(memory: Memdir) -> Callable[[Any, Any], str]:
    """For `instructions`: how to use the memory, with its index as it is at each run."""
    return lambda context, agent: memory.prompt().text
