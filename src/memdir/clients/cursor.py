"""The same."""

from __future__ import annotations

import os
from typing import Any

from memdir.clients.archive import OTHER, Brought
from memdir.clients.edit_json import Merge
from memdir.clients.other_tools import (
    BROKEN,
    Around,
    Piece,
    about,
    brought_from,
    files_below,
    inside,
    marked,
    read_whole,
    skip,
    store_path,
    unusable,
)
from memdir.clients.receipt import (
    Edit,
    Host,
    Plan,
    Receipt,
    Wish,
    hash_of,
    only_settings,
    read_file,
    target_of,
)
from memdir.clients.setup import HOOKS, NAME, WORDS, hook_line, is_server, runs_us, server
from memdir.errors import BadInput
from memdir.hot.memory import decode
from memdir.hot.memory import read as read_header

# Cursor: hooks in hooks.json, the MCP server in mcp.json; on request a rule in a project.

TITLE = "Cursor"
SERVERS = "mcpServers"
CODE = HOOKS + "start_cursor.py"  # it speaks in another form than the others
EVENTS = (("sessionStart", "session-start", 10),)
RULE = os.path.join(".cursor", "rules", "memdir.mdc")
HEADER = "---\ndescription: How to recall and save memories\nalwaysApply: true\n---\n\n"


def folder(host: Host) -> str:
    """Where Cursor keeps what is the user's."""
    return os.path.join(host.home, ".cursor")


def plan(wish: Wish, host: Host, receipt: Receipt) -> Plan:
    """What installing or removing would do to its files."""
    remarks = only_settings(TITLE, wish)
    top = folder(host)
    lines = {name: hook_line(host, "cursor", event, CODE) for name, event, _ in EVENTS}
    hooks = {name: [{"command": lines[name], "timeout": one}] for name, _, one in EVENTS}
    # The server is started anywhere; Cursor says where the project is.
    command, *args = server(host, "--project", "${workspaceFolder}")
    files = {name: os.path.join(top, name) for name in ("hooks.json", "mcp.json")}
    first = receipt.kept(files["hooks.json"])
    added = first is not None and '"version"' in first.added

    def is_hook(path: tuple[str | int, ...], value: Any) -> bool:
        return _hook(path, value) or (added and path == ("version",))

    wanted = {SERVERS: {NAME: {"command": command, "args": args}}}
    theirs = read_file(target_of(files["hooks.json"])) or b""
    version = {"version": 1} if added or b'"hooks"' not in theirs else {}
    merges = (
        Merge(files["hooks.json"], {**version, "hooks": hooks}, is_hook, remarks=remarks),
        Merge(files["mcp.json"], wanted, _server, (SERVERS, NAME), remarks),
    )
    edits = [one.edit(receipt, wish.remove) for one in merges]
    edits += _rules(wish, host, receipt, remarks)
    if not wish.remove:
        remarks.append(f"hooks run with {host.python}: {host.why}")
        if not wish.rules:
            remarks.append("a rule for the project at hand comes with --rules; others may see it")
    return Plan("", tuple(edits), {} if wish.remove else lines, tuple(remarks))


def _rules(wish: Wish, host: Host, receipt: Receipt, remarks: list[str]) -> list[Edit]:
    """The rule in this project, where it was asked for; taken out, it goes everywhere."""
    known = [path for path in receipt.files if path.endswith(RULE)]
    if wish.remove:
        return [edit for path in known if (edit := _without(path, receipt, remarks))]
    if not wish.rules:
        return []
    if not host.project:
        raise BadInput("there is no project here", next="go to one, or leave out --rules")
    path = os.path.join(host.project, RULE)
    target = target_of(path)
    if not target.startswith(os.path.realpath(host.project) + "/"):
        raise BadInput(f"{path} leads out of the project", path=path, next="remove the link")
    old, wanted, kept = read_file(target), (HEADER + WORDS).encode(), receipt.kept(path)
    if old is not None and old != wanted and not (kept and kept.after == hash_of(old)):
        remarks.append(f"{path} is not ours; it stays")
        return [Edit(path, target, old, old, clean=old)]
    return [Edit(path, target, old, wanted)]


def _without(path: str, receipt: Receipt, remarks: list[str]) -> Edit | None:
    target, kept = target_of(path), receipt.kept(path)
    old = read_file(target)
    if old is None or kept is None:
        return None
    if kept.after != hash_of(old):
        remarks.append(f"{path} was changed since; it stays")
        return Edit(path, target, old, old, clean=old)
    return Edit(path, target, old, None, clean=old)


def _hook(path: tuple[str | int, ...], value: Any) -> bool:
    return path[:1] == ("hooks",) and len(path) == 3 and runs_us(value)


def _server(path: tuple[str | int, ...], value: Any) -> bool:
    return path == (SERVERS, NAME) and is_server(value)


# Cursor: the rules of a project, `.cursor/rules/*.mdc` and the older `.cursorrules`.

SOURCE = "cursor"
FOLDER, OLD = ".cursor/rules", ".cursorrules"
OURS = "memdir.mdc"
NEXT = "name the project: memdir import cursor ../shop"


def read(path: str, around: Around) -> Brought:
    """Every rule as feedback: its globs and its words stay as they are."""
    top = os.path.abspath(path or around.project or ".")
    brought = Brought()
    if os.path.isfile(top):
        _take(os.path.basename(top), read_whole(top, NEXT), brought)
        return brought
    rules, old = inside(top, *FOLDER.split("/")), inside(top, OLD)
    for name, data in files_below(rules, lambda _: True, brought) if rules else ():
        _take(name, data, brought)
    if old:
        text = decode(read_whole(old, NEXT))
        brought_from(SOURCE, [Piece("cursor rules", text, "feedback", OLD)], brought)
    if not rules and not old:
        if os.path.isdir(top) and top.endswith("rules"):
            for name, data in files_below(top, lambda _: True, brought):
                _take(name, data, brought)
        else:
            raise unusable(top, f"there is neither {FOLDER} nor {OLD} in it", NEXT)
    return brought


def _take(name: str, data: bytes, brought: Brought) -> None:
    base = name.rpartition("/")[2]
    stem, _, ending = name.rpartition(".")
    if base == OURS or ending.lower() not in ("mdc", "md") or not stem:
        skip(brought, name, "it is no rule of yours", OTHER)
        return
    document = read_header(decode(data))
    if not document.body.strip():
        skip(brought, name, "it says nothing", BROKEN)
        return
    path = store_path(SOURCE, stem)
    fields = {
        "name": path.rpartition("/")[2][:-3],
        "description": about(document.body),
        "type": "feedback",
    }
    brought.files.append((path, marked(SOURCE, name, data, fields)))
