"""Records: write, save, retire, triage, commit, schema."""

from __future__ import annotations

from collections.abc import Sequence

import click

from memdir.cli.command import Session
from memdir.cli.output import (
    CHANGE,
    FINDING,
    Answer,
    Fields,
    pick,
    pick_all,
)
from memdir.cli.records import (
    UNDO,
    category_option,
    input_option,
    read_input_argument,
    reason_option,
    record_command,
)
from memdir.records import batch, fields, validate
from memdir.records.batch import REFUSED, Result, read_record_intents
from memdir.records.fields import Record
from memdir.records.handover import Contexts, triage_transcript
from memdir.records.record import INPUT, RecordError, parse_record_type
from memdir.records.write import (
    CREATE,
    UPDATE,
    Request,
    change_status_of_records,
    read_record_fields,
    save_record,
    write_record_request,
)
from memdir.text.terminal import one_line, visible_text

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
    return Answer(answer, visible_text(result.text).rstrip("\n").split("\n") if result.text else [])


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
    asked = read_input_argument(session, given)
    intents = read_record_intents(asked, lambda path: contexts.read_draft(path, session_id))
    results, done = (batch.prepare_record_intents if dry else batch.commit_record_intents)(
        session.app, intents
    )
    lines, pinned = [], []
    for intent, result in zip(asked["intents"], results, strict=True):
        type = result.intent.type if result.intent else "?"
        text = f"{result.action} {type} {one_line(result.path)}".rstrip()
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


@record_command("schema", "memdir records schema decision")
@click.argument("category", required=False, default="")
def schema(session: Session, category: str) -> Answer:
    """Print the JSON Schema of a category, or the fields of all."""
    if category:
        type = parse_record_type(category)
        text = validate.record_schema_text(type)
        return Answer(validate.record_schema(type), text.rstrip("\n").split("\n"))
    lines: list[str] = []
    for type, known in fields.CONTENT.items():
        lines += [type]
        for field in known:
            choices = f": {', '.join(field.choices)}" if field.choices else ""
            text = f"{field.name} ({field.kind}{choices})"
            lines += session.screen.block("*" if field.required else " ", text)
    answer = {type: validate.record_schema(type) for type in fields.TYPES}
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
    type = parse_record_type(category) if category else ""
    if action != CREATE and not target:
        raise RecordError(INPUT, f"{action} needs a target", fix="give --target PATH")
    draft = read_input_argument(session, input_) if action in (CREATE, UPDATE) else {}
    done = write_record_request(session.app, Request(action, type, target, draft, hash_, reason))
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
    type = parse_record_type(category) if category else ""
    given: Record = read_input_argument(session, input_) if input_ else {}
    options = {"title": title or None, "tags": list(tags) or None, "confidence": confidence}
    options["related_files"] = list(files) or None
    given |= {key: value for key, value in options.items() if value is not None}
    draft = read_record_fields(given, type, values)
    done = save_record(session.app, type, draft, reason)
    return session.done_answer(session.app, done, UNDO)


def _change_status(session: Session, names: Sequence[str], action: str, reason: str) -> Answer:
    done = change_status_of_records(session.app, names, action, reason)
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
