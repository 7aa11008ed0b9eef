"""Setup, mcp."""

from __future__ import annotations

import click
from click.core import ParameterSource

from memdir.cli.command import Session, command
from memdir.cli.output import Fields, Screen, diff, diff_lines
from memdir.clients import setup as setup_module
from memdir.clients.receipt import ByHand, Edit, Plan, Wish
from memdir.mcp.stdio import serve
from memdir.text.secrets import find_secrets
from memdir.text.terminal import line

# setup: memdir into a client, and out again.

HIDDEN = "(a line with a secret; it is not shown)"
DONE = {
    "created": "created",
    "updated": "updated",
    "removed": "removed",
    "unchanged": "unchanged:",
}


@command("setup", "memdir setup claude-code --dry-run", changes=True)
@click.argument("client")
@click.option("--plugin", is_flag=True, help="As the client's plugin, with its /memdir: commands.")
@click.option("--settings", is_flag=True, help="As hooks in the client's settings.")
@click.option("--commands", is_flag=True, help="Also the commands /memory:save and its like.")
@click.option("--rules", is_flag=True, help="Cursor: also a rule in this project; others see it.")
@click.option("--remove", is_flag=True, help="Take it out; every file is as it was before.")
def setup(session: Session, client: str, remove: bool, **wanted: bool) -> int:
    """Put memdir into an agent: session start and recall run from then on.

    Shows the diff of every file it changes. Run again, it changes nothing; --remove restores
    the files byte for byte. Memories are never touched, and the agent's own memory stays on.
    """
    if wanted["plugin"] and wanted["settings"]:
        raise click.UsageError("--plugin and --settings exclude each other")
    way = "plugin" if wanted["plugin"] else "settings" if wanted["settings"] else ""
    wish = Wish(way, wanted["commands"], remove, wanted["rules"])
    try:
        plan = setup_module.install(session.config, client, wish, dry_run=session.asked.dry_run)
    except ByHand as error:
        raise _explained(session.screen, error) from None
    remarks = [*plan.remarks, *_warnings(wish)]
    fields: Fields = {
        "client": client,
        "way": plan.way,
        "files": [_fields(edit) for edit in plan.edits],
        "hooks": dict(plan.hooks),
        "remarks": remarks,
        "dry_run": session.asked.dry_run,
    }
    session.screen.answer(fields, _lines(session, client, plan, remarks, remove))
    return 0


def _warnings(wish: Wish) -> list[str]:
    place = "" if wish.remove else setup_module.vanishing()
    if not place:
        return []
    text = f"memdir lies in {place}, where things vanish; then the hooks fall silent. "
    return [text + "Install it where it stays, and run this again from there."]


def _fields(edit: Edit) -> Fields:
    return {"path": edit.path, "change": edit.change, "diff": _diff(edit)}


def _diff(edit: Edit) -> str:
    """Settings may hold keys beside our lines; nobody has asked to see those."""
    if edit.old == edit.new:
        return ""
    lines = diff(edit.path.lstrip("/"), edit.old, edit.new).split("\n")
    return "\n".join(one[:1] + HIDDEN if find_secrets(one) else one for one in lines)


def _lines(
    session: Session, client: str, plan: Plan, remarks: list[str], remove: bool
) -> list[str]:
    screen, dry_run = session.screen, session.asked.dry_run
    lines = []
    for edit in plan.edits:
        would = "would be " if dry_run and edit.old != edit.new else ""
        said = f"{would}{DONE[edit.change]} {line(session.short(edit.path))}"
        lines += screen.block("", said, "")
        lines += diff_lines(screen, _diff(edit))
    changed = any(edit.old != edit.new for edit in plan.edits)
    for text in remarks:
        lines += screen.block("note:", text)
    if dry_run:
        return [*lines, "", "dry run: nothing was written"]
    if not changed:
        nothing = "nothing of memdir was there" if remove else "all of it was there already"
        return [*lines, nothing]
    way = plan.way if remove else "remove"
    back = f"memdir setup {client} --{way}" if way else f"memdir setup {client}"
    said = "put it back" if remove else "it works from the next session on; take it out"
    return [*lines, *screen.block("", f"{said}: {back}", "")]


def _explained(screen: Screen, error: ByHand) -> ByHand:
    """For a person the lines stand on the screen as they are to be typed."""
    if not error.lines:
        return error
    if screen.json:
        error.next = f"{error.next}: {error.lines}"
    else:
        screen.complain([*error.lines.split("\n"), ""])
    return error


# mcp: the memories as tools for an agent.


@command("mcp", "memdir mcp")
def mcp(session: Session) -> int:
    """Serve the memories to an agent over MCP, on standard input and output.

    Agents start this themselves: recall, save, read, list, forget, verify, history and undo are
    their tools, and each memory is a resource. Every scope that applies is recalled unless
    --scope names one; what is saved is the project's unless the agent names another scope.
    """
    asked = session.asked
    source = click.get_current_context().get_parameter_source("scope")
    scope = "all" if source is ParameterSource.DEFAULT else asked.scope
    return serve(asked.project, asked.dir, scope)
