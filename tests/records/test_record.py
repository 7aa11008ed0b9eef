"""The file of a record: read strictly, written in one form; slugs, errors, hostile drafts."""

import json

import pytest

from memdir.records import validate
from memdir.records.fields import KEYS
from memdir.records.record import read_record, write_record
from memdir.records.refusal import RecordError, form
from tests.helpers.samples import EARLIER, altered, sample, without
from tests.helpers.toml_cases import cases

PATH = "decisions/use-sqlite-for-the-catalog.json"


def data_of(record):
    return json.dumps(record).encode()


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


def test_a_newer_record_is_read_as_it_is():
    newer = sample(schema_version="99.0", mood="good", tags="SQL")
    record, repairs = read_record(data_of(newer), PATH)
    assert (record, repairs) == (newer, [])
    assert json.loads(write_record(record)) == newer


@cases("records")
def test_an_older_record_is_read_in_todays_form(old, repair):
    record, repairs = read_record(data_of(altered(old)), PATH)
    assert repairs == [repair]
    assert validate.check(record) == []
    assert without(record, "changes") == without(sample(), "changes")


def test_a_byte_order_mark_is_no_part_of_a_record():
    assert read_record(b"\xef\xbb\xbf" + write_record(sample()), PATH) == (sample(), [])


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
