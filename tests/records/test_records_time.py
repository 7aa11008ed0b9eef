"""What time does to records: the window of summaries, retention, grace, archive and purge."""

import json

import pytest

from memdir.capture import review
from memdir.format.draft import ARCHIVED, PURGED, RETIRED
from memdir.records.lifecycle import collect_record_garbage, find_surplus_records
from memdir.records.memory_config import read_record_settings
from tests.helpers.opened import DAY
from tests.helpers.recorded import PATH, Recorded
from tests.helpers.tables import toml_cases as cases


@pytest.fixture
def kept(tmp_path):
    return Recorded(tmp_path)


def statuses(kept: Recorded, folder: str = "sessions") -> list[str]:
    files = sorted((kept.root / folder).glob("*.json"))
    return [json.loads(file.read_bytes())["record_status"] for file in files]


def summaries(kept: Recorded, number: int) -> list:
    done = []
    for at in range(number):
        kept.now += 60
        done.append(kept.create(f"Session {at}", "session_summary"))
    return done


def test_the_window_keeps_the_newest_five_by_itself(kept):
    summaries(kept, 5)
    before = kept.files()
    kept.now -= 3600  # the one just saved stays although the clock went back
    last = kept.create("Session 5", "session_summary")
    assert statuses(kept) == ["retired", *["active"] * 5]
    assert [change.kind for change in last.changes] == ["created", RETIRED]
    reason = kept.record("sessions/session-0.json")["retired_reason"]
    assert reason.startswith("Session rolling window: exceeded max_retained limit")
    assert kept.in_step()
    assert "session-0" not in kept.index
    review.undo_and_hold_again(kept.app())
    assert kept.files() == before


@pytest.mark.parametrize(
    ("archives", "days", "kind"),
    [(True, 29, None), (True, 30, ARCHIVED), (False, -40, None), (False, 31, PURGED)],
)
def test_the_grace_period_decides_and_the_settings_say_how(kept, archives, days, kind):
    kept.settings(delete={"archive_retired": archives})
    kept.create()
    kept.act("delete", PATH)
    kept.now += days * DAY
    done = collect_record_garbage(kept.app())
    assert [change.kind for change in done.changes] == ([kind] if kind else [])
    assert (kept.root / PATH).exists() == (kind != PURGED)
    if kind == PURGED:
        review.undo_and_hold_again(kept.app())
        assert kept.record()["record_status"] == "retired"


def test_active_and_archived_records_are_never_purged(kept):
    kept.settings(delete={"archive_retired": False, "grace_period_days": 0})
    kept.create()
    kept.create("Another one")
    kept.act("archive", "another-one")
    kept.now += 1000 * DAY
    assert collect_record_garbage(kept.app()).changes == ()


DATED = ("retired_at", "updated_at", "created_at")


@pytest.mark.parametrize("odd", [dict.fromkeys(DATED, "yesterday"), {"schema_version": "99.0"}])
def test_a_record_of_an_unknown_date_or_version_stays_as_it_is(kept, odd):
    kept.settings(delete={"archive_retired": False, "grace_period_days": 0})
    kept.create()
    kept.act("delete", PATH)
    kept.write(PATH, json.dumps(kept.record() | odd))
    before = kept.bytes()
    kept.now += 1000 * DAY
    done = collect_record_garbage(kept.app())
    assert (done.changes, kept.bytes()) == ((), before)
    assert f"{PATH} stays" in done.remarks[0]


def test_retention_retires_what_was_long_not_written(kept):
    summaries(kept, 1)
    kept.create()
    kept.now += 91 * DAY
    done = collect_record_garbage(kept.app())
    assert [change.path for change in done.changes] == ["sessions/session-0.json"]
    assert statuses(kept) == ["retired"]
    assert kept.record()["record_status"] == "active"
    kept.settings(categories={"decision": {"retention_days": 7}})
    kept.update(confidence=0.9)
    kept.now += 6 * DAY
    assert collect_record_garbage(kept.app()).changes == ()
    kept.now += 2 * DAY
    assert [change.path for change in collect_record_garbage(kept.app()).changes] == [PATH]


SETTINGS = read_record_settings({})[0]


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


ITEM = "Chose SQLite for the local catalog"


def warning(content: object, *others: dict[str, object]) -> str:
    """What is said when the oldest goes, beside five newer ones and these."""
    newer = (summary(number) for number in range(2, 7))
    records = store(summary(1, content=content), *newer, *others)
    return find_surplus_records(records, SETTINGS)[0].warning


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
