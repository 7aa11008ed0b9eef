"""The rolling window: the newest few summaries stay; what is lost with the oldest is named."""

import pytest

from memdir.records.lifecycle import find_surplus
from memdir.records.memory_config import read_settings
from tests.helpers.toml_cases import cases

SETTINGS = read_settings(None)[0]
THREE = read_settings('{"categories": {"session_summary": {"max_retained": 3}}}')[0]


def summary(number: int, **more: object) -> dict[str, object]:
    """One of day `number`."""
    return {
        "category": "session_summary",
        "id": f"session-{number}",
        "title": f"Session {number}",
        "created_at": f"2026-01-{number:02d}T00:00:00Z",
        "record_status": "active",
        "content": {"completed": [], "next_actions": []},
        **more,
    }


def store(*records: dict[str, object]) -> dict[str, dict[str, object]]:
    return {f"sessions/{record['id']}.json": record for record in records}


def days(count: int) -> dict[str, dict[str, object]]:
    return store(*(summary(number) for number in range(1, count + 1)))


def going(records, settings=SETTINGS, newest="") -> list[str]:
    return [one.path for one in find_surplus(records, settings, newest)]


@pytest.mark.parametrize("status", ["retired", "archived"])
def test_only_active_ones_are_counted(status):
    records = days(6)
    records["sessions/session-3.json"]["record_status"] = status
    assert going(records) == []


def test_the_one_just_saved_stays_although_the_clock_went_back():
    assert going(days(6), newest="sessions/session-1.json") == ["sessions/session-2.json"]


def test_one_without_a_readable_date_is_left_alone_and_hides_no_other():
    records = days(6)
    records["sessions/session-4.json"].update(created_at="soon", updated_at=None)
    assert going(records) == []
    assert going(records | store(summary(7))) == ["sessions/session-1.json"]


ITEM = "Chose SQLite for the local catalog"


def warning(content: object, *others: dict[str, object]) -> str:
    """What is said when the oldest goes, beside five newer ones and these."""
    newer = (summary(number) for number in range(2, 7))
    records = store(summary(1, content=content), *newer, *others)
    return find_surplus(records, SETTINGS)[0].warning


@pytest.mark.parametrize("key", ["completed", "blockers", "next_actions"])
def test_an_item_that_stands_nowhere_else_is_named(key):
    text = warning({key: [ITEM]})
    assert ITEM in text
    assert "session-1" in text


@pytest.mark.parametrize("key", ["in_progress", "key_changes", "goal"])
def test_other_fields_are_not_guarded(key):
    assert warning({key: [ITEM]}) == ""


def other(type: str, title: str, **more: object) -> dict[str, object]:
    return {"category": type, "id": "x", "title": title, "created_at": "2026-01-01", **more}


@cases("records")
def test_what_another_record_says_is_not_lost(record):
    assert ITEM in warning({"completed": [ITEM]})
    assert warning({"completed": [ITEM]}, record) == ""


@cases("records")
def test_what_only_looks_like_it_does_not_keep_it(record):
    assert ITEM in warning({"completed": [ITEM]}, record)


def test_a_warning_stays_short_and_on_one_line():
    items = [f"Unheard-of thing\nnumber {number} {'x' * 300}" for number in range(50)]
    text = warning({"completed": items})
    assert "\n" not in text
    assert "45 more" in text
    assert len(text) < 1000


@pytest.mark.parametrize("script", ["選擇了本地資料庫的格式", "Выбрали базу данных для каталога"])
def test_items_in_other_scripts_are_compared_too(script):
    assert script in warning({"completed": [script]})
    assert warning({"completed": [script]}, other("decision", script)) == ""


@pytest.mark.parametrize("content", [None, [], "x", {}, {"completed": "x"}, {"completed": [1, ""]}])
def test_a_broken_content_breaks_nothing(content):
    assert warning(content) == ""
