"""Records that go by date: only what is truly past, and archived ones never."""

import pytest

from memdir.hot.safe import DAY, iso_time, parse_time
from memdir.records.fields import TYPES
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


@pytest.mark.parametrize(("grace", "found"), [(0, [PURGE]), (1, [PURGE]), (2, []), (90, [])])
def test_the_grace_of_the_settings_holds(grace, found):
    text = f'{{"delete": {{"grace_period_days": {grace}, "archive_retired": false}}}}'
    assert actions(retired(1), read_settings(text)[0]) == found


@pytest.mark.parametrize("status", ["active", "archived", None, "other"])
def test_only_retired_records_leave(status):
    assert actions(retired(400, record_status=status, archived_at=ago(300)), PURGING) == []


@pytest.mark.parametrize("date", [None, "", "soon", 5, "2026-13-01"])
def test_a_retired_record_without_a_date_is_kept_and_told(date):
    (one,) = find_past_grace(retired(400, retired_at=date), PURGING, NOW)
    assert one.action == KEEP
    assert "retired_at" in one.reason


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


def test_a_record_that_was_written_again_is_not_old():
    assert expired(active("session_summary", 400, updated_at=ago(3))) == []


@pytest.mark.parametrize("status", ["retired", "archived"])
def test_only_active_records_expire(status):
    assert expired(active("session_summary", 400, record_status=status)) == []
