"""Import, export, setup, mcp."""

from __future__ import annotations

import os
from collections.abc import Iterator

import click

from memdir.cli.command import Session, command
from memdir.cli.output import (
    DRY_RUN,
    FINDING,
    Answer,
    Fields,
    Screen,
    diff,
    done_fields,
    file_fields,
    pick,
    pick_all,
)
from memdir.clients import archive, other_tools
from memdir.clients import setup as setup_module
from memdir.clients.archive import ZIP, check_target, write_export
from memdir.clients.receipt import ByHand, Edit
from memdir.clients.setup import Wish
from memdir.errors import BadInput, Finding
from memdir.format.draft import SKIPPED, hash_of
from memdir.hot.memory import INDEX, decode
from memdir.hot.place import is_below
from memdir.mcp.stdio import serve_client
from memdir.store import changes, look
from memdir.store.writer import Done
from memdir.text.secrets import find_secrets
from memdir.text.terminal import count, line

DEFAULT = "~/memdir-export.zip"  # not in the checkout: memories are private
FEW = 20  # files listed by name
NAMED = 5  # files named in a sentence
MAX_ORIGIN = 200  # characters
CLASH = "clash"


@command("import", "memdir import ../old-project/.agents/memory", changes=True)
@click.argument("source")
@click.argument("path", required=False, default="")
def import_(session: Session, source: str, path: str) -> Answer:
    """SOURCE is a directory, a zip, a tar, or the name of a tool: basic-memory, claude-memory,
    codex, cursor, gemini-cli, mem0, memory-tool, replit; PATH says where its memories are, if not
    in the usual place. In a project directory, .agents/memory, .memory, memory or docs/memory is
    used. Nothing is overwritten, and one unsafe entry refuses a whole archive. One undo takes it
    all back.
    """
    app = session.app
    origin = line(f"{source} {path}".strip())[:MAX_ORIGIN]  # one line in the history
    brought = other_tools.read_memories(session.config, source, path)
    taken = {path.casefold(): path for path in app.store.files()}
    for path, data in list(brought.files):
        other = taken.get(path.casefold(), path)
        if other != path:
            message = f"{path}: the store has {other}, the same name on some disks; skipped"
            brought.skipped.append(Finding(CLASH, path, message, f"rename {path} in the source"))
            brought.files.remove((path, data))
    contents = dict(brought.files)
    done = session.screen.advised(changes.bring_in(app, brought.files, origin=origin))
    files = [
        pick(
            change,
            "path change=kind diff reason",
            diff=diff(change.path, None, contents[change.path]) if change.changed else "",
        )
        for change in done.changes
    ]
    files += [file for file in file_fields(done.diff) if file["path"] not in contents]
    skipped = pick_all(brought.skipped, FINDING)
    fields = {**done_fields(app, done), "files": files, "skipped": skipped}
    lost = any(
        change.kind == SKIPPED and change.hash != hash_of(contents[change.path])
        for change in done.changes
    )
    broken = any(finding.kind in (archive.BROKEN, CLASH) for finding in brought.skipped)
    lines = _import_lines(session.screen, done, brought)
    return Answer(fields, lines, int(lost or broken))


def _import_lines(screen: Screen, done: Done, brought: archive.Brought) -> Iterator[str]:
    contents = dict(brought.files)
    taken = [change.path for change in done.changes if change.changed]
    head = "would import" if done.dry_run else "imported"
    yield f"{head} {len(taken):,} of {count(len(done.changes), 'memory', 'memories')}"
    yield from (f"  + {line(path)}" for path in taken[:FEW])
    yield from screen.more_lines(len(taken), FEW, "")
    left = [change for change in done.changes if not change.changed]
    same = {change.path for change in left if change.hash == hash_of(contents[change.path])}
    yield from screen.blocks("", _some("identical already", sorted(same)))
    clashes = [f"{change.path}: {change.reason}" for change in left if change.path not in same]
    yield from screen.blocks("!", clashes, style="yellow")
    # Every store has an index, so a skipped one is not news.
    other = [finding.path for finding in brought.skipped if finding.kind == archive.OTHER]
    other = sorted(path for path in other if path.rpartition("/")[2] != INDEX)
    yield from screen.blocks("", _some("skipped, not a memory", other))
    skipped = [finding for finding in brought.skipped if finding.kind != archive.OTHER]
    yield from screen.finding_lines(skipped[:FEW])
    yield from screen.more_lines(len(skipped), FEW, "")
    # Private memories may hold secrets; the person should know which do.
    secret = sorted(path for path in taken if find_secrets(decode(contents[path])))
    warning = _some("these may contain a secret", secret)
    yield from screen.blocks("note:", [*done.remarks, *warning])
    yield from screen.dry_lines(done) if done.dry_run else ()


def _some(text: str, paths: list[str]) -> list[str]:
    more = f" and {len(paths) - NAMED:,} more" if len(paths) > NAMED else ""
    return [f"{text}: {', '.join(paths[:NAMED])}{more}"] if paths else []


@command("export", "memdir export --output memories.zip", changes=True)
@click.option("--output", metavar="FILE.zip|DIR", default=DEFAULT, show_default=True)
@click.option("--force", is_flag=True, help="Replace an existing file.")
def export(session: Session, output: str, force: bool) -> Answer:
    """The index is included; only you can read the result. The same memories give the same zip,
    byte for byte.
    """
    app, dry_run = session.app, session.asked.dry_run
    target = _target(session, output)
    files, findings = look.read_all(app)
    if target.endswith(ZIP):
        odd = {path for path, _ in files if path.encode("utf-8", "replace").decode() != path}
        findings += [
            Finding("name", path, f"{path}: a name that no zip can hold; left out")
            for path, _ in files
            if path in odd
        ]
        files = [(path, data) for path, data in files if path not in odd]
    if dry_run:
        check_target(target, force)
    else:
        write_export(target, files, force)
    fields: Fields = {
        "path": target,
        "change": "created",
        "files": [{"path": path, "change": "created", "diff": ""} for path, _ in files],
        "findings": pick_all(findings, FINDING),
        "dry_run": dry_run,
    }
    head = "would write" if dry_run else "wrote"
    text = f"{head} {count(len(files), 'file')} to {session.short(target)}"
    lines = [*session.screen.block("", text, ""), *session.screen.finding_lines(findings)]
    return Answer(fields, lines, int(bool(findings)))


def _target(session: Session, output: str) -> str:
    """Refuses to write into the store itself."""
    if output == DEFAULT:
        output = os.path.join(session.config.home, DEFAULT[2:])
    try:
        target = os.path.abspath(output)
    except OSError:
        hint = "give --output as an absolute path"
        raise BadInput("the current directory is gone", next=hint) from None
    real = os.path.join(os.path.realpath(os.path.dirname(target)), os.path.basename(target))
    root = session.app.store.root
    if real == root or is_below(real, root):
        message = f"{target} is inside the store"
        raise BadInput(message, path=target, next="choose a place outside it")
    return target


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
