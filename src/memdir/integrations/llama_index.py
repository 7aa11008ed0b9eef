"""LlamaIndex: `Memory.from_defaults(memory_blocks=[MemdirBlock(memory=m)])`."""

from __future__ import annotations

import asyncio
from typing import Any

from memdir.integrations.toolbox import AgentTool, Reminder, agent_tools, needs
from memdir.library import Memdir

with needs("llama-index-core"):
    from llama_index.core.base.llms.types import ChatMessage, MessageRole
    from llama_index.core.bridge.pydantic import Field, PrivateAttr
    from llama_index.core.memory.memory import BaseMemoryBlock
    from llama_index.core.tools import FunctionTool, ToolMetadata

ROLES = (MessageRole.USER, MessageRole.ASSISTANT)


class MemdirBlock(BaseMemoryBlock[str]):
    """What was recalled for the person's messages; what the talk has no room for is learned from.

    Learning saves what a person asked to remember and holds the rest for `memdir review`.
    """

    name: str = "memdir"
    priority: int = 0  # the text is short, and framed: never cut
    memory: Memdir = Field(exclude=True)
    session: str = ""
    _reminder: Reminder = PrivateAttr()

    def model_post_init(self, context: Any) -> None:
        self._reminder = Reminder(self.memory, self.session)

    async def _aget(self, messages: list[ChatMessage] | None = None, **kwargs: Any) -> str:
        asked = [it.content for it in messages or () if it.role == MessageRole.USER and it.content]
        texts = await asyncio.to_thread(lambda: [self._reminder.told(text) for text in asked])
        return "\n\n".join(filter(None, dict.fromkeys(texts)))

    async def _aput(self, messages: list[ChatMessage]) -> None:
        talk = [
            {"role": it.role.value, "content": it.content}
            for it in messages
            if it.role in ROLES and it.content
        ]
        if talk:
            await self.memory.aio.capture(talk, session=self._reminder.session)


def memory_tools(memory: Memdir, *, only: tuple[str, ...] = ()) -> list[FunctionTool]:
    """For `tools` of an agent: recall, save, read, list, forget, verify, history and undo."""
    return [_tool(it) for it in agent_tools(memory, "llama-index", only)]


class _Metadata(ToolMetadata):
    """The tool's own schema instead of one that is read off a function."""

    def __init__(self, tool: AgentTool) -> None:
        super().__init__(tool.description, tool.name, fn_schema=None)
        self.schema = tool.schema

    def get_parameters_dict(self) -> dict[str, Any]:
        return self.schema


def _tool(tool: AgentTool) -> FunctionTool:
    def call(**arguments: object) -> str:
        return tool.call(arguments)

    async def acall(**arguments: object) -> str:
        return await asyncio.to_thread(tool.call, arguments)

    return FunctionTool(fn=call, async_fn=acall, metadata=_Metadata(tool))
