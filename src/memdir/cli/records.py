"""Records: search, status, index, candidate, gc, window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import cast

import click

from memdir.cli.command import STDIN, Session, command, read_text_option
from memdir.cli.main import Commands
from memdir.cli.output import FINDING, Answer, Fields, pick_all
from memdir.hot.memory import encode
from memdir.hot.safe import inert_line
from memdir.records import fields, folders, match
from memdir.records.fields import Record
from memdir.records.record import (
    INPUT,
    RecordError,
    parse_record_type,
    read_all_records,
    read_record_index,
    read_record_json,
    record_settings,
)
from memdir.store.writer import App, Done
from memdir.text.terminal import plural

WRITE = "records_write"
MODULES = {
    **dict.fromkeys(("save", "write", "retire", "archive", "restore"), WRITE),
    **dict.fromkeys(("search", "status", "index", "candidate"), "records"),
    **dict.fromkeys(("triage", "prepare", "commit"), WRITE),
    **dict.fromkeys(("window", "gc"), "records"),
    "schema": WRITE,
}


class Records(Commands):
    modules = MODULES


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


UNDO = "Undo: memdir undo"
record_command = partial(command, records=True)
category_option = click.option(
    "--category", metavar="NAME", default="", help=f"One of {', '.join(fields.TYPES)}."
)
reason_option = click.option("--reason", metavar="TEXT", default="", help="Why; it is kept.")
input_option = click.option(
    "--input", "input_", metavar="FILE", default="", help="- is stdin; else a draft beside triage."
)


def read_input_argument(session: Session, given: str) -> Record:
    """JSON object from stdin, or from a draft in a session's private directory."""
    from memdir.records.handover import MAX_DRAFT_BYTES, Contexts  # 15 ms that others spare

    if not given:
        raise RecordError(INPUT, "there is no draft", fix="give --input - and the JSON")
    if given == STDIN:
        return read_record_json(
            encode(read_text_option(STDIN, MAX_DRAFT_BYTES, "the draft")), "the draft"
        )
    return read_record_json(Contexts(session.config.state_dir).read_draft(given), given)


def print_lost_content_warnings(session: Session, done: Done) -> list[str]:
    """Prints the seed's warnings to stderr, one line each, and returns the other remarks."""
    from memdir.records.lifecycle import WARNING  # slow to import, as below

    warnings = [text for text in done.remarks if text.startswith(WARNING)]
    session.screen.complain(warnings)
    return [text for text in done.remarks if text not in warnings]


def answer_done(session: Session, done: Done) -> Answer:
    answer = session.done_answer(session.app, done, UNDO)
    rest = replace(done, remarks=tuple(print_lost_content_warnings(session, done)))
    return answer._replace(lines=session.done_answer(session.app, rest, UNDO).lines)


DEFAULT_RESULTS = 20
MAX_TITLE_BYTES = 120  # in a context for an agent
MISMATCHES = {
    "missing": "a record without a line",
    "stale": "a line without an active record",
    "different": "a line that says something else",
    "twice": "a second line",
    "unreadable": "a line that nobody can read",
}
IN_STEP = "the index matches the records"


@record_command("candidate", 'memdir records candidate --category decision --new-info "Use uv"')
@category_option
@click.option("--new-info", metavar="TEXT", required=True, help="What was learned, in a sentence.")
@click.option(
    "--lifecycle-event", metavar="EVENT", default="", help=f"One of {', '.join(match.EVENTS)}."
)
def candidate_command(
    session: Session, category: str, new_info: str, lifecycle_event: str
) -> Answer:
    """Say which record new information belongs to, and what may be done.

    The answer is always one JSON object: candidate, vetoes, pre_action, structural_cud,
    delete_allowed, hints, lifecycle_event.
    """
    answer = match.find_candidate_record(
        session.app, parse_record_type(category), new_info, lifecycle_event
    )
    session.screen.json = True
    return Answer(answer, [])


@record_command("search", 'memdir records search "why uv"')
@click.argument("query", nargs=-1, required=True)
@category_option
@click.option("--limit", type=click.IntRange(1), default=DEFAULT_RESULTS, show_default=True)
@click.option("--context", is_flag=True, help="As <memory-context>, for an agent.")
def search_command(
    session: Session,
    query: Sequence[str],
    category: str,
    limit: int,
    context: bool,
) -> Answer:
    """Find records by their words, best first: titles and paths."""
    app = session.app
    type = parse_record_type(category) if category else ""
    if context:
        limit = min(limit, record_settings(app.store)[0].max_inject)
    text = " ".join(query)
    results = match.search_records(app, text, limit, type)
    rows, lines = _table(session, results)
    if context:
        lines = _context_lines(results, app, session.config.checkout)
    elif not lines:
        lines = ["nothing matches"]
    return Answer({"records": rows, "query": text, "store": app.store.root}, lines)


