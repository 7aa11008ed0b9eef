"""What a record must be, one row per rule of the seed, and what its file looks like."""

import json

import pytest

from memdir.records import fields, validate
from memdir.records.fields import KEYS
from memdir.records.record import read_record, write_record
from memdir.records.refusal import RecordError
from memdir.records.validate import check_record, repair_record
from tests.helpers.samples import CONTENTS, EARLIER, NOW, altered, bare, sample, without
from tests.helpers.tables import toml_cases as cases

REQUIRED = {
    "session_summary": {"goal", "outcome", "completed", "next_actions"},
    "decision": {"status", "context", "decision", "rationale"},
    "runbook": {"trigger", "steps", "verification"},
    "constraint": {"kind", "rule", "impact", "severity", "active"},
    "tech_debt": {"status", "priority", "description", "reason_deferred"},
    "preference": {"topic", "value", "reason", "strength"},
}


def broken(record, type=""):
    """The fields that break a rule, without the item of a list in which they do."""
    return [problem.field.partition("[")[0] for problem in check_record(record, type)]


@pytest.mark.parametrize("type", fields.TYPES)
def test_a_record_with_only_the_required_content_is_valid(type):
    optional = set(CONTENTS[type]) - REQUIRED[type]
    assert check_record(bare(type, *optional), type) == []


@pytest.mark.parametrize(
    ("type", "name"), [(type, name) for type, names in REQUIRED.items() for name in sorted(names)]
)
def test_required_content_may_not_be_missing(type, name):
    assert broken(bare(type, name), type) == [f"content.{name}"]


@cases("records")
@pytest.mark.parametrize("wrong", ["", "maybe", "HIGH", None, 1, ["high"]])
def test_another_choice_is_refused(type, name, wrong):
    assert broken(sample(type, content={name: wrong})) == [f"content.{name}"]


@cases("records")
def test_a_field_that_all_have_may_not_be_missing(key):
    found = check_record(without(sample(), key))
    assert (key, "is missing") in [problem[:2] for problem in found]


CHANGE = {"date": EARLIER, "summary": "x" * 300, "field": "a"}


@cases(
    "records",
    ("there are at most 50 changes", {"changes": [CHANGE] * 51}, "changes"),
    ("a summary has at most 300", {"changes": [CHANGE | {"summary": "x" * 301}]}, "changes"),
)
def test_what_breaks_a_rule_is_named(changed, field):
    assert broken(sample(**changed)) == [field]


@cases("records", {"changes": [CHANGE | {"old_value": None}]}, {"changes": [CHANGE] * 50})
def test_what_reaches_a_limit_without_passing_it_is_valid(changed):
    assert check_record(sample(**changed)) == []


def test_a_quoted_value_may_not_be_nested_without_end():
    deep = []
    for _ in range(5000):
        deep = [deep]
    record = sample(changes=[{"date": EARLIER, "summary": "x", "old_value": deep}])
    assert broken(record) == ["changes"]


@cases("records", ("a null where nothing is meant", {"retired_at": None}, "retired_at", None))
def test_what_can_be_put_right_is_and_the_repair_is_reported(changed, key, right):
    given = sample(**changed)
    fixed, done = repair_record(given, NOW)
    assert fixed.get(key) == right
    assert len(done) == 1 and done[0].startswith(key)
    assert check_record(fixed) == []
    assert repair_record(fixed, NOW) == (fixed, [])
    assert given == sample(**changed)  # the one that was given is not touched


MISSING = {
    "schema_version": "1.0",
    "related_files": [],
    "confidence": 0.7,
    "record_status": "active",
    "changes": [],
    "times_updated": 0,
    "created_at": EARLIER,
    "updated_at": EARLIER,
}


@pytest.mark.parametrize("key", MISSING)
def test_what_is_missing_and_can_be_known_is_added(key):
    fixed, done = repair_record(without(sample(), key), NOW)
    assert fixed[key] == MISSING[key]
    assert len(done) == 1 and done[0].startswith(key)
    assert check_record(fixed) == []


@cases("records")
def test_what_only_its_author_can_correct_is_left_to_be_refused(changed, field):
    fixed, done = repair_record(sample(**changed), NOW)
    assert done == []
    assert broken(fixed) == [field]


@pytest.mark.parametrize("version", ["99.0", "1.1", "2", 2, "v2.0.1"])
def test_a_record_of_a_newer_version_is_not_touched(version):
    newer = sample(schema_version=version, tags="SQL", mood=1)
    assert repair_record(newer, NOW) == (newer, [])
    assert broken(newer) == ["schema_version"]


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
    assert validate.check_record(record) == []
    assert without(record, "changes") == without(sample(), "changes")


@pytest.mark.parametrize("value", [float("nan"), "\ud800", {1, 2}])
def test_what_json_cannot_hold_is_not_written(value):
    with pytest.raises(RecordError) as caught:
        write_record(sample(content={"context": value}))
    assert caught.value.record_code == "VALIDATION_ERROR"
