"""Cursor: hooks.json, mcp.json and on request a project rule; its rules as memories."""

from __future__ import annotations

import os
from typing import Any

from memdir.clients import archive, edit_settings, other_tools, setup
from memdir.errors import BadInput
from memdir.hot.memory import decode
from memdir.hot.memory import read_header as read_header

TITLE, CLIENT = "Cursor", "cursor"
SERVERS = "mcpServers"
CODE = edit_settings.HOOKS + "start_cursor.py"  # its hook protocol differs
EVENTS = (("sessionStart", "session-start", 10),)
RULE = os.path.join(".cursor", "rules", "memdir.mdc")
HEADER = "---\ndescription: How to recall and save memories\nalwaysApply: true\n---\n\n"


def folder(host: setup.Host) -> str:
    return os.path.join(host.home, ".cursor")


def plan(wish: setup.Wish, host: setup.Host, receipt: edit_settings.Receipt) -> setup.Plan:
    remarks = setup.refuse_plugin(TITLE, wish)
    file, servers = (os.path.join(folder(host), name) for name in ("hooks.json", "mcp.json"))
    lines = {name: setup.client_hook_line(host, CLIENT, event, CODE) for name, event, _ in EVENTS}
    hooks = {name: [{"command": lines[name], "timeout": limit}] for name, _, limit in EVENTS}
    entry = receipt.files.get(file)
    added = entry is not None and '"version"' in entry.added
    theirs = edit_settings.read_client_file(edit_settings.client_file_target(file)) or b""
    version = {"version": 1} if added or b'"hooks"' not in theirs else {}

    def is_our_hook(path: edit_settings.Path, value: Any) -> bool:
        ours = path[:1] == ("hooks",) and len(path) == 3 and edit_settings.is_our_command(value)
        return ours or (added and path == ("version",))

    # Cursor starts the server in any directory and passes the project.
    wanted = {SERVERS: setup.client_server_entry(host, "--project", "${workspaceFolder}")}
    single, is_ours = (SERVERS, edit_settings.NAME), edit_settings.our_client_entry(SERVERS)
    merges = (
        edit_settings.Merge(file, {**version, "hooks": hooks}, is_our_hook, remarks=remarks),
        edit_settings.Merge(servers, wanted, is_ours, single, remarks),
    )
    edits = [merge.edit(receipt, wish.remove) for merge in merges]
    edits += _edit_rules(wish, host, receipt, remarks)
    if not wish.remove and not wish.rules:
        remarks.append("a rule for the project at hand comes with --rules; others may see it")
    return setup.plan_setup(wish, host, edits, lines, remarks)


def _edit_rules(
    wish: setup.Wish, host: setup.Host, receipt: edit_settings.Receipt, remarks: list[str]
) -> list[edit_settings.Edit]:
    """Adds the rule to this project if asked; removal takes it out everywhere."""
    edit_file = edit_settings.edit_client_file
    if wish.remove:
        paths = [path for path in receipt.files if path.endswith(RULE)]
        some = [edit_file(path, b"", receipt, remarks, remove=True) for path in paths]
        return [edit for edits in some for edit in edits]
    if not wish.rules:
        return []
    if not host.project:
        raise BadInput("there is no project here", next="go to one, or leave out --rules")
    path = os.path.join(host.project, RULE)
    if not edit_settings.client_file_target(path).startswith(os.path.realpath(host.project) + "/"):
        raise BadInput(f"{path} leads out of the project", path=path, next="remove the link")
    return edit_file(path, (HEADER + setup.WORDS).encode(), receipt, remarks)


# Import: the rules of a project, `.cursor/rules/*.mdc` and the older `.cursorrules`.

FOLDER, OLD = ".cursor/rules", ".cursorrules"
OURS = "memdir.mdc"
NEXT = "name the project: memdir import cursor ../shop"


def read(path: str, around: other_tools.Around) -> archive.Brought:
    top = os.path.abspath(path or around.project or ".")
    brought = archive.Brought()
    if os.path.isfile(top):
        _take(os.path.basename(top), archive.read_import_file(top, NEXT), brought)
        return brought
    find = other_tools.find_client_files
    rules, old = find(top, *FOLDER.split("/")), find(top, OLD)
    if not rules and not old:
        if not os.path.isdir(top) or not top.endswith("rules"):
            raise archive.bad_import(top, f"there is neither {FOLDER} nor {OLD} in it", NEXT)
        rules = top
    for name, data in archive.read_import_files(rules, brought) if rules else ():
        _take(name, data, brought)
    if old:
        text = decode(archive.read_import_file(old, NEXT))
        piece = other_tools.Piece("cursor rules", text, "feedback", OLD)
        other_tools.import_pieces(CLIENT, [piece], brought)
    return brought


def _take(name: str, data: bytes, brought: archive.Brought) -> None:
    stem, _, ending = name.rpartition(".")
    if name.rpartition("/")[2] == OURS or ending.lower() not in ("mdc", "md") or not stem:
        brought.skip(name, "it is not one of your rules", archive.OTHER)
        return
    description = other_tools.import_description(read_header(decode(data)).body)
    fields = {"description": description, "type": "feedback"}
    other_tools.import_file(CLIENT, name, data, brought, fields, stem)
