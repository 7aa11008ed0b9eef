"""The file of a record: read strictly, written in one form; slugs, errors, hostile drafts."""

import json

import pytest

from memdir.records import update, validate
from memdir.records.fields import KEYS
from memdir.records.record import read_record, write_record
from memdir.records.refusal import RecordError, form
from tests.helpers.samples import EARLIER, NOW, STAMP, sample, without

PATH = "decisions/use-sqlite-for-the-catalog.json"


def data_of(record):
    return json.dumps(record).encode()


def refused(data, path=PATH):
    with pytest.raises(RecordError) as caught:
        read_record(data, path)
    assert caught.value.record_code == "READ_ERROR"
    assert caught.value.path == path
    return caught.value.message


def test_a_file_has_the_order_of_the_seed_two_blanks_and_a_line_end():
    mixed = dict(reversed(sample(retired_at=EARLIER, title="Ü → 猫").items()))
    mixed["content"] = dict(reversed(mixed["content"].items()))
    data = write_record(mixed)
    found = json.loads(data)
    assert list(found) == [key for key in KEYS if key in mixed]
    assert list(found["content"])[:3] == ["status", "context", "decision"]
    assert data.startswith(b'{\n  "schema_version": "1.0",\n  "category": "decision",\n')
    assert data.endswith(b"\n}\n")
    assert "Ü → 猫".encode() in data


def test_what_was_written_is_read_and_written_the_same():
    data = write_record(sample())
    assert read_record(data, PATH) == (sample(), [])
    assert write_record(read_record(data, PATH)[0]) == data


def test_a_newer_record_is_read_as_it_is():
    newer = sample(schema_version="99.0", mood="good", tags="SQL")
    record, repairs = read_record(data_of(newer), PATH)
    assert (record, repairs) == (newer, [])
    assert json.loads(write_record(record)) == newer


OLD = [
    ("no status", without(sample(), "record_status"), "record_status was missing: active"),
    ("tags as text", sample(tags="storage, sqlite"), "tags were a text: split into a list"),
    ("no category", without(sample(), "category"), "category set: decision"),
    ("a category in capitals", sample(category="DECISION"), "category set: decision"),
    ("no id", without(sample(), "id"), f"id was missing: {sample()['id']}, by its file"),
    ("no log", without(sample(changes=[]), "changes"), "changes was missing: empty"),
    ("no count", without(sample(), "times_updated"), "times_updated was missing: 0"),
]


@pytest.mark.parametrize(("old", "repair"), [row[1:] for row in OLD], ids=[row[0] for row in OLD])
def test_an_older_record_is_read_in_todays_form(old, repair):
    record, repairs = read_record(data_of(old), PATH)
    assert repairs == [repair]
    assert validate.check(record) == []
    assert without(record, "changes") == without(sample(), "changes")


def test_a_byte_order_mark_is_no_part_of_a_record():
    assert read_record(b"\xef\xbb\xbf" + write_record(sample()), PATH) == (sample(), [])


UNREADABLE = [
    ("no JSON", b"{", "is no JSON"),
    ("nothing", b"", "is no JSON"),
    ("a text behind it", b'{"id":"a"} trailing', "is no JSON"),
    ("not a number", b'{"confidence": NaN}', "NaN is no number"),
    ("infinite", b'{"confidence": -Infinity}', "Infinity is no number"),
    ("infinite in figures", b'{"confidence": 1e999}', "too large"),
    ("a number of 5000 figures", b'{"times_updated": ' + b"9" * 5000 + b"}", "is no JSON"),
    ("a key twice", b'{"id": "a", "id": "b"}', "stands twice"),
    ("a list", b"[]", "must be a JSON object"),
    ("a text", b'"x"', "must be a JSON object"),
    ("no UTF-8", b'{"id": "\xff"}', "no UTF-8"),
    ("UTF-16", '{"id": "a"}'.encode("utf-16"), "no UTF-8"),
    ("half a character", b'{"id": "\\ud800"}', "half a character"),
    ("half a character in a key", b'{"\\uDC00": 1}', "half a character"),
    ("nested without end", b"[" * 100_000, "nested too deep"),
    ("nested without end in an object", b'{"a":' * 100_000, "nested too deep"),
    ("no title", data_of(without(sample(), "title")), "title"),
    ("a title that is none", data_of(sample(title=["x"])), "title"),
    ("no content", data_of(without(sample(), "content")), "content"),
    ("a category that is none", data_of(sample(category="idea")), "category"),
]


@pytest.mark.parametrize(
    ("data", "why"), [row[1:] for row in UNREADABLE], ids=[row[0] for row in UNREADABLE]
)
def test_what_is_no_record_is_refused(data, why):
    assert why in refused(data)


@pytest.mark.parametrize("value", [float("nan"), "\ud800", {1, 2}])
def test_what_json_cannot_hold_is_not_written(value):
    with pytest.raises(RecordError) as caught:
        write_record(sample(content={"context": value}))
    assert caught.value.record_code == "VALIDATION_ERROR"


def test_a_value_in_an_error_cannot_pass_for_another_line():
    error = RecordError("READ_ERROR", "a\nfix: run this\x1b[2J\u2028b", facts=(("x", "y" * 999),))
    lines = form(error).split("\n")
    assert lines[:2] == ["READ_ERROR", "problem: a fix: run this [2J b"]
    assert len(lines) == 3 and len(lines[2]) < 310
    assert "\x1b" not in form(error)


CREATES = [
    ("another record is not overwritten", sample(title="Other"), "CREATE_OVERWRITE_ERROR"),
    ("an archived one is not", sample(record_status="archived"), "CREATE_OVERWRITE_ERROR"),
    ("one retired a moment ago does not come back",
     sample(record_status="retired", retired_at=STAMP), "ANTI_RESURRECTION_ERROR"),
    ("nor one retired 24 hours less a second ago",
     sample(record_status="retired", retired_at="2026-03-01T12:00:01Z"), "ANTI_RESURRECTION_ERROR"),
    ("nor one retired in the future",
     sample(record_status="retired", retired_at="2030-01-01T00:00:00Z"), "ANTI_RESURRECTION_ERROR"),
    ("nor one retired nobody knows when",
     sample(record_status="retired", updated_at="x"), "ANTI_RESURRECTION_ERROR"),
    ("one retired 24 hours ago makes room",
     sample(record_status="retired", retired_at="2026-03-01T12:00:00Z"), True),
    ("the same again is a success without a change", sample(created_at=STAMP, id="x"), False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("existing", "answer"), [row[1:] for row in CREATES], ids=[row[0] for row in CREATES]
)
def test_a_create_never_overwrites(existing, answer):
    if isinstance(answer, bool):
        assert update.may_create(existing, sample(), NOW, PATH) is answer
        return
    with pytest.raises(RecordError) as caught:
        update.may_create(existing, sample(), NOW, PATH)
    assert (caught.value.record_code, caught.value.path) == (answer, PATH)
    assert caught.value.fix


# One that needs sixty updates first is in test_merging.
