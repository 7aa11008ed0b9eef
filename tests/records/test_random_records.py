"""Random records: file and index line there and back, and an independent validator."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memdir.records import fields, folders, memory_config, validate
from memdir.records.fields import TYPES, record_path
from memdir.records.record import read_record, write_record
from memdir.records.validate import check_record
from tests.helpers.samples import RANDOM, records, sample

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
@example(sample("session_summary", content={"completed": [], "next_actions": []}))
@example(sample("preference", content={"examples": {"prefer": [], "avoid": ["`a`"]}}))
def test_a_random_record_survives_every_way_there_and_back(record):
    assert validate.check_record(record) == []
    data = write_record(record)
    again, repairs = read_record(data, record_path(record["category"], record["id"]))
    assert (again, repairs) == (record, [])
    assert write_record(again) == data

    entries, bad = folders.parse_record_index(folders.record_index_line(record, "decisions/a.json"))
    assert bad == []
    (entry,) = entries
    assert (entry.title, entry.tags) == (record["title"], record["tags"])
    assert entry.path == "decisions/a.json"
    assert fields.render_record(record).startswith("---\nname: ")


def test_the_shipped_schemas_are_what_the_generator_makes():
    folder = Path(validate.__file__).parent / "schemas"
    wanted = {
        f"{type.replace('_', '-')}.schema.json": validate.record_schema_text(type)
        for type in fields.TYPES
    }
    wanted["memory-config.default.json"] = json.dumps(memory_config.TREE, indent=2) + "\n"
    shipped = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    assert shipped == wanted


@pytest.fixture(scope="module")
def validators():
    jsonschema = pytest.importorskip("jsonschema")
    found = {type: validate.record_schema(type) for type in TYPES}
    for one in found.values():
        jsonschema.Draft202012Validator.check_schema(one)
    return {type: jsonschema.Draft202012Validator(one) for type, one in found.items()}


values = st.none() | st.booleans() | st.floats(-2, 3) | st.sampled_from(
    ["", " ", "x", "a -> b", "A", [], [""], ["a", "a"], ["X"], [1], {}, {"x": 1}, "active", "1.0"]
)  # fmt: skip


@settings(max_examples=200)
@given(st.sampled_from(TYPES), st.booleans(), st.integers(0, 30), st.booleans(), values)
def test_what_an_independent_validator_refuses_we_refuse_too(
    validators, type, inside, place, replaced, value
):
    record = sample(type)
    part = record["content"] if inside else record
    names = [*part, "extra"]
    key = names[place % len(names)]
    if replaced:
        part[key] = value
    else:
        part.pop(key, None)
    refused = not validators[type].is_valid(record)
    # Ours knows more than a schema can say: which days exist, what small letters are.
    assert bool(check_record(record, type)) == refused or (
        check_record(record, type) and key in ("tags",)
    )


@pytest.mark.parametrize("record", [*map(sample, TYPES), sample(content={"context": "a\n## Rule"})])
def test_a_record_that_is_shown_can_be_read_again(record):
    again = fields.read_rendered_record(fields.render_record(record))
    assert again["content"] == {name: it for name, it in record["content"].items() if it != []}
    assert [again[key] for key in ("title", "tags")] == [record[key] for key in ("title", "tags")]
