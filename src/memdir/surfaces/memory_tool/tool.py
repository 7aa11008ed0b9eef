"""`memory_tool(…)`: the memory tool for an agent's own loop, or for the SDK's runner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING

from memdir.core.errors import BadInput
from memdir.surfaces.library import PROJECT, Memdir
from memdir.surfaces.memory_tool.commands import Commands, Refused, ToolAnswer

if TYPE_CHECKING:
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool

ACTOR = "memory-tool"
__all__ = ["MemoryTool", "ToolAnswer", "memory_tool"]
TYPE, NAME = "memory_20250818", "memory"


class MemoryTool:
    """The memory tool on a store. `param` goes into `tools`, `call` or `result` answer a call."""

    def __init__(self, commands: Commands) -> None:
        self._commands = commands

    @property
    def param(self) -> dict[str, str]:
        """The tool as a request names it."""
        return {"type": TYPE, "name": NAME}

    def call(self, input: object) -> ToolAnswer:
        """Carry out one call, given as its `input`; what goes wrong is an answer, too."""
        if not isinstance(input, Mapping):
            return ToolAnswer("Error: the input of a call is an object", is_error=True)
        try:
            return ToolAnswer(self._commands.run(input))
        except Refused as refused:
            return ToolAnswer(refused.message, is_error=True)

    def result(self, block: Mapping[str, object]) -> dict[str, object]:
        """The `tool_result` for a `tool_use` block of an answer."""
        answer = self.call(block.get("input"))
        return {
            "type": "tool_result",
            "tool_use_id": block.get("id", ""),
            "content": answer.text,
            "is_error": answer.is_error,
        }

    def runner(self) -> BetaAbstractMemoryTool:
        """For `tools` of `Anthropic().beta.messages.tool_runner`; needs the package anthropic."""
        try:
            from memdir.surfaces.memory_tool.runner import StoreTool
        except ImportError as error:
            raise _no_sdk(error) from None
        return StoreTool(self.call)

    def async_runner(self) -> BetaAsyncAbstractMemoryTool:
        """The same for `AsyncAnthropic`; the store is read and written in a thread."""
        try:
            from memdir.surfaces.memory_tool.runner import AsyncStoreTool
        except ImportError as error:
            raise _no_sdk(error) from None
        return AsyncStoreTool(self.call)


def memory_tool(
    memory: Memdir | None = None,
    *,
    project: str | PathLike[str] | None = None,
    scope: str = PROJECT,
    dir: str | PathLike[str] | None = None,
    allow_secret: bool = False,
) -> MemoryTool:
    """The memory tool on the store of a project (default: the current one), of `dir`, or `memory`.

    Every change is in the history of the store, made by `memory-tool`; `memdir undo` takes it
    back. Secrets are refused; `allow_secret` lets them into a store that nobody else reads.
    """
    opened = memory or Memdir.open(project, scope=scope, dir=dir)
    return MemoryTool(Commands(replace(opened.app, actor=ACTOR), allow_secret))


def _no_sdk(error: ImportError) -> BadInput:
    return BadInput(
        f"the SDK's memory tool cannot be used: {error}",
        next="install it (pip install -U anthropic), or answer calls with MemoryTool.call",
    )
