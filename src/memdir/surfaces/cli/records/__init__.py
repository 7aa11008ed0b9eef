"""records: structured records, a second layout beside Markdown memories.

declaring   what the commands of the group share
writing     write, save, retire, archive, restore
looking     search, status, index, candidate
tidying     gc, window
batching    triage, prepare, commit
exchanging  import, export, schema
"""

from __future__ import annotations

import importlib

import click

MODULES = {
    "save": "writing",
    "write": "writing",
    "retire": "writing",
    "archive": "writing",
    "restore": "writing",
    "search": "looking",
    "status": "looking",
    "index": "looking",
    "candidate": "looking",
    "triage": "batching",
    "prepare": "batching",
    "commit": "batching",
    "window": "tidying",
    "gc": "tidying",
    "import": "exchanging",
    "export": "exchanging",
    "schema": "exchanging",
}


class Records(click.Group):
    """Imports a command when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command, in the order of the help."""
        return list(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, if there is one."""
        if cmd_name not in MODULES:
            return None
        module = importlib.import_module(f"{__name__}.{MODULES[cmd_name]}")
        declared = [one for one in vars(module).values() if isinstance(one, click.Command)]
        return next(one for one in declared if one.name == cmd_name)


@click.group("records", cls=Records, invoke_without_command=True)
@click.pass_context
def records(context: click.Context) -> None:
    """Keep decisions, runbooks, constraints, debts, preferences, sessions as records.

    They lie in .claude/memory of the checkout, or where --root says, one JSON file each. Look at
    them with memdir list, show, recall, audit, log, diff and undo, all with --scope records.

    \b
    Example:
      memdir records save --category preference --title "Tabs, not spaces" \\
        --tag style --set topic=indent --set value=tabs --set reason=taste \\
        --set strength=strong
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
