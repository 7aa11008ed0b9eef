"""search, status, index, candidate: what only looks, but for a rebuilt index."""

from __future__ import annotations

from collections.abc import Sequence

import click

from memdir.app import Done
from memdir.core.inert import inert_line
from memdir.core.records import cud, fields
from memdir.core.records.fields import Record
from memdir.core.records.index_text import Mismatch
from memdir.core.records.status import status_of
from memdir.flows.records import asking, indexing
from memdir.flows.records.asking import Standing
from memdir.flows.records.placing import everything, settings_of, type_of
from memdir.surfaces.cli.answers import (
    Fields,
    done_fields,
    done_lines,
    finding_fields,
    finding_lines,
)
from memdir.surfaces.cli.records.declaring import category_option, record_command
from memdir.surfaces.cli.screen import Screen
from memdir.surfaces.cli.session import Session
from memdir.surfaces.cli.visible import count

FOUND = 20
TITLE = 120  # bytes of a title in a context
WORDS = {
    "missing": "a record without a line",
    "stale": "a line without an active record",
    "different": "a line that says something else",
    "twice": "a second line",
    "unreadable": "a line that nobody can read",
}


@record_command("candidate", 'memdir records candidate --category decision --new-info "Use uv"')
@category_option
@click.option("--new-info", metavar="TEXT", required=True, help="What was learned, in a sentence.")
@click.option(
    "--lifecycle-event", metavar="EVENT", default="", help=f"One of {', '.join(cud.EVENTS)}."
)
def candidate(session: Session, category: str, new_info: str, lifecycle_event: str) -> None:
    """Say which record new information belongs to, and what may be done.

    The answer is always one JSON object: candidate, vetoes, pre_action, structural_cud,
    delete_allowed, hints, lifecycle_event.
    """
    answer = asking.candidate(session.app, type_of(category), new_info, lifecycle_event)
    session.screen.json = True
    session.screen.answer(answer, [])


