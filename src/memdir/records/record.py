"""Records on disk: read strictly, written in one stable form, listed and found by name.

A refusal is a `RecordError`, in the form that agents read.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Iterable

from memdir.errors import Finding, MemdirError, Missing
from memdir.hot.memory import RECORD_SETTINGS, decode, stem
from memdir.records import fields
from memdir.records.fields import Record
from memdir.records.memory_config import RecordSettings, read_record_settings
from memdir.records.validate import check_record, repair_record
from memdir.store.ports import Store

Collected = dict[str, Record]  # by path

PROJECT_FOLDER = ".claude/memory/"
_BOM = b"\xef\xbb\xbf"
_ESCAPED_HALVES = (b"\\ud", b"\\uD")  # escaped surrogates
_HASH = re.compile(r"(?:[0-9a-fA-F]{32}){1,2}")
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,79}\Z")

VALIDATION, MERGE, ANTI_RESURRECTION = "VALIDATION_ERROR", "MERGE_ERROR", "ANTI_RESURRECTION_ERROR"
OCC_CONFLICT, PATH, SECURITY = "OCC_CONFLICT", "PATH_ERROR", "SECURITY_ERROR"
INPUT, READ, OVERWRITE = "INPUT_ERROR", "READ_ERROR", "CREATE_OVERWRITE_ERROR"
LOCK_TIMEOUT = "LOCK_TIMEOUT_ERROR"
ACTION_CODES = {
    action: f"{action.upper()}_ERROR"
    for action in ("create", "update", "delete", "archive", "unarchive", "restore")
}
# The code of each in the error object of `memdir --json`.
CODES = {
    **dict.fromkeys((VALIDATION, MERGE, PATH, INPUT), "bad_input"),
    **dict.fromkeys((ANTI_RESURRECTION, SECURITY, OVERWRITE, *ACTION_CODES.values()), "refused"),
    OCC_CONFLICT: "conflict",
    READ: "missing",
    LOCK_TIMEOUT: "busy",
}
MAX_SHOWN_PROBLEMS = 8  # of a record


class RecordError(MemdirError):
    """A refusal about a record; nothing was written."""

    def __init__(
        self,
        record_code: str,
        message: str,
        *,
        facts: tuple[tuple[str, str], ...] = (),
        fix: str = "",
        path: str = "",
        ours: bytes = b"",
        theirs: bytes = b"",
    ) -> None:
        super().__init__(message, path=path, next=fix)
        self.record_code = record_code
        self.code = CODES[record_code]
        self.facts = facts
        self.fix = fix
        self.ours = ours  # both texts of a conflict, so that neither is lost
        self.theirs = theirs


def require_valid_record(record: Record, type: str = "", path: str = "") -> Record:
    problems = check_record(record, type)
    if not problems:
        return record
    facts = [(it.field, it.rule) for it in problems[:MAX_SHOWN_PROBLEMS]]
    if len(problems) > MAX_SHOWN_PROBLEMS:
        facts.append(("more", str(len(problems) - MAX_SHOWN_PROBLEMS)))
    message = f"{problems[0].field} {problems[0].rule}"
    fix = "; ".join(dict.fromkeys(it.fix for it in problems[:3]))
    raise RecordError(VALIDATION, message, facts=tuple(facts), fix=fix, path=path)


def md5_of_record(data: bytes) -> str:
    """The seed names versions by MD5; no security depends on it."""
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def require_record_hash(given: str) -> None:
    """An empty or half a hash, as a failed command prints it, must not switch the check off."""
    if not _HASH.fullmatch(given):
        fix = "give the 32 digits of its MD5 or the 64 of its SHA-256"
        raise RecordError(INPUT, f"{given[:80]!r} is no hash of a version", fix=fix)


def check_record_version(data: bytes, expected: str, path: str, ours: bytes = b"") -> None:
    """Refuses a version whose MD5 or SHA-256 is not the expected one; none expects nothing."""
    sha256 = hashlib.sha256(data).hexdigest()
    if not expected or expected.lower() in (md5_of_record(data), sha256):
        return
    raise RecordError(
        OCC_CONFLICT,
        "the record was changed since it was read; nothing was written",
        facts=(("expected", expected[:64]), ("current", md5_of_record(data))),
        fix="read the record again, make the change on what it says now, and use its hash",
        path=path,
        ours=ours,
        theirs=data,
    )


def read_record_json(data: bytes, path: str) -> Record:
    """Refuses JSON that can be read in two ways."""
    try:
        value = _DECODER.decode(data.removeprefix(_BOM).decode("utf-8"))
        if any(half in data for half in _ESCAPED_HALVES):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise _unreadable("is nested too deep", path) from None
    except ValueError as error:
        raise _unreadable(f"is no JSON in UTF-8: {error}", path) from None
    if not isinstance(value, dict):
        raise _unreadable("must be a JSON object", path)
    return value


def read_record(data: bytes, path: str) -> tuple[Record, list[str]]:
    """The record and its repairs; refused without a known category, title or content.

    Other flaws are left to `check_record`: they must not hide what can be read.
    """
    record = read_record_json(data, path)
    repairs = []
    own = record.get("category")
    known = fields.record_type_named(own) if own is not None else fields.record_type_at(path)
    if not known:
        raise _unreadable("category is none of the six", path)
    if known != own:
        record["category"] = known
        repairs.append(f"category set: {known}")
    if not isinstance(record.get("title"), str) or not record["title"].strip():
        raise _unreadable("title is missing or no text", path)
    if not isinstance(record.get("content"), dict):
        raise _unreadable("content is missing or no object", path)
    if "id" not in record and path.endswith(".json"):
        record["id"] = path.rpartition("/")[2].removesuffix(".json")
        repairs.append(f"id was missing: {record['id']}, by its file")
    record, more = repair_record(record, None)
    return record, repairs + more


def write_record(record: Record) -> bytes:
    """One stable form: keys in the seed's order, two-space indent, final newline, no escapes."""
    whole = _in_order(record, fields.KEYS)
    content, changes = whole.get("content"), whole.get("changes")
    if isinstance(content, dict):
        whole["content"] = _in_order(
            content, [it.name for it in fields.fields_of_record_type(whole)]
        )
    if isinstance(changes, list):
        keys = fields.CHANGE_KEYS
        whole["changes"] = [_in_order(it, keys) if isinstance(it, dict) else it for it in changes]
    try:
        text = json.dumps(whole, ensure_ascii=False, indent=2, allow_nan=False)
        return (text + "\n").encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:  # a surrogate raises ValueError
        message = f"cannot be written as JSON: {type(error).__name__}"
        raise RecordError(VALIDATION, message, fix="correct the values") from None


