"""Records: search, status, index, candidate, gc, window."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import click

from memdir.cli.command import STDIN, Run, Session, command, read_text
from memdir.cli.output import (
    Fields,
    Screen,
    done_fields,
    done_lines,
    finding_fields,
    finding_lines,
    tell_done,
)
from memdir.errors import BadInput, Busy, MemdirError, Missing
from memdir.hot.memory import encode
from memdir.hot.safe import inert_line
from memdir.records import fields, index_md, match, refusal, write
from memdir.records.contexts import LARGEST_DRAFT, Contexts
from memdir.records.fields import Record
from memdir.records.index_md import Mismatch
from memdir.records.lifecycle import tidy
from memdir.records.lifecycle import window as roll
from memdir.records.lookup import everything, settings_of, type_of
from memdir.records.record import read_json
from memdir.records.refusal import RecordError
from memdir.records.update import status_of
from memdir.records.write import Standing
from memdir.store.writer import Done
from memdir.text.terminal import count

MODULES = {
    "save": "records_write",
    "write": "records_write",
    "retire": "records_write",
    "archive": "records_write",
    "restore": "records_write",
    "search": "records",
    "status": "records",
    "index": "records",
    "candidate": "records",
    "triage": "records_write",
    "prepare": "records_write",
    "commit": "records_write",
    "window": "records",
    "gc": "records",
    "import": "records_write",
    "export": "records_write",
    "schema": "records_write",
}


class Records(click.Group):
    """Imports a command when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command, in the order of the help."""
        return list(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, if there is one."""
        if cmd_name not in MODULES:
            return None
        module = importlib.import_module(f"memdir.cli.{MODULES[cmd_name]}")
        declared = [one for one in vars(module).values() if isinstance(one, click.Command)]
        return next(one for one in declared if one.name == cmd_name)


@click.group("records", cls=Records, invoke_without_command=True)
@click.pass_context
def records(context: click.Context) -> None:
    """Keep decisions, runbooks, constraints, debts, preferences, sessions as records.

    They lie in .claude/memory of the checkout, or where --root says, one JSON file each. Look at
    them with memdir list, show, recall, audit, log, diff and undo, all with --scope records.

    \b
    Example:
      memdir records save --category preference --title "Tabs, not spaces" \\
        --tag style --set topic=indent --set value=tabs --set reason=taste \\
        --set strength=strong
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


# What the commands of the group share: drafts as they come in, refusals as they go out.

CODES: tuple[tuple[type[MemdirError], str], ...] = (
    (Busy, refusal.LOCK_TIMEOUT),
    (Missing, refusal.READ),
    (BadInput, refusal.INPUT),
)
category_option = click.option(
    "--category", metavar="NAME", default="", help=f"One of {', '.join(fields.TYPES)}."
)
reason_option = click.option("--reason", metavar="TEXT", default="", help="Why; it is kept.")
input_option = click.option(
    "--input", "input_", metavar="FILE", default="", help="- is stdin; else a draft beside triage."
)


def record_command(
    name: str, example: str, *, changes: bool = False, bulk: bool = False
) -> Callable[[Run], click.Command]:
    """Declare a command of the group; for a person its errors have the form of records."""

    def declare(run: Run) -> click.Command:
        @functools.wraps(run)
        def call(session: Session, **options: object) -> object:
            with in_form(session):
                return run(session, **options)

        return command(name, example, changes=changes, bulk=bulk, records=True)(call)

    return declare


@contextmanager
def in_form(session: Session) -> Iterator[None]:
    """Every error as a refusal with a code; a program gets the object of all commands."""
    try:
        yield
    except MemdirError as error:
        if session.screen.json or isinstance(error, RecordError):
            raise
        code = next((code for kind, code in CODES if isinstance(error, kind)), "")
        if not code:
            raise
        raise RecordError(code, error.message, fix=error.next, path=error.path) from None


def read_input(session: Session, given: str) -> Record:
    """The JSON object on stdin, or in a draft below the private directory of a session."""
    if not given:
        raise RecordError(refusal.INPUT, "there is no draft", fix="give --input - and the JSON")
    if given == STDIN:
        return read_json(encode(read_text(STDIN, LARGEST_DRAFT, "the draft")), "the draft")
    return read_json(Contexts(session.config.state_dir).read_draft(given), given)


# search, status, index, candidate: what only looks, but for a rebuilt index.

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
    "--lifecycle-event", metavar="EVENT", default="", help=f"One of {', '.join(match.EVENTS)}."
)
def candidate(session: Session, category: str, new_info: str, lifecycle_event: str) -> None:
    """Say which record new information belongs to, and what may be done.

    The answer is always one JSON object: candidate, vetoes, pre_action, structural_cud,
    delete_allowed, hints, lifecycle_event.
    """
    answer = write.candidate(session.app, type_of(category), new_info, lifecycle_event)
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
    found = write.search(app, text, limit, type, include_retired) if limit else []
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
    found = write.standing(app)
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
    for due, number in found.due.items():
        how = "window" if due == "window" else "gc"
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

        index_md.rebuild(app, told)
        return 0
    if health:
        report, findings = index_md.health(app)
        lines = _health_lines(screen, report)
        answer = {**report, "findings": [finding_fields(one) for one in findings]}
        screen.answer(answer, [*lines, *finding_lines(screen, findings)])
        return 0
    found = index_md.validate(app)
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


def _mismatch_lines(screen: Screen, found: index_md.Validated) -> list[str]:
    lines = []
    for one in found.mismatches:
        place = f"line {one.number}: " if one.number else ""
        lines += screen.block("!", f"{place}{WORDS[one.kind]} {one.path}", style="yellow")
    if lines:
        lines += ["", *screen.block("fix:", screen.advise("memdir records index --rebuild"), "")]
    lines = lines or ["the index is in step with the records"]
    return lines + finding_lines(screen, found.findings)


# gc, window: what time does to records, done now or shown.

UNDO = "Undo: memdir undo"


@record_command("gc", "memdir records gc --dry-run", changes=True, bulk=True)
def gc(session: Session) -> None:
    """Archive or purge what was retired before the grace period; retire what has expired.

    delete.archive_retired in memory-config.json says which of the two. Archived records stay.
    """
    app = session.app
    tidy(app, tell_done(session, app, None, UNDO))


@record_command("window", "memdir records window --dry-run", changes=True, bulk=True)
def window(session: Session) -> None:
    """Keep the newest session summaries and retire the others.

    categories.session_summary.max_retained says how many. It happens by itself after each new
    summary; what only an old one holds is named before it goes.
    """
    app = session.app
    roll(app, tell_done(session, app, None, UNDO))
