"""File read and written; hash; refusals in the seed form."""

from __future__ import annotations

import hashlib
import json
import math

from memdir.format.draft import hash_of
from memdir.records import fields, refusal
from memdir.records.fields import Record
from memdir.records.refusal import OCC_CONFLICT, RecordError
from memdir.records.validate import repair

# Whether a record is still the version that somebody has read: by the hash of its file.


def md5_of(data: bytes) -> str:
    """The hash by which the seed names a version; no secret depends on it."""
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def expect(data: bytes, expected: str, path: str, ours: bytes = b"") -> None:
    """Refuse where another version stands than was read: MD5 or SHA-256; none expects nothing."""
    given = expected.strip().lower()
    if not given or given in (md5_of(data), hash_of(data)):
        return
    raise RecordError(
        OCC_CONFLICT,
        "the record was changed since it was read; nothing was written",
        facts=(("expected", expected[:64]), ("current", md5_of(data))),
        fix="read the record again, make the change on what it says now, and use its hash",
        path=path,
        ours=ours,
        theirs=data,
    )


# A record's file: JSON read strictly, written in one stable form. Twins, tested as inverses.

Repair = str  # one sentence about what was put right
_BOM = b"\xef\xbb\xbf"
_HALVES = (b"\\ud", b"\\uD")  # how half of a character is escaped
_FIX = "correct the file, or bring an earlier version back: memdir log"
_DRAFT_FIX = "correct it, then run the command again"


def read_record(data: bytes, path: str) -> tuple[Record, list[Repair]]:
    """A record with what could be put right; a type or title that cannot be told is refused.

    Whether the rest is valid is for `checking.check`: a flaw must not hide what can be read.
    """
    found = read_json(data, path)
    repairs = []
    own = found.get("category")
    known = fields.type_named(own) if own is not None else fields.type_at(path)
    if known and known != own:
        found["category"] = known
        repairs.append(f"category set: {known}")
    if not known:
        raise _unreadable("category is none of the six", path)
    if not isinstance(found.get("title"), str) or not found["title"].strip():
        raise _unreadable("title is missing or no text", path)
    if not isinstance(found.get("content"), dict):
        raise _unreadable("content is missing or no object", path)
    if "id" not in found and path.endswith(".json"):
        found["id"] = path.rpartition("/")[2].removesuffix(".json")
        repairs.append(f"id was missing: {found['id']}, by its file")
    record, more = repair(found, None)
    return record, repairs + more


def read_json(data: bytes, path: str) -> Record:
    """The object in a file or draft; refuses what JSON allows two readings of."""
    try:
        text = data.removeprefix(_BOM).decode("utf-8")
        found = _DECODER.decode(text)
    except UnicodeDecodeError as error:
        raise _unreadable(f"is no UTF-8 (byte {error.start})", path) from None
    except RecursionError:
        raise _unreadable("is nested too deep", path) from None
    except ValueError as error:
        raise _unreadable(f"is no JSON: {error}", path) from None
    if not isinstance(found, dict):
        raise _unreadable("must be a JSON object", path)
    if any(half in data for half in _HALVES) and not _is_unicode(found):
        raise _unreadable("holds half a character (a lone surrogate)", path)
    return found


def write_record(record: Record) -> bytes:
    """The one form of a file: keys in the seed's order, two blanks, a line end, not escaped."""
    try:
        text = json.dumps(ordered(record), ensure_ascii=False, indent=2, allow_nan=False)
        return (text + "\n").encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:  # a bad character is a ValueError
        message = f"cannot be written as JSON: {type(error).__name__}"
        raise RecordError(refusal.VALIDATION, message, fix="correct the values") from None


def ordered(record: Record) -> Record:
    """The record with its keys, and those of its content and changes, in the order of a file."""
    found = _in_order(record, fields.KEYS)
    content, changes = found.get("content"), found.get("changes")
    known = fields.CONTENT.get(str(found.get("category")), ())
    if isinstance(content, dict):
        found["content"] = _in_order(content, tuple(field.name for field in known))
    if isinstance(changes, list):
        found["changes"] = [
            _in_order(one, fields.CHANGE_KEYS) if isinstance(one, dict) else one for one in changes
        ]
    return found


def _in_order(values: Record, keys: tuple[str, ...]) -> Record:
    known = {key: values[key] for key in keys if key in values}
    return known | {key: value for key, value in values.items() if key not in known}


def _pairs(pairs: list[tuple[str, object]]) -> Record:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _constant(name: str) -> object:
    raise ValueError(f"{name} is no number of JSON")


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


def _is_unicode(found: Record) -> bool:
    try:
        json.dumps(found, ensure_ascii=False).encode("utf-8")
    except (UnicodeEncodeError, RecursionError):
        return False
    return True


def _unreadable(why: str, path: str) -> RecordError:
    stored = path.endswith(".json") and not path.startswith("/")  # a draft has no earlier version
    fix = _FIX if stored else _DRAFT_FIX
    return RecordError(refusal.READ, f"{path or 'the input'} {why}", fix=fix, path=path)


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_float)
