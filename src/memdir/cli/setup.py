"""Setup, mcp."""

from __future__ import annotations

import click

from memdir.cli.command import Session, command
from memdir.cli.output import DRY_RUN, Answer, diff, pick
from memdir.clients import setup as setup_module
from memdir.clients.edit_settings import ByHand, Edit
from memdir.clients.setup import Wish
from memdir.mcp.stdio import serve_client
from memdir.text.secrets import find_secrets
from memdir.text.terminal import line

HIDDEN = "(a line with a secret; it is not shown)"


@command("setup", "memdir setup claude-code --dry-run", changes=True)
@click.argument("client")
@click.option("--plugin", is_flag=True, help="As the client's plugin, with its /memdir: commands.")
@click.option("--settings", is_flag=True, help="As hooks in the client's settings.")
@click.option("--commands", is_flag=True, help="Also the commands /memory:save and its like.")
@click.option("--rules", is_flag=True, help="Cursor: also a rule in this project; others see it.")
@click.option("--remove", is_flag=True, help="Take it out; every file is as it was before.")
def setup(session: Session, client: str, remove: bool, **chosen: bool) -> Answer:
    """Put memdir into an agent: session start and recall run from then on.

    Shows the diff of every file it changes. Run again, it changes nothing; --remove restores
    the files byte for byte. Memories are never touched, and the agent's own memory stays on.
    """
    if chosen["plugin"] and chosen["settings"]:
        raise click.UsageError("--plugin and --settings exclude each other")
    way = "plugin" if chosen["plugin"] else "settings" if chosen["settings"] else ""
    wish = Wish(way, chosen["commands"], remove, chosen["rules"])
    dry_run = session.asked.dry_run
    try:
        plan = setup_module.install_client(session.config, client, wish, dry_run=dry_run)
    except ByHand as error:
        # A person gets the lines unwrapped, ready to copy.
        if error.lines and session.screen.json:
            error.next = f"{error.next}: {error.lines}"
        elif error.lines:
            session.screen.complain([*error.lines.split("\n"), ""])
        raise
    remarks = list(plan.remarks)
    if not remove and (place := setup_module.find_temporary_place()):
        text = f"memdir lies in {place}, where things vanish; then the hooks fall silent. "
        remarks.append(text + "Install it where it stays, and run this again from there.")
    fields = pick(
        plan,
        "client way files hooks remarks dry_run",
        client=client,
        files=[pick(edit, "path change diff", diff=_diff(edit)) for edit in plan.edits],
        hooks=dict(plan.hooks),
        remarks=remarks,
        dry_run=dry_run,
    )
    screen, lines = session.screen, []
    for edit in plan.edits:
        would = "would be " if dry_run and edit.old != edit.new else ""
        colon = ":" if edit.change == "unchanged" else ""
        text = f"{would}{edit.change}{colon} {line(session.short(edit.path))}"
        lines += [*screen.block("", text, ""), *screen.diff_lines(_diff(edit))]
    lines += screen.blocks("note:", remarks)
    if dry_run:
        lines += ["", DRY_RUN]
    elif all(edit.old == edit.new for edit in plan.edits):
        lines.append("nothing of memdir was there" if remove else "all of it was there already")
    else:
        option = plan.way if remove else "remove"
        back = f"memdir setup {client}" + f" --{option}" * bool(option)
        text = "put it back" if remove else "it works from the next session on; take it out"
        lines += screen.block("", f"{text}: {back}", "")
    return Answer(fields, lines)


def _diff(edit: Edit) -> str:
    """Hides secrets: settings may hold keys beside our lines."""
    if edit.old == edit.new:
        return ""
    lines = diff(edit.path.lstrip("/"), edit.old, edit.new).split("\n")
    return "\n".join(text[:1] + HIDDEN if find_secrets(text) else text for text in lines)


@command("mcp", "memdir mcp")
def mcp(session: Session) -> int:
    """Serve the memories to an agent over MCP, on standard input and output.

    Agents start this themselves: recall, save, read, list, forget, verify, history and undo are
    their tools, and each memory is a resource. Every scope that applies is recalled unless
    --scope names one; what is saved is the project's unless the agent names another scope.
    """
    asked = session.asked
    return serve_client(asked.project, asked.dir, asked.scope if session.names_scope else "all")
