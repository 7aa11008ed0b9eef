"""Claude Code: hooks in the user's settings.json, or the plugin that brings its own."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from typing import Any

from memdir.adapters.clients._files import read_file, target_of
from memdir.adapters.clients._merge import read_values, with_values, without
from memdir.adapters.clients._plan import (
    PLUGIN,
    SETTINGS,
    ByHand,
    Edit,
    Host,
    Plan,
    UnsafeEdit,
    Wish,
)
from memdir.adapters.clients._receipt import Placed, Receipt, hash_of
from memdir.core.errors import BadInput

TITLE = "Claude Code"
FILE = "settings.json"
# The client's name of an event, ours, and the seconds it may take. The client itself allows a
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
GUARD = "pre-tool"
MATCHERS = {GUARD: "Bash|Edit|MultiEdit|NotebookEdit|Write"}  # the tools that an event is about
# Without records there is nothing to guard, and no Python is started for that.
UNGUARDED = (
    'for d in "$CLAUDE_PROJECT_DIR" "$PWD"; do while [ "${d#*/}" != "$d" ]; do '
    '[ -d "$d/.claude/memory" ] && break 2; d=${d%/*}; done; done; [ -n "$d" ] || exit 0; '
)
CODE = "memdir/surfaces/hooks/start.py"  # by it we know our own hooks
MARKETPLACE, ENABLED, KNOWN = "memdir", "enabledPlugins", "extraKnownMarketplaces"
ID = f"{MARKETPLACE}@{MARKETPLACE}"
COMMANDS = ("config", "save", "search", "status")  # installed as /memory:* on request
LAUNCHER = '"$CLAUDE_PLUGIN_ROOT/hooks/launch.sh"'
OFF = ("disableAllHooks", "allowManagedHooksOnly")


def folder(host: Host) -> str:
    """Where the client keeps what is the user's."""
    return host.claude_dir


def plan(wish: Wish, host: Host, receipt: Receipt) -> Plan:
    """What installing or removing would do to the client's files."""
    path = os.path.join(host.claude_dir, FILE)
    target = target_of(path)
    old, kept = read_file(target), receipt.kept(path)
    placed = Placed(path, target, old, kept)
    try:
        clean = without(placed, _is_ours(bool(kept and ID in kept.added)))
        values = read_values(clean)
        way = _way(wish, values, receipt, path)
        wanted = {} if wish.remove else _wanted(way, host, values)
        edit = with_values(placed, clean, wanted, _ours)
    except UnsafeEdit as error:
        raise _by_hand(wish, host, path, error) from None
    edits, remarks = [edit], _remarks(wish, way, host, values, placed)
    for name in COMMANDS if wish.commands or wish.remove else ():
        edits += _command(name, wish, host, receipt, remarks)
    return Plan(way, tuple(edits), {} if wish.remove else hooks(way, host), tuple(remarks))


def hooks(way: str, host: Host) -> dict[str, str]:
    """The command line of each event, as the client's shell gets it."""
    if way == SETTINGS:
        return {name: command_line(host, event) for name, event, _ in EVENTS}
    root = os.path.join(marketplace(host), "plugin") if marketplace(host) else ""
    given = f"export CLAUDE_PLUGIN_ROOT={shlex.quote(root)}; "
    return {name: given + plugin_line(event) for name, event, _ in EVENTS} if root else {}


def command_line(host: Host, event: str) -> str:
    """Silent where Python or memdir is gone: Python itself would exit with 2, and 2 blocks."""
    python = shlex.quote(host.python)
    code = shlex.quote(_code(host))
    first = UNGUARDED if event == GUARD else ""
    line = f"test -x {python} && test -r {code} && exec {python} -I -S {code} {event}; exit 0"
    return first + line


def plugin_line(event: str) -> str:
    """The same in the plugin, whose launcher looks for a Python; no path is written into it."""
    return f"test -r {LAUNCHER} || exit 0; memdir_event={event}; . {LAUNCHER}"


def marketplace(host: Host) -> str:
    """The directory that offers the plugin: the checkout, or the installed package itself."""
    checkout = os.path.dirname(os.path.dirname(host.package))
    for place in (checkout, host.package):
        if os.path.isfile(os.path.join(place, ".claude-plugin/marketplace.json")):
            return place
    return ""


def _code(host: Host) -> str:
    return os.path.join(os.path.dirname(host.package), CODE)


def _way(wish: Wish, values: Mapping[str, Any], receipt: Receipt, path: str) -> str:
    """How it is, or will be, installed."""
    kept = receipt.kept(path)
    before = kept and (PLUGIN if ID in kept.added else SETTINGS)
    theirs = _plugins(values)
    if wish.remove or not any(theirs.values()):
        if theirs and wish.way == PLUGIN:
            raise BadInput(
                "the plugin is installed, but switched off",
                path=path,
                next=f"claude plugin enable {next(iter(theirs))}",
            )
        return wish.way or before or SETTINGS
    if wish.way == SETTINGS:
        raise BadInput(
            "the plugin is installed; with hooks in the settings everything would run twice",
            path=path,
            next=f"leave it so, or first: claude plugin uninstall {next(iter(theirs))}",
        )
    return PLUGIN


