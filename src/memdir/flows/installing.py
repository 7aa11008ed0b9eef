"""memdir into a client and out again: look → plan → receipt → write. Memories are not touched."""

from __future__ import annotations

import os
import sys

from memdir import registry
from memdir.adapters.clients._files import check_edit, sweep, write_edit
from memdir.adapters.clients._plan import ByHand, Edit, Host, Plan, Wish
from memdir.adapters.clients._python import Running, find_python, is_temporary
from memdir.adapters.clients._receipt import (
    drop_receipt,
    made_of,
    read_receipt,
    write_receipt,
)
from memdir.config import Config
from memdir.core.errors import BadInput

__all__ = ["ByHand", "Edit", "Plan", "Wish", "clients", "install", "is_set_up"]

FAMILY = "clients"
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def clients(own: str = "") -> list[str]:
    """The clients that can be set up, as people write them; `own` are the user's, by a folder."""
    return [name.replace("_", "-") for name in registry.members(FAMILY, own)]


def install(config: Config, client: str, wish: Wish, *, dry_run: bool = False) -> Plan:
    """Do what was wished, unless it is a dry run; gives what was, or would be, done."""
    if client not in (there := clients(config.own)):
        known = ", ".join(there)
        raise BadInput(f"there is no client {client!r}", next=f"there are: {known}")
    member = registry.load(FAMILY, client.replace("-", "_"), config.own)
    host = _host(config)
    receipt = read_receipt(config.state_dir, client, member.folder(host))
    plan: Plan = member.plan(wish, host, receipt)
    if dry_run:
        return plan
    for edit in plan.edits:
        check_edit(edit)
    paths = [receipt.path, *(edit.target for edit in plan.edits)]
    for folder in {os.path.dirname(path) for path in paths}:
        sweep(folder)
    after = made_of(receipt, plan.edits)
    if after.files and not wish.remove:  # a file of ours that somebody has deleted counts no more
        if after != receipt:
            write_receipt(after)
        for edit in plan.edits:
            write_edit(edit)
        return plan
    for edit in plan.edits:
        write_edit(edit)
    if receipt.files or receipt.folders:
        drop_receipt(receipt)
    return plan


def is_set_up(config: Config, client: str) -> bool:
    """Whether something was put into a client, and not taken out since."""
    member = registry.load(FAMILY, client.replace("-", "_"), config.own)
    return bool(read_receipt(config.state_dir, client, member.folder(_host(config))).files)


def _host(config: Config) -> Host:
    base = getattr(sys, "_base_executable", "") or sys.executable
    running = Running(sys.executable, base, sys.version_info[:2])
    python, why = find_python(running)
    return Host(
        python=python,
        why=why,
        package=PACKAGE,
        home=config.home,
        claude_dir=config.claude_dir,
        environ=config.environ,
        project=config.checkout,
    )


def vanishing() -> str:
    """Where memdir runs from, if that is a place which is emptied without asking; else nothing."""
    return PACKAGE if is_temporary(PACKAGE) else ""
