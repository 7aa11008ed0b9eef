"""Records: write, save, retire, triage, commit, import, export."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

import click

from memdir.cli.command import Session
from memdir.cli.output import (
    Fields,
    Screen,
    change_fields,
    done_fields,
    finding_fields,
    finding_lines,
    tell_done,
)
from memdir.cli.records import (
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
from memdir.records.triage import Score
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
from memdir.store.writer import Done, open_app
from memdir.text.terminal import count, line, visible

# triage, prepare, commit: from a conversation to records, with a model only in between.

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
def triage(session: Session, transcript: str, last: str, session_id: str) -> int:
    """Say what of a conversation may be worth a record.

    A summary and <triage_data>; nothing where no category reaches its threshold. The contexts lie
    in a private directory, and drafts are taken from there only.
    """
    app = session.app
    result = triage_transcript(app, transcript, session_id, last)
    for warning in result.findings:
        session.screen.tell(f"{warning.message}; {warning.fix}")
    answer: Fields = {
        "triggered": [_score_fields(it) for it in result.scored.triggered],
        "scores": [_score_fields(it) for it in result.scored.scores],
        "contexts": result.contexts,
        "drafts": result.drafts,
        "text": result.text,
        "findings": [finding_fields(it) for it in result.findings],
        "dry_run": app.dry_run,
    }
    lines = visible(result.text).rstrip("\n").split("\n") if result.text else []
    session.screen.answer(answer, lines)
    return 0


def _score_fields(item: Score) -> Fields:
    return {"category": item.type, "score": item.score, "threshold": item.threshold}


@record_command("prepare", "memdir records prepare --input - < intents.json")
@intents_option
@session_option
def prepare(session: Session, input_: str, session_id: str) -> int:
    """Check the intents of a model and say what would be done; write nothing.

    Drafts are read from the private directory of a session only. The answer holds the intents
    again, with hashes: commit them, and only what was checked is saved.
    """
    return _run(session, input_, session_id, dry=True)


@record_command("commit", "memdir records commit --input - < prepared.json", changes=True)
@intents_option
@session_option
def commit(session: Session, input_: str, session_id: str) -> int:
    """Carry intents out: create, update or retire, all in one change.

    Each is decided by the table of mechanics and model; a refusal stops no other. Exit code 1
    where one was refused.
    """
    return _run(session, input_, session_id, dry=session.asked.dry_run)


def _run(session: Session, given: str, session_id: str, dry: bool) -> int:
    contexts = Contexts(session.config.state_dir)
    asked = read_input(session, given)
    intents = read_intents(asked, lambda path: contexts.read_draft(path, session_id))
    results, done = (batch.prepare_intents if dry else batch.commit_intents)(session.app, intents)
    refused = any(it.outcome == REFUSED for it in results)
    pairs = zip(asked["intents"], results, strict=True)
    answer: Fields = {
        "results": [_result_fields(it) for it in results],
        "intents": [_pinned_intent(intent, result) for intent, result in pairs],
        "remarks": list(done.remarks),
        "store": session.config.store,
        "dry_run": done.dry_run,
    }
    lines = [text for it in results for text in _result_lines(session.screen, it)]
    lines = lines or ["there was nothing to do"]
    if dry:  # "done" is what a commit would say
        lines += ["", "nothing was written yet; to do this: memdir records commit"]
    session.screen.answer(answer, lines)
    if session_id and not dry and not refused:
        contexts.drop(session_id)
    return int(refused)


def _pinned_intent(given: Fields, result: Result) -> Fields:
    """The intent as it was looked at: what is committed later must be the same."""
    if result.intent is None or result.outcome == REFUSED:
        return given
    pinned = {**given, **result.intent.pinned}
    return pinned | {"target": result.path, "hash": result.hash} if result.hash else pinned


def _result_fields(result: Result) -> Fields:
    answer, error, intent = result.answer or {}, result.error, result.intent
    problem = error and {
        "record_code": error.record_code,
        "code": error.code,
        "message": error.message,
        "next": error.fix,
    }
    return {
        "category": intent.type if intent else None,
        "asked": intent.action if intent else None,
        "mechanics": answer.get("structural_cud"),
        "vetoes": answer.get("vetoes", []),
        "outcome": result.outcome,
        "action": result.action,
        "path": result.path,
        "reason": result.reason,
        "changes": [change_fields(change) for change in result.changes],
        "error": problem,
    }


def _result_lines(screen: Screen, result: Result) -> list[str]:
    type = result.intent.type if result.intent else "?"
    text = f"{result.action} {type} {line(result.path)}".rstrip()
    if result.error:
        text = f"{type}: {result.error.record_code}: {result.error.message}"
    elif result.reason:
        text += f": {result.reason}"
    style = "red" if result.outcome == REFUSED else "green"
    return screen.block(result.outcome, text, "", style)


# import, export, schema: records from elsewhere, to elsewhere, and what they must look like.

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
        incoming, done = exchange.upgrade_records(app)
    else:
        incoming = _read(session, source, from_ or "", app.now())
        done = exchange.import_records(app, incoming)
    fields_of = done_fields(app, done)
    answer = {
        **fields_of,
        "repairs": {path: said for path, said in incoming.repairs.items() if said},
        "refused": [finding_fields(it) for it in incoming.refused],
    }
    session.screen.answer(answer, _exchanging_lines(session.screen, incoming, done))
    lost = any(not it.changed and not it.hash for it in done.changes)
    return int(bool(incoming.refused) or lost)


def _read(session: Session, source: str, scope: str, now: float) -> Source:
    if scope:
        other = open_app(
            replace(session.asked, dir=None).config(scope),
            now=lambda: now,
            tell=session.screen.tell,
        )
        return exchange.read_memories(look_module.read_all(other)[0], now)
    for folder in HERE:
        top = os.path.abspath(os.path.join(source, folder) if folder else source)
        if any(os.path.isdir(os.path.join(top, name)) for name in RECORD_FOLDERS):
            return exchange.read_records(open_store(top, 1 << 20), now)
    return exchange.read_memories(archive_module.read_source(source).files, now)


def _exchanging_lines(screen: Screen, incoming: Source, done: Done) -> list[str]:
    taken = [change for change in done.changes if change.changed]
    head = "would import" if done.dry_run else "imported"
    lines = [f"{head} {len(taken):,} of {count(len(incoming.records), 'record')}"]
    for change in taken[:FEW]:
        lines.append(f"  + {line(change.path)}")
        for said in incoming.repairs.get(change.path, ()):
            lines += screen.block("repaired:", said, "      ")
    lines += [f"  and {len(taken) - FEW:,} more"] if len(taken) > FEW else []
    for change in done.changes:
        if not change.changed:
            lines += screen.block("!", f"{change.path}: {change.reason}", style="yellow")
    return lines + finding_lines(screen, incoming.refused)


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
    files = exchange.export_memories(app, every=every)
    if into:
        return _save(session, into, files)
    place = os.path.abspath(target)
    if os.path.realpath(place) == app.store.root or is_below(place, app.store.root):
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
    done = changes.bring_in(app, files)
    taken = [change for change in done.changes if change.changed]
    lines = [f"{len(taken):,} of {count(len(files), 'record')} saved in the scope {scope}"]
    for change in done.changes:
        if not change.changed:
            text = f"{change.path}: {change.reason}"
            lines += session.screen.block("!", text, style="yellow")
    session.screen.answer(done_fields(app, done), lines)
    return int(any(not it.changed and not it.hash for it in done.changes))


@record_command("schema", "memdir records schema decision")
@click.argument("category", required=False, default="")
def schema(session: Session, category: str) -> None:
    """Print the JSON Schema of a category, or the fields of all."""
    if category:
        type = parse_type(category)
        session.screen.answer(
            validate.schema(type), validate.schema_text(type).rstrip("\n").split("\n")
        )
        return
    lines: list[str] = []
    for type, known in fields.CONTENT.items():
        lines += [type]
        for field in known:
            must = "*" if field.required else " "
            said = f": {', '.join(field.choices)}" if field.choices else ""
            lines += session.screen.block(must, f"{field.name} ({field.kind}{said})")
    answer = {type: validate.schema(type) for type in fields.TYPES}
    session.screen.answer(answer, [*lines, "", "* must be there"])


# write, save, retire, archive, restore: what changes records.

ACTIONS = ("create", "update", "delete", "archive", "unarchive", "restore")
UNDO = "Undo: memdir undo"


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
) -> None:
    """Create, update, retire (delete), archive or bring back one record.

    A create never overwrites, an update never revives. With --hash an update is only made on the
    version that was read.
    """
    app = session.app
    type = parse_type(category) if category else ""
    if action != CREATE and not target:
        raise RecordError(refusal.INPUT, f"{action} needs a target", fix="give --target PATH")
    draft = read_input(session, input_) if action in (CREATE, UPDATE) else {}
    done = write(app, Request(action, type, target, draft, hash_, reason))
    tell_done(session, app, None, UNDO)(done)


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
) -> None:
    """Save a record: a new one, or a change of the one that has this title.

    Fields of a list are given once for each item. The fields of a category: memdir records schema.
    """
    app = session.app
    type = parse_type(category) if category else ""
    given: Record = read_input(session, input_) if input_ else {}
    given |= {"title": title} if title else {}
    given |= {"tags": list(tags)} if tags else {}
    given |= {"related_files": list(files)} if files else {}
    given |= {"confidence": confidence} if confidence is not None else {}
    draft = read_fields(given, type, values)
    tell_done(session, app, None, UNDO)(save_record(app, type, draft, reason))


@record_command("retire", "memdir records retire old-idea --reason superseded", changes=True)
@click.argument("names", nargs=-1, required=True)
@reason_option
def retire(session: Session, names: Sequence[str], reason: str) -> None:
    """Retire records: out of the index and of recall, restorable for the grace period."""
    app = session.app
    tell_done(session, app, None, UNDO)(change_status(app, names, "delete", reason))


@record_command("archive", "memdir records archive old-idea", changes=True)
@click.argument("names", nargs=-1, required=True)
@reason_option
def archive(session: Session, names: Sequence[str], reason: str) -> None:
    """Archive records: out of the index and of recall, kept for ever."""
    app = session.app
    tell_done(session, app, None, UNDO)(change_status(app, names, "archive", reason))


@record_command("restore", "memdir records restore old-idea", changes=True)
@click.argument("names", nargs=-1, required=True)
@reason_option
def restore(session: Session, names: Sequence[str], reason: str) -> None:
    """Bring retired or archived records back."""
    app = session.app
    tell_done(session, app, None, UNDO)(change_status(app, names, "", reason))
