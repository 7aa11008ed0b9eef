"""The Anthropic memory tool (`memory_20250818`) on a store: `/memories` is the store.

paths     what a model calls a file, as a path below the store; everything else is refused
texts     the answers and errors as the tool's documentation words them
commands  the six commands
tool      `memory_tool(…)`: without the SDK
runner    the same for the SDK's tool runner
"""

from memdir.surfaces.memory_tool.tool import MemoryTool, ToolAnswer, memory_tool

__all__ = ["MemoryTool", "ToolAnswer", "memory_tool"]
