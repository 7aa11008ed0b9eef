"""Claude Code: hooks in the user's settings.json, or the plugin."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memdir.clients import setup
from memdir.clients.conversation import as_object
from memdir.clients.edit_settings import (
    Merge,
    Receipt,
    edit_client_file,
    is_our_hook,
    read_client_file,
)
from memdir.errors import BadInput

TITLE, FILE = "Claude Code", "settings.json"
# The client's name of an event, our name, and its limit in seconds. The client itself allows a
# SessionEnd one second.
EVENTS = (
    ("SessionStart", "session-start", 10),
    ("UserPromptSubmit", "prompt", 5),
    ("SubagentStart", "subagent-start", 5),
    ("PreToolUse", "pre-tool", 5),
    ("Stop", "stop", 5),
    ("PreCompact", "pre-compact", 5),
    ("SessionEnd", "session-end", 1),
)
GUARD, GUARDED = "pre-tool", "PreToolUse"
GUARDED_TOOLS = "Bash|Edit|MultiEdit|NotebookEdit|Write"
# Without records and without compiled guards there is nothing to do, so no Python is started.
UNGUARDED = (
    '[ -d "${MEMDIR_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/memdir}/guards" ] || { '
    'for d in "$CLAUDE_PROJECT_DIR" "$PWD"; do while [ "${d#*/}" != "$d" ]; do '
    '[ -d "$d/.claude/memory" ] && break 2; d=${d%/*}; done; done; [ -n "$d" ] || exit 0; }; '
)
MARKETPLACE, ENABLED, KNOWN = "memdir", "enabledPlugins", "extraKnownMarketplaces"
ID = f"{MARKETPLACE}@{MARKETPLACE}"
COMMANDS = ("config", "save", "search", "status")  # installed as /memory:* on request
LAUNCHER = '"$CLAUDE_PLUGIN_ROOT/hooks/launch.sh"'
OFF = ("disableAllHooks", "allowManagedHooksOnly")


def folder(host: setup.Host) -> str:
    return host.claude_dir


def plan(wish: setup.Wish, host: setup.Host, receipt: Receipt) -> setup.Plan:
    path = os.path.join(host.claude_dir, FILE)
    entry, remarks = receipt.files.get(path), list[str]()
    before = "" if entry is None else setup.PLUGIN if ID in entry.added else setup.SETTINGS
    places = ((ENABLED, ID), (KNOWN, MARKETPLACE)) if before == setup.PLUGIN else ()
    merge = Merge(
        path,
        _wanted(wish.way or setup.SETTINGS, host, {}),
        lambda path, value: path in places or is_our_hook(path, value),
        remarks=remarks,
    )
    values = merge.read_theirs(receipt, wish.remove)
    plugins = _plugins(values)
    way = _choose_way(wish, plugins, before, path)
    edits = [replace(merge, wanted=_wanted(way, host, values)).edit(receipt, wish.remove)]
    if plugins:
        text = f"the plugin {plugins[0]} is installed: its hooks run already"
        uninstall = f"the plugin is installed too; claude plugin uninstall {plugins[0]}"
        remarks.append(uninstall if wish.remove else text)
    for name in OFF if not wish.remove else ():
        if values.get(name) is True:
            remarks.append(f"{FILE} says {name}: until that is gone, no hook of yours runs")
    for name in COMMANDS if wish.commands or wish.remove else ():
        command = os.path.join(host.claude_dir, "commands", "memory", f"{name}.md")
        source = os.path.join(claude_marketplace(host), "plugin", "commands", f"{name}.md")
        data = None if wish.remove or not claude_marketplace(host) else read_client_file(source)
        if data is None and not wish.remove:
            raise BadInput("this copy of memdir brings no commands", next="leave out --commands")
        edits += edit_client_file(command, data or b"", receipt, remarks, remove=wish.remove)
    lines = claude_code_hooks(way, host)
    if way == setup.SETTINGS:
        return replace(setup.plan_setup(wish, host, edits, lines, remarks), way=way)
    return setup.Plan(way, tuple(edits), {} if wish.remove else lines, tuple(remarks))


def claude_code_hooks(way: str, host: setup.Host) -> dict[str, str]:
    if way == setup.SETTINGS:
        return {name: claude_code_hook_line(host, event) for name, event, _ in EVENTS}
    root = os.path.join(claude_marketplace(host), "plugin") if claude_marketplace(host) else ""
    given = f"export CLAUDE_PLUGIN_ROOT={shlex.quote(root)}; "
    return (
        {name: given + claude_code_plugin_line(event) for name, event, _ in EVENTS} if root else {}
    )


def claude_code_hook_line(host: setup.Host, event: str) -> str:
    return (UNGUARDED if event == GUARD else "") + setup.client_hook_line(host, "", event)


def claude_code_plugin_line(event: str) -> str:
    """The plugin's launcher looks for a Python, so no path is written into the line."""
    return f"test -r {LAUNCHER} || exit 0; memdir_event={event}; . {LAUNCHER}"


def claude_marketplace(host: setup.Host) -> str:
    checkout = os.path.dirname(os.path.dirname(host.package))
    for place in (checkout, host.package):
        if os.path.isfile(os.path.join(place, ".claude-plugin/marketplace.json")):
            return place
    return ""


def _choose_way(wish: setup.Wish, plugins: list[str], before: str, path: str) -> str:
    if wish.remove or not plugins:
        return wish.way or before or setup.SETTINGS
    if wish.way == setup.SETTINGS:
        message = "the plugin is installed; with hooks in the settings everything would run twice"
        next = f"leave it so, or first: claude plugin uninstall {plugins[0]}"
        raise BadInput(message, path=path, next=next)
    return setup.PLUGIN


def _plugins(values: Mapping[str, Any]) -> list[str]:
    """Ids of our plugin that are enabled, from any marketplace."""
    named = as_object(values.get(ENABLED))
    return [id for id, on in named.items() if on is True and id.partition("@")[0] == MARKETPLACE]


def _wanted(way: str, host: setup.Host, values: Mapping[str, Any]) -> dict[str, Any]:
    if way == setup.SETTINGS:
        groups: dict[str, Any] = setup.client_hook_groups(EVENTS, claude_code_hooks(way, host))
        groups[GUARDED] = [{"matcher": GUARDED_TOOLS, **groups[GUARDED][0]}]
        return {"hooks": groups}
    if _plugins(values):
        return {}
    place = claude_marketplace(host)
    if not place:
        raise BadInput("this copy of memdir brings no plugin", next="use --settings instead")
    source = {MARKETPLACE: {"source": {"source": "directory", "path": place}}}
    named = MARKETPLACE in as_object(values.get(KNOWN))
    return {**({} if named else {KNOWN: source}), ENABLED: {ID: True}}