def _in_order(values: Record, keys: tuple[str, ...] | list[str]) -> Record:
    known = {key: values[key] for key in keys if key in values}
    return known | values


def _unique_pairs(pairs: list[tuple[str, object]]) -> Record:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return values


def _finite_float(text: str) -> float:
    number = float(text)  # NaN and Infinity, too, which are not JSON
    if not math.isfinite(number):
        raise ValueError(f"{text[:20]} is no number")
    return number


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique_pairs, parse_constant=_finite_float, parse_float=_finite_float
)


def _unreadable(why: str, path: str) -> RecordError:
    stored = path.endswith(".json") and not path.startswith("/")  # a draft has no earlier version
    earlier = "correct the file, or bring an earlier version back: memdir log"
    fix = earlier if stored else "correct it, then run the command again"
    return RecordError(READ, f"{path or 'the input'} {why}", fix=fix, path=path)


def record_paths(store: Store, type: str = "") -> list[str]:
    folder = f"{fields.FOLDERS[type]}/" if type else ""
    return sorted(it for it in store.tree() if store.is_memory(it) and it.startswith(folder))


def collect_records(store: Store, paths: Iterable[str]) -> tuple[Collected, list[Finding]]:
    """A broken record is a finding and hides no other."""
    records, findings = Collected(), list[Finding]()
    for path in paths:
        try:
            records[path] = read_record(store.read(path), path)[0]
        except Missing:
            continue  # deleted since the paths were listed
        except MemdirError as error:
            findings.append(Finding("broken-record", path, error.message, error.next))
    return records, findings


def read_all_records(store: Store) -> tuple[Collected, list[Finding]]:
    return collect_records(store, record_paths(store))


def read_record_index(store: Store) -> str:
    try:
        return decode(store.read(store.index_path))
    except Missing:
        return ""


def record_settings(
    store: Store, *, sure: bool = False
) -> tuple[RecordSettings, tuple[Finding, ...]]:
    """Defaults and a finding if memory-config.json is broken, or cannot be read.

    `sure` refuses what cannot be read: to retire records by the defaults would be a guess.
    """
    try:
        return read_record_settings(read_record_json(store.read(RECORD_SETTINGS), RECORD_SETTINGS))
    except Missing:
        return read_record_settings({})
    except MemdirError as error:
        if sure and not isinstance(error, RecordError):
            raise
        message = f"{error.message}; the defaults are used"
        finding = Finding("bad-setting", RECORD_SETTINGS, message, error.next)
        return read_record_settings({})[0], (finding,)


def parse_record_type(name: str) -> str:
    type = fields.record_type_named(name)
    if not type:
        message = f"there is no category {name[:40]!r}"
        raise RecordError(INPUT, message, fix=f"use {', '.join(fields.TYPES)}")
    return type


def target_path_of_record(target: str, root: str) -> str:
    given = target.strip()
    for top in (root.rstrip("/") + "/", os.path.realpath(root) + "/", "./", PROJECT_FOLDER):
        given = given.removeprefix(top)
    folder, _, name = given.rpartition("/")
    right = folder in fields.TYPE_OF_FOLDER and name.endswith(".json")
    if right and _SLUG.match(name.removesuffix(".json")):
        return given
    raise RecordError(
        PATH,
        f"{target[:200]!r} is no record's place",
        facts=(("folders", ", ".join(fields.TYPE_OF_FOLDER)),),
        fix="give FOLDER/NAME.json with a name of a-z, 0-9 and -",
        path=target[:200],
    )


def find_record(name: str, store: Store) -> str:
    """The name is a path, or an id in any folder."""
    if "/" in name:
        path = target_path_of_record(name, store.root)
        matches = [path] if store.exists(path) else []
    else:
        from memdir.format import names  # slow to import, and many commands look for no name

        wanted, paths = name.strip().removesuffix(".json"), record_paths(store)
        matches = [path for path in paths if stem(path) == wanted]
        matches = matches or [path for path in paths if names.memory_name_means(wanted, path)]
    if len(matches) > 1:
        message = f"{name[:80]!r} means several records: {', '.join(matches[:5])}"
        raise RecordError(PATH, message, fix="give the path")
    if matches:
        return matches[0]
    message, fix = f"there is no record {name[:80]!r}", "memdir list --scope records"
    raise RecordError(READ, message, fix=fix, path=name[:200])
