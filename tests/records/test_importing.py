"""Records of earlier versions come over whole; the schemas agree with the checks."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdir.records import validate
from memdir.records.exchange import import_record
from memdir.records.fields import TYPES
from memdir.records.refusal import RecordError
from memdir.records.validate import check
from tests.helpers.samples import NOW, altered, sample
from tests.helpers.toml_cases import cases

PATH = "decisions/use-sqlite-for-the-catalog.json"


def imported(record, path=PATH):
    return import_record(json.dumps(record).encode(), path, NOW)


OLDEST = {
    "title": "Use SQLite for the catalog",
    "tags": "Storage, SQLite",
    "created_at": "2026-01-05",
    "content": {
        "status": "Accepted",
        "context": "The catalog needs a search.",
        "decision": ["SQLite", "with FTS5."],
        "alternatives": ["PostgreSQL"],
        "rationale": "no server",
        "author": "somebody",
        "consequences": None,
    },
    "priority": {"level": 3},
}


def test_the_oldest_form_comes_over_without_loss():
    record, done = imported(OLDEST)
    assert check(record) == []
    assert (record["category"], record["id"]) == ("decision", "use-sqlite-for-the-catalog")
    assert (record["record_status"], record["tags"]) == ("active", ["storage", "sqlite"])
    assert record["content"] == {
        "status": "accepted",
        "context": "The catalog needs a search.",
        "decision": "SQLite\nwith FTS5.",
        "alternatives": [{"option": "PostgreSQL", "rejected_reason": ""}],
        "rationale": ["no server"],
    }
    kept = {change["field"]: change["old_value"] for change in record["changes"]}
    assert kept == {"priority": {"level": 3}, "content.author": "somebody"}
    assert record["created_at"] == record["updated_at"] == "2026-01-05T00:00:00Z"
    assert any("moved into the log" in one for one in done)
    assert imported(record) == (record, [])


@cases("records", ("nulls", {"retired_at": None, "related_files": None}, "related_files", []))
def test_an_earlier_form_is_understood_and_reported(old, key, value):
    record, done = imported(altered(old))
    assert record[key] == value
    assert done
    assert check(record) == []


@cases("records")
def test_what_cannot_be_understood_stays_where_it_is(record, path, code):
    with pytest.raises(RecordError) as caught:
        imported(altered(record) if record else [], path)
    assert (caught.value.record_code, caught.value.path) == (code, path)


@pytest.fixture(scope="module")
def validators():
    jsonschema = pytest.importorskip("jsonschema")
    found = {type: validate.schema(type) for type in TYPES}
    for one in found.values():
        jsonschema.Draft202012Validator.check_schema(one)
    return {type: jsonschema.Draft202012Validator(one) for type, one in found.items()}


@pytest.mark.parametrize("type", TYPES)
def test_an_independent_validator_takes_what_we_take(validators, type):
    assert list(validators[type].iter_errors(sample(type))) == []


values = st.none() | st.booleans() | st.floats(-2, 3) | st.sampled_from(
    ["", " ", "x", "a -> b", "A", [], [""], ["a", "a"], ["X"], [1], {}, {"x": 1}, "active", "1.0"]
)  # fmt: skip


@settings(max_examples=200)
@given(st.sampled_from(TYPES), st.booleans(), st.data())
def test_what_an_independent_validator_refuses_we_refuse_too(validators, type, inside, data):
    record = sample(type)
    part = record["content"] if inside else record
    key = data.draw(st.sampled_from([*part, "extra"]))
    if data.draw(st.booleans()):
        part[key] = data.draw(values)
    else:
        part.pop(key, None)
    refused = not validators[type].is_valid(record)
    # Ours knows more than a schema can say: which days exist, what small letters are.
    assert bool(check(record, type)) == refused or (check(record, type) and key in ("tags",))
