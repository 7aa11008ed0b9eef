"""import, export, schema: records from elsewhere, to elsewhere, and what they must look like."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

import click

from memdir import flows
from memdir.adapters import exchange
from memdir.adapters.export import check_target, write_export
from memdir.adapters.layouts.records import open_store
from memdir.app import Done, open_app
from memdir.core.errors import BadInput
from memdir.core.memory import RECORD_FOLDERS
from memdir.core.records import fields, schemas
from memdir.core.scope import MAIN_SCOPES, below
from memdir.flows.records import exchanging
from memdir.flows.records.exchanging import Brought
from memdir.flows.records.placing import type_of
from memdir.surfaces.cli.answers import Fields, done_fields, finding_fields, finding_lines
from memdir.surfaces.cli.records.declaring import record_command
from memdir.surfaces.cli.screen import Screen
from memdir.surfaces.cli.session import Session
from memdir.surfaces.cli.visible import count, line

FEW = 20
HERE = (".claude/memory", "")


@record_command("import", "memdir records import ../old-project", changes=True, bulk=True)
@click.argument("source", required=False, default="")
@click.option("--from", "from_", type=click.Choice(MAIN_SCOPES), help="Markdown memories of ours.")
def import_(session: Session, source: str, from_: str | None) -> int:
    """Take over records: of another project, of an older version, or as Markdown.

    Without a source, the records of this very store are brought into today's form. Each repair is
    told. Nothing is overwritten, and one undo takes it all back.
    """
    app = session.app
    if source and from_:
        raise click.UsageError("Give a source or --from.", click.get_current_context())
    if not source and not from_:
        brought, done = exchanging.mend(app)
    else:
        brought = _read(session, source, from_ or "", app.now())
        done = exchanging.bring_in(app, brought)
    fields_of = done_fields(app, done)
    answer = {
        **fields_of,
        "repairs": {path: said for path, said in brought.repairs.items() if said},
        "refused": [finding_fields(one) for one in brought.refused],
    }
    session.screen.answer(answer, _lines(session.screen, brought, done))
    lost = any(not one.changed and not one.hash for one in done.changes)
    return int(bool(brought.refused) or lost)


def _read(session: Session, source: str, scope: str, now: float) -> Brought:
    if scope:
        other = open_app(
            replace(session.asked, dir=None).config(scope),
            now=lambda: now,
            tell=session.screen.tell,
        )
        return exchanging.read_memories(flows.read_all(other)[0], now)
    for folder in HERE:
        top = os.path.abspath(os.path.join(source, folder) if folder else source)
        if any(os.path.isdir(os.path.join(top, name)) for name in RECORD_FOLDERS):
            return exchanging.read_records(open_store(top, 1 << 20), now)
    return exchanging.read_memories(exchange.read_source(source).files, now)


def _lines(screen: Screen, brought: Brought, done: Done) -> list[str]:
    taken = [change for change in done.changes if change.changed]
    head = "would import" if done.dry_run else "imported"
    lines = [f"{head} {len(taken):,} of {count(len(brought.records), 'record')}"]
    for change in taken[:FEW]:
        lines.append(f"  + {line(change.path)}")
        for said in brought.repairs.get(change.path, ()):
            lines += screen.block("repaired:", said, "      ")
    lines += [f"  and {len(taken) - FEW:,} more"] if len(taken) > FEW else []
    for change in done.changes:
        if not change.changed:
            lines += screen.block("!", f"{change.path}: {change.reason}", style="yellow")
    return lines + finding_lines(screen, brought.refused)


@record_command("export", "memdir records export ~/records-as-markdown", changes=True, bulk=True)
@click.argument("target", required=False, default="")
@click.option("--to", "into", type=click.Choice(MAIN_SCOPES), help="Into a store of ours.")
@click.option("--all", "every", is_flag=True, help="Also retired and archived records.")
def export(session: Session, target: str, into: str | None, every: bool) -> int:
    """Write records as Markdown memories, from which they can be read again.

    The target is a directory or a zip, or with --to one of the scopes.
    """
    if bool(target) == bool(into):
        raise click.UsageError("Give a target or --to.", click.get_current_context())
    app = session.app
    files = exchanging.as_memories(app, every=every)
    if into:
        return _save(session, into, files)
    place = os.path.abspath(target)
    if os.path.realpath(place) == app.store.root or below(place, app.store.root):
        raise BadInput(f"{place} lies inside the store", next="choose a place outside it")
    dry = session.asked.dry_run
    check_target(place, False) if dry else write_export(place, files, False)
    head = "would write" if dry else "wrote"
    answer: Fields = {
        "path": place,
        "change": "created",
        "files": [{"path": path, "change": "created", "diff": ""} for path, _ in files],
        "dry_run": dry,
    }
    text = f"{head} {count(len(files), 'file')} to {session.short(place)}"
    session.screen.answer(answer, session.screen.block("", text, ""))
    return 0


def _save(session: Session, scope: str, files: Sequence[tuple[str, bytes]]) -> int:
    asked = replace(session.asked, dir=None, scope=scope)
    other = Session(session.screen, asked, asked.config())
    app = other.app
    done = flows.bring_in(app, files)
    taken = [change for change in done.changes if change.changed]
    lines = [f"{len(taken):,} of {count(len(files), 'record')} saved in the scope {scope}"]
    for change in done.changes:
        if not change.changed:
            text = f"{change.path}: {change.reason}"
            lines += session.screen.block("!", text, style="yellow")
    session.screen.answer(done_fields(app, done), lines)
    return int(any(not one.changed and not one.hash for one in done.changes))


@record_command("schema", "memdir records schema decision")
@click.argument("category", required=False, default="")
def schema(session: Session, category: str) -> None:
    """Print the JSON Schema of a category, or the fields of all."""
    if category:
        type = type_of(category)
        session.screen.answer(schemas.schema(type), schemas.text(type).rstrip("\n").split("\n"))
        return
    lines: list[str] = []
    for type, known in fields.CONTENT.items():
        lines += [type]
        for field in known:
            must = "*" if field.required else " "
            said = f": {', '.join(field.choices)}" if field.choices else ""
            lines += session.screen.block(must, f"{field.name} ({field.kind}{said})")
    answer = {type: schemas.schema(type) for type in fields.TYPES}
    session.screen.answer(answer, [*lines, "", "* must be there"])
