"""Records that go by date: only what is truly past, and archived ones never."""

import pytest

from memdir.hot.safe import DAY, iso_time, parse_time
from memdir.records.fields import FOLDERS, TYPES
from memdir.records.lifecycle import ARCHIVE, KEEP, PURGE, find_expired, find_past_grace
from memdir.records.memory_config import read_settings

NOW = parse_time("2026-06-30T12:00:00Z") or 0.0
SETTINGS = read_settings(None)[0]
PURGING = read_settings('{"delete": {"archive_retired": false}}')[0]


def ago(days: float) -> str:
    return iso_time(NOW - days * DAY)


def retired(days: float, **more: object) -> dict[str, dict[str, object]]:
    record = {"category": "decision", "record_status": "retired", "retired_at": ago(days)}
    return {"decisions/x.json": record | more}


def actions(records, settings=SETTINGS) -> list[str]:
    return [one.action for one in find_past_grace(records, settings, NOW)]


@pytest.mark.parametrize(
    ("days", "found"),
    [
        (0, []),
        (29.9, []),
        (30, [ARCHIVE]),
        (31, [ARCHIVE]),
        (-1, []),  # a clock that went back: a date in the future is not past
        (-40_000, []),
    ],
)
def test_a_retired_record_leaves_when_its_grace_is_over(days, found):
    assert actions(retired(days)) == found


def test_it_is_archived_or_purged_as_the_settings_say():
    assert actions(retired(31)) == [ARCHIVE]
    assert actions(retired(31), PURGING) == [PURGE]


@pytest.mark.parametrize(("grace", "found"), [(0, [PURGE]), (1, [PURGE]), (2, []), (90, [])])
def test_the_grace_of_the_settings_holds(grace, found):
    text = f'{{"delete": {{"grace_period_days": {grace}, "archive_retired": false}}}}'
    assert actions(retired(1), read_settings(text)[0]) == found


def test_no_grace_still_lets_nothing_of_the_future_go():
    text = '{"delete": {"grace_period_days": 0, "archive_retired": false}}'
    assert actions(retired(-0.1), read_settings(text)[0]) == []


@pytest.mark.parametrize("status", ["active", "archived", None, "other"])
def test_only_retired_records_leave(status):
    assert actions(retired(400, record_status=status, archived_at=ago(300)), PURGING) == []


@pytest.mark.parametrize("date", [None, "", "soon", 5, "2026-13-01"])
def test_a_retired_record_without_a_date_is_kept_and_told(date):
    (one,) = find_past_grace(retired(400, retired_at=date), PURGING, NOW)
    assert one.action == KEEP
    assert "retired_at" in one.reason


def test_the_reason_says_since_when_and_why():
    (one,) = find_past_grace(retired(31), SETTINGS, NOW)
    assert one.path == "decisions/x.json"
    assert ago(31)[:10] in one.reason
    assert "grace_period_days (30)" in one.reason


def active(type: str, days: float, **more: object) -> dict[str, dict[str, object]]:
    return {"x.json": {"category": type, "created_at": ago(days), "updated_at": ago(days)} | more}


def expired(records, settings=SETTINGS) -> list[str]:
    return [one.path for one in find_expired(records, settings, NOW)]


@pytest.mark.parametrize(("days", "found"), [(89.9, []), (90, ["x.json"]), (-100, [])])
def test_a_summary_is_retired_after_ninety_days(days, found):
    assert expired(active("session_summary", days)) == found


@pytest.mark.parametrize("type", TYPES[1:])
def test_the_other_types_stay_until_a_number_of_days_is_set(type):
    assert expired(active(type, 4000)) == []
    settings = read_settings(f'{{"categories": {{"{type}": {{"retention_days": 7}}}}}}')[0]
    assert expired(active(type, 8), settings) == ["x.json"]


def test_no_days_mean_for_ever():
    settings = read_settings('{"categories": {"session_summary": {"retention_days": 0}}}')[0]
    assert expired(active("session_summary", 4000), settings) == []


def test_a_record_that_was_written_again_is_not_old():
    assert expired(active("session_summary", 400, updated_at=ago(3))) == []


@pytest.mark.parametrize("status", ["retired", "archived"])
def test_only_active_records_expire(status):
    assert expired(active("session_summary", 400, record_status=status)) == []


def test_an_unreadable_date_expires_nothing():
    assert expired(active("session_summary", 400, created_at="x", updated_at=None)) == []


def test_a_type_nobody_knows_expires_nothing():
    assert expired(active("idea", 4000)) == []


def test_the_reason_of_an_expiry_names_the_days():
    (one,) = find_expired(active("session_summary", 100), SETTINGS, NOW)
    assert "retention_days (90)" in one.reason


def many(count: int, **more: object) -> list[dict[str, object]]:
    return [{"category": "decision"} | more] * count


def test_there_is_room_below_the_maximum():
    assert refusal(many(99), "decision", SETTINGS) == ("", "")


@pytest.mark.parametrize("type", TYPES)
def test_a_full_folder_refuses_and_says_the_way_out(type):
    message, fix = refusal(many(100, category=type), type, SETTINGS)
    assert FOLDERS[type] in message
    assert "100" in message
    assert "retire" in fix
    assert "max_memories_per_category" in fix


def test_the_maximum_of_the_settings_holds():
    settings = read_settings('{"max_memories_per_category": 2}')[0]
    assert refusal(many(1), "decision", settings) == ("", "")
    assert refusal(many(2), "decision", settings)[0]


@pytest.mark.parametrize("status", ["retired", "archived"])
def test_what_was_put_away_takes_no_room(status):
    assert refusal(many(500, record_status=status), "decision", SETTINGS) == ("", "")


def test_other_types_take_no_room():
    assert refusal(many(500, category="runbook"), "decision", SETTINGS) == ("", "")
