"""What a model wants done with records, read strictly: it says what, never how."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from memdir.core.records import cud, errors, fields
from memdir.core.records.errors import RecordError
from memdir.core.records.fields import Record
from memdir.core.records.record import read_json
from memdir.core.revision import hash_of

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
        raise RecordError(errors.INPUT, "there is no list of intents", fix=fix)
    if len(given) > MOST:
        message = f"{len(given):,} intents, at most {MOST}"
        raise RecordError(errors.INPUT, message, fix="commit them in several runs")
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
    if action not in (*cud.ACTIONS, cud.NOOP):
        raise _refusal(f"there is no action {action[:40]!r}", f"use {', '.join(cud.ACTIONS)}, NOOP")
    if verdict not in VERDICTS:
        raise _refusal(f"{verdict[:40]!r} is no verdict", "use PASS, ADVISORY or FAIL")
    blocked = _why(given) if verdict == FAIL else ""
    draft, pinned = _draft(given, said, read) if action != cud.NOOP and not blocked else ({}, {})
    if draft.get("action") == "delete":  # how the seed says it in a draft
        action = cud.RETIRE
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
        if said["action"].upper() == cud.RETIRE:
            return {}, {}
        raise _refusal("there is no draft", "name its file as draft")
    data = read(said["draft"])
    pinned = {"draft_hash": hash_of(data)}
    if said["draft_hash"] and said["draft_hash"] != pinned["draft_hash"]:
        message = "the draft was changed since it was prepared"
        fix = "prepare it again, so that what is saved is what was checked"
        raise RecordError(errors.SECURITY, message, fix=fix, path=said["draft"])
    return read_json(data, said["draft"]), pinned


def _why(given: Record) -> str:
    found = given.get("issues")
    texts = [str(one)[:200] for one in found] if isinstance(found, list) else [str(found or "")]
    return "verification failed" + (f": {'; '.join(texts[:5])}" if any(texts) else "")


def _text(given: Record, key: str) -> str:
    value = given.get(key)
    if value is not None and not isinstance(value, str):
        raise _refusal(f"{key} is no text", f"write {key} as a text")
    return value or ""


def _refusal(message: str, fix: str) -> RecordError:
    return RecordError(errors.INPUT, message, fix=fix)
