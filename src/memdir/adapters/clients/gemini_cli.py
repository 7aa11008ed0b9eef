"""Gemini CLI: hooks and the MCP server in settings.json, words in GEMINI.md."""

from __future__ import annotations

import os
from typing import Any

from memdir.adapters.clients._marked import marked_edit
from memdir.adapters.clients._merge import Merge
from memdir.adapters.clients._ours import (
    NAME,
    group_is_ours,
    hook_line,
    is_server,
    runs_us,
    server,
)
from memdir.adapters.clients._plan import Host, Plan, Wish, only_settings
from memdir.adapters.clients._receipt import Receipt

TITLE = "Gemini CLI"
SERVERS = "mcpServers"
# The client's name of an event, ours, and the milliseconds it may take.
EVENTS = (
    ("SessionStart", "session-start", 10_000),
    ("BeforeAgent", "prompt", 5_000),
    ("AfterAgent", "stop", 5_000),
    ("PreCompress", "pre-compact", 5_000),
    ("SessionEnd", "session-end", 1_000),
)


def folder(host: Host) -> str:
    """Where Gemini CLI keeps what is the user's."""
    named = host.environ.get("GEMINI_CLI_HOME", "")
    return os.path.join(named if named.startswith("/") else host.home, ".gemini")


def plan(wish: Wish, host: Host, receipt: Receipt) -> Plan:
    """What installing or removing would do to its files."""
    remarks = only_settings(TITLE, wish)
    top = folder(host)
    lines = {name: hook_line(host, "gemini-cli", event) for name, event, _ in EVENTS}
    command, *args = server(host)
    settings = Merge(
        os.path.join(top, "settings.json"),
        {
            "hooks": {name: [_group(lines[name], one)] for name, _, one in EVENTS},
            SERVERS: {NAME: {"command": command, "args": args}},
        },
        _is_ours,
        (SERVERS, NAME),
        remarks,
    )
    edits = (
        settings.edit(receipt, wish.remove),
        marked_edit(os.path.join(top, "GEMINI.md"), receipt, wish.remove),
    )
    if not wish.remove:
        remarks.append(f"hooks run with {host.python}: {host.why}")
    return Plan("", edits, {} if wish.remove else lines, tuple(remarks))


def _group(line: str, milliseconds: int) -> dict[str, Any]:
    hook = {"type": "command", "name": NAME, "command": line, "timeout": milliseconds}
    return {"hooks": [hook]}


def _is_ours(path: tuple[str | int, ...], value: Any) -> bool:
    if path == (SERVERS, NAME):
        return is_server(value)
    if path[:1] != ("hooks",):
        return False
    return (len(path) == 3 and group_is_ours(value)) or (len(path) == 5 and runs_us(value))
