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
from memdir.records import fields, index_md, lifecycle, match, refusal
from memdir.records.contexts import MAX_DRAFT_BYTES, Contexts
from memdir.records.fields import Record
from memdir.records.record import parse_type, read_all_records, read_index, read_json, settings_of
from memdir.records.refusal import RecordError
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
        commands = [it for it in vars(module).values() if isinstance(it, click.Command)]
        return next(it for it in commands if it.name == cmd_name)


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
        return read_json(encode(read_text(STDIN, MAX_DRAFT_BYTES, "the draft")), "the draft")
    return read_json(Contexts(session.config.state_dir).read_draft(given), given)


# search, status, index, candidate: what only looks, but for a rebuilt index.

DEFAULT_RESULTS = 20
MAX_TITLE_BYTES = 120  # in a context
MISMATCHES = {
    "missing": "a record without a line",
    "stale": "a line without an active record",
    "different": "a line that says something else",
    "twice": "a second line",
    "unreadable": "a line that nobody can read",
}
IN_STEP = "the index is in step with the records"


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
    answer = match.find_candidate(session.app, parse_type(category), new_info, lifecycle_event)
    session.screen.json = True
    session.screen.answer(answer, [])


@record_command("search", 'memdir records search "why uv"')
@click.argument("query", nargs=-1, required=True)
@category_option
@click.option("--limit", type=click.IntRange(1), default=DEFAULT_RESULTS, show_default=True)
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
    type = parse_type(category) if category else ""
    if context:
        limit = min(limit, settings_of(app.store)[0].max_inject)
    text = " ".join(query)
    results = match.search_records(app, text, limit, type, include_retired)
    rows, lines = _table(session, results)
    if context:
        lines = _context_lines(results, session.config.checkout, app.store.root)
    elif not lines:
        lines = ["nothing matches"]
    session.screen.answer({"records": rows, "query": text, "store": app.store.root}, lines)
    return 0


def _table(
    session: Session, records: Sequence[tuple[str, Record]]
) -> tuple[list[Fields], list[str]]:
    """Records as a program gets them, and as a person does."""
    rows: list[Fields] = [
        {
            "path": path,
            "title": record.get("title"),
            "category": record.get("category"),
            "tags": record.get("tags"),
            "record_status": fields.status_of(record),
            "updated_at": record.get("updated_at"),
        }
        for path, record in records
    ]
    cells = [(str(it["category"]), str(it["title"]), str(it["path"])) for it in rows]
    return rows, session.screen.table(cells, (15, session.screen.columns // 2))


def _context_lines(results: Sequence[tuple[str, Record]], checkout: str, root: str) -> list[str]:
    """Titles and paths only, made harmless: an agent reads this."""
    if not results:
        return []
    top = root[len(checkout) + 1 :] if root.startswith(checkout + "/") else root
    lines = ['<memory-context source=".claude/memory">']
    for path, record in results:
        title = inert_line(str(record.get("title", "")), MAX_TITLE_BYTES)
        lines.append(f"- [{str(record.get('category')).upper()}] {title} -> {top}/{path}")
    return [*lines, "</memory-context>"]


@record_command("status", "memdir records status")
@click.option(
    "--list", "listed", type=click.Choice(fields.STATUSES), help="Instead list those, with paths."
)
def status(session: Session, listed: str | None) -> None:
    """Count the records by category and status, and say what is due."""
    app, screen = session.app, session.screen
    if listed:
        records, broken = read_all_records(app.store)
        chosen = [it for it in records.items() if fields.status_of(it[1]) == listed]
        rows, lines = _table(session, chosen)
        answer: Fields = {
            "records": rows,
            "findings": [finding_fields(it) for it in broken],
            "store": app.store.root,
        }
        return screen.answer(answer, lines or [f"no record is {listed}"])
    health, settings, findings, due = lifecycle.summarize_store(app)
    answer = {
        **health,
        "due": due,
        "enabled": {type: own.enabled for type, own in settings.types.items()},
        "findings": [finding_fields(it) for it in findings],
        "store": app.store.root,
    }
    title = f"{count(int(str(health['records'])), 'record')} in "
    lines = screen.block("", title + session.short(session.config.store), "")
    off = [type for type, own in settings.types.items() if not own.enabled]
    lines += ["", *_count_lines(screen, health, dict.fromkeys(off, "switched off"))]
    if not health["in_sync"]:
        text = "the index is behind: memdir records index --rebuild"
        lines += ["", *screen.block("!", screen.advise(text), style="yellow")]
    for what, number in due.items():
        how = "window" if what == "window" else "gc"
        if number:
            text = f"{count(number, 'record')} due ({what}): memdir records {how} --dry-run"
            lines += ["", *screen.block("", screen.advise(text))]
    lines += ["", *finding_lines(screen, findings)] if findings else []
    return screen.answer(answer, lines)


def _count_lines(
    screen: Screen, health: Fields, remarks: dict[str, str] | None = None
) -> list[str]:
    counts = health["counts"]
    rows: list[tuple[str, ...]] = [("category", *fields.STATUSES)]
    for type, by_status in counts.items() if isinstance(counts, dict) else ():
        rows.append((type, *(str(by_status[status]) for status in fields.STATUSES)))
    if remarks is not None:
        rows = [(*row, remarks.get(row[0], "")) for row in rows]
    return screen.table(rows)


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
        done = index_md.rebuild_index(app)
        lines = done_lines(screen, done)
        if not any(change.changed for change in done.changes):
            lines[0] = IN_STEP
        screen.answer(done_fields(app, done), lines)
        return 0
    if health:
        records, findings = read_all_records(app.store)
        report = index_md.report_health(read_index(app.store), records.items(), app.now())
        lines = _count_lines(screen, report)
        for key, value in report.items():
            if not isinstance(value, dict):
                text = "; ".join(value) or "none" if isinstance(value, list) else str(value)
                lines += screen.block("", f"{key.replace('_', ' ')}: {text}", "  ")
        answer = {**report, "findings": [finding_fields(it) for it in findings]}
        screen.answer(answer, [*lines, *finding_lines(screen, findings)])
        return 0
    mismatches, findings = index_md.validate_index(app)
    lines = []
    for kind, path, number in mismatches:
        place = f"line {number}: " if number else ""
        lines += screen.block("!", f"{place}{MISMATCHES[kind]} {path}", style="yellow")
    if lines:
        lines += ["", *screen.block("fix:", screen.advise("memdir records index --rebuild"), "")]
    answer = {
        "mismatches": [{"kind": it.kind, "path": it.path, "line": it.number} for it in mismatches],
        "findings": [finding_fields(it) for it in findings],
        "valid": not mismatches,
        "store": app.store.root,
    }
    screen.answer(answer, [*(lines or [IN_STEP]), *finding_lines(screen, findings)])
    return int(validate and bool(mismatches))


# gc, window: what time does to records, done now or shown.

UNDO = "Undo: memdir undo"


@record_command("gc", "memdir records gc --dry-run", changes=True, bulk=True)
def gc(session: Session) -> None:
    """Archive or purge what was retired before the grace period; retire what has expired.

    delete.archive_retired in memory-config.json says which of the two. Archived records stay.
    """
    tell_done(session, session.app, None, UNDO)(lifecycle.collect_garbage(session.app))


@record_command("window", "memdir records window --dry-run", changes=True, bulk=True)
def window(session: Session) -> None:
    """Keep the newest session summaries and retire the others.

    categories.session_summary.max_retained says how many. It happens by itself after each new
    summary; what only an old one holds is named before it goes.
    """
    tell_done(session, session.app, None, UNDO)(lifecycle.roll_window(session.app))