def _table(
    session: Session, records: Sequence[tuple[str, Record]]
) -> tuple[list[Fields], list[str]]:
    keys = ("path", "title", "category", "tags", "record_status", "updated_at")
    rows: list[Fields] = []
    for path, record in records:
        known = {**record, "path": path, "record_status": fields.status_of_record(record)}
        rows.append({key: known.get(key) for key in keys})
    cells = [[str(row[key]) for key in ("category", "title", "path")] for row in rows]
    return rows, session.screen.table(cells, (15, session.screen.columns // 2))


def _context_lines(results: Sequence[tuple[str, Record]], app: App, checkout: str) -> list[str]:
    """Sanitised titles, paths and what the categories mean, because an agent reads this."""
    if not results:
        return []
    root, settings = app.store.root, record_settings(app.store)[0]
    top = root[len(checkout) + 1 :] if root.startswith(checkout + "/") else root
    named = dict.fromkeys(str(record.get("category")) for _, record in results)
    about = "; ".join(f"{type}={settings.types[type].description}" for type in named)
    about = about.replace('"', "'")
    lines = [f'<memory-context source=".claude/memory" descriptions="{about}">']
    for path, record in results:
        title = inert_line(str(record.get("title", "")), MAX_TITLE_BYTES)
        lines.append(f"- [{str(record.get('category')).upper()}] {title} -> {top}/{path}")
    return [*lines, "</memory-context>"]


@record_command("status", "memdir records status")
@click.option(
    "--list", "listed", type=click.Choice(fields.STATUSES), help="Instead list those, with paths."
)
def status_command(session: Session, listed: str | None) -> Answer:
    """Count the records by category and status, and say what is due."""
    app = session.app
    if listed:
        records, broken = read_all_records(app.store)
        chosen = [item for item in records.items() if fields.status_of_record(item[1]) == listed]
        rows, lines = _table(session, chosen)
        output = {"records": rows, "findings": pick_all(broken, FINDING), "store": app.store.root}
        return Answer(output, lines or [f"no record is {listed}"])
    return _summary(session)


def _summary(session: Session) -> Answer:
    from memdir.records.lifecycle import summarize_records

    app, screen = session.app, session.screen
    health, settings, findings, due = summarize_records(app)
    enabled = {type: own.enabled for type, own in settings.types.items()}
    answer: Fields = {
        **health,
        "due": due,
        "enabled": enabled,
        "findings": pick_all(findings, FINDING),
        "store": app.store.root,
    }
    many = plural(int(str(health["records"])), "record")
    lines = screen.block("", f"{many} in {session.short(session.config.store)}", "")
    rows: list[list[str]] = [["category", *fields.STATUSES, ""]]
    for type, by_status in cast(dict[str, dict[str, int]], health["counts"]).items():
        numbers = [str(by_status[status]) for status in fields.STATUSES]
        rows.append([type, *numbers, "" if enabled.get(type, True) else "switched off"])
    lines += ["", *screen.table(rows)]
    if not health["in_sync"]:
        text = "the index is behind: memdir records index --rebuild"
        lines += ["", *screen.block("!", screen.advise(text), style="yellow")]
    for kind, number in due.items():
        step = "window" if kind == "window" else "gc"
        text = f"{plural(number, 'record')} due ({kind}): memdir records {step} --dry-run"
        lines += ["", *screen.block("", screen.advise(text))] if number else []
    lines += ["", *screen.finding_lines(findings)] if findings else []
    return Answer(answer, lines)


@record_command("index", "memdir records index --validate", changes=True)
@click.option("--rebuild", is_flag=True, help="Rebuild index.md from the records.")
@click.option("--validate", is_flag=True, help="Exit with 1 where it differs from the records.")
@click.option("--health", is_flag=True, help="The same as records status.")
def index_command(session: Session, rebuild: bool, validate: bool, health: bool) -> Answer:
    """Check index.md, or rebuild it; every change updates it."""
    if sum((rebuild, validate, health)) > 1:
        raise click.UsageError("Give one of the three.", click.get_current_context())
    app, screen = session.app, session.screen
    if rebuild:
        done = folders.rebuild_record_index(app)
        fields, (first, *rest), *_ = session.done_answer(app, done)
        changed = any(change.changed for change in done.changes)
        return Answer(fields, [first if changed else IN_STEP, *rest])
    if health:
        return _summary(session)
    records, findings = read_all_records(app.store)
    text = read_record_index(app.store)
    mismatches = folders.find_record_index_mismatches(text, records.items())
    lines = []
    for kind, path, number in mismatches:
        place = f"line {number}: " if number else ""
        lines += screen.block("!", f"{place}{MISMATCHES[kind]} {path}", style="yellow")
    if lines:
        lines += ["", *screen.block("fix:", screen.advise("memdir records index --rebuild"), "")]
    answer = {
        "mismatches": pick_all(mismatches, "kind path line=number"),
        "findings": pick_all(findings, FINDING),
        "valid": not mismatches,
        "store": app.store.root,
    }
    lines = [*(lines or [IN_STEP]), *screen.finding_lines(findings)]
    return Answer(answer, lines, int(validate and bool(mismatches)))


@record_command("gc", "memdir records gc --dry-run", changes=True)
def gc_command(session: Session) -> Answer:
    """Archive or purge what was retired before the grace period; retire what has expired.

    delete.archive_retired in memory-config.json says which of the two. Archived records stay.
    """
    from memdir.records.lifecycle import collect_record_garbage

    return answer_done(session, collect_record_garbage(session.app))


@record_command("window", "memdir records window --dry-run", changes=True)
def window_command(session: Session) -> Answer:
    """Keep the newest session summaries and retire the others.

    categories.session_summary.max_retained says how many. It happens by itself after each new
    summary; what only an old one holds is named before it goes.
    """
    from memdir.records.lifecycle import roll_record_window

    return answer_done(session, roll_record_window(session.app))
