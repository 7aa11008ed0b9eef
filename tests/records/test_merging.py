"""What an update may change and what it may not: one row per protection."""

import pytest

from memdir.records.refusal import RecordError
from memdir.records.update import merge_update, must_rename
from tests.helpers.samples import EARLIER, NOW, STAMP, sample, without
from tests.helpers.tables import toml_cases as cases

SAID = {"date": STAMP, "summary": "Measured again"}
TWELVE = [f"t{number:02}" for number in range(12)]


def log(*summaries):
    return [{"date": EARLIER, "summary": summary} for summary in summaries]


def update(old, exists=lambda path: True, **changed):
    """The merge of a whole draft that appends one change, as the seed's drafts do."""
    changed.setdefault("changes", [*old["changes"], SAID])
    content = old["content"] | changed.pop("content", {})
    return merge_update(old, old | {"content": content} | changed, NOW, exists)


def refused(old, **changed):
    with pytest.raises(RecordError) as caught:
        update(old, **changed)
    return caught.value


@cases("records")
def test_an_immutable_field_stays(changed, field):
    error = refused(sample(), **changed)
    assert error.record_code == "MERGE_ERROR"
    assert dict(error.facts)["field"] == field
    assert error.fix


def test_the_same_moment_in_another_form_is_no_change():
    merged, remarks = update(sample(), created_at="2026-01-05T10:30:00+01:00")
    assert merged["created_at"] == EARLIER
    assert remarks == [f"created_at rewritten: {EARLIER}"]


@pytest.mark.parametrize(("status", "way"), [("retired", "restore"), ("archived", "unarchive")])
def test_an_update_never_brings_a_record_back(status, way):
    old = sample(record_status=status)
    revived = refused(old, record_status="active")
    assert (revived.record_code, dict(revived.facts)["field"]) == ("MERGE_ERROR", "record_status")
    kept = refused(old)
    assert kept.record_code == "UPDATE_ERROR"
    assert way in revived.fix and way in kept.fix


def test_what_an_update_does_not_mention_stays():
    old = sample()
    merged, _ = merge_update(old, {"changes": [*old["changes"], SAID]}, NOW, bool)
    assert without(merged, "changes", "times_updated", "updated_at") == without(
        old, "changes", "times_updated", "updated_at"
    )
    only = {"changes": [*old["changes"], SAID], "content": {"consequences": []}}
    merged, _ = merge_update(old, only, NOW, bool)
    assert merged["content"] == old["content"] | {"consequences": []}


@cases("records")
def test_tags_only_grow_until_there_are_twelve(before, after, fine):
    old = sample(tags=before)
    if fine:
        assert update(old, tags=after)[0]["tags"] == after
        return
    error = refused(old, tags=after)
    assert error.record_code == "MERGE_ERROR"
    assert dict(error.facts)["field"] == "tags"
    assert dict(error.facts)["removed"] == ", ".join(tag for tag in before if tag not in after)


def test_a_related_file_goes_only_where_it_no_longer_exists():
    old = sample(related_files=["src/here.py", "src/gone.py"])
    kept, _ = update(old, exists=lambda path: path == "src/here.py", related_files=["src/here.py"])
    assert kept["related_files"] == ["src/here.py"]
    grown, _ = update(old, related_files=[*old["related_files"], "src/new.py"])
    assert grown["related_files"] == [*old["related_files"], "src/new.py"]
    error = refused(old, related_files=["src/gone.py"])
    assert (error.record_code, dict(error.facts)["removed"]) == ("MERGE_ERROR", "src/here.py")


FIFTY = ("none of fifty goes without need", log(*map(str, range(50))), log(*map(str, range(5, 51))))


@cases("records", FIFTY)
def test_the_log_of_changes_only_grows(before, after):
    error = refused(sample(changes=before), changes=after)
    assert (error.record_code, dict(error.facts)["field"]) == ("MERGE_ERROR", "changes")


def test_a_single_value_that_changes_is_logged_with_both_values():
    merged, _ = update(sample(), title="Use SQLite with FTS", content={"status": "deprecated"})
    assert merged["changes"][-2:] == [
        {
            "date": STAMP,
            "summary": "title changed",
            "field": "title",
            "old_value": "Use SQLite for the catalog",
            "new_value": "Use SQLite with FTS",
        },
        {
            "date": STAMP,
            "summary": "content.status changed",
            "field": "content.status",
            "old_value": "accepted",
            "new_value": "deprecated",
        },
    ]


@pytest.mark.parametrize("field", ["status", "content.status"])
def test_a_value_that_the_author_logs_is_not_logged_twice(field):
    old = sample()
    said = SAID | {"field": field}
    merged, _ = update(old, changes=[*old["changes"], said], content={"status": "deprecated"})
    assert merged["changes"] == [*old["changes"], said]


def test_a_clock_that_was_set_back_does_not_turn_time_around():
    ahead = sample(updated_at="2027-01-01T00:00:00Z")
    assert update(ahead)[0]["updated_at"] == "2027-01-01T00:00:00Z"


def test_a_broken_record_can_be_corrected_by_an_update():
    old = sample(tags=7, related_files=None, times_updated="x")
    merged, _ = merge_update(old, {"tags": ["a"], "changes": [*old["changes"], SAID]}, NOW, bool)
    assert (merged["tags"], merged["related_files"], merged["times_updated"]) == (["a"], [], 1)


@cases("records")
def test_the_file_is_renamed_when_more_than_half_of_the_title_changes(before, after, renamed):
    assert must_rename(before, after) is renamed
