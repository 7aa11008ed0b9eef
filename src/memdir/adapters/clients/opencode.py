"""opencode: the MCP server and words for the agent in opencode.json, a plugin for the hooks.

The words are a file of their own: an AGENTS.md of ours would hide the CLAUDE.md that it reads else.
"""

from __future__ import annotations

import json
import os
from typing import Any

from memdir.adapters.clients._files import read_file, target_of
from memdir.adapters.clients._merge import Merge
from memdir.adapters.clients._ours import NAME, WORDS, hook_line, is_server, server
from memdir.adapters.clients._plan import Edit, Host, Plan, Wish, only_settings
from memdir.adapters.clients._receipt import Receipt, hash_of

TITLE = "opencode"
SERVERS, INSTRUCTIONS = "mcp", "instructions"
INSTRUCTION = "memdir.md"
PLUGIN = os.path.join("plugins", "memdir.js")
MARK = "// memdir: taken out with: memdir setup opencode --remove\n"
WORDS_MARK = "<!-- memdir: taken out with: memdir setup opencode --remove -->\n\n"
EVENTS = (
    ("chat.message", "prompt"),
    ("session.created", "session-start"),
    ("session.idle", "stop"),
)
SECONDS = 10
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_opencode.js")


def folder(host: Host) -> str:
    """Where opencode keeps what is the user's."""
    named = host.environ.get("XDG_CONFIG_HOME", "")
    top = named if named.startswith("/") else os.path.join(host.home, ".config")
    return os.path.join(top, "opencode")


def plan(wish: Wish, host: Host, receipt: Receipt) -> Plan:
    """What installing or removing would do to its files."""
    remarks = only_settings(TITLE, wish)
    top = folder(host)
    words = os.path.join(top, INSTRUCTION)
    lines = {event: hook_line(host, "opencode", event) for _, event in EVENTS}
    settings = Merge(
        os.path.join(top, "opencode.json"),
        {
            SERVERS: {NAME: {"type": "local", "command": server(host), "enabled": True}},
            INSTRUCTIONS: [words],
        },
        _is_ours,
        (SERVERS, NAME),
        remarks,
    )
    with open(SCRIPT, encoding="utf-8") as file:
        script = MARK + file.read()
    script = script.replace("$LINES", json.dumps(lines, indent=2))
    script = script.replace("$MILLISECONDS", str(SECONDS * 1000))
    edits = [settings.edit(receipt, wish.remove)]
    edits += _own(os.path.join(top, PLUGIN), script.encode(), wish, receipt, remarks)
    edits += _own(words, (WORDS_MARK + WORDS).encode(), wish, receipt, remarks)
    if not wish.remove:
        remarks.append(f"hooks run with {host.python}: {host.why}")
    named = {name: lines[event] for name, event in EVENTS}
    return Plan("", tuple(edits), {} if wish.remove else named, tuple(remarks))


def _own(path: str, wanted: bytes, wish: Wish, receipt: Receipt, remarks: list[str]) -> list[Edit]:
    """A file that is ours alone; one of that name that is not stays."""
    target = target_of(path)
    old, kept = read_file(target), receipt.kept(path)
    marked = old is not None and old.startswith((MARK.encode(), WORDS_MARK.encode()))
    if old is not None and not marked and not (kept and kept.after == hash_of(old)):
        remarks.append(f"{path} is not ours; it stays")
        return [Edit(path, target, old, old, clean=old)]
    if wish.remove:
        return [Edit(path, target, old, None, clean=old)] if old is not None else []
    return [Edit(path, target, old, wanted)]


def _is_ours(path: tuple[str | int, ...], value: Any) -> bool:
    if path[:1] == (INSTRUCTIONS,) and len(path) == 2:
        return isinstance(value, str) and value.endswith("/opencode/" + INSTRUCTION)
    return path == (SERVERS, NAME) and is_server(value)
