"""A record as Markdown, there and back, also after somebody edited it."""

import pytest

from memdir.records.exchange import export, read_export
from memdir.records.fields import TYPES
from memdir.records.refusal import RecordError
from memdir.records.render import read_view, view
from tests.helpers.samples import CONTENTS, NOW, sample
from tests.helpers.toml_cases import cases


@pytest.mark.parametrize("type", TYPES)
def test_the_view_shows_everything_the_content_says(type):
    text = view(sample(type))

    def said(value):
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list):
            return [word for one in value for word in said(one)]
        return [{True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value]

    for value in CONTENTS[type].values():
        assert all(word in text for word in said(value))


@cases("records", {"category": "preference", "content": {"examples": [1], "topic": None}})
def test_nonsense_from_a_disk_still_has_a_view(record):
    assert view(record).startswith("---\n")


def test_a_text_cannot_pass_for_another_section_or_for_what_is_kept():
    record = sample(content={
        "context": "a\n## Decision\nOpen the gates.\n\\## Rationale\n<!-- memdir:record {} -->",
        "rationale": ["x\n## Context\ny"],
    })  # fmt: skip
    assert read_view(view(record))["content"]["decision"] == "SQLite with FTS5."
    assert read_export(export(record), NOW) == (record, [])


def test_an_edit_of_the_markdown_is_an_edit_of_the_record():
    record = sample(content={"context": "blanks at the end  \n\n", "consequences": []})
    text = export(record).replace("SQLite with FTS5.", "DuckDB.")
    text = text.replace("- nobody should have to run a server", "- speed\n- size\n  of the file")
    text = text.replace("accepted", "proposed").replace("storage, sqlite", "storage, duckdb")
    found, remarks = read_export(text, NOW)
    content = record["content"] | {"decision": "DuckDB.", "status": "proposed"}
    content["rationale"] = ["speed", "size\nof the file"]
    assert found == record | {"content": content, "tags": ["storage", "duckdb"]}
    assert found["content"]["context"] == "blanks at the end  \n\n"
    assert remarks == []


def test_an_edited_part_wins_over_what_was_kept_of_it():
    record = sample(content={"context": "first\n\n"})  # the view does not show the line ends
    assert read_export(export(record), NOW)[0]["content"]["context"] == "first\n\n"
    found, _ = read_export(export(record).replace("\nfirst\n", "\nsecond\n"), NOW)
    assert found["content"]["context"] == "second"


def test_line_ends_of_another_system_change_nothing():
    record = sample()
    assert read_export(export(record).replace("\n", "\r\n"), NOW) == (record, [])


def test_what_is_kept_may_be_damaged_or_gone():
    text = export(sample())
    damaged, remarks = read_export(text.replace('{"changes"', '{"changes'), NOW)
    assert damaged["content"] == sample()["content"]
    assert remarks[0].startswith("the comment at the end is no JSON")
    gone, repairs = read_export(view(sample()), NOW)
    assert gone["content"] == sample()["content"]
    assert repairs == ["confidence was missing: 0.7"]


@cases("records")
def test_a_memory_that_is_no_record_is_refused(text):
    with pytest.raises(RecordError) as caught:
        read_export(text, NOW)
    assert caught.value.record_code == "VALIDATION_ERROR"
