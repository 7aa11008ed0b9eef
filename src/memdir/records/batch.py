"""Intents of a model, held drafts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from memdir.capture.inbox import Held, open_inbox, reason_of
from memdir.capture.progress import Captures
from memdir.capture.signals import Catch, Origin
from memdir.clients.conversation import PERSON
from memdir.errors import BadInput, MemdirError, Missing
from memdir.format.draft import Change, Draft, hash_of
from memdir.hot import memory
from memdir.hot.log import log
from memdir.models.budget import LedgerBroken, OverBudget
from memdir.models.ledger import open_model
from memdir.models.model import ModelFailed
from memdir.records import fields, match, refusal, render
from memdir.records.fields import Record
from memdir.records.index_md import healed, indexed
from memdir.records.lookup import find_record, paths_of, settings_of
from memdir.records.match import match as match_match
from memdir.records.memory_config import SESSION_SUMMARY, RecordSettings
from memdir.records.proposals import draft_question, drafted, failed, read_draft, verdict_question
from memdir.records.record import md5_of, read_json, read_record
from memdir.records.refusal import READ, RecordError
from memdir.records.triage import Reader, Score, Scored, excerpt, score
from memdir.records.validate import check, repair
from memdir.records.write import CREATE, UPDATE, Wanted, carry_out, completed, save_record
from memdir.store.ports import Store
from memdir.store.writer import App, Desk, Done, state_folder
from memdir.text.secrets import find_secrets

# What a model wants done with records, read strictly: it says what, never how.

MOST = 50  # of one conversation
FAIL = "FAIL"
VERDICTS = ("", "PASS", "ADVISORY", FAIL)
KEYS = (
    *("category", "action", "draft", "record", "new_info", "lifecycle_event", "reason"),
    *("target", "hash", "draft_hash", "verdict", "issues"),
)
ReadDraft = Callable[[str], bytes]


@dataclass(frozen=True)
class Intent:
    """One wish; `draft` is what was read from its file, `pinned` what an earlier look found."""

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


def read_intents(found: Record, read: ReadDraft) -> list[Intent | RecordError]:
    """Every intent, or why it is none; one that is broken hides no other."""
    given = found.get("intents")
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        fix = 'write {"intents": [{"category": …, "action": …, "draft": …}, …]}'
        raise RecordError(refusal.INPUT, "there is no list of intents", fix=fix)
    if len(given) > MOST:
        message = f"{len(given):,} intents, at most {MOST}"
        raise RecordError(refusal.INPUT, message, fix="commit them in several runs")
    results: list[Intent | RecordError] = []
    for one in given:
        try:
            results.append(_intent(one, read))
        except RecordError as error:
            results.append(error)
    return results


def _intent(given: Record, read: ReadDraft) -> Intent:
    for key in given:
        if key not in KEYS:
            raise _refusal(f"{str(key)[:40]!r} is no key of an intent", f"use {', '.join(KEYS)}")
    type = fields.type_named(given.get("category"))
    if not type:
        shown = str(given.get("category"))[:40]
        raise _refusal(f"there is no category {shown!r}", f"use {', '.join(fields.TYPES)}")
    said = {key: _text(given, key) for key in KEYS if key not in ("record", "issues")}
    action, verdict = said["action"].upper(), said["verdict"].upper()
    if action not in (*match.ACTIONS, match.NOOP):
        raise _refusal(
            f"there is no action {action[:40]!r}", f"use {', '.join(match.ACTIONS)}, NOOP"
        )
    if verdict not in VERDICTS:
        raise _refusal(f"{verdict[:40]!r} is no verdict", "use PASS, ADVISORY or FAIL")
    blocked = _intents_why(given) if verdict == FAIL else ""
    draft, pinned = _draft(given, said, read) if action != match.NOOP and not blocked else ({}, {})
    if draft.get("action") == "delete":  # how the seed says it in a draft
        action = match.RETIRE
        said["target"] = said["target"] or _text(draft, "target")
        said["reason"] = said["reason"] or _text(draft, "reason")
        draft = {}
    return Intent(
        type,
        action,
        draft,
        said["new_info"],
        said["lifecycle_event"],
        said["reason"],
        said["target"],
        said["hash"],
        blocked,
        pinned,
    )


def _draft(given: Record, said: dict[str, str], read: ReadDraft) -> tuple[Record, Record]:
    """The draft of an intent, read once, and its hash: later these very bytes must stand there."""
    record = given.get("record")
    if isinstance(record, dict):
        return record, {}
    if record is not None:
        raise _refusal("record is no object", "write the draft itself, or name its file as draft")
    if not said["draft"]:
        if said["action"].upper() == match.RETIRE:
            return {}, {}
        raise _refusal("there is no draft", "name its file as draft")
    data = read(said["draft"])
    pinned = {"draft_hash": hash_of(data)}
    if said["draft_hash"] and said["draft_hash"] != pinned["draft_hash"]:
        message = "the draft was changed since it was prepared"
        fix = "prepare it again, so that what is saved is what was checked"
        raise RecordError(refusal.SECURITY, message, fix=fix, path=said["draft"])
    return read_json(data, said["draft"]), pinned


def _intents_why(given: Record) -> str:
    found = given.get("issues")
    texts = [str(one)[:200] for one in found] if isinstance(found, list) else [str(found or "")]
    return "verification failed" + (f": {'; '.join(texts[:5])}" if any(texts) else "")


def _text(given: Record, key: str) -> str:
    value = given.get(key)
    if value is not None and not isinstance(value, str):
        raise _refusal(f"{key} is no text", f"write {key} as a text")
    return value or ""


def _refusal(message: str, fix: str) -> RecordError:
    return RecordError(refusal.INPUT, message, fix=fix)


# Intents of a model → decided by the table → all of them in one change, or none written.
#
# `prepare` is the same as `commit` on a store that takes every change and writes none.

DONE, NOTHING, REFUSED = "done", "nothing", "refused"
FROM_TALK = "Updated from a conversation"
OFF = "the category is switched off"


@dataclass(frozen=True)
class Result:
    """What becomes of one intent, and what the mechanics said of it."""

    intent: Intent | None
    outcome: str
    action: str = match.NOOP
    path: str = ""
    hash: str = ""  # MD5 of the version that is changed
    reason: str = ""
    changes: tuple[Change, ...] = ()
    answer: dict[str, object] | None = None  # of the candidate
    error: RecordError | None = None


def prepare(app: App, intents: Sequence[Intent | RecordError]) -> tuple[list[Result], Done]:
    """decide → try each, writing nothing"""
    return commit(replace(app, dry_run=True), intents)


def commit(app: App, intents: Sequence[Intent | RecordError]) -> tuple[list[Result], Done]:
    """decide → create, update or retire each → enlist; one batch, one undo"""
    results: list[Result] = []

    def act(desk: Desk) -> list[Change]:
        settings, warnings = settings_of(desk.store)
        desk.remarks += [one.message for one in warnings]
        desk.cause = replace(desk.cause, batch=app.batch or f"records-{int(app.now())}")
        results.extend(_settle(app, desk, settings, one) for one in intents)
        changes = [change for one in results for change in one.changes]
        return indexed(desk, changes) if changes else []

    done = app.change("save", healed(act), lambda done: None)
    return results, done


def _settle(app: App, desk: Desk, settings: RecordSettings, intent: Intent | RecordError) -> Result:
    """One intent; a refusal is its outcome and stops no other."""
    if isinstance(intent, RecordError):
        return Result(None, REFUSED, error=intent)
    try:
        return _decided(app, desk, settings, intent)
    except RecordError as error:
        return Result(intent, REFUSED, reason=error.message, error=error)
    except Missing as error:
        refusal = RecordError(READ, error.message, fix=error.next, path=error.path)
        return Result(intent, REFUSED, reason=error.message, error=refusal)


def _decided(app: App, desk: Desk, settings: RecordSettings, intent: Intent) -> Result:
    if intent.blocked or intent.action == match.NOOP:
        return Result(intent, NOTHING, reason=intent.blocked or "nothing to write")
    if not settings.types[intent.type].enabled:
        return Result(intent, NOTHING, reason=OFF)
    answer = match_match(_files(desk.store, intent.type), intent.type, _info(intent), intent.event)
    vetoes = answer["vetoes"]
    forbidding = [str(one) for one in vetoes] if isinstance(vetoes, list) else []
    action = match.resolve(str(answer["structural_cud"]), intent.action, forbidding)
    if action == match.NOOP:
        return Result(intent, NOTHING, reason=_why(answer, forbidding), answer=answer)
    path, standing = "", b""
    if action != match.CREATE:
        near = answer["candidate"]
        found = str(near["path"]) if isinstance(near, dict) else ""
        path = find_record(intent.target or found, desk.store)
        standing = desk.store.read(path)
    wanted = _wanted(app, intent, action, path, standing)
    changes = carry_out(app, desk, wanted)
    return Result(
        intent,
        DONE,
        action,
        changes[0].path,
        md5_of(standing) if standing else "",
        changes[0].reason,
        tuple(changes),
        answer,
    )


def _wanted(app: App, intent: Intent, action: str, path: str, standing: bytes) -> Wanted:
    reason = intent.reason or intent.new_info
    if action == match.CREATE:
        return Wanted(CREATE, intent.type, intent.target, intent.draft, reason=intent.reason)
    if action == match.RETIRE:
        return Wanted("delete", intent.type, path, expected=intent.expected, reason=reason)
    old, _ = read_record(standing, path)
    draft: Record = completed(old, intent.draft, reason or FROM_TALK, app.now())
    # Who drafted on an older version hears of it; what a model cannot know it need not say.
    system = ("id", "updated_at", "times_updated")
    draft = {key: value for key, value in draft.items() if key not in system}
    return Wanted(UPDATE, intent.type, path, draft, intent.expected, reason)


def _info(intent: Intent) -> str:
    if intent.new_info:
        return intent.new_info
    tags = intent.draft.get("tags")
    words = [intent.draft.get("title", ""), *(tags if isinstance(tags, list) else ())]
    return " ".join(str(word) for word in words) or intent.target


def _why(answer: dict[str, object], vetoes: list[str]) -> str:
    hints = answer["hints"]
    said = vetoes or ([str(one) for one in hints] if isinstance(hints, list) else [])
    return "; ".join(said) or "there is nothing that this could be done with"


def _files(store: Store, type: str) -> list[tuple[str, bytes]]:
    found = []
    made = [path for path in store.files() if fields.type_at(path) == type]  # in this change
    for path in dict.fromkeys((*paths_of(store, type), *made)):
        try:
            found.append((path, store.read(path)))
        except MemdirError:
            continue  # gone, or nobody can read it: no candidate either way
    return found


# Records out of a conversation that nobody asked for: drafted, and held until a person says yes.
#
# read → score → draft → hold. A model drafts and verifies where the settings name one and the
# budget lasts; else the words of the conversation do. What was held once is not held again.

HOLD = "a record, drafted in the words of the conversation: add what is missing"
BY_MODEL = "a record, drafted and verified by a model"
PURPOSE = "records"


def hold_records(
    app: App, transcript: str, reader: Reader, origin: Origin, last: str = "", *, ends: bool = True
) -> list[Held]:
    """read → score → draft, each type that triggers → hold; the cursor moves when something was

    A session is summed up when it ends, not after each turn.
    """
    captures = Captures(state_folder(app.config))
    with captures.lock.held("memdir capture", app.tell):
        known = captures.load(origin.session)
        try:
            stretch = reader.read(transcript, known.cursor, last)
        except Missing:
            return []
        scored = score(stretch.said, settings_of(app.store)[0])
        triggered = [one for one in scored.triggered if ends or one.type != SESSION_SUMMARY]
        drafts = [_drafted(app, scored, one, origin.session) for one in triggered]
        catches = [_catch(scored, *one, origin) for one in drafts if one]
        held = [_hold(app, one) for one in catches if one and not app.dry_run]
        if triggered and not app.dry_run:
            captures.keep(replace(known, cursor=stretch.cursor, path=transcript, time=app.now()))
    return [one for one in held if one]


def approve_record(app: App, held: Held) -> Done:
    """The draft as the person left it → save; saved again, it is a change that was there"""
    draft = held.catch.draft
    if draft is None:
        raise Missing("this draft holds no record", next=f"memdir review reject {held.id}")
    return save_record(app, draft.type, record_in(draft), reason_of(held.id))


def record_in(draft: Draft) -> Record:
    """What a held draft says, as a record; its body is the view of one."""
    text = memory.write([("description", draft.description), ("type", draft.type)], draft.body)
    found = render.read_view(text)
    return {key: value for key, value in found.items() if value not in ("", None)}


def _drafted(app: App, scored: Scored, one: Score, session: str) -> tuple[Record, str] | None:
    """A draft and why it is held; None where a model finds that nothing is worth it, or wrong."""
    options = app.config.options
    named = options.capture_model or options.model
    if named and not app.dry_run:
        try:
            record = _by_model(app, scored, one, session, named)
            return (record, BY_MODEL) if record else None
        except (OverBudget, ModelFailed, LedgerBroken, BadInput) as error:
            log(app.config.state_dir, PURPOSE, error.message)
    return drafted(scored, one), HOLD


def _by_model(app: App, scored: Scored, one: Score, session: str, named: str) -> Record | None:
    """draft → check → verify; one run of the budget"""
    settings, _ = settings_of(app.store)
    context = excerpt(scored, one, settings)
    model = open_model(app, PURPOSE, session, named=named, run=app.config.options.run_tokens)
    asked = draft_question(one.type, settings.types[one.type].description, context)
    record = read_draft(model.answer(asked).data, one.type)
    if record is None:
        return None
    whole, _ = repair({**record, "id": "draft", "record_status": "active"}, app.now())
    if problems := check(whole):
        raise BadInput(f"the model's draft: {problems[0].field} {problems[0].rule}")
    return None if failed(model.answer(verdict_question(record, context)).data) else record


def _catch(scored: Scored, record: Record, why: str, origin: Origin) -> Catch | None:
    body = memory.read(render.view(record)).body.strip("\n")
    if find_secrets(body) or find_secrets(str(record["title"])):
        return None  # records are committed with the code
    message = next((said.id for said in reversed(scored.said) if said.who == PERSON), "")
    draft = Draft(body, str(record["category"]), description=str(record["title"]))
    return Catch(replace(origin, message=message), draft, hold=why)


def _hold(app: App, catch: Catch) -> Held | None:
    try:
        held = open_inbox(app).hold(catch, catch.hold, app.now())
        open_inbox(app).read(held.id)
    except (BadInput, Missing):  # no room, or a review has settled it
        return None
    return held
