"""Random records go round: file, Markdown memory, and back, and lose nothing."""

from pathlib import Path

from hypothesis import HealthCheck, example, given, settings

from memdir.records import exchange, fields, index_md, render, validate
from memdir.records.fields import path_of
from memdir.records.record import read_record, write_record
from tests.helpers.samples import NOW, RANDOM, records, sample

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
    assert validate.check(record) == []
    data = write_record(record)
    again, repairs = read_record(data, path_of(record["category"], record["id"]))
    assert (again, repairs) == (record, [])
    assert write_record(again) == data

    text = exchange.export(record)
    assert exchange.read_export(text, NOW) == (record, [])
    assert exchange.read_export(text.encode().decode(), NOW) == (record, [])

    entries, bad = index_md.parse(index_md.line(record, "decisions/a.json"))
    assert bad == []
    (entry,) = entries
    assert (entry.title, entry.tags) == (record["title"], record["tags"])
    assert entry.path == "decisions/a.json"
    assert render.view(record).startswith("---\nname: ")


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
