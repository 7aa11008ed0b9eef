"""pydantic-ai: `Agent(model, toolsets=[memory_tools(m)], capabilities=[remind(m)])`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from memdir.integrations.toolbox import AgentTool, Reminder, agent_tools, needs
from memdir.library import Memdir

with needs("pydantic-ai-slim"):
    from pydantic_ai import FunctionToolset, Tool
    from pydantic_ai.capabilities import ProcessHistory
    from pydantic_ai.messages import ModelMessage, ModelRequest, UserPromptPart


def memory_tools(memory: Memdir, *, only: Sequence[str] = ()) -> FunctionToolset[Any]:
    """For `toolsets`: recall, save, read, list, forget, verify, history, undo, or `only` some."""
    return FunctionToolset([_tool(it) for it in agent_tools(memory, "pydantic-ai", only)])


def _tool(tool: AgentTool) -> Tool[Any]:
    async def call(**arguments: object) -> str:
        return await asyncio.to_thread(tool.call, arguments)

    return Tool.from_schema(call, tool.name, tool.description, tool.schema)


def memory_instructions(memory: Memdir) -> Callable[[], str]:
    """For `instructions`: how to use the memory, with its index as it is at each run."""
    return lambda: memory.prompt().text


def remind(memory: Memdir, session: str = "") -> ProcessHistory[Any]:
    """For `capabilities`: what memory has to say stands above each prompt of the session."""
    reminder = Reminder(memory, session)

    def add(part: Any) -> Any:
        if isinstance(part, UserPromptPart) and isinstance(part.content, str):
            return replace(part, content=reminder.before(part.content))
        return part

    async def process(messages: list[ModelMessage]) -> list[ModelMessage]:
        return await asyncio.to_thread(
            lambda: [
                replace(it, parts=[add(part) for part in it.parts])
                if isinstance(it, ModelRequest)
                else it
                for it in messages
            ]
        )

    return ProcessHistory(process)
