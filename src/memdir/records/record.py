"""A record's file: JSON read strictly, written in one stable form, and its hash."""

from __future__ import annotations

import hashlib
import json
import math

from memdir.format.draft import hash_of
from memdir.records import fields, refusal
from memdir.records.fields import Record
from memdir.records.refusal import RecordError
from memdir.records.validate import repair

_BOM = b"\xef\xbb\xbf"
_ESCAPED_HALVES = (b"\\ud", b"\\uD")  # how half of a character is written


def md5_of(data: bytes) -> str:
    """The hash by which the seed names a version; no secret depends on it."""
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def expect(data: bytes, expected: str, path: str, ours: bytes = b"") -> None:
    """Refuse where another version stands than was read: MD5 or SHA-256; none expects nothing."""
    given = expected.strip().lower()
    if not given or given in (md5_of(data), hash_of(data)):
        return
    raise RecordError(
        refusal.OCC_CONFLICT,
        "the record was changed since it was read; nothing was written",
        facts=(("expected", expected[:64]), ("current", md5_of(data))),
        fix="read the record again, make the change on what it says now, and use its hash",
        path=path,
        ours=ours,
        theirs=data,
    )


def read_record(data: bytes, path: str) -> tuple[Record, list[str]]:
    """A record and what was repaired; one without a known type, title or content is refused.

    Whether the rest is valid is for `check`: a flaw must not hide what can be read.
    """
    record = read_json(data, path)
    repairs = []
    own = record.get("category")
    known = fields.type_named(own) if own is not None else fields.type_at(path)
    if known and known != own:
        record["category"] = known
        repairs.append(f"category set: {known}")
    if not known:
        raise _unreadable("category is none of the six", path)
    if not isinstance(record.get("title"), str) or not record["title"].strip():
        raise _unreadable("title is missing or no text", path)
    if not isinstance(record.get("content"), dict):
        raise _unreadable("content is missing or no object", path)
    if "id" not in record and path.endswith(".json"):
        record["id"] = path.rpartition("/")[2].removesuffix(".json")
        repairs.append(f"id was missing: {record['id']}, by its file")
    record, more = repair(record, None)
    return record, repairs + more


def read_json(data: bytes, path: str) -> Record:
    """The object in a file or draft; refuses what JSON allows two readings of."""
    try:
        value = _DECODER.decode(data.removeprefix(_BOM).decode("utf-8"))
        if any(half in data for half in _ESCAPED_HALVES):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError as error:
        raise _unreadable(f"is no UTF-8 (byte {error.start})", path) from None
    except UnicodeEncodeError:
        raise _unreadable("holds half a character (a lone surrogate)", path) from None
    except RecursionError:
        raise _unreadable("is nested too deep", path) from None
    except ValueError as error:
        raise _unreadable(f"is no JSON: {error}", path) from None
    if not isinstance(value, dict):
        raise _unreadable("must be a JSON object", path)
    return value


def write_record(record: Record) -> bytes:
    """The one form of a file: keys in the seed's order, two blanks, a line end, not escaped."""
    whole = _in_order(record, fields.KEYS)
    content, changes = whole.get("content"), whole.get("changes")
    if isinstance(content, dict):
        whole["content"] = _in_order(content, [it.name for it in fields.fields_of(whole)])
    if isinstance(changes, list):
        keys = fields.CHANGE_KEYS
        whole["changes"] = [_in_order(it, keys) if isinstance(it, dict) else it for it in changes]
    try:
        text = json.dumps(whole, ensure_ascii=False, indent=2, allow_nan=False)
        return (text + "\n").encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:  # a bad character is a ValueError
        message = f"cannot be written as JSON: {type(error).__name__}"
        raise RecordError(refusal.VALIDATION, message, fix="correct the values") from None


def _in_order(values: Record, keys: tuple[str, ...] | list[str]) -> Record:
    known = {key: values[key] for key in keys if key in values}
    return known | {key: value for key, value in values.items() if key not in known}


def _unique_pairs(pairs: list[tuple[str, object]]) -> Record:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return values


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is no number of JSON")


def _finite_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


def _unreadable(why: str, path: str) -> RecordError:
    stored = path.endswith(".json") and not path.startswith("/")  # a draft has no earlier version
    earlier = "correct the file, or bring an earlier version back: memdir log"
    fix = earlier if stored else "correct it, then run the command again"
    return RecordError(refusal.READ, f"{path or 'the input'} {why}", fix=fix, path=path)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique_pairs, parse_constant=_refuse_constant, parse_float=_finite_float
)
