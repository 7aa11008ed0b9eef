"""Intents of a model, carried out in one change, and drafts of a model, held for a person."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Any

from memdir.capture.inbox import Held, open_inbox
from memdir.capture.progress import Captures
from memdir.capture.sessions import Reader
from memdir.capture.signals import Catch, Origin
from memdir.clients.conversation import PERSON
from memdir.errors import BadInput, Missing
from memdir.format.draft import Change, Draft, content_hash
from memdir.hot import memory
from memdir.hot.run import log_hook
from memdir.models.ledger import LedgerBroken, OverBudget, open_model
from memdir.models.model import Model, ModelFailed, Question
from memdir.records import fields, match
from memdir.records.fields import Record
from memdir.records.folders import change_records
from memdir.records.handover import render_record_excerpt
from memdir.records.memory_config import SESSION_SUMMARY, RecordSettings
from memdir.records.record import (
    INPUT,
    READ,
    SECURITY,
    RecordError,
    collect_records,
    find_record,
    md5_of_record,
    parse_record_type,
    read_record,
    read_record_json,
    record_settings,
)
from memdir.records.triage import Scored, score_for_records
from memdir.records.validate import STRING, check_record, record_content_schema, repair_record
from memdir.records.write import (
    CREATE,
    UPDATE,
    Request,
    apply_record_change,
    complete_record_draft,
)
from memdir.store.writer import App, Desk, Done, store_state_folder
from memdir.text.secrets import find_secrets

MAX_INTENTS = 50  # per conversation
ADVISORY, FAIL = "ADVISORY", "FAIL"
VERDICTS = ("PASS", ADVISORY, FAIL)
MAX_ISSUES, MAX_ISSUE_CHARACTERS = 5, 100  # kept of a verification
KEYS = (
    *("category", "action", "draft", "record", "new_info", "lifecycle_event", "reason"),
    *("target", "hash", "draft_hash", "verdict", "issues"),
)
DONE, NOTHING, REFUSED = "done", "nothing", "refused"
DEFAULT_SUMMARY = "Updated from a conversation"
SYSTEM_KEYS = ("id", "updated_at", "times_updated")  # unknown to a model
ReadDraft = Callable[[str], bytes]


@dataclass(frozen=True)
class Intent:
    """`draft` is the content of its file, `pinned` the hash of that file."""

    type: str
    action: str
    draft: Record = field(default_factory=dict)
    new_info: str = ""
    event: str = ""
    reason: str = ""
    target: str = ""
    expected: str = ""
    blocked: str = ""
    advice: str = ""  # of the verification; kept in the record's changes
    pinned: Record = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    intent: Intent | None
    outcome: str
    action: str = match.NOOP
    path: str = ""
    hash: str = ""  # MD5 of the version to change
    reason: str = ""
    changes: tuple[Change, ...] = ()
    answer: dict[str, Any] | None = None  # of the candidate
    error: RecordError | None = None


def read_record_intents(given: Record, read: ReadDraft) -> list[Intent | RecordError]:
    """A broken intent does not hide the others."""
    items = given.get("intents")
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        fix = 'write {"intents": [{"category": …, "action": …, "draft": …}, …]}'
        raise RecordError(INPUT, "there is no list of intents", fix=fix)
    if len(items) > MAX_INTENTS:
        message = f"{len(items):,} intents, at most {MAX_INTENTS}"
        raise RecordError(INPUT, message, fix="commit them in several runs")
    results: list[Intent | RecordError] = []
    for item in items:
        try:
            results.append(_read_intent(item, read))
        except RecordError as error:
            results.append(error)
    return results


def _read_intent(given: Record, read: ReadDraft) -> Intent:
    for key, value in given.items():
        if key not in KEYS:
            fix = f"use {', '.join(KEYS)}"
            raise RecordError(INPUT, f"{str(key)[:40]!r} is no key of an intent", fix=fix)
        if key not in ("record", "issues") and not isinstance(value, str | None):
            raise RecordError(INPUT, f"{key} is no text", fix=f"write {key} as a text")
    texts = {key: given.get(key) or "" for key in KEYS}
    type = parse_record_type(texts["category"])
    action = _choose(texts["action"], "action", (*match.ACTIONS, match.NOOP))
    if action == match.NOOP:
        return Intent(type, action)
    if not texts["verdict"]:
        fix = f"compare the draft with its context, then add verdict: {', '.join(VERDICTS)}"
        raise RecordError(INPUT, "the intent has no verdict", fix=fix)
    verdict = _choose(texts["verdict"], "verdict", VERDICTS)
    advice = _join_issues(given.get("issues"))
    if verdict == FAIL:
        return Intent(type, action, blocked=f"verification failed: {advice}".rstrip(": "))
    draft, hash = _read_draft(given, action, read)
    target, reason = texts["target"], texts["reason"]
    if draft.get("action") == "delete":  # the seed's spelling in a draft
        action = match.RETIRE
        target = target or str(draft.get("target") or "")
        reason = reason or str(draft.get("reason") or "")
        draft = {}
    return Intent(
        type,
        action,
        draft,
        new_info=texts["new_info"],
        event=texts["lifecycle_event"],
        reason=reason,
        target=target,
        expected=texts["hash"],
        advice=advice if verdict == ADVISORY else "",
        pinned={"draft_hash": hash} if hash else {},
    )


def _join_issues(given: object) -> str:
    issues = given if isinstance(given, list) else [given or ""]
    return "; ".join(str(it)[:MAX_ISSUE_CHARACTERS] for it in issues[:MAX_ISSUES] if it)


def _choose(given: str, key: str, known: Sequence[str]) -> str:
    if given.upper() not in known:
        message = f"{given[:40]!r} is no {key}"
        raise RecordError(INPUT, message, fix=f"use {', '.join(known)}")
    return given.upper()


def _read_draft(given: Record, action: str, read: ReadDraft) -> tuple[Record, str]:
    """The draft, read once, and its hash: the file must not change until the commit."""
    record, path = given.get("record"), given.get("draft")
    if isinstance(record, dict):
        return record, ""
    if record is not None or not path:
        if record is None and action == match.RETIRE:
            return {}, ""
        fix = "write it as record, an object, or name its file as draft"
        raise RecordError(INPUT, "there is no draft", fix=fix)
    data = read(path)
    if (given.get("draft_hash") or content_hash(data)) != content_hash(data):
        message = "the draft was changed since it was prepared"
        fix = "prepare it again, so that what is saved is what was checked"
        raise RecordError(SECURITY, message, fix=fix, path=path)
    return read_record_json(data, path), content_hash(data)


def commit_record_intents(
    app: App, intents: Sequence[Intent | RecordError]
) -> tuple[list[Result], Done]:
    """One batch, one undo; a refusal does not stop the others."""
    results: list[Result] = []
    with change_records(app, "save") as desk:
        settings, warnings = record_settings(desk.store)
        desk.remarks += [it.message for it in warnings]
        desk.cause = replace(desk.cause, batch=app.batch or f"records-{int(app.now())}")
        for intent in intents:
            known = None if isinstance(intent, RecordError) else intent
            try:
                if isinstance(intent, RecordError):
                    raise intent
                result = _settle(app, desk, settings, intent)
            except RecordError as error:
                result = Result(known, REFUSED, reason=error.message, error=error)
            except Missing as error:
                gone = RecordError(READ, error.message, fix=error.next, path=error.path)
                result = Result(known, REFUSED, reason=error.message, error=gone)
            results.append(result)
            desk.changes += result.changes
    return results, desk.done


def _settle(app: App, desk: Desk, settings: RecordSettings, intent: Intent) -> Result:
    if intent.blocked or intent.action == match.NOOP:
        return Result(intent, NOTHING, reason=intent.blocked or "nothing to write")
    if not settings.types[intent.type].enabled:
        return Result(intent, NOTHING, reason="the category is switched off")
    store = desk.store
    paths = [path for path in store.files() if fields.record_type_at(path) == intent.type]
    tags = intent.draft.get("tags")
    words = [intent.draft.get("title", ""), *(tags if isinstance(tags, list) else ())]
    info = intent.new_info or " ".join(map(str, words)) or intent.target
    known, _ = collect_records(store, paths)
    answer = match.pick_candidate_record(known.items(), intent.type, info, intent.event)
    action = match.resolve_record_action(
        str(answer["structural_cud"]), intent.action, answer["vetoes"]
    )
    if action == match.NOOP:
        reasons = answer["vetoes"] or answer["hints"]
        reason = "; ".join(reasons) or "there is nothing that this could be done with"
        return Result(intent, NOTHING, reason=reason, answer=answer)
    path, standing = "", b""
    if action != match.CREATE:
        near = answer["candidate"]
        path = find_record(intent.target or (near["path"] if near else ""), store)
        standing = store.read(path)
    reason, draft = intent.reason or intent.new_info, intent.draft
    advice = f"advisory: {intent.advice}" if intent.advice else ""
    if action == match.CREATE:
        log = draft.get("changes")
        entries = [*(log if isinstance(log, list) else ()), {"summary": advice}]
        draft = draft | {"changes": entries} if advice else draft
        how = Request(CREATE, intent.type, intent.target, draft, reason=intent.reason)
    elif action == match.RETIRE:
        reason = "; ".join(filter(None, (reason, advice)))
        how = Request("delete", intent.type, path, expected=intent.expected, reason=reason)
    else:
        old, _ = read_record(standing, path)
        summary = "; ".join(filter(None, (reason or DEFAULT_SUMMARY, advice)))
        whole = complete_record_draft(old, draft, summary, app.now())
        draft = {key: value for key, value in whole.items() if key not in SYSTEM_KEYS}
        how = Request(UPDATE, intent.type, path, draft, intent.expected, reason)
    changes = apply_record_change(app, desk, how)
    hash = md5_of_record(standing) if standing else ""
    said = changes[0].reason or advice
    return Result(intent, DONE, action, changes[0].path, hash, said, tuple(changes), answer)


# Drafts that a model makes in the worker

HOLD = "a record, drafted and verified by a model"
PURPOSE = "records"
MAX_CONTEXT_CHARACTERS = 8_000  # of an excerpt
DRAFT_TOKENS, VERDICT_TOKENS = 900, 200
ANSWER_SECONDS = 20.0
_STRINGS: dict[str, object] = {"type": "array", "items": STRING}
VERDICT: dict[str, object] = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": [*VERDICTS]}, "issues": _STRINGS},
    "required": ["verdict", "issues"],
    "additionalProperties": False,
}


def hold_records(
    app: App, transcript: str, reader: Reader, origin: Origin, *, ends: bool = True
) -> list[Held]:
    """Let the model draft each category that triggers, and hold the drafts.

    Without a model nothing is drafted. A session is summarized when it ends, not after each
    turn. Messages are read once, unless the budget ran out.
    """
    options = app.config.options
    named = options.capture_model or options.model
    if not named or app.dry_run:
        return []
    captures = Captures(store_state_folder(app.config))
    with captures.lock.held("memdir capture", app.tell):
        known = captures.load(origin.session)
        try:
            stretch = reader.read(transcript, known.cursor)
        except Missing:
            return []
        settings, _ = record_settings(app.store)
        scored = score_for_records(stretch.said, settings)
        triggered = [it for it in scored.triggered if ends or it.type != SESSION_SUMMARY]
        held: list[Held] = []
        for item in triggered:
            context = render_record_excerpt(scored, item, settings)[:MAX_CONTEXT_CHARACTERS]
            description = settings.types[item.type].description or "see the fields"
            try:
                model = open_model(
                    app, PURPOSE, origin.session, named=named, run=options.run_tokens
                )
                record, advice = _ask_model(model, item.type, description, context, app.now())
            except OverBudget as error:
                log_hook(app.config.state_dir, PURPOSE, error.message)
                return held
            except (ModelFailed, LedgerBroken, BadInput) as error:
                log_hook(app.config.state_dir, PURPOSE, error.message)
                continue
            held += _hold(app, scored, record, origin, advice) if record else []
        if triggered:
            captures.keep(replace(known, cursor=stretch.cursor, path=transcript, time=app.now()))
    return held


def _ask_model(
    model: Model, type: str, description: str, context: str, now: float
) -> tuple[Record | None, str]:
    """The draft, None if there is nothing to keep or it is wrong; and what its check noted."""
    content = record_content_schema(type, STRING)
    for value in content["properties"].values():
        if "enum" in value:
            value["type"] = "string"
    schema = {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": [match.CREATE, match.NOOP]},
            "title": STRING,
            "tags": _STRINGS,
            "confidence": {"type": "number"},
            "content": content,
        },
        "required": ["action"],  # a NOOP has no other keys
        "additionalProperties": False,
    }
    prompts = files("memdir.records").joinpath("prompts")
    task = prompts.joinpath("draft.md").read_text(encoding="utf-8")
    task = task.format(type=type, description=description)
    answer = model.answer(Question(task, context, schema, DRAFT_TOKENS, ANSWER_SECONDS)).data
    if not isinstance(answer, dict) or answer.get("action") != match.CREATE:
        return None, ""
    keys = [key for key in ("title", "tags", "confidence", "content") if key in answer]
    record: Record = {"category": type} | {key: answer[key] for key in keys}
    whole, _ = repair_record({**record, "id": "draft", "record_status": fields.ACTIVE}, now)
    if problems := check_record(whole):
        raise BadInput(f"the model's draft: {problems[0].field} {problems[0].rule}")
    text = f"{context}\n\nThe draft:\n{json.dumps(record, ensure_ascii=False)}"
    task = prompts.joinpath("verify.md").read_text(encoding="utf-8")
    question = Question(task, text, VERDICT, VERDICT_TOKENS, ANSWER_SECONDS)
    checked = model.answer(question).data
    verdict = checked if isinstance(checked, dict) else {}
    passed = verdict.get("verdict") in VERDICTS[:2]
    return record if passed else None, _join_issues(verdict.get("issues"))


def _hold(app: App, scored: Scored, record: Record, origin: Origin, advice: str) -> list[Held]:
    hold = f"{HOLD}; its check noted: {advice}" if advice else HOLD
    body = memory.read_header(fields.render_record(record)).body.strip("\n")
    if find_secrets(body) or find_secrets(str(record["title"])):
        return []  # records are committed with the code
    message = next((it.id for it in reversed(scored.said) if it.who == PERSON), "")
    draft = Draft(body, str(record["category"]), description=str(record["title"]))
    catch = Catch(replace(origin, message=message), draft, hold=hold)
    inbox = open_inbox(app)
    try:
        held = inbox.hold(catch, hold, app.now())
        inbox.read(held.id)
    except (BadInput, Missing):  # the inbox is full, or a review has settled it
        return []
    return [held]