def _plugins(values: Mapping[str, Any]) -> dict[str, bool]:
    """Our plugin as somebody else has put it there, from whichever marketplace; is it on?"""
    enabled = values.get(ENABLED)
    named = enabled if isinstance(enabled, dict) else {}
    return {key: on is True for key, on in named.items() if key.partition("@")[0] == MARKETPLACE}


def _wanted(way: str, host: Host, values: Mapping[str, Any]) -> dict[str, Any]:
    """What the settings lack."""
    if way == SETTINGS:
        return {"hooks": {name: [_group(host, event, s)] for name, event, s in EVENTS}}
    if any(_plugins(values).values()):
        return {}
    place = marketplace(host)
    if not place:
        raise BadInput("this copy of memdir brings no plugin", next="use --settings instead")
    source = {MARKETPLACE: {"source": {"source": "directory", "path": place}}}
    known = values.get(KNOWN)
    has_one = isinstance(known, dict) and MARKETPLACE in known
    return {**({} if has_one else {KNOWN: source}), ENABLED: {ID: True}}


def _group(host: Host, event: str, seconds: int) -> dict[str, Any]:
    command = {"type": "command", "command": command_line(host, event), "timeout": seconds}
    matcher = {"matcher": MATCHERS[event]} if event in MATCHERS else {}
    return {**matcher, "hooks": [command]}


def _ours(values: Mapping[str, Any]) -> dict[str, Any]:
    """What of ours stands in the settings, wherever in its list."""
    found: dict[str, Any] = {ID: _plugins(values), KNOWN: values.get(KNOWN)}
    all_hooks = values.get("hooks")
    for event, groups in (all_hooks if isinstance(all_hooks, dict) else {}).items():
        for group in groups if isinstance(groups, list) else ():
            inner = group.get("hooks") if isinstance(group, dict) else None
            some = [one for one in (inner if isinstance(inner, list) else ()) if _runs_us(one)]
            found[event] = [*found.get(event, []), *some]
    return {event: some for event, some in found.items() if some}


def _runs_us(hook: object) -> bool:
    return isinstance(hook, dict) and CODE in str(hook.get("command"))


def _is_ours(plugin: bool) -> Any:
    """Finds our own values in settings that somebody has written anew."""

    def found(path: tuple[str | int, ...], value: Any) -> bool:
        if plugin and path in ((ENABLED, ID), (KNOWN, MARKETPLACE)):
            return True
        if path[:1] != ("hooks",):
            return False
        inner = value.get("hooks") if len(path) == 3 and isinstance(value, dict) else None
        whole = isinstance(inner, list) and bool(inner) and all(map(_runs_us, inner))
        return whole or (len(path) == 5 and _runs_us(value))

    return found


def _command(name: str, wish: Wish, host: Host, receipt: Receipt, remarks: list[str]) -> list[Edit]:
    """A command of the plugin under its old name; a file of somebody else's stays."""
    path = os.path.join(host.claude_dir, "commands", "memory", f"{name}.md")
    target = target_of(path)
    old, kept = read_file(target), receipt.kept(path)
    ours = old is None or bool(kept and kept.after == hash_of(old))
    if wish.remove:
        if kept and not ours:
            remarks.append(f"{path} was changed since; it stays")
        return [Edit(path, target, old, None if ours else old, clean=old)] if kept and old else []
    source = os.path.join(marketplace(host), "plugin", "commands", f"{name}.md")
    data = read_file(source) if marketplace(host) else None
    if data is None:
        raise BadInput("this copy of memdir brings no commands", next="leave out --commands")
    if not ours and old != data:
        remarks.append(f"{path} is not ours; it stays")
        return [Edit(path, target, old, old, clean=old)]
    return [Edit(path, target, old, data)]


def _remarks(
    wish: Wish, way: str, host: Host, values: Mapping[str, Any], placed: Placed
) -> list[str]:
    remarks = []
    if placed.target != os.path.join(os.path.realpath(host.claude_dir), FILE):
        remarks.append(f"{placed.path} is a link; {placed.target} is the file that is written")
    theirs = [key for key, on in _plugins(values).items() if on]
    if theirs and wish.remove:
        remarks.append(f"the plugin is installed too; claude plugin uninstall {theirs[0]}")
    elif theirs:
        remarks.append(f"the plugin {theirs[0]} is installed: its hooks run already")
    elif way == SETTINGS and not wish.remove:
        remarks.append(f"hooks run with {host.python}: {host.why}")
    remarks += [
        f"{FILE} says {name}: until that is gone, no hook of yours runs"
        for name in OFF
        if values.get(name) is True and not wish.remove
    ]
    return remarks


def _by_hand(wish: Wish, host: Host, path: str, error: UnsafeEdit) -> ByHand:
    """The client passes over a file that is not JSON as a whole: hooks in it would never run."""
    if wish.remove:
        lines, next = "", f"take out by hand what names {CODE} or {ID}"
    else:
        way = wish.way or SETTINGS
        lines = json.dumps(_wanted(way, host, {}), indent=2, ensure_ascii=False)
        next = "mend the file and run the command again, or add these lines by hand"
    message = f"{path} is left as it is: {error.problem}"
    return ByHand(message, path=path, next=next, lines=lines)
