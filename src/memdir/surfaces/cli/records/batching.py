"""triage, prepare, commit: from a conversation to records, with a model only in between."""

from __future__ import annotations

import click

from memdir.adapters.contexts import Contexts
from memdir.app import Done
from memdir.core.records.scoring import Score
from memdir.flows.records.batching import REFUSED, Result
from memdir.flows.records.batching import commit as carry_out
from memdir.flows.records.batching import prepare as try_out
from memdir.flows.records.intents import Intent, read_intents
from memdir.flows.records.triaging import triage as look
from memdir.surfaces.cli.answers import Fields, change_fields, finding_fields
from memdir.surfaces.cli.records.declaring import read_input, record_command
from memdir.surfaces.cli.screen import Screen
from memdir.surfaces.cli.session import Session
from memdir.surfaces.cli.visible import line, visible

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
    found = look(app, transcript, session_id, last)
    for warning in found.findings:
        session.screen.tell(f"{warning.message}; {warning.fix}")
    fields: Fields = {
        "triggered": [_score(one) for one in found.scored.triggered],
        "scores": [_score(one) for one in found.scored.scores],
        "contexts": found.contexts,
        "drafts": found.drafts,
        "text": found.text,
        "findings": [finding_fields(one) for one in found.findings],
        "dry_run": app.dry_run,
    }
    session.screen.answer(
        fields, visible(found.text).rstrip("\n").split("\n") if found.text else []
    )
    return 0


def _score(one: Score) -> Fields:
    return {"category": one.type, "score": one.score, "threshold": one.threshold}


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
    found = read_input(session, given)
    intents = read_intents(found, lambda path: contexts.read_draft(path, session_id))
    results, done = (try_out if dry else carry_out)(session.app, intents)
    refused = [one for one in results if one.outcome == REFUSED]
    lines = _lines(session.screen, results)
    if dry:  # "done" is what a commit would say
        lines += ["", "nothing was written yet; to do this: memdir records commit"]
    session.screen.answer(_fields(session, found, results, done), lines)
    if session_id and not dry and not refused:
        contexts.drop(session_id)
    return int(bool(refused))


def _fields(session: Session, found: Fields, results: list[Result], done: Done) -> Fields:
    given = found["intents"]
    assert isinstance(given, list)
    return {
        "results": [_result(one) for one in results],
        "intents": [_pinned(one, result) for one, result in zip(given, results, strict=True)],
        "remarks": list(done.remarks),
        "store": session.config.store,
        "dry_run": done.dry_run,
    }


def _pinned(given: Fields, result: Result) -> Fields:
    """The intent as it was looked at: what is committed later must be the same."""
    if not isinstance(result.intent, Intent) or result.outcome == REFUSED:
        return given
    pinned = {**given, **result.intent.pinned}
    return pinned | {"target": result.path, "hash": result.hash} if result.hash else pinned


def _result(one: Result) -> Fields:
    answer, error = one.answer or {}, one.error
    return {
        "category": one.intent.type if one.intent else None,
        "asked": one.intent.action if one.intent else None,
        "mechanics": answer.get("structural_cud"),
        "vetoes": answer.get("vetoes", []),
        "outcome": one.outcome,
        "action": one.action,
        "path": one.path,
        "reason": one.reason,
        "changes": [change_fields(change) for change in one.changes],
        "error": {
            "record_code": error.record_code,
            "code": error.code,
            "message": error.message,
            "next": error.fix,
        }
        if error
        else None,
    }


def _lines(screen: Screen, results: list[Result]) -> list[str]:
    lines = []
    for one in results:
        type = one.intent.type if one.intent else "?"
        what = f"{one.action} {type} {line(one.path)}".rstrip()
        style = "red" if one.outcome == REFUSED else "green"
        if one.error:
            what = f"{type}: {one.error.record_code}: {one.error.message}"
        elif one.reason:
            what += f": {one.reason}"
        lines += screen.block(one.outcome, what, "", style)
    return lines or ["there was nothing to do"]