@record_command("search", 'memdir records search "why uv"')
@click.argument("query", nargs=-1, required=True)
@category_option
@click.option("--limit", type=click.IntRange(1), default=FOUND, show_default=True)
@click.option("--include-retired", is_flag=True, help="Also what was retired or archived.")
@click.option("--context", is_flag=True, help="As <memory-context>, for an agent.")
def search(
    session: Session,
    query: Sequence[str],
    category: str,
    limit: int,
    include_retired: bool,
    context: bool,
) -> int:
    """Find records by their words, best first: titles and paths."""
    app = session.app
    type = type_of(category) if category else ""
    if context:
        limit = min(limit, settings_of(app.store)[0].max_inject)
    text = " ".join(query)
    found = asking.search(app, text, limit, type, include_retired) if limit else []
    rows = [_found(path, record) for path, record in found]
    if context:
        lines = _context(found, session.config.checkout, app.store.root)
    else:
        cells = [(str(one["category"]), str(one["title"]), str(one["path"])) for one in rows]
        lines = session.screen.table(cells, (15, session.screen.columns // 2))
        lines = lines or ["nothing matches"]
    session.screen.answer({"records": rows, "query": text, "store": app.store.root}, lines)
    return 0


def _found(path: str, record: Record) -> Fields:
    return {
        "path": path,
        "title": record.get("title"),
        "category": record.get("category"),
        "tags": record.get("tags"),
        "record_status": status_of(record),
        "updated_at": record.get("updated_at"),
    }


def _context(found: Sequence[tuple[str, Record]], checkout: str, root: str) -> list[str]:
    """Titles and paths only, made harmless: an agent reads this."""
    if not found:
        return []
    top = root[len(checkout) + 1 :] if root.startswith(checkout + "/") else root
    lines = ['<memory-context source=".claude/memory">']
    for path, record in found:
        title = inert_line(str(record.get("title", "")), TITLE)
        lines.append(f"- [{str(record.get('category')).upper()}] {title} -> {top}/{path}")
    return [*lines, "</memory-context>"]


@record_command("status", "memdir records status")
@click.option(
    "--list", "listed", type=click.Choice(fields.STATUSES), help="Instead list those, with paths."
)
def status(session: Session, listed: str | None) -> None:
    """Count the records by category and status, and say what is due."""
    app = session.app
    if listed:
        return _list(session, listed)
    found = asking.standing(app)
    answer: Fields = {
        **found.health,
        "due": found.due,
        "enabled": {type: one.enabled for type, one in found.settings.types.items()},
        "findings": [finding_fields(one) for one in found.findings],
        "store": app.store.root,
    }
    return session.screen.answer(answer, _status_lines(session, found))


def _list(session: Session, wanted: str) -> None:
    records, broken = everything(session.app.store)
    rows = [_found(*one) for one in records.items() if status_of(one[1]) == wanted]
    cells = [(str(one["category"]), str(one["title"]), str(one["path"])) for one in rows]
    lines = session.screen.table(cells, (15, session.screen.columns // 2))
    answer: Fields = {
        "records": rows,
        "findings": [finding_fields(one) for one in broken],
        "store": session.app.store.root,
    }
    session.screen.answer(answer, lines or [f"no record is {wanted}"])


def _status_lines(session: Session, found: Standing) -> list[str]:
    screen, counts = session.screen, found.health["counts"]
    title = f"{count(int(str(found.health['records'])), 'record')} in "
    lines = screen.block("", title + session.short(session.config.store), "")
    rows = [("category", *fields.STATUSES, "")]
    for type, by_status in counts.items() if isinstance(counts, dict) else ():
        off = "" if found.settings.types[type].enabled else "switched off"
        rows.append((type, *(str(by_status[status]) for status in fields.STATUSES), off))
    lines += ["", *screen.table(rows)]
    if not found.health["in_sync"]:
        text = "the index is behind: memdir records index --rebuild"
        lines += ["", *screen.block("!", screen.advise(text), style="yellow")]
    for command, number in found.due.items():
        how = "window" if command == "window" else "gc"
        if number:
            text = f"{count(number, 'record')} due ({command}): memdir records {how} --dry-run"
            lines += ["", *screen.block("", screen.advise(text))]
    return [*lines, "", *finding_lines(screen, found.findings)] if found.findings else lines


@record_command("index", "memdir records index --validate", changes=True, bulk=True)
@click.option("--rebuild", is_flag=True, help="Write index.md anew from the records.")
@click.option("--validate", is_flag=True, help="Exit with 1 where it differs from the records.")
@click.option("--health", is_flag=True, help="Counts, what is updated often, what was retired.")
def index(session: Session, rebuild: bool, validate: bool, health: bool) -> int:
    """Look at index.md, which every change brings in step, or write it anew."""
    if sum((rebuild, validate, health)) > 1:
        raise click.UsageError("Give one of the three.", click.get_current_context())
    app, screen = session.app, session.screen
    if rebuild:

        def told(done: Done) -> None:
            lines = done_lines(screen, done)
            if not any(change.changed for change in done.changes):
                lines[0] = "the index is in step with the records"
            screen.answer(done_fields(app, done), lines)

        indexing.rebuild(app, told)
        return 0
    if health:
        report, findings = indexing.health(app)
        lines = _health_lines(screen, report)
        answer = {**report, "findings": [finding_fields(one) for one in findings]}
        screen.answer(answer, [*lines, *finding_lines(screen, findings)])
        return 0
    found = indexing.validate(app)
    answer = {
        "mismatches": [_mismatch(one) for one in found.mismatches],
        "findings": [finding_fields(one) for one in found.findings],
        "valid": not found.mismatches,
        "store": app.store.root,
    }
    screen.answer(answer, _mismatch_lines(screen, found))
    return int(validate and bool(found.mismatches))


def _health_lines(screen: Screen, report: Fields) -> list[str]:
    counts = report["counts"]
    rows = [("category", *fields.STATUSES)]
    for type, by_status in counts.items() if isinstance(counts, dict) else ():
        rows.append((type, *(str(by_status[status]) for status in fields.STATUSES)))
    lines = screen.table(rows)
    for key, value in report.items():
        if not isinstance(value, dict):
            told = "; ".join(map(_told, value)) or "none" if isinstance(value, list) else str(value)
            lines += screen.block("", f"{key.replace('_', ' ')}: {told}", "  ")
    return lines


def _told(one: object) -> str:
    return ", ".join(map(str, one.values())) if isinstance(one, dict) else str(one)


def _mismatch(one: Mismatch) -> Fields:
    return {"kind": one.kind, "path": one.path, "line": one.number}


def _mismatch_lines(screen: Screen, found: indexing.Validated) -> list[str]:
    lines = []
    for one in found.mismatches:
        place = f"line {one.number}: " if one.number else ""
        lines += screen.block("!", f"{place}{WORDS[one.kind]} {one.path}", style="yellow")
    if lines:
        lines += ["", *screen.block("fix:", screen.advise("memdir records index --rebuild"), "")]
    lines = lines or ["the index is in step with the records"]
    return lines + finding_lines(screen, found.findings)
