"""Records: write, save, retire, triage, commit, import, export."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from memdir.cli.command import Session
from memdir.cli.output import (
    CHANGE,
    FINDING,
    Answer,
    Fields,
    done_fields,
    is_refused,
    pick,
    pick_all,
)
from memdir.cli.records import (
    UNDO,
    category_option,
    input_option,
    read_input,
    reason_option,
    record_command,
)
from memdir.clients import archive as archive_module
from memdir.clients.archive import check_target, write_export
from memdir.errors import BadInput
from memdir.hot.memory import RECORD_FOLDERS
from memdir.hot.place import MAIN_SCOPES, is_below
from memdir.records import batch, exchange, fields, refusal, validate
from memdir.records.batch import REFUSED, Result, read_intents
from memdir.records.contexts import Contexts
from memdir.records.exchange import Source
from memdir.records.fields import Record
from memdir.records.folders import open_store
from memdir.records.handover import triage_transcript
from memdir.records.record import parse_type
from memdir.records.refusal import RecordError
from memdir.records.write import (
    CREATE,
    UPDATE,
    Request,
    change_status,
    read_fields,
    save_record,
    write,
)
from memdir.store import changes
from memdir.store import look as look_module
from memdir.text.terminal import count, line, visible

SCORE = "category=type score threshold"
session_option = click.option(
    "--session", "session_id", metavar="ID", default="", help="Whose private directory."
)
intents_option = click.option(
    "--input", "input_", metavar="FILE", required=True, help="- is stdin; else beside the drafts."
)


@record_command("triage", "memdir records triage --transcript SESSION.jsonl", changes=True)
@click.option("--transcript", metavar="FILE", required=True, help="What the client wrote down.")
@click.option("--last", metavar="TEXT", default="", help="A reply that is not in it yet.")
@session_option
def triage(session: Session, transcript: str, last: str, session_id: str) -> Answer:
    """Say what of a conversation may be worth a record.

    A summary and <triage_data>; nothing where no category reaches its threshold. The contexts lie
    in a private directory, and drafts are taken from there only.
    """
    app = session.app
    result = triage_transcript(app, transcript, session_id, last)
    for warning in result.findings:
        session.screen.tell(f"{warning.message}; {warning.fix}")
    answer = pick(
        result,
        "triggered scores contexts drafts text findings",
        triggered=pick_all(result.scored.triggered, SCORE),
        scores=pick_all(result.scored.scores, SCORE),
        findings=pick_all(result.findings, FINDING),
        dry_run=app.dry_run,
    )
    return Answer(answer, visible(result.text).rstrip("\n").split("\n") if result.text else [])


@record_command("prepare", "memdir records prepare --input - < intents.json")
@intents_option
@session_option
def prepare(session: Session, input_: str, session_id: str) -> Answer:
    """Check the intents of a model and say what would be done; write nothing.

    Drafts are read from the private directory of a session only. The answer holds the intents
    again, with hashes: commit them, and only what was checked is saved.
    """
    return _carry_out(session, input_, session_id, dry=True)


@record_command("commit", "memdir records commit --input - < prepared.json", changes=True)
@intents_option
@session_option
def commit(session: Session, input_: str, session_id: str) -> Answer:
    """Carry intents out: create, update or retire, all in one change.

    Each is decided by the table of mechanics and model; a refusal stops no other. Exit code 1
    where one was refused.
    """
    return _carry_out(session, input_, session_id, dry=session.asked.dry_run)


def _carry_out(session: Session, given: str, session_id: str, dry: bool) -> Answer:
    contexts = Contexts(session.config.state_dir)
    asked = read_input(session, given)
    intents = read_intents(asked, lambda path: contexts.read_draft(path, session_id))
    results, done = (batch.prepare_intents if dry else batch.commit_intents)(session.app, intents)
    lines, pinned = [], []
    for intent, result in zip(asked["intents"], results, strict=True):
        type = result.intent.type if result.intent else "?"
        text = f"{result.action} {type} {line(result.path)}".rstrip()
        text += f": {result.reason}" if result.reason else ""
        if result.error:
            text = f"{type}: {result.error.record_code}: {result.error.message}"
        style = "red" if result.outcome == REFUSED else "green"
        lines += session.screen.block(result.outcome, text, "", style)
        # Returns the intent as checked, because the same one must be committed later.
        if result.intent and result.outcome != REFUSED:
            intent = {**intent, **result.intent.pinned}
            intent |= {"target": result.path, "hash": result.hash} if result.hash else {}
        pinned.append(intent)
    answer: Fields = {
        "results": [_result_fields(result) for result in results],
        "intents": pinned,
        "remarks": list(done.remarks),
        "store": session.config.store,
        "dry_run": done.dry_run,
    }
    lines = lines or ["there was nothing to do"]
    if dry:  # the lines above sound like a commit
        lines += ["", "nothing was written yet; to do this: memdir records commit"]
    failed = any(result.outcome == REFUSED for result in results)
    if session_id and not dry and not failed:
        contexts.drop(session_id)
    return Answer(answer, lines, int(failed))


def _result_fields(result: Result) -> Fields:
    answer, error, intent = result.answer or {}, result.error, result.intent
    return {
        "category": intent.type if intent else None,
        "asked": intent.action if intent else None,
        "mechanics": answer.get("structural_cud"),
        "vetoes": answer.get("vetoes", []),
        **pick(result, "outcome action path reason"),
        "changes": pick_all(result.changes, CHANGE),
        "error": error and pick(error, "record_code code message next=fix"),
    }


FEW = 20
HERE = (".claude/memory", "")


@record_command("import", "memdir records import ../old-project", changes=True)
@click.argument("source", required=False, default="")
@click.option("--from", "from_", type=click.Choice(MAIN_SCOPES), help="Markdown memories of ours.")
def import_(session: Session, source: str, from_: str | None) -> Answer:
    """Take over records: of another project, of an older version, or as Markdown.

    Without a source, the records of this very store are brought into today's form. Each repair is
    told. Nothing is overwritten, and one undo takes it all back.
    """
    app, screen = session.app, session.screen
    if source and from_:
        raise click.UsageError("Give a source or --from.", click.get_current_context())
    if not source and not from_:
        incoming, done = exchange.upgrade_records(app)
    else:
        incoming = _read_source(session, source, from_ or "", app.now())
        done = exchange.import_records(app, incoming)
    repairs = {path: texts for path, texts in incoming.repairs.items() if texts}
    more = {"repairs": repairs, "refused": pick_all(incoming.refused, FINDING)}
    taken = [change for change in done.changes if change.changed]
    head = "would import" if done.dry_run else "imported"
    lines = [f"{head} {len(taken):,} of {count(len(incoming.records), 'record')}"]
    for change in taken[:FEW]:
        lines.append(f"  + {line(change.path)}")
        for text in repairs.get(change.path, ()):
            lines += screen.block("repaired:", text, "      ")
    lines += screen.more_lines(len(taken), FEW, "")
    left = [f"{change.path}: {change.reason}" for change in done.changes if not change.changed]
    lines += [*screen.blocks("!", left, "yellow"), *screen.finding_lines(incoming.refused)]
    code = int(bool(incoming.refused) or is_refused(done.changes))
    return Answer({**done_fields(app, done), **more}, lines, code)


def _read_source(session: Session, source: str, scope: str, now: float) -> Source:
    if scope:
        other = session.at(dir=None, scope=scope).app
        return exchange.read_memories(look_module.read_all(other)[0], now)
    for folder in HERE:
        top = os.path.abspath(os.path.join(source, folder) if folder else source)
        if any(os.path.isdir(os.path.join(top, name)) for name in RECORD_FOLDERS):
            return exchange.read_records(open_store(top, 1 << 20), now)
    return exchange.read_memories(archive_module.read_source(source).files, now)


@record_command("export", "memdir records export ~/records-as-markdown", changes=True)
@click.argument("target", required=False, default="")
@click.option("--to", "into", type=click.Choice(MAIN_SCOPES), help="Into a store of ours.")
@click.option("--all", "every", is_flag=True, help="Also retired and archived records.")
def export(session: Session, target: str, into: str | None, every: bool) -> Answer:
    """Write records as Markdown memories, from which they can be read again.

    The target is a directory or a zip, or with --to one of the scopes.
    """
    if bool(target) == bool(into):
        raise click.UsageError("Give a target or --to.", click.get_current_context())
    app, screen = session.app, session.screen
    files = exchange.export_memories(app, every=every)
    if into:
        app = session.at(dir=None, scope=into).app
        done = changes.bring_in(app, files)
        left = [f"{change.path}: {change.reason}" for change in done.changes if not change.changed]
        saved = len(done.changes) - len(left)
        lines = [f"{saved:,} of {count(len(files), 'record')} saved in the scope {into}"]
        lines += screen.blocks("!", left, "yellow")
        return Answer(done_fields(app, done), lines, int(is_refused(done.changes)))
    place = os.path.abspath(target)
    if os.path.realpath(place) == app.store.root or is_below(place, app.store.root):
        raise BadInput(f"{place} lies inside the store", next="choose a place outside it")
    dry = session.asked.dry_run
    check_target(place, False) if dry else write_export(place, files, False)
    answer: Fields = {
        "path": place,
        "change": "created",
        "files": [{"path": path, "change": "created", "diff": ""} for path, _ in files],
        "dry_run": dry,
    }
    head = "would write" if dry else "wrote"
    text = f"{head} {count(len(files), 'file')} to {session.short(place)}"
    return Answer(answer, screen.block("", text, ""))


@record_command("schema", "memdir records schema decision")
@click.argument("category", required=False, default="")
def schema(session: Session, category: str) -> Answer:
    """Print the JSON Schema of a category, or the fields of all."""
    if category:
        type = parse_type(category)
        text = validate.schema_text(type)
        return Answer(validate.schema(type), text.rstrip("\n").split("\n"))
    lines: list[str] = []
    for type, known in fields.CONTENT.items():
        lines += [type]
        for field in known:
            choices = f": {', '.join(field.choices)}" if field.choices else ""
            text = f"{field.name} ({field.kind}{choices})"
            lines += session.screen.block("*" if field.required else " ", text)
    answer = {type: validate.schema(type) for type in fields.TYPES}
    return Answer(answer, [*lines, "", "* must be there"])


ACTIONS = ("create", "update", "delete", "archive", "unarchive", "restore")


@record_command(
    "write",
    "memdir records write --action create --input - < draft.json",
    changes=True,
)
@click.option("--action", type=click.Choice(ACTIONS), required=True, help="What to do.")
@category_option
@click.option("--target", metavar="PATH", default="", help="FOLDER/NAME.json, or its id.")
@input_option
@click.option("--hash", "hash_", metavar="HASH", default="", help="MD5 or SHA-256 that was read.")
@reason_option
def write_(
    session: Session,
    action: str,
    category: str,
    target: str,
    input_: str,
    hash_: str,
    reason: str,
) -> Answer:
    """Create, update, retire (delete), archive or bring back one record.

    A create never overwrites, an update never revives. With --hash an update is only made on the
    version that was read.
    """
    type = parse_type(category) if category else ""
    if action != CREATE and not target:
        raise RecordError(refusal.INPUT, f"{action} needs a target", fix="give --target PATH")
    draft = read_input(session, input_) if action in (CREATE, UPDATE) else {}
    done = write(session.app, Request(action, type, target, draft, hash_, reason))
    return session.done_answer(session.app, done, UNDO)


@record_command(
    "save",
    'memdir records save --category decision --title "Use uv" --set decision=uv',
    changes=True,
)
@category_option
@click.option(
    "--title", metavar="TEXT", default="", help="One line; the file's name is made of it."
)
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="Once or more often.")
@click.option("--file", "files", metavar="PATH", multiple=True, help="A file it speaks of.")
@click.option("--confidence", type=float, help="0 to 1; above 0.9 only what was confirmed.")
@click.option(
    "--set", "values", metavar="FIELD=TEXT", multiple=True, help="A field of its content; again."
)
@input_option
@reason_option
def save_(
    session: Session,
    category: str,
    title: str,
    tags: Sequence[str],
    files: Sequence[str],
    confidence: float | None,
    values: Sequence[str],
    input_: str,
    reason: str,
) -> Answer:
    """Save a record: a new one, or a change of the one that has this title.

    Fields of a list are given once for each item. The fields of a category: memdir records schema.
    """
    type = parse_type(category) if category else ""
    given: Record = read_input(session, input_) if input_ else {}
    options = {"title": title or None, "tags": list(tags) or None, "confidence": confidence}
    options["related_files"] = list(files) or None
    given |= {key: value for key, value in options.items() if value is not None}
    draft = read_fields(given, type, values)
    done = save_record(session.app, type, draft, reason)
    return session.done_answer(session.app, done, UNDO)


def _change_status(session: Session, names: Sequence[str], action: str, reason: str) -> Answer:
    done = change_status(session.app, names, action, reason)
    return session.done_answer(session.app, done, UNDO)


@record_command("retire", "memdir records retire old-idea --reason superseded", changes=True)
@click.argument("names", nargs=-1, required=True)
@reason_option
def retire(session: Session, names: Sequence[str], reason: str) -> Answer:
    """Retire records: out of the index and of recall, restorable for the grace period."""
    return _change_status(session, names, "delete", reason)


@record_command("archive", "memdir records archive old-idea", changes=True)
@click.argument("names", nargs=-1, required=True)
@reason_option
def archive(session: Session, names: Sequence[str], reason: str) -> Answer:
    """Archive records: out of the index and of recall, kept for ever."""
    return _change_status(session, names, "archive", reason)


@record_command("restore", "memdir records restore old-idea", changes=True)
@click.argument("names", nargs=-1, required=True)
@reason_option
def restore(session: Session, names: Sequence[str], reason: str) -> Answer:
    """Bring retired or archived records back."""
    return _change_status(session, names, "", reason)
