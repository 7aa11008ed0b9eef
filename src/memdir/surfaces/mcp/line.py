"""Named by client settings of version 0.1.0; `memdir setup` names memdir.mcp.stdio."""

from memdir.mcp.stdio import run

__all__ = ["run"]
