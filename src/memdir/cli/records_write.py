"""Records: write, save, retire, triage, commit, schema."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from memdir.cli import output, records
from memdir.cli.command import Session
from memdir.records import fields, validate
from memdir.records.fields import Record
from memdir.records.memory_config import TREE
from memdir.records.record import INPUT, RecordError, parse_record_type, require_record_hash
from memdir.text.terminal import one_line, visible_text

if TYPE_CHECKING:
    from memdir.records.batch import Result

SCORE = "category=type score threshold"
SETTINGS = "memory-config"
session_option = click.option(
    "--session",
    "session_id",
    metavar="ID",
    default="",
    help="The session whose private directory is meant.",
)
intents_option = click.option(
    "--input", "input_", metavar="FILE", required=True, help="- is stdin; else beside the drafts."
)


@records.record_command("triage", "memdir records triage --transcript SESSION.jsonl", changes=True)
@click.option("--transcript", metavar="FILE", required=True, help="What the client wrote down.")
@click.option("--last", metavar="TEXT", default="", help="A reply that is not in it yet.")
@session_option
def triage_command(session: Session, transcript: str, last: str, session_id: str) -> output.Answer:
    """Say what of a conversation may be worth a record.

    A summary and <triage_data>; nothing where no category reaches its threshold. The contexts lie
    in a private directory, and drafts are taken from there only.
    """
    from memdir.records.handover import triage_transcript

    app = session.app
    result = triage_transcript(app, transcript, session_id, last)
    for warning in result.findings:
        session.screen.tell(f"{warning.message}; {warning.fix}")
    answer = output.pick(
        result,
        "triggered scores contexts drafts text findings",
        triggered=output.pick_all(result.scored.triggered, SCORE),
        scores=output.pick_all(result.scored.scores, SCORE),
        findings=output.pick_all(result.findings, output.FINDING),
        dry_run=app.dry_run,
    )
    return output.Answer(
        answer, visible_text(result.text).rstrip("\n").split("\n") if result.text else []
    )


@records.record_command("prepare", "memdir records prepare --input - < intents.json")
@intents_option
@session_option
def prepare_command(session: Session, input_: str, session_id: str) -> output.Answer:
    """Check the intents of a model and say what would be done; write nothing.

    Drafts are read from the private directory of a session only. The answer holds the intents
    again, with hashes: commit them, and only what was checked is saved.
    """
    return _carry_out(session, input_, session_id, dry=True)


@records.record_command("commit", "memdir records commit --input - < prepared.json", changes=True)
@intents_option
@session_option
def commit_command(session: Session, input_: str, session_id: str) -> output.Answer:
    """Carry intents out: create, update or retire, all in one change.

    Each is decided by the table of mechanics and model; a refusal stops no other. Exit code 1
    where one was refused.
    """
    return _carry_out(session, input_, session_id, dry=session.asked.dry_run)


def _carry_out(session: Session, given: str, session_id: str, dry: bool) -> output.Answer:
    from memdir.records.batch import REFUSED, commit_record_intents, read_record_intents
    from memdir.records.handover import Contexts

    contexts = Contexts(session.config.state_dir)
    asked = records.read_input_argument(session, given)
    intents = read_record_intents(asked, lambda path: contexts.read_draft(path, session_id))
    results, done = commit_record_intents(replace(session.app, dry_run=dry), intents)
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
    answer: output.Fields = {
        "results": [_result_fields(result) for result in results],
        "intents": pinned,
        "remarks": list(done.remarks),
        "store": session.config.store,
        "dry_run": done.dry_run,
    }
    lines = lines or ["there was nothing to do"]
    if dry:  # the lines above sound like a commit
        lines += ["", "nothing was written yet; to do this: memdir records commit"]
    records.print_lost_content_warnings(session, done)
    failed = any(result.outcome == REFUSED for result in results)
    if session_id and not dry and not failed:
        contexts.drop(session_id)
    return output.Answer(answer, lines, int(failed))


def _result_fields(result: Result) -> output.Fields:
    answer, error, intent = result.answer or {}, result.error, result.intent
    return {
        "category": intent.type if intent else None,
        "asked": intent.action if intent else None,
        "mechanics": answer.get("structural_cud"),
        "vetoes": answer.get("vetoes", []),
        **output.pick(result, "outcome action path reason"),
        "changes": output.pick_all(result.changes, output.CHANGE),
        "error": error and output.pick(error, "record_code code message next=fix"),
    }


@records.record_command("schema", "memdir records schema decision")
@click.argument("category", required=False, default="")
def schema_command(session: Session, category: str) -> output.Answer:
    """Print the JSON Schema of a category, or the fields of all.

    `memory-config` prints the settings of the records with their defaults.
    """
    if category == SETTINGS:
        return output.Answer({**TREE}, json.dumps(TREE, indent=2).split("\n"))
    if category:
        type = parse_record_type(category)
        text = validate.record_schema_text(type)
        return output.Answer(validate.record_schema(type), text.rstrip("\n").split("\n"))
    lines: list[str] = []
    for type, known in fields.CONTENT.items():
        lines += [type]
        for field in known:
            choices = f": {', '.join(field.choices)}" if field.choices else ""
            text = f"{field.name} ({field.kind}{choices})"
            lines += session.screen.block("*" if field.required else " ", text)
    answer = {type: validate.record_schema(type) for type in fields.TYPES}
    return output.Answer(answer, [*lines, "", "* must be there"])


ACTIONS = ("create", "update", "delete", "archive", "unarchive", "restore")


@records.record_command(
    "write", "memdir records write --action create --input - < draft.json", changes=True
)
@click.option("--action", type=click.Choice(ACTIONS), required=True, help="What to do.")
@records.category_option
@click.option("--target", metavar="PATH", default="", help="FOLDER/NAME.json, or its id.")
@records.input_option
@click.option("--hash", "hash_", metavar="HASH", help="MD5 or SHA-256 that was read.")
@records.reason_option
def write_command(
    session: Session,
    action: str,
    category: str,
    target: str,
    input_: str,
    hash_: str | None,
    reason: str,
) -> output.Answer:
    """Create, update, retire (delete), archive or bring back one record.

    A create never overwrites, an update never revives. With --hash an update is only made on the
    version that was read.
    """
    from memdir.records import write

    type = parse_record_type(category) if category else ""
    if action != write.CREATE and not target:
        raise RecordError(INPUT, f"{action} needs a target", fix="give --target PATH")
    if hash_ is not None:
        require_record_hash(hash_)
    draft = (
        records.read_input_argument(session, input_)
        if action in (write.CREATE, write.UPDATE)
        else {}
    )
    done = write.write_record_request(
        session.app, write.Request(action, type, target, draft, hash_ or "", reason)
    )
    return records.answer_done(session, done)


@records.record_command(
    "save",
    'memdir records save --category decision --title "Use uv" --set decision=uv',
    changes=True,
)
@records.category_option
@click.option(
    "--title", metavar="TEXT", default="", help="One line; the file's name is made of it."
)
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="Once or more often.")
@click.option(
    "--set", "values", metavar="FIELD=TEXT", multiple=True, help="A field of its content; again."
)
@records.input_option
@records.reason_option
def save_command(
    session: Session,
    category: str,
    title: str,
    tags: Sequence[str],
    values: Sequence[str],
    input_: str,
    reason: str,
) -> output.Answer:
    """Save a record: a new one, or a change of the one that has this title.

    Fields of a list are given once for each item. The fields of a category: memdir records schema.
    """
    from memdir.records import write

    type = parse_record_type(category) if category else ""
    given: Record = records.read_input_argument(session, input_) if input_ else {}
    options = {"title": title, "tags": list(tags)}
    given |= {key: value for key, value in options.items() if value}
    draft = write.read_record_fields(given, type, values)
    try:
        done = write.save_record(session.app, type, draft, reason)
    except RecordError as error:
        if not input_:  # `add tags; add content.topic` in the words of this command
            step = error.next.replace("add tags", "add --tag TAG")
            step = step.replace("add title", "add --title TEXT")
            step = re.sub(r"\bcontent\.(\w+)", r"--set \1=TEXT", step)
            error.next = step.replace("add content", "add --set FIELD=TEXT (memdir records schema)")
        raise
    return records.answer_done(session, done)


def _status_command(name: str, action: str, help: str) -> click.Command:
    def change(session: Session, names: Sequence[str], reason: str) -> output.Answer:
        from memdir.records.write import change_status_of_records

        done = change_status_of_records(session.app, names, action, reason)
        return records.answer_done(session, done)

    change.__doc__ = help
    named = click.argument("names", nargs=-1, required=True)(records.reason_option(change))
    return records.record_command(name, f"memdir records {name} old-idea", changes=True)(named)


OUT = "out of the index and of recall"
BACK = "Bring retired or archived records back."
retire = _status_command("retire", "delete", f"Retire records: {OUT} until they are collected.")
archive = _status_command("archive", "archive", f"Archive records: {OUT}, kept for ever.")
restore = _status_command("restore", "", BACK)
