"""Intents of a model, decided by the table and carried out in one change.

`prepare` is `commit` on a store that accepts every change and writes none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memdir.capture.inbox import Held, approval_reason
from memdir.errors import Missing
from memdir.format.draft import Change, hash_of
from memdir.hot import memory
from memdir.records import fields, match, refusal, render
from memdir.records.fields import Record
from memdir.records.index_md import change_records
from memdir.records.memory_config import RecordSettings
from memdir.records.record import (
    find_record,
    md5_of,
    parse_type,
    paths_of,
    read_json,
    read_record,
    settings_of,
)
from memdir.records.refusal import RecordError
from memdir.records.write import (
    CREATE,
    UPDATE,
    Request,
    carry_out,
    complete_draft,
    save_record,
    title_and_tags,
)
from memdir.store.writer import App, Desk, Done

MAX_INTENTS = 50  # per conversation
FAIL = "FAIL"
VERDICTS = ("", "PASS", "ADVISORY", FAIL)
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


def read_intents(given: Record, read: ReadDraft) -> list[Intent | RecordError]:
    """A broken intent does not hide the others."""
    items = given.get("intents")
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        fix = 'write {"intents": [{"category": …, "action": …, "draft": …}, …]}'
        raise RecordError(refusal.INPUT, "there is no list of intents", fix=fix)
    if len(items) > MAX_INTENTS:
        message = f"{len(items):,} intents, at most {MAX_INTENTS}"
        raise RecordError(refusal.INPUT, message, fix="commit them in several runs")
    results: list[Intent | RecordError] = []
    for item in items:
        try:
            results.append(_read_intent(item, read))
        except RecordError as error:
            results.append(error)
    return results


def _read_intent(given: Record, read: ReadDraft) -> Intent:
    for key in given:
        if key not in KEYS:
            raise _refusal(f"{str(key)[:40]!r} is no key of an intent", f"use {', '.join(KEYS)}")
    type = parse_type(str(given.get("category")))
    texts = {key: _text(given, key) for key in KEYS if key not in ("record", "issues")}
    action, verdict = texts["action"].upper(), texts["verdict"].upper()
    if action not in (*match.ACTIONS, match.NOOP):
        fix = f"use {', '.join(match.ACTIONS)}, NOOP"
        raise _refusal(f"there is no action {action[:40]!r}", fix)
    if verdict not in VERDICTS:
        raise _refusal(f"{verdict[:40]!r} is no verdict", "use PASS, ADVISORY or FAIL")
    if verdict == FAIL:
        issues = given.get("issues")
        notes = [str(it)[:200] for it in (issues if isinstance(issues, list) else [issues or ""])]
        blocked = "verification failed" + (f": {'; '.join(notes[:5])}" if any(notes) else "")
        return Intent(type, action, blocked=blocked)
    draft, hash = _read_draft(given, texts, read) if action != match.NOOP else (Record(), "")
    if draft.get("action") == "delete":  # the seed's spelling in a draft
        action = match.RETIRE
        texts["target"] = texts["target"] or _text(draft, "target")
        texts["reason"] = texts["reason"] or _text(draft, "reason")
        draft = {}
    return Intent(
        type,
        action,
        draft,
        new_info=texts["new_info"],
        event=texts["lifecycle_event"],
        reason=texts["reason"],
        target=texts["target"],
        expected=texts["hash"],
        pinned={"draft_hash": hash} if hash else {},
    )


def _read_draft(given: Record, texts: dict[str, str], read: ReadDraft) -> tuple[Record, str]:
    """The draft, read once, and its hash: the file must not change until the commit."""
    record, path = given.get("record"), texts["draft"]
    if isinstance(record, dict):
        return record, ""
    if record is not None:
        raise _refusal("record is no object", "write the draft itself, or name its file as draft")
    if not path:
        if texts["action"].upper() == match.RETIRE:
            return {}, ""
        raise _refusal("there is no draft", "name its file as draft")
    data = read(path)
    if texts["draft_hash"] not in ("", hash_of(data)):
        message = "the draft was changed since it was prepared"
        fix = "prepare it again, so that what is saved is what was checked"
        raise RecordError(refusal.SECURITY, message, fix=fix, path=path)
    return read_json(data, path), hash_of(data)


def _text(given: Record, key: str) -> str:
    value = given.get(key)
    if value is not None and not isinstance(value, str):
        raise _refusal(f"{key} is no text", f"write {key} as a text")
    return value or ""


def _refusal(message: str, fix: str) -> RecordError:
    return RecordError(refusal.INPUT, message, fix=fix)


def prepare_intents(app: App, intents: Sequence[Intent | RecordError]) -> tuple[list[Result], Done]:
    return commit_intents(replace(app, dry_run=True), intents)


def commit_intents(app: App, intents: Sequence[Intent | RecordError]) -> tuple[list[Result], Done]:
    """One batch, one undo; a refusal does not stop the others."""
    results: list[Result] = []
    with change_records(app, "save") as desk:
        settings, warnings = settings_of(desk.store)
        desk.remarks += [it.message for it in warnings]
        desk.cause = replace(desk.cause, batch=app.batch or f"records-{int(app.now())}")
        for intent in intents:
            if isinstance(intent, RecordError):
                results.append(Result(None, REFUSED, error=intent))
                continue
            try:
                results.append(_settle(app, desk, settings, intent))
            except RecordError as error:
                results.append(Result(intent, REFUSED, reason=error.message, error=error))
            except Missing as error:
                gone = RecordError(refusal.READ, error.message, fix=error.next, path=error.path)
                results.append(Result(intent, REFUSED, reason=error.message, error=gone))
            desk.changes += results[-1].changes
    return results, desk.done


def _settle(app: App, desk: Desk, settings: RecordSettings, intent: Intent) -> Result:
    if intent.blocked or intent.action == match.NOOP:
        return Result(intent, NOTHING, reason=intent.blocked or "nothing to write")
    if not settings.types[intent.type].enabled:
        return Result(intent, NOTHING, reason="the category is switched off")
    store = desk.store
    made = [path for path in store.files() if fields.type_at(path) == intent.type]  # in this change
    paths = dict.fromkeys((*paths_of(store, intent.type), *made))
    info = intent.new_info or title_and_tags(intent.draft) or intent.target
    answer = match.candidate(match.read_files(store, paths), intent.type, info, intent.event)
    action = match.resolve_action(str(answer["structural_cud"]), intent.action, answer["vetoes"])
    if action == match.NOOP:
        reasons = answer["vetoes"] or answer["hints"]
        reason = "; ".join(reasons) or "there is nothing that this could be done with"
        return Result(intent, NOTHING, reason=reason, answer=answer)
    path, standing = "", b""
    if action != match.CREATE:
        near = answer["candidate"]
        path = find_record(intent.target or (near["path"] if near else ""), store)
        standing = store.read(path)
    reason = intent.reason or intent.new_info
    if action == match.CREATE:
        how = Request(CREATE, intent.type, intent.target, intent.draft, reason=intent.reason)
    elif action == match.RETIRE:
        how = Request("delete", intent.type, path, expected=intent.expected, reason=reason)
    else:
        old, _ = read_record(standing, path)
        whole = complete_draft(old, intent.draft, reason or DEFAULT_SUMMARY, app.now())
        draft = {key: value for key, value in whole.items() if key not in SYSTEM_KEYS}
        how = Request(UPDATE, intent.type, path, draft, intent.expected, reason)
    changes = carry_out(app, desk, how)
    hash = md5_of(standing) if standing else ""
    first = changes[0]
    return Result(intent, DONE, action, first.path, hash, first.reason, tuple(changes), answer)


def approve_record(app: App, held: Held) -> Done:
    draft = held.catch.draft
    if draft is None:
        raise Missing("this draft holds no record", next=f"memdir review reject {held.id}")
    text = memory.write([("description", draft.description), ("type", draft.type)], draft.body)
    record = {key: it for key, it in render.read_rendered(text).items() if it not in ("", None)}
    return save_record(app, draft.type, record, approval_reason(held.id))
