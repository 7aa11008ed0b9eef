"""What an update may change and what it may not: one row per protection."""

import pytest

from memdir.records.refusal import RecordError
from memdir.records.update import merge, must_rename
from tests.helpers.samples import EARLIER, NOW, STAMP, sample, without

SAID = {"date": STAMP, "summary": "Measured again"}
TWELVE = [f"t{number:02}" for number in range(12)]


def log(*summaries):
    return [{"date": EARLIER, "summary": summary} for summary in summaries]


def update(old, exists=lambda path: True, **changed):
    """The merge of a whole draft that appends one change, as the seed's drafts do."""
    changed.setdefault("changes", [*old["changes"], SAID])
    content = old["content"] | changed.pop("content", {})
    return merge(old, old | {"content": content} | changed, NOW, exists)


def refused(old, **changed):
    with pytest.raises(RecordError) as caught:
        update(old, **changed)
    return caught.value


IMMUTABLE = [
    ("created_at cannot change", {"created_at": "2001-01-01T00:00:00Z"}, "created_at"),
    ("schema_version cannot change", {"schema_version": "2.0"}, "schema_version"),
    ("category cannot change", {"category": "runbook"}, "category"),
    ("record_status cannot be changed: retired", {"record_status": "retired"}, "record_status"),
    ("record_status cannot be changed: archived", {"record_status": "archived"}, "record_status"),
    ("an update sets no retirement", {"retired_at": STAMP}, "retired_at"),
    ("an update gives no reason for one", {"retired_reason": "x"}, "retired_reason"),
    ("an update sets no archiving", {"archived_at": STAMP}, "archived_at"),
]


@pytest.mark.parametrize(
    ("changed", "field"), [row[1:] for row in IMMUTABLE], ids=[row[0] for row in IMMUTABLE]
)
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
    merged, _ = merge(old, {"changes": [*old["changes"], SAID]}, NOW, bool)
    assert without(merged, "changes", "times_updated", "updated_at") == without(
        old, "changes", "times_updated", "updated_at"
    )
    only = {"changes": [*old["changes"], SAID], "content": {"consequences": []}}
    merged, _ = merge(old, only, NOW, bool)
    assert merged["content"] == old["content"] | {"consequences": []}


TAGS = [
    ("tags may be added", ["a", "b"], ["a", "b", "c"], True),
    ("tags may be put in another order", ["a", "b"], ["b", "a"], True),
    ("below 12 no tag goes", ["a", "b"], ["a"], False),
    ("below 12 no tag is exchanged", ["a", "b"], ["a", "c"], False),
    ("at 12 no tag goes without an addition", TWELVE, TWELVE[1:], False),
    ("at 12 one goes for one that comes", TWELVE, [*TWELVE[1:], "new"], True),
    ("at 12 two do not go for one that comes", TWELVE, [*TWELVE[2:], "new"], False),
    ("two that come to 11 push out one", TWELVE[1:], [*TWELVE[2:], "x", "y"], True),
    ("two that come to 10 push out none", TWELVE[2:], [*TWELVE[3:], "x", "y"], False),
]


@pytest.mark.parametrize(
    ("before", "after", "fine"), [row[1:] for row in TAGS], ids=[row[0] for row in TAGS]
)
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


CHANGES = [
    ("one more is needed", log("a", "b"), log("a", "b")),
    ("the log is not emptied", log("a", "b"), []),
    ("an earlier entry does not change", log("a", "b"), log("a", "x", "c")),
    ("an earlier entry does not go", log("a", "b"), log("b", "c")),
    ("the new one goes behind", log("a", "b"), log("c", "a", "b")),
    ("none of fifty goes without need", log(*map(str, range(50))), log(*map(str, range(5, 51)))),
    ("a log is a list", log("a"), "none"),
]


@pytest.mark.parametrize(
    ("before", "after"), [row[1:] for row in CHANGES], ids=[row[0] for row in CHANGES]
)
def test_the_log_of_changes_only_grows(before, after):
    error = refused(sample(changes=before), changes=after)
    assert (error.record_code, dict(error.facts)["field"]) == ("MERGE_ERROR", "changes")


def test_sixty_updates_leave_fifty_changes_and_the_true_count():
    record = sample(changes=[])
    for number in range(60):
        entry = {"date": STAMP, "summary": f"update {number}"}
        record, remarks = update(record, changes=[*record["changes"], entry])
    assert [one["summary"] for one in record["changes"]] == [f"update {n}" for n in range(10, 60)]
    assert record["times_updated"] == 60
    assert remarks == ["changes: 1 oldest dropped"]


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
    merged, _ = merge(old, {"tags": ["a"], "changes": [*old["changes"], SAID]}, NOW, bool)
    assert (merged["tags"], merged["related_files"], merged["times_updated"]) == (["a"], [], 1)


RENAMES = [
    ("Use SQLite for the catalog", "Use SQLite for the catalog", False),
    ("Use SQLite for the catalog", "Use SQLite in the catalog now", False),
    ("Use SQLite for the catalog", "use sqlite: catalog!", False),
    ("Use SQLite for the catalog", "Use PostgreSQL for the catalog", False),
    ("Use SQLite for the catalog", "Use PostgreSQL for sessions", True),
    ("Redis cache", "Redis queue", False),  # half of the words, not more
    ("Redis cache", "Kafka queue", True),
    ("Redis", "Redis cache eviction in billing", True),
    ("缓存使用策略", "缓存使用策略", False),
    ("缓存使用策略", "数据库迁移", True),
    ("a", "b", True),
]


@pytest.mark.parametrize(("before", "after", "renamed"), RENAMES)
def test_the_file_is_renamed_when_more_than_half_of_the_title_changes(before, after, renamed):
    assert must_rename(before, after) is renamed
