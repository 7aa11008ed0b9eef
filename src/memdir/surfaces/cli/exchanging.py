"""import, export: memories from elsewhere, and to elsewhere."""

from __future__ import annotations

import os

import click

from memdir import flows
from memdir.adapters import exchange
from memdir.adapters.export import ZIP, check_target, write_export
from memdir.app import App, Done
from memdir.core.draft import SKIPPED
from memdir.core.errors import BadInput
from memdir.core.finding import Finding
from memdir.core.revision import hash_of
from memdir.core.scope import below
from memdir.surfaces.cli.answers import (
    Fields,
    done_fields,
    dry_files,
    dry_lines,
    finding_fields,
    finding_lines,
)
from memdir.surfaces.cli.diffs import diff
from memdir.surfaces.cli.session import Session, command
from memdir.surfaces.cli.visible import line

DEFAULT = "memdir-export.zip"
FEW = 20  # files that are named one by one


@command("import", "memdir import ../old-project/.agents/memory", changes=True)
@click.argument("source")
def import_(session: Session, source: str) -> int:
    """Take over memories from a directory, a zip or a tar.

    A project directory stands for the .agents/memory, .memory, memory or docs/memory in it.
    Nothing is overwritten, and one unsafe entry refuses the whole import. One undo takes it
    all back.
    """
    app = session.app
    brought = exchange.read_source(source)
    contents = dict(brought.files)

    def told(done: Done) -> None:
        files: list[Fields] = [
            {
                "path": change.path,
                "change": change.kind,
                "diff": diff(change.path, None, contents[change.path]) if change.changed else "",
                "reason": change.reason,
            }
            for change in done.changes
        ]
        files += [file for file in dry_files(done) if file["path"] not in contents]
        skipped = [finding_fields(finding) for finding in brought.skipped]
        fields = {**done_fields(app, done), "files": files, "skipped": skipped}
        session.screen.answer(fields, _import_lines(session, done, brought.skipped))

    done = flows.bring_in(app, brought.files, told)
    skipped = [change for change in done.changes if change.kind == SKIPPED]
    return int(any(change.hash != hash_of(contents[change.path]) for change in skipped))


def _import_lines(session: Session, done: Done, skipped: list[Finding]) -> list[str]:
    screen = session.screen
    taken = [change for change in done.changes if change.changed]
    head = "would import" if done.dry_run else "imported"
    lines = [f"{head} {len(taken):,} of {len(done.changes):,} memories"]
    lines += [f"  + {line(change.path)}" for change in taken[:FEW]]
    lines += [f"  and {len(taken) - FEW:,} more"] if len(taken) > FEW else []
    for change in done.changes:
        if not change.changed:
            lines += screen.block("!", f"{change.path}: {change.reason}", style="yellow")
    lines += finding_lines(screen, skipped[:FEW])
    lines += [f"  and {len(skipped) - FEW:,} more"] if len(skipped) > FEW else []
    for text in done.remarks:
        lines += screen.block("note:", text)
    return [*lines, *dry_lines(screen, done)] if done.dry_run else lines


@command("export", "memdir export --output memories.zip", changes=True)
@click.option("--output", metavar="FILE.zip|DIR", default=DEFAULT, show_default=True)
@click.option("--force", is_flag=True, help="Replace what stands there.")
def export(session: Session, output: str, force: bool) -> int:
    """Write all memories into a zip or a directory.

    The index comes along; you alone can read it. The same memories give the same zip, byte for
    byte.
    """
    app = session.app
    target = os.path.abspath(output)
    _check(app, target)
    files, findings = flows.read_all(app)
    if target.endswith(ZIP):
        findings += [
            Finding("name", path, f"{path}: a name that no zip can hold; left out")
            for path, _ in files
            if not _is_unicode(path)
        ]
        files = [(path, data) for path, data in files if _is_unicode(path)]
    check_target(target, force) if session.asked.dry_run else write_export(target, files, force)
    head = "would write" if session.asked.dry_run else "wrote"
    fields: Fields = {
        "path": target,
        "change": "created",
        "files": [{"path": path, "change": "created", "diff": ""} for path, _ in files],
        "findings": [finding_fields(finding) for finding in findings],
        "dry_run": session.asked.dry_run,
    }
    text = f"{head} {len(files):,} files to {session.short(target)}"
    lines = [*session.screen.block("", text, ""), *finding_lines(session.screen, findings)]
    session.screen.answer(fields, lines)
    return int(bool(findings))


def _check(app: App, target: str) -> None:
    if "\0" in target:
        raise BadInput("--output holds a NUL character", next="choose another --output")
    real = os.path.join(os.path.realpath(os.path.dirname(target)), os.path.basename(target))
    if real == app.store.root or below(real, app.store.root):
        raise BadInput(
            f"{target} lies inside the store", path=target, next="choose a place outside it"
        )


def _is_unicode(path: str) -> bool:
    return path.encode("utf-8", "replace").decode() == path
