"""Import, export, share, merge-index, setup, mcp."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import click

from memdir.cli import output as answers
from memdir.cli.command import Session, command, read_text_option
from memdir.cli.output import DRY_RUN, FINDING, Answer, Fields, Screen, done_fields, pick, pick_all
from memdir.cli.save import secret_option
from memdir.clients import archive, other_tools
from memdir.clients import setup as setup_module
from memdir.clients.edit_settings import ByHand, Edit
from memdir.clients.setup import Wish
from memdir.errors import BadInput, Conflict, Finding, MemdirError
from memdir.format.draft import ALLOW_SECRET, SKIPPED, UPDATED, content_hash
from memdir.hot import memory
from memdir.hot.memory import INDEX, decode
from memdir.hot.place import is_below
from memdir.mcp.stdio import serve_mcp_client
from memdir.share.merge_driver import install_merge_driver, write_merged_index
from memdir.share.merge_driver import merge_shared_index as merge
from memdir.share.share import share_memories
from memdir.store import changes, look
from memdir.store.save import SECRET, SHARED
from memdir.store.writer import Done
from memdir.text.secrets import find_secrets
from memdir.text.terminal import one_line, plural

DEFAULT = "~/memdir-export.zip"  # not in the checkout: memories are private
FEW = 20  # files listed by name
NAMED = 5  # files named in a sentence
MAX_ORIGIN = 200  # characters


@command("import", "memdir import ../old-project/.agents/memory", changes=True)
@click.argument("source")
@click.argument("path", required=False, default="")
@secret_option
def import_command(session: Session, source: str, path: str, secret: bool) -> Answer:
    """SOURCE is a directory, a zip, or the name of a tool: basic-memory, codex, cursor, gemini-cli,
    mem0, memory-tool; PATH says where its memories are, if not in the usual place. In a project
    directory, .agents/memory, .memory, memory or docs/memory is used. Nothing is overwritten, and
    one unsafe entry refuses a whole archive. One undo takes it all back.
    """
    app = session.app
    origin = one_line(f"{source} {path}".strip())[:MAX_ORIGIN]  # one line in the history
    brought = other_tools.read_memories_of_tool(session.config, source, path)
    contents = dict(brought.files)
    done = session.screen.advised(
        changes.import_into_store(app, brought.files, origin=origin, allow_secret=secret)
    )
    files: list[Fields] = []
    for change in done.changes:
        new = contents[change.path] if change.changed else None
        diff = answers.print_diff(change.path, None, new) if new is not None else ""
        files.append(pick(change, "path change=kind diff reason", diff=diff))
    others = answers.changed_file_fields(done.diff)
    files += [file for file in others if file["path"] not in contents]
    skipped = pick_all(brought.skipped, FINDING)
    fields = {**done_fields(app, done), "files": files, "skipped": skipped}
    lost = any(
        change.kind == SKIPPED and change.hash != content_hash(contents.get(change.path, b""))
        for change in done.changes
    )
    broken = any(finding.kind == archive.BROKEN for finding in brought.skipped)
    return Answer(fields, _import_lines(session.screen, done, brought), int(lost or broken))


def _import_lines(screen: Screen, done: Done, brought: archive.Brought) -> Iterator[str]:
    contents = dict(brought.files)
    taken = [change.path for change in done.changes if change.changed]
    head = "would import" if done.dry_run else "imported"
    yield f"{head} {len(taken):,} of {plural(len(done.changes), 'memory', 'memories')}"
    yield from (f"  + {one_line(path)}" for path in taken[:FEW])
    yield from screen.more_lines(len(taken), FEW)
    left = [change for change in done.changes if not change.changed]
    known = [change for change in left if change.hash]  # not what was refused
    same = {item.path for item in known if item.hash == content_hash(contents[item.path])}
    yield from screen.blocks("", _some("identical already", sorted(same)))
    clashes = [f"{change.path}: {change.reason}" for change in left if change.path not in same]
    yield from screen.blocks("!", clashes, style="yellow")
    if any(f"{SECRET} " in change.reason and SHARED not in change.reason for change in left):
        yield from screen.block("", f"to take those with a secret, too: {ALLOW_SECRET}")
    # Every store has an index, so a skipped one is not news.
    other = [finding.path for finding in brought.skipped if finding.kind == archive.OTHER]
    other = sorted(path for path in other if path.rpartition("/")[2] != INDEX)
    yield from screen.blocks("", _some("skipped, not a memory", other))
    skipped = [finding for finding in brought.skipped if finding.kind != archive.OTHER]
    yield from screen.finding_lines(skipped[:FEW])
    yield from screen.more_lines(len(skipped), FEW)
    # Private memories may hold secrets; the person should know which do.
    secret = sorted(path for path in taken if find_secrets(decode(contents[path])))
    warning = _some("these may contain a secret", secret)
    yield from screen.blocks("note:", [*done.remarks, *warning])
    yield from screen.dry_lines(done) if done.dry_run else ()


def _some(text: str, paths: list[str]) -> list[str]:
    more = f" and {len(paths) - NAMED:,} more" if len(paths) > NAMED else ""
    return [f"{text}: {', '.join(paths[:NAMED])}{more}"] if paths else []


@command("export", "memdir export --output memories.zip", changes=True)
@click.option("--output", metavar="FILE.zip", default=DEFAULT, show_default=True)
@click.option("--force", is_flag=True, help="Replace an existing file.")
def export_command(session: Session, output: str, force: bool) -> Answer:
    """The index is included; only you can read the result. The same memories give the same zip,
    byte for byte.
    """
    app, dry_run = session.app, session.asked.dry_run
    target = _target(session, output)
    files, findings = look.read_store_files(app.store)
    for path, data in [*files]:
        if path.encode("utf-8", "replace").decode() != path:
            findings.append(Finding("name", path, f"{path}: a name that no zip can hold; left out"))
            files.remove((path, data))
    if dry_run:
        archive.check_export_target(target, force)
    else:
        archive.write_export(target, files, force)
    fields: Fields = {
        "path": target,
        "change": "created",
        "files": [{"path": path, "change": "created", "diff": ""} for path, _ in files],
        "findings": pick_all(findings, FINDING),
        "dry_run": dry_run,
    }
    head = "would write" if dry_run else "wrote"
    text = f"{head} {plural(len(files), 'file')} to {session.short(target)}"
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
@click.option("--diff", "show_diff", is_flag=True, help="Show every changed line of these files.")
def setup_command(
    session: Session, client: str, remove: bool, show_diff: bool, **chosen: bool
) -> Answer:
    """CLIENT is claude-code, codex, gemini-cli, opencode or cursor. Recall then runs at the session
    start and at each prompt. Lists the files it changes, then what it found in your memories and
    the command to run next. A second run changes nothing; --remove restores the files byte for
    byte. Memories are never touched, and the agent's own memory stays on.
    """
    if chosen["plugin"] and chosen["settings"]:
        raise click.UsageError("give --plugin or --settings, not both")
    way = "plugin" if chosen["plugin"] else "settings" if chosen["settings"] else ""
    wish = Wish(way, chosen["commands"], remove, chosen["rules"])
    dry_run = session.asked.dry_run
    try:
        plan = setup_module.install_client(session.config, client, wish, dry_run=dry_run)
    except ByHand as error:  # a person gets the lines unwrapped, ready to copy
        if session.screen.json:
            error.next += f": {error.lines}" if error.lines else ""
        else:
            session.screen.complain(error.lines.split("\n"))
        raise
    remarks = list(plan.remarks)
    if not remove and setup_module.is_temporary_install_path(place := setup_module.PACKAGE):
        text = f"memdir is installed in {place}, a temporary place; without it the hooks do nothing"
        remarks.append(f"{text}: install it elsewhere and run this again")
    files = [pick(edit, "path change diff", diff=_diff(edit)) for edit in plan.edits]
    fields: Fields = {"client": client, "way": plan.way, "files": files, "hooks": dict(plan.hooks)}
    fields |= {"remarks": remarks, "dry_run": dry_run, "health": None}
    screen, lines = session.screen, []
    for edit in plan.edits:
        would, diff = "would be " if dry_run and edit.old != edit.new else "", _diff(edit)
        signs = Counter(line[:1] for line in diff.split("\n")[2:])
        counts = f" (+{signs['+']} -{signs['-']} lines)" if diff else ""
        text = f"{would}{edit.change} {one_line(session.short(edit.path))}{counts}"
        lines += screen.block("", text, "")
        lines += screen.diff_lines(diff) if show_diff else []
    lines += screen.blocks("note:", remarks)
    if dry_run:
        lines += ["", DRY_RUN if show_diff else f"{DRY_RUN}; --diff shows every line"]
    elif all(edit.old == edit.new for edit in plan.edits):
        lines.append("memdir was not installed" if remove else "memdir is installed already")
    else:
        option = plan.way if remove else "remove"
        back = f"memdir setup {client}" + f" --{option}" * bool(option)
        text = "install it again" if remove else "it works from the next session on; remove it"
        lines += screen.block("", f"{text}: {back}", "")
    if not remove and not dry_run:
        fields["health"], told = _look_at_health(session)
        lines += ["", *told]
    return Answer(fields, lines)


def _look_at_health(session: Session) -> tuple[object, list[str]]:
    """Memdir is installed by now: what is wrong with a store must not look like a failure."""
    from memdir.care.status import look_at_health

    screen = session.screen
    try:
        health = look_at_health(session.app)
    except MemdirError as error:
        return None, screen.block("", f"{error.message}: memdir doctor says more", "")
    lines = screen.block("", health.text, "")
    lines += screen.block("Next:", screen.advise(health.next), "")
    return pick(health, "memories stale double urgent tokens checked next"), lines


def _diff(edit: Edit) -> str:
    """Hides secrets: settings may hold keys beside our lines."""
    if edit.old == edit.new:
        return ""
    lines = answers.print_diff(edit.path.lstrip("/"), edit.old, edit.new).split("\n")
    return "\n".join(text[:1] + HIDDEN if find_secrets(text) else text for text in lines)


@command("mcp", "memdir mcp")
def mcp_command(session: Session) -> int:
    """Agents start this themselves. Tools: recall, save, read, list, forget, verify, history, undo;
    each memory is a resource. Recall searches all scopes unless --scope names one; save uses the
    project scope unless the agent names another.
    """
    asked = session.asked
    return serve_mcp_client(asked.project, asked.dir, asked.scope if session.names_scope else "all")


TEAM, LOCAL, PROJECT = "team", "local", "project"
MERGED, CONFLICT, SAME = "merged", "conflict", "same"


@command("share", "memdir share release-freeze --dry-run", changes=True)
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option("--to", type=click.Choice((TEAM, LOCAL)), default=TEAM, help="Default: team.")
def share_command(session: Session, names: tuple[str, ...], to: str) -> Answer:
    """`team` is the directory team/ below the project's memories; `local` is .claude/memory in this
    checkout, for you to commit. Personal types and what looks like a secret are refused, and
    nothing is overwritten.
    """
    source = session.app
    # A store given by --dir has a team, but no checkout.
    place = session.at(scope=to, dir=session.asked.dir if to == TEAM else None)
    target = place.app
    there = session.screen.advise._replace(scope=to, dir=place.asked.dir)
    if not source.config.enabled:
        by = source.config.enabled_by
        session.screen.tell(f"memory is switched off (by {by}); agents will not read this")
    try:
        shared = share_memories(source, target, names)
    except Conflict as error:
        error.next = there(error.next)
        raise
    # Reasons concern the memory here, remarks the target store.
    remarks = tuple(there(remark) for remark in shared.remarks)
    done = replace(session.screen.advised(shared), remarks=remarks)
    text = "\n".join(answers.print_diff(path, old, new) for path, old, new in shared.diff)
    fields = {
        **done_fields(target, done),
        "diff": text,
        "from": str(source.config.scope),
        "to": str(target.config.scope),
    }
    copy = "your copy stays; to keep only the shared one: memdir retire NAME"
    says = [] if done.dry_run else [copy, there("to undo: memdir undo")]
    lines = session.screen.done_lines(replace(done, diff=()), says)
    lines += ["", *session.screen.diff_lines(text)] if text else []
    return Answer(fields, lines, int(answers.is_command_refused(done.changes)))


@command("merge-index", "memdir merge-index --install --dry-run", changes=True)
@click.argument("files", metavar="[BASE OURS THEIRS [PATH]]", nargs=-1)
@click.option("--install", is_flag=True, help="Make git use it in this repository.")
def merge_index_command(session: Session, files: tuple[str, ...], install: bool) -> Answer:
    """The result replaces OURS. Pointers of both sides stay, a pointer that one side removed goes,
    and if both changed one, both lines stay. Prose that both sides rewrote gets conflict
    marks and exit code 1.
    """
    if install and not files:
        return _install(session)
    if install or not 3 <= len(files) <= 4:
        message = "Give BASE OURS THEIRS [PATH], or --install."
        raise click.UsageError(message, click.get_current_context())
    return _merge(session, *files)


def _merge(session: Session, base: str, ours: str, theirs: str, path: str = "") -> Answer:
    limit, dry_run = session.config.options.max_file_bytes, session.asked.dry_run
    old, mine, other = (read_text_option(file, limit, file) for file in (base, ours, theirs))
    merged = merge(old, mine, other)
    changed = merged.text != mine
    if changed and not dry_run:
        write_merged_index(ours, merged.text)
    path = path or ours
    text = answers.print_diff(path, memory.encode(mine), memory.encode(merged.text))
    fields = pick(
        merged,
        "change path conflicts added dropped joined diff dry_run",
        change=CONFLICT if merged.conflicts else MERGED if changed else SAME,
        path=path,
        diff=text,
        dry_run=dry_run,
    )
    screen = session.screen
    lines = screen.diff_lines(text) if dry_run else []
    came, went = plural(len(merged.added), "pointer"), len(merged.dropped)
    lines += screen.block("", f"{path}: {came} added, {went} removed", "")
    if merged.joined:
        text = "changed by both sides, both lines are kept: "
        lines += screen.block("note:", text + ", ".join(merged.joined))
    if merged.conflicts:
        places = plural(merged.conflicts, "place")
        text = f"both sides rewrote the text in {places}; look for <<<<<<<"
        lines += screen.block("!", text, style="yellow")
    return Answer(fields, lines, int(bool(merged.conflicts)))


def _install(session: Session) -> Answer:
    kind, dry_run = session.config.scope.kind, session.asked.dry_run
    place = session.at(dir=None, scope=LOCAL) if kind == PROJECT else session
    agents = kind in (PROJECT, LOCAL)
    root, planned = install_merge_driver(
        place.config.store, sys.argv[0], agents=agents, dry_run=dry_run
    )
    files = answers.changed_file_fields(planned, root.rstrip("/") + "/")
    change, lines = UPDATED if files else SAME, list[str]()
    fields: Fields = {"change": change, "path": root, "files": files, "dry_run": dry_run}
    for file in files:
        lines += [*session.screen.diff_lines(str(file["diff"])), ""]
    lines += [] if files else ["git already merges the indexes here with memdir", ""]
    lines += [DRY_RUN, ""] if dry_run else []
    lines += ["Commit .gitattributes. In every other clone, once: memdir merge-index --install"]
    return Answer(fields, lines)
