"""Records go round: file, Markdown memory, edited or not, and back, and lose nothing."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memdir.records import exchange, fields, index_md, render, validate
from memdir.records.exchange import export_record, import_record, read_export
from memdir.records.fields import TYPES, path_of
from memdir.records.record import read_record, write_record
from memdir.records.refusal import RecordError
from memdir.records.render import render_record
from memdir.records.validate import check_record
from tests.helpers.samples import NOW, RANDOM, altered, records, sample
from tests.helpers.tables import toml_cases as cases

many = settings(
    max_examples=RANDOM,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.filter_too_much,
    ],
)


@many
@given(records)
@example(sample(content={"context": "a\n## Decision\nb", "decision": "\\## Context"}))
@example(sample(content={"context": "x\n<!-- memdir:record {} -->", "rationale": ["- a\n\n- b\n"]}))
@example(sample("session_summary", content={"completed": [], "next_actions": []}))
@example(sample("preference", content={"examples": {"prefer": [], "avoid": ["`a`"]}}))
def test_a_random_record_survives_every_way_there_and_back(record):
    assert validate.check_record(record) == []
    data = write_record(record)
    again, repairs = read_record(data, path_of(record["category"], record["id"]))
    assert (again, repairs) == (record, [])
    assert write_record(again) == data

    text = exchange.export_record(record)
    assert exchange.read_export(text, NOW) == (record, [])
    assert exchange.read_export(text.encode().decode(), NOW) == (record, [])

    entries, bad = index_md.parse_index(index_md.index_line(record, "decisions/a.json"))
    assert bad == []
    (entry,) = entries
    assert (entry.title, entry.tags) == (record["title"], record["tags"])
    assert entry.path == "decisions/a.json"
    assert render.render_record(record).startswith("---\nname: ")


@many
@given(records)
def test_a_random_valid_record_fits_its_schema(record):
    jsonschema = __import__("pytest").importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(validate.schema(record["category"]))
    assert list(validator.iter_errors(record)) == []


def test_the_shipped_schemas_are_what_the_generator_makes():
    folder = Path(validate.__file__).parent / "schemas"
    wanted = {
        f"{type.replace('_', '-')}.schema.json": validate.schema_text(type) for type in fields.TYPES
    }
    shipped = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    assert shipped == wanted


@cases("records", {"category": "preference", "content": {"examples": [1], "topic": None}})
def test_nonsense_from_a_disk_still_has_a_view(record):
    assert render_record(record).startswith("---\n")


def test_an_edit_of_the_markdown_is_an_edit_of_the_record():
    record = sample(content={"context": "blanks at the end  \n\n", "consequences": []})
    text = export_record(record).replace("SQLite with FTS5.", "DuckDB.")
    text = text.replace("- nobody should have to run a server", "- speed\n- size\n  of the file")
    text = text.replace("accepted", "proposed").replace("storage, sqlite", "storage, duckdb")
    found, remarks = read_export(text, NOW)
    content = record["content"] | {"decision": "DuckDB.", "status": "proposed"}
    content["rationale"] = ["speed", "size\nof the file"]
    assert found == record | {"content": content, "tags": ["storage", "duckdb"]}
    assert found["content"]["context"] == "blanks at the end  \n\n"
    assert remarks == []


def test_line_ends_of_another_system_change_nothing():
    record = sample()
    assert read_export(export_record(record).replace("\n", "\r\n"), NOW) == (record, [])


def test_what_is_kept_may_be_damaged_or_gone():
    text = export_record(sample())
    damaged, remarks = read_export(text.replace('{"changes"', '{"changes'), NOW)
    assert damaged["content"] == sample()["content"]
    assert remarks[0].startswith("the comment at the end is no JSON")
    gone, repairs = read_export(render_record(sample()), NOW)
    assert gone["content"] == sample()["content"]
    assert repairs == ["confidence was missing: 0.7"]


@cases("records")
def test_a_memory_that_is_no_record_is_refused(text):
    with pytest.raises(RecordError) as caught:
        read_export(text, NOW)
    assert caught.value.record_code == "VALIDATION_ERROR"


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
    assert check_record(record) == []
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
    assert check_record(record) == []


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
    assert bool(check_record(record, type)) == refused or (
        check_record(record, type) and key in ("tags",)
    )
