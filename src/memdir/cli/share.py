"""Share, merge-index: what others get, and what comes of the work of two."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace

import click

from memdir.cli.command import Asked, Session, command, read_text
from memdir.cli.output import (
    Advice,
    Fields,
    Screen,
    advised,
    diff,
    diff_lines,
    done_fields,
    done_lines,
    refused,
)
from memdir.cli.output import kind as kind_of
from memdir.errors import Conflict
from memdir.format.draft import UPDATED
from memdir.format.index_merge import Merged
from memdir.hot import memory
from memdir.share.merge_driver import install_driver, write_merged
from memdir.share.merge_driver import merge_index as merge
from memdir.share.share import Shared
from memdir.share.share import share as share_out
from memdir.store.writer import Done
from memdir.text.terminal import count

TEAM, LOCAL, PROJECT = "team", "local", "project"
MERGED, CONFLICT, SAME = "merged", "conflict", "same"


@command("share", "memdir share release-freeze --dry-run", changes=True, bulk=True)
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option(
    "--to", type=click.Choice((TEAM, LOCAL)), default=TEAM, help="Where to.", show_default=True
)
@click.option("--move", is_flag=True, help="Keep no private copy: it goes to the trash.")
def share(session: Session, names: tuple[str, ...], to: str, move: bool) -> int:
    """Copy memories to where others get them, and show the diff.

    `team` is the directory team/ below the project's memories, `local` is .claude/memory in this
    checkout, for a commit. What is personal by its type or holds what looks like a secret is
    refused, and nothing is overwritten.
    """
    asked = _there(session.asked, to)
    source = session.app
    target = Session(session.screen, asked, asked.config(), session.opened).app
    there = replace(session.screen.advise, scope=to, dir=asked.dir)
    if not source.config.enabled:
        by = source.config.enabled_by
        session.screen.tell(f"memory is switched off (by {by}); agents will not read this")

    def told(shared: Shared) -> None:
        shared = replace(shared, done=_advised(session, shared, there))
        text = "\n".join(diff(path, old, new) for path, old, new in shared.diff)
        fields = {
            **done_fields(target, shared.done),
            "diff": text,
            "from": str(source.config.scope),
            "to": str(target.config.scope),
            "moved": list(shared.moved),
        }
        session.screen.answer(fields, _share_lines(session, shared, text, there))

    try:
        shared = share_out(source, target, names, move=move)
    except Conflict as error:
        error.next = there(error.next)
        raise
    told(shared)
    return int(refused(shared.done.changes))


def _there(asked: Asked, to: str) -> Asked:
    """The store that others get; a directory that was named has a team, but no checkout."""
    return replace(asked, scope=to, dir=asked.dir if to == TEAM else None)


def _advised(session: Session, shared: Shared, there: Advice) -> Done:
    """Reasons are about the memory here, remarks about the store there."""
    done = advised(session.screen, shared.done)
    return replace(done, remarks=tuple(map(there, shared.done.remarks)))


def _share_lines(session: Session, shared: Shared, text: str, there: Advice) -> list[str]:
    screen, done = session.screen, replace(shared.done, diff=())
    lines = [*diff_lines(screen, text), ""] if text else []
    says = []
    if shared.moved:
        where = "would go to the trash here" if done.dry_run else "now in the trash here"
        remarks = (f"{where}: {', '.join(shared.moved)}", *done.remarks)
        done = replace(done, remarks=remarks)
    elif not done.dry_run:
        says += ["yours stays as it was; memdir retire NAME if one is enough"]
    says += [] if done.dry_run else [there("take it back: memdir undo")]
    return [*lines, *done_lines(screen, done, says)]


@command("merge-index", "memdir merge-index --install --dry-run", changes=True)
@click.argument("files", metavar="[BASE OURS THEIRS [PATH]]", nargs=-1)
@click.option("--install", is_flag=True, help="Let git merge the indexes of this repository so.")
def merge_index(session: Session, files: tuple[str, ...], install: bool) -> int:
    """Merge three versions of an index; git calls it.

    The result takes the place of OURS. The pointers of both sides stay, a pointer that one side
    took out goes, and where both changed one, the words of both stay. Exit code 1 and conflict
    marks are left for prose that both sides rewrote.
    """
    if install and not files:
        return _install(session)
    if install or not 3 <= len(files) <= 4:
        raise click.UsageError(
            "Give BASE OURS THEIRS [PATH], or --install.", click.get_current_context()
        )
    return _merge(session, *files)


def _merge(session: Session, base: str, ours: str, theirs: str, path: str = "") -> int:
    limit, dry_run = session.config.options.max_file_bytes, session.asked.dry_run
    old, mine, other = (read_text(file, limit, file) for file in (base, ours, theirs))
    merged = merge(old, mine, other)
    changed = merged.text != mine
    if changed and not dry_run:
        write_merged(ours, merged.text)
    shown = path or ours
    text = diff(shown, memory.encode(mine), memory.encode(merged.text))
    fields: Fields = {
        "change": CONFLICT if merged.conflicts else MERGED if changed else SAME,
        "path": shown,
        "conflicts": merged.conflicts,
        "added": list(merged.added),
        "dropped": list(merged.dropped),
        "joined": list(merged.joined),
        "diff": text,
        "dry_run": dry_run,
    }
    lines = diff_lines(session.screen, text) if dry_run else []
    session.screen.answer(fields, [*lines, *_merge_lines(session.screen, shown, merged)])
    return int(bool(merged.conflicts))


def _merge_lines(screen: Screen, path: str, merged: Merged) -> list[str]:
    came, went = len(merged.added), len(merged.dropped)
    lines = screen.block("", f"{path}: {count(came, 'pointer')} came, {went} went", "")
    if merged.joined:
        what = "changed by both sides, the words of both stay: "
        lines += screen.block("note:", what + ", ".join(merged.joined))
    if merged.conflicts:
        places = count(merged.conflicts, "place")
        text = f"both sides rewrote the text in {places}; look for <<<<<<< in it"
        lines += screen.block("!", text, style="yellow")
    return lines


def _install(session: Session) -> int:
    """Shows the diff of both files, and what the others have to set."""
    kind, screen, dry_run = session.config.scope.kind, session.screen, session.asked.dry_run
    asked = Asked(None, session.asked.project, LOCAL) if kind == PROJECT else session.asked
    installed = install_driver(
        asked.config().store, sys.argv[0], agents=kind in (PROJECT, LOCAL), dry_run=dry_run
    )
    root = installed.root
    files: list[Fields] = [
        {"path": path, "change": kind_of(old, new), "diff": diff(_below(path, root), old, new)}
        for path, old, new in installed.files
        if old != new
    ]
    pairs = installed.settings.items()
    commands = [f"git config {key} {shlex.quote(value)}" for key, value in pairs]
    lines = [one for file in files for one in (*diff_lines(screen, str(file["diff"])), "")]
    lines += [] if files else ["git merges the indexes here with memdir already", ""]
    lines += ["dry run: nothing was written", ""] if dry_run else []
    lines += screen.block("", "Commit .gitattributes. In every other clone, once:", "")
    lines += ["  memdir merge-index --install", "which is the same as"]
    lines += [f"  {one}" for one in commands]
    change = UPDATED if files else SAME
    fields: Fields = {"change": change, "path": root, "files": files}
    screen.answer({**fields, "commands": commands, "dry_run": dry_run}, lines)
    return 0


def _below(path: str, root: str) -> str:
    """A path as it is called in the repository; the settings of a worktree lie elsewhere."""
    return path.removeprefix(root.rstrip("/") + "/").lstrip("/")
