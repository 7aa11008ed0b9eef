"""Daily logs: every entry whole, whoever else writes; only ever added to."""

import datetime
import subprocess
import sys
from pathlib import Path

import pytest

from memdir.errors import BadInput, MemdirError
from memdir.store import logs
from memdir.store.logs import DailyLog, Entry, read_daily_log_entries, write_daily_log_entry

DAY = datetime.date(2026, 3, 2)
WRITERS, EACH = 8, 100
WRITER = """
import sys, datetime
from memdir.store.logs import DailyLog
from memdir.store.logs import Entry
log, who = DailyLog(sys.argv[1]), sys.argv[2]
for at in range(int(sys.argv[3])):
    text = f"writer {who} entry {at} " + "x" * (at * 37 % 900) + "\\nsecond line " + who
    log.append(datetime.date(2026, 3, 2), Entry(text, "project", "12:00"))
"""


@pytest.fixture
def log(tmp_path: Path) -> DailyLog:
    return DailyLog(str(tmp_path / "projects/shop"))


def test_an_entry_is_read_back_as_it_was_written(log):
    entries = [
        Entry("The staging cluster moves.", "project", "09:30"),
        Entry("- a list\n- of things\n\n# no heading\n- 10:00 [user] no entry", "user", "09:31"),
        Entry("Ünï 配置 [brackets] 12:30", "feedback", "09:32"),
    ]
    for entry in entries:
        path = log.append(DAY, entry)
    assert path == log.path(DAY) and path.endswith("logs/2026/03/2026-03-02.md")
    text = Path(path).read_text()
    assert text.startswith("# 2026-03-02\n\n- 09:30 [project] The staging cluster moves.\n")
    assert read_daily_log_entries(text) == entries
    assert "".join(map(write_daily_log_entry, entries)) == text.partition("\n\n")[2]


def test_many_writers_lose_and_tear_no_entry(log):
    words = [sys.executable, "-c", WRITER, log.root]
    running = [subprocess.Popen([*words, str(at), str(EACH)]) for at in range(WRITERS)]
    assert [one.wait(timeout=120) for one in running] == [0] * WRITERS
    entries = read_daily_log_entries(Path(log.path(DAY)).read_text())
    assert len(entries) == WRITERS * EACH
    for who in range(WRITERS):
        mine = [one.text for one in entries if one.text.startswith(f"writer {who} ")]
        assert mine == [
            f"writer {who} entry {at} " + "x" * (at * 37 % 900) + f"\nsecond line {who}"
            for at in range(EACH)
        ]


def test_an_entry_and_a_day_have_a_largest_size(log, monkeypatch):
    with pytest.raises(BadInput):
        log.append(DAY, Entry("x" * logs.LONGEST_BYTES))
    log.append(DAY, Entry("first"))
    before = Path(log.path(DAY)).read_bytes()
    monkeypatch.setattr(logs, "MAX_DAY_BYTES", len(before) + 5)
    with pytest.raises(MemdirError):
        log.append(DAY, Entry("second"))
    assert Path(log.path(DAY)).read_bytes() == before
