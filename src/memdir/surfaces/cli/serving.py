"""mcp: the memories as tools for an agent."""

from __future__ import annotations

import click
from click.core import ParameterSource

from memdir.surfaces.cli.session import Session, command
from memdir.surfaces.mcp.line import said, serve


@command("mcp", "memdir mcp")
@click.option("--http", is_flag=True, help="Over HTTP, for this machine only, with a token.")
@click.option("--port", type=click.IntRange(0, 65_535), help="For --http; default: a free one.")
def mcp(session: Session, http: bool, port: int | None) -> int:
    """Serve the memories to an agent over MCP, on standard input and output.

    Agents start this themselves: recall, save, read, list, forget, verify, history and undo are
    their tools, and each memory is a resource. Every scope that applies is recalled unless
    --scope names one; what is saved is the project's unless the agent names another scope.
    """
    if port is not None and not http:
        raise click.UsageError("--port goes with --http.", click.get_current_context())
    asked = session.asked
    source = click.get_current_context().get_parameter_source("scope")
    scope = "all" if source is ParameterSource.DEFAULT else asked.scope

    def tell(address: str, token: str, path: str) -> None:
        fields = {"url": address, "token": token, "token_file": path}
        session.screen.answer(fields, said(address, token, path))

    return serve(asked.project, asked.dir, scope, (port or 0) if http else None, tell)
