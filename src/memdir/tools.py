"""Tools for models that call them: `from memdir.tools import memory_tool`."""

from memdir.surfaces.memory_tool import MemoryTool, ToolAnswer, memory_tool

__all__ = ["MemoryTool", "ToolAnswer", "memory_tool"]
