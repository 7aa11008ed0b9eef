"""mcp: the memories as tools for an agent."""

from __future__ import annotations

import click
from click.core import ParameterSource

from memdir.surfaces.cli.session import Session, command
from memdir.surfaces.mcp.line import serve


@command("mcp", "memdir mcp")
def mcp(session: Session) -> int:
    """Serve the memories to an agent over MCP, on standard input and output.

    Agents start this themselves: recall, save, read, list, forget, verify, history and undo are
    their tools, and each memory is a resource. Every scope that applies is recalled unless
    --scope names one; what is saved is the project's unless the agent names another scope.
    """
    asked = session.asked
    source = click.get_current_context().get_parameter_source("scope")
    scope = "all" if source is ParameterSource.DEFAULT else asked.scope
    return serve(asked.project, asked.dir, scope)
