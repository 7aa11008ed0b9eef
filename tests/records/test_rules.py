"""What a record must be, what an update may change, which action is allowed: a row per rule."""

import json

import pytest

from memdir.records.fields import KEYS, TYPES
from memdir.records.lifecycle import merge_record_update, must_rename_record
from memdir.records.match import (
    count_record_points,
    pick_candidate_record,
    resolve_record_action,
    words_of_record,
)
from memdir.records.record import RecordError, read_record, write_record
from memdir.records.validate import check_record, repair_record
from tests.helpers.samples import CONTENTS, EARLIER, NOW, STAMP, altered, bare, sample, without
from tests.helpers.tables import toml_cases as cases

REQUIRED = {
    "session_summary": {"goal", "outcome", "completed", "next_actions"},
    "decision": {"status", "context", "decision", "rationale"},
    "runbook": {"trigger", "steps", "verification"},
    "constraint": {"kind", "rule", "impact", "severity", "active"},
    "tech_debt": {"status", "priority", "description", "reason_deferred"},
    "preference": {"topic", "value", "reason", "strength"},
}
CHANGE = {"date": EARLIER, "summary": "x" * 300, "field": "a"}


def broken(record, type=""):
    """The fields that break a rule, without the item of a list in which they do."""
    return [problem.field.partition("[")[0] for problem in check_record(record, type)]


@pytest.mark.parametrize("type", TYPES)
def test_the_required_content_is_enough_and_none_of_it_may_be_missing(type):
    optional = set(CONTENTS[type]) - REQUIRED[type]
    assert check_record(bare(type, *optional), type) == []
    for name in REQUIRED[type]:
        assert broken(bare(type, name), type) == [f"content.{name}"]


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
    assert broken(sample(changes=[CHANGE | {"old_value": deep}])) == ["changes"]


@cases("records", ("a null where nothing is meant", {"retired_at": None}, "retired_at", None))
def test_what_can_be_put_right_is_and_the_repair_is_reported(changed, key, right):
    given = sample(**changed)
    fixed, done = repair_record(given, NOW)
    assert fixed.get(key) == right
    assert len(done) == 1 and done[0].startswith(key)
    assert check_record(fixed) == []
    assert repair_record(fixed, NOW) == (fixed, [])
    assert given == sample(**changed)  # the one that was given is not touched


@cases("records")
def test_what_only_its_author_can_correct_is_left_to_be_refused(changed, field):
    fixed, done = repair_record(sample(**changed), NOW)
    assert (broken(fixed), done) == ([field], [])


@pytest.mark.parametrize("version", ["99.0", "1.1", "2", 2, "v2.0.1"])
def test_a_record_of_a_newer_version_is_not_touched(version):
    newer = sample(schema_version=version, tags="SQL", mood=1)
    assert repair_record(newer, NOW) == (newer, [])
    assert broken(newer) == ["schema_version"]
    record, repairs = read_record(json.dumps(newer).encode(), "decisions/a.json")
    assert (json.loads(write_record(record)), repairs) == (newer, [])


def test_a_file_has_the_order_of_the_seed_two_blanks_and_a_line_end():
    mixed = dict(reversed(sample(retired_at=EARLIER, title="Ü → 猫").items()))
    mixed["content"] = dict(reversed(mixed["content"].items()))
    data = write_record(mixed)
    assert list(json.loads(data)) == [key for key in KEYS if key in mixed]
    assert list(json.loads(data)["content"])[:3] == ["status", "context", "decision"]
    assert data.startswith(b'{\n  "schema_version": "1.0",\n  "category": "decision",\n')
    assert data.endswith(b"\n}\n")
    assert "Ü → 猫".encode() in data


@cases("records")
def test_an_older_record_is_read_in_todays_form(old, repair):
    data = json.dumps(altered(old)).encode()
    record, repairs = read_record(data, "decisions/use-sqlite-for-the-catalog.json")
    assert (repairs, check_record(record)) == ([repair], [])
    assert without(record, "changes") == without(sample(), "changes")


# Updates

SAID = {"date": STAMP, "summary": "Measured again"}


def update(old, exists=lambda path: True, **changed):
    """The merge of a whole draft that appends one change, as the seed's drafts do."""
    changed.setdefault("changes", [*old["changes"], SAID])
    content = old["content"] | changed.pop("content", {})
    return merge_record_update(old, old | {"content": content} | changed, NOW, exists)[0]


def refused(old, code="MERGE_ERROR", **changed):
    with pytest.raises(RecordError) as caught:
        update(old, **changed)
    assert (caught.value.record_code, bool(caught.value.fix)) == (code, True)
    return caught.value


@cases("records")
def test_an_immutable_field_stays(changed, field):
    assert dict(refused(sample(), **changed).facts)["field"] == field


