"""The memory tool as the official SDK wants it: `client.beta.messages.tool_runner(tools=[…])`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from anthropic.lib.tools import (
    BetaAbstractMemoryTool,
    BetaAsyncAbstractMemoryTool,
    ToolError,
)

if TYPE_CHECKING:
    from anthropic.types.beta import (
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )
    from pydantic import BaseModel

    from memdir.surfaces.memory_tool.commands import ToolAnswer

    Call = Callable[[object], ToolAnswer]


def _answer(call: Call, input: object) -> str:
    answer = call(input)
    if answer.is_error:
        raise ToolError(answer.text)
    return answer.text


def _input(command: BaseModel) -> object:
    return command.model_dump(exclude_none=True)


class StoreTool(BetaAbstractMemoryTool):
    """For the runner of `Anthropic`."""

    def __init__(self, call: Call) -> None:
        super().__init__()
        self._call = call

    def call(self, input: object) -> str:
        """One call as the model made it; what it got wrong is told, not raised."""
        return _answer(self._call, input)

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return self.call(_input(command))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return self.call(_input(command))

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return self.call(_input(command))

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return self.call(_input(command))

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return self.call(_input(command))

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return self.call(_input(command))


class AsyncStoreTool(BetaAsyncAbstractMemoryTool):
    """For the runner of `AsyncAnthropic`: the same in a thread, so that nothing else waits."""

    def __init__(self, call: Call) -> None:
        super().__init__()
        self._call = call

    async def call(self, input: object) -> str:
        """One call as the model made it; what it got wrong is told, not raised."""
        return await asyncio.to_thread(_answer, self._call, input)

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return await self.call(_input(command))

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return await self.call(_input(command))

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return await self.call(_input(command))

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return await self.call(_input(command))

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return await self.call(_input(command))

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return await self.call(_input(command))
