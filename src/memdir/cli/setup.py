"""Setup, mcp."""

from __future__ import annotations

import click

from memdir.cli.command import Session, command
from memdir.cli.output import DRY_RUN, Answer, diff, pick
from memdir.clients import setup as setup_module
from memdir.clients.receipt import ByHand, Edit
from memdir.clients.setup import Wish
from memdir.mcp.stdio import serve_client
from memdir.text.secrets import find_secrets
from memdir.text.terminal import line

HIDDEN = "(a line with a secret; it is not shown)"


@command("setup", "memdir setup claude-code --dry-run", changes=True)
@click.argument("client")
@click.option("--plugin", is_flag=True, help="As a plugin of the client, with /memdir: commands.")
@click.option("--settings", is_flag=True, help="As hooks in the settings of the client.")
@click.option("--commands", is_flag=True, help="Also install /memory:save and similar commands.")
@click.option(
    "--rules", is_flag=True, help="Cursor: also a rule in this project, visible to others."
)
@click.option("--remove", is_flag=True, help="Remove it; every file is restored.")
def setup(session: Session, client: str, remove: bool, **chosen: bool) -> Answer:
    """Recall then runs at the session start and at each prompt. Shows the diff of every file it
    changes. A second run changes nothing; --remove restores the files byte for byte. Memories are
    never touched, and the agent's own memory stays on.
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
        text = (
            f"memdir is installed in {place}, a temporary place; without it the hooks do nothing. "
        )
        remarks.append(text + "Install it elsewhere and run this again.")
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
        lines.append("memdir was not installed" if remove else "memdir is installed already")
    else:
        option = plan.way if remove else "remove"
        back = f"memdir setup {client}" + f" --{option}" * bool(option)
        text = "install it again" if remove else "it works from the next session on; remove it"
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
    """Agents start this themselves. Tools: recall, save, read, list, forget, verify, history, undo;
    each memory is a resource. Recall searches all scopes unless --scope names one; save uses the
    project scope unless the agent names another.
    """
    asked = session.asked
    return serve_client(asked.project, asked.dir, asked.scope if session.names_scope else "all")