def test_what_an_update_does_not_mention_stays():
    old = sample()
    only = {"changes": [*old["changes"], SAID], "content": {"consequences": []}}
    merged, _ = merge_record_update(old, only, NOW, bool)
    set_by_us = ("changes", "times_updated", "updated_at", "content")
    assert without(merged, *set_by_us) == without(old, *set_by_us)
    assert merged["content"] == old["content"] | {"consequences": []}


@cases("records")
def test_tags_only_grow_until_there_are_twelve(before, after, fine):
    old = sample(tags=before)
    if fine:
        assert update(old, tags=after)["tags"] == after
        return
    facts = dict(refused(old, tags=after).facts)
    assert (facts["field"], facts["removed"]) == (
        "tags",
        ", ".join(tag for tag in before if tag not in after),
    )


def test_a_related_file_goes_only_where_it_no_longer_exists():
    old = sample(related_files=["src/here.py", "src/gone.py"])
    kept = update(old, exists=lambda path: path == "src/here.py", related_files=["src/here.py"])
    assert kept["related_files"] == ["src/here.py"]
    error = refused(old, related_files=["src/gone.py"])
    assert dict(error.facts)["removed"] == "src/here.py"


def log(*summaries):
    return [{"date": EARLIER, "summary": summary} for summary in summaries]


FIFTY = ("none of fifty goes without need", log(*map(str, range(50))), log(*map(str, range(5, 51))))


@cases("records", FIFTY)
def test_the_log_of_changes_only_grows(before, after):
    assert dict(refused(sample(changes=before), changes=after).facts)["field"] == "changes"


def test_of_many_changes_the_newest_fifty_are_kept():
    changes = update(sample(changes=log(*map(str, range(50)))))["changes"]
    assert (len(changes), changes[0]["summary"], changes[-1]) == (50, "1", SAID)


@pytest.mark.parametrize("named", ["", "status", "content.status"])
def test_a_single_value_that_changes_is_logged_once_with_both_values(named):
    old = sample()
    said = SAID | ({"field": named} if named else {})
    merged = update(old, changes=[*old["changes"], said], content={"status": "deprecated"})
    values = {"old_value": "accepted", "new_value": "deprecated"}
    ours = {"date": STAMP, "summary": "content.status changed", "field": "content.status"} | values
    assert merged["changes"] == [*old["changes"], said, *([] if named else [ours])]


def test_a_clock_that_was_set_back_does_not_turn_time_around():
    ahead = sample(updated_at="2027-01-01T00:00:00Z")
    assert update(ahead)["updated_at"] == "2027-01-01T00:00:00Z"


def test_a_broken_record_can_be_corrected_by_an_update():
    old = sample(tags=7, related_files=None, times_updated="x")
    merged, _ = merge_record_update(
        old, {"tags": ["a"], "changes": [*old["changes"], SAID]}, NOW, bool
    )
    assert (merged["tags"], merged["related_files"], merged["times_updated"]) == (["a"], [], 1)


@cases("records")
def test_the_file_is_renamed_when_more_than_half_of_the_title_changes(before, after, renamed):
    assert must_rename_record(before, after) is renamed


# Create, update or retire


@cases("records")
def test_a_veto_forbids_only_what_it_names(l1, l2, vetoes, action):
    assert resolve_record_action(l1, l2, vetoes) == action


@cases(
    "records", ("a tag beside a title without end counts", "storage", "x " * 20_000, ["storage"], 3)
)
def test_points_of_a_record(info, title, tags, points):
    assert count_record_points(words_of_record(info), title, tags) == points


def ask(records, info="sqlite catalog", type="decision", event=""):
    return pick_candidate_record(records, type, info, event)


KEPT = {"decision", "preference", "session_summary"}
EVENTS = ["", "resolved", "removed", "reversed", "superseded", "deprecated"]


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("type", TYPES)
def test_an_event_vetoes_the_retirement_of_what_is_kept_and_nothing_else(type, event):
    answer = ask([("a.json", sample(type))], type=type, event=event)
    kept = type in KEPT
    assert answer["lifecycle_event"] == (event or None)
    assert (answer["pre_action"], answer["delete_allowed"]) == (None, not kept)
    assert [it.partition(":")[0] for it in answer["vetoes"]] == ["DELETE"] * (kept and event != "")
    assert resolve_record_action(answer["structural_cud"], "UPDATE", answer["vetoes"]) == "UPDATE"
    retired = resolve_record_action(answer["structural_cud"], "DELETE", answer["vetoes"])
    assert retired == ("UPDATE" if kept else "DELETE")


def test_a_record_of_a_newer_version_may_neither_be_updated_nor_retired():
    answer = ask([("a.json", sample("runbook", schema_version="99.0"))], type="runbook")
    for action in ("UPDATE", "DELETE"):
        assert resolve_record_action(answer["structural_cud"], action, answer["vetoes"]) == "NOOP"
