"""Share, merge-index."""

from __future__ import annotations

import sys
from dataclasses import replace

import click

from memdir.cli.command import Session, command, read_text
from memdir.cli.output import (
    DRY_RUN,
    Answer,
    Fields,
    diff,
    done_fields,
    file_fields,
    is_refused,
    pick,
)
from memdir.errors import Conflict
from memdir.format.draft import UPDATED
from memdir.hot import memory
from memdir.share.merge_driver import install_driver, write_merged
from memdir.share.merge_driver import merge_index as merge
from memdir.share.share import share_memories
from memdir.text.terminal import count

TEAM, LOCAL, PROJECT = "team", "local", "project"
MERGED, CONFLICT, SAME = "merged", "conflict", "same"


@command("share", "memdir share release-freeze --dry-run", changes=True)
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option("--to", type=click.Choice((TEAM, LOCAL)), default=TEAM, help="Default: team.")
@click.option("--move", is_flag=True, help="Move the private copy to the trash.")
def share(session: Session, names: tuple[str, ...], to: str, move: bool) -> Answer:
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
        shared = share_memories(source, target, names, move=move)
    except Conflict as error:
        error.next = there(error.next)
        raise
    # Reasons concern the memory here, remarks the target store.
    remarks = [there(remark) for remark in shared.done.remarks]
    done = replace(session.screen.advised(shared.done), remarks=tuple(remarks))
    text = "\n".join(diff(path, old, new) for path, old, new in shared.diff)
    fields = {
        **done_fields(target, done),
        "diff": text,
        "from": str(source.config.scope),
        "to": str(target.config.scope),
        "moved": shared.moved,
    }
    says = ["your copy stays; to keep only the shared one: memdir retire NAME"]
    if shared.moved:
        where = "would go to the trash here" if done.dry_run else "now in the trash here"
        remarks, says = [f"{where}: {', '.join(shared.moved)}", *remarks], []
    says = [] if done.dry_run else [*says, there("to undo: memdir undo")]
    lines = [*session.screen.diff_lines(text), ""] if text else []
    lines += session.screen.done_lines(replace(done, diff=(), remarks=tuple(remarks)), says)
    return Answer(fields, lines, int(is_refused(done.changes)))


@command("merge-index", "memdir merge-index --install --dry-run", changes=True)
@click.argument("files", metavar="[BASE OURS THEIRS [PATH]]", nargs=-1)
@click.option("--install", is_flag=True, help="Make git use it in this repository.")
def merge_index(session: Session, files: tuple[str, ...], install: bool) -> Answer:
    """The result replaces OURS. Pointers of both sides stay, a pointer that one side removed goes,
    and if both changed one, the words of both stay. Prose that both sides rewrote gets conflict
    marks and exit code 1.
    """
    if install and not files:
        return _install(session)
    if install or not 3 <= len(files) <= 4:
        raise click.UsageError(
            "Give BASE OURS THEIRS [PATH], or --install.", click.get_current_context()
        )
    return _merge(session, *files)


def _merge(session: Session, base: str, ours: str, theirs: str, path: str = "") -> Answer:
    limit, dry_run = session.config.options.max_file_bytes, session.asked.dry_run
    old, mine, other = (read_text(file, limit, file) for file in (base, ours, theirs))
    merged = merge(old, mine, other)
    changed = merged.text != mine
    if changed and not dry_run:
        write_merged(ours, merged.text)
    path = path or ours
    text = diff(path, memory.encode(mine), memory.encode(merged.text))
    fields = pick(
        merged,
        "change path conflicts added dropped joined diff dry_run",
        change=CONFLICT if merged.conflicts else MERGED if changed else SAME,
        path=path,
        diff=text,
        dry_run=dry_run,
    )
    screen, lines = session.screen, []
    lines += screen.diff_lines(text) if dry_run else []
    came, went = count(len(merged.added), "pointer"), len(merged.dropped)
    lines += screen.block("", f"{path}: {came} added, {went} removed", "")
    if merged.joined:
        text = "changed by both sides, the words of both are kept: "
        lines += screen.block("note:", text + ", ".join(merged.joined))
    if merged.conflicts:
        places = count(merged.conflicts, "place")
        text = f"both sides rewrote the text in {places}; look for <<<<<<<"
        lines += screen.block("!", text, style="yellow")
    return Answer(fields, lines, int(bool(merged.conflicts)))


def _install(session: Session) -> Answer:
    kind, dry_run = session.config.scope.kind, session.asked.dry_run
    place = session.at(dir=None, scope=LOCAL) if kind == PROJECT else session
    agents = kind in (PROJECT, LOCAL)
    installed = install_driver(place.config.store, sys.argv[0], agents=agents, dry_run=dry_run)
    files = file_fields(installed.files, installed.root.rstrip("/") + "/")
    change = UPDATED if files else SAME
    more = {"files": files, "dry_run": dry_run}
    fields: Fields = {"change": change, "path": installed.root, **more}
    lines = []
    for file in files:
        lines += [*session.screen.diff_lines(str(file["diff"])), ""]
    lines += [] if files else ["git already merges the indexes here with memdir", ""]
    lines += [DRY_RUN, ""] if dry_run else []
    lines += ["Commit .gitattributes. In every other clone, once: memdir merge-index --install"]
    return Answer(fields, lines)
