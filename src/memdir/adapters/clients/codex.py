"""Codex: hooks in hooks.json, the MCP server in config.toml, words in AGENTS.md."""

from __future__ import annotations

import os
from typing import Any

from memdir.adapters.clients._marked import marked_edit
from memdir.adapters.clients._merge import Merge
from memdir.adapters.clients._ours import (
    NAME,
    VARIABLES,
    group_is_ours,
    hook_line,
    runs_us,
    server,
)
from memdir.adapters.clients._plan import Host, Plan, Wish, only_settings
from memdir.adapters.clients._receipt import Receipt
from memdir.adapters.clients._toml import Table

TITLE = "Codex"
# The client's name of an event, ours, and the seconds it may take.
EVENTS = (
    ("SessionStart", "session-start", 10),
    ("UserPromptSubmit", "prompt", 5),
    ("Stop", "stop", 5),
    ("PreCompact", "pre-compact", 5),
)
TRUST = "Codex runs new hooks only once you have trusted them: type /hooks in it"


def folder(host: Host) -> str:
    """Where Codex keeps what is the user's."""
    named = host.environ.get("CODEX_HOME", "")
    return named if named.startswith("/") else os.path.join(host.home, ".codex")


def plan(wish: Wish, host: Host, receipt: Receipt) -> Plan:
    """What installing or removing would do to its files."""
    remarks = only_settings(TITLE, wish)
    top = folder(host)
    lines = {name: hook_line(host, "codex", event) for name, event, _ in EVENTS}
    hooks = Merge(
        os.path.join(top, "hooks.json"),
        {"hooks": {name: [_group(lines[name], seconds)] for name, _, seconds in EVENTS}},
        _is_ours,
        remarks=remarks,
    )
    command, *args = server(host)
    # A tool may be slow the first time; by default Codex gives a server ten seconds to start.
    table = Table(
        "mcp_servers", NAME, {"command": command, "args": args, "env_vars": list(VARIABLES)}
    )
    edits = (
        hooks.edit(receipt, wish.remove),
        table.edit(os.path.join(top, "config.toml"), receipt, wish.remove, remarks),
        marked_edit(os.path.join(top, "AGENTS.md"), receipt, wish.remove),
    )
    if not wish.remove:
        remarks += [TRUST, f"hooks run with {host.python}: {host.why}"]
        if os.path.isfile(os.path.join(top, "AGENTS.override.md")):
            remarks.append(f"{top}/AGENTS.override.md is read instead of AGENTS.md")
    return Plan("", edits, {} if wish.remove else lines, tuple(remarks))


def _group(line: str, seconds: int) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": line, "timeout": seconds}]}


def _is_ours(path: tuple[str | int, ...], value: Any) -> bool:
    if path[:1] != ("hooks",):
        return False
    return (len(path) == 3 and group_is_ours(value)) or (len(path) == 5 and runs_us(value))
