"""`from memdir.tools import memory_tool`: the Anthropic memory tool on a store."""

from memdir.memory_tool import MemoryTool, ToolAnswer, memory_tool

__all__ = ["MemoryTool", "ToolAnswer", "memory_tool"]
