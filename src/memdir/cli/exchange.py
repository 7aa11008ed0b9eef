"""Import, export: memories from elsewhere, and to elsewhere."""

from __future__ import annotations

import os

import click

from memdir.cli.command import Session, command
from memdir.cli.output import (
    Fields,
    Screen,
    advised,
    diff,
    done_fields,
    dry_files,
    dry_lines,
    finding_fields,
    finding_lines,
)
from memdir.clients import archive, other_tools
from memdir.clients.archive import ZIP, check_target, write_export
from memdir.errors import BadInput, Finding
from memdir.format.draft import SKIPPED, Change, hash_of
from memdir.hot.memory import INDEX, decode
from memdir.hot.place import below
from memdir.store import changes, look
from memdir.store.writer import App, Done
from memdir.text.secrets import find_secrets
from memdir.text.terminal import count, line

DEFAULT = "~/memdir-export.zip"  # not here: a checkout is no place for private memories
FEW = 20  # files that are named one by one
NAMED = 5  # files that are named in passing
LONGEST = 200  # characters of an origin


@command("import", "memdir import ../old-project/.agents/memory", changes=True, bulk=True)
@click.argument("source")
@click.argument("path", required=False, default="")
def import_(session: Session, source: str, path: str) -> int:
    """Take over memories from a directory, a zip or a tar, or from another tool by its name.

    A project directory stands for the .agents/memory, .memory, memory or docs/memory in it.
    Tools: basic-memory, claude-memory, codex, cursor, gemini-cli, mem0, memory-tool, replit; a
    PATH says where theirs lie, if not in their usual place. Nothing is overwritten, and one
    unsafe entry of an archive refuses the whole import. One undo takes it all back.
    """
    app = session.app
    brought = other_tools.read_sources(session.config, source, path)
    clashes = _clashes(app, brought)
    contents = dict(brought.files)

    def told(done: Done) -> None:
        done = advised(session.screen, done)
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
        session.screen.answer(fields, _import_lines(session.screen, done, brought))

    done = changes.bring_in(app, brought.files, told, origin=_origin(source, path))
    skipped = [change for change in done.changes if change.kind == SKIPPED]
    lost = any(change.hash != hash_of(contents[change.path]) for change in skipped)
    broken = any(one.kind == archive.BROKEN for one in brought.skipped)
    return int(lost or clashes or broken)


def _origin(source: str, path: str) -> str:
    """What the history says of it, as one line."""
    return line(f"{source} {path}".strip())[:LONGEST]


def _clashes(app: App, brought: archive.Brought) -> bool:
    """Take out what would stand beside a memory whose name is the same on some disks."""
    taken = {path.casefold(): path for path in app.store.files()}
    files = list(brought.files)
    for path, data in files:
        other = taken.get(path.casefold(), path)
        if other != path:
            message = f"{path}: the store has {other}, the same name on some disks; skipped"
            brought.skipped.append(Finding("clash", path, message, f"rename {path} in the source"))
            brought.files.remove((path, data))
    return len(brought.files) < len(files)


def _import_lines(screen: Screen, done: Done, brought: archive.Brought) -> list[str]:
    contents = dict(brought.files)
    taken = [change for change in done.changes if change.changed]
    head = "would import" if done.dry_run else "imported"
    lines = [f"{head} {len(taken):,} of {count(len(done.changes), 'memory', 'memories')}"]
    lines += [f"  + {line(change.path)}" for change in taken[:FEW]]
    lines += [f"  and {len(taken) - FEW:,} more"] if len(taken) > FEW else []
    left = [change for change in done.changes if not change.changed]
    same = {change.path for change in left if change.hash == hash_of(contents[change.path])}
    lines += screen.block("", _some("there already, the same", sorted(same))) if same else []
    for change in left:
        if change.path not in same:
            lines += screen.block("!", f"{change.path}: {change.reason}", style="yellow")
    other = [one.path for one in brought.skipped if one.kind == archive.OTHER]
    other = sorted(path for path in other if path.rpartition("/")[2] != INDEX)  # it has one anyway
    lines += screen.block("", _some("passed over, no memory", other)) if other else []
    skipped = [finding for finding in brought.skipped if finding.kind != archive.OTHER]
    lines += finding_lines(screen, skipped[:FEW])
    lines += [f"  and {len(skipped) - FEW:,} more"] if len(skipped) > FEW else []
    for text in [*done.remarks, *_secrets(taken, contents)]:
        lines += screen.block("note:", text)
    return [*lines, *dry_lines(screen, done)] if done.dry_run else lines


def _secrets(taken: list[Change], contents: dict[str, bytes]) -> list[str]:
    """Memories that are nobody else's may hold a secret; a person should know which."""
    texts = {change.path: decode(contents[change.path]) for change in taken}
    found = sorted(path for path, text in texts.items() if find_secrets(text))
    return [_some("these look as if they held a secret", found)] if found else []


def _some(what: str, paths: list[str]) -> str:
    """How many, and the first of them by name."""
    more = f" and {len(paths) - NAMED:,} more" if len(paths) > NAMED else ""
    return f"{what}: {', '.join(paths[:NAMED])}{more}"


@command("export", "memdir export --output memories.zip", changes=True, bulk=True)
@click.option("--output", metavar="FILE.zip|DIR", default=DEFAULT, show_default=True)
@click.option("--force", is_flag=True, help="Replace what stands there.")
def export(session: Session, output: str, force: bool) -> int:
    """Write all memories into a zip or a directory.

    The index comes along; you alone can read it. The same memories give the same zip, byte for
    byte.
    """
    app = session.app
    target = _target(session, output)
    _check(app, target)
    files, findings = look.read_all(app)
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
    text = f"{head} {count(len(files), 'file')} to {session.short(target)}"
    lines = [*session.screen.block("", text, ""), *finding_lines(session.screen, findings)]
    session.screen.answer(fields, lines)
    return int(bool(findings))


def _target(session: Session, output: str) -> str:
    if output == DEFAULT:
        return os.path.join(session.config.home, DEFAULT[2:])
    try:
        return os.path.abspath(output)
    except OSError:
        raise BadInput(
            "the current directory is gone", next="give --output as a whole path"
        ) from None


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
