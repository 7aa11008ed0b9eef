"""index.md: one line per active record, the same bytes from the same records."""

import random

import pytest

from memdir.records.index_md import Mismatch, build, find_mismatches, health, line, parse
from tests.helpers.samples import NOW, sample

A = ("decisions/a.json", sample(title="Use SQLite", tags=["storage", "sqlite"]))
B = ("tech-debt/b.json", sample("tech_debt", title="Fixed retries", tags=["queue"]))
C = ("decisions/c.json", sample(title="apply patches", tags=["git"]))
RETIRED = ("decisions/r.json", sample(record_status="retired", retired_at="2026-03-01T00:00:00Z"))
ARCHIVED = ("decisions/z.json", sample(record_status="archived"))
LINES = [
    "- [DECISION] apply patches -> decisions/c.json #tags:git",
    "- [DECISION] Use SQLite -> decisions/a.json #tags:storage,sqlite",
    "- [TECH_DEBT] Fixed retries -> tech-debt/b.json #tags:queue",
]


def test_the_order_of_the_records_does_not_change_a_byte():
    records = [A, B, C, RETIRED, *[(f"runbooks/{n}.json", sample("runbook")) for n in range(20)]]
    first = build(records)
    for seed in range(10):
        random.Random(seed).shuffle(records)
        assert build(records) == first


@pytest.mark.parametrize(
    "title",
    ["a -> b", "-> b", "a ->", "x #tags:y", "a\nb", "] -> [", "[X] y", "a\u2028b", "##tags:x", "#"],
)
def test_no_title_breaks_its_line(title):
    text = line(sample(title=title, tags=["t"]), "decisions/a.json")
    (entry,), bad = parse(text)
    assert (entry.path, entry.tags, bad) == ("decisions/a.json", ["t"], [])
    assert len(text.splitlines()) == 1
    assert line(sample(title=entry.title, tags=["t"]), entry.path) == text


@pytest.mark.parametrize("record", [{}, {"title": 7, "tags": "x"}, {"tags": [1]}])
def test_a_record_that_holds_nonsense_still_has_a_line(record):
    assert line(record, "a.json").endswith(" -> a.json")


def test_the_paths_of_other_writers_are_understood():
    text = build([A]).replace("-> decisions/", "-> .claude/memory/decisions/")
    assert find_mismatches(text, [A]) == []


FULL = build([A, B])
MISMATCHES = [
    ("a record without a line", build([A]), [Mismatch("missing", "tech-debt/b.json")]),
    ("no index at all", "", [Mismatch("missing", A[0]), Mismatch("missing", B[0])]),
    ("a line without a record", FULL + LINES[0], [Mismatch("stale", "decisions/c.json", 7)]),
    ("a line that says something else", FULL.replace("Use", "Take"),
     [Mismatch("different", "decisions/a.json", 5)]),
    ("a line with other tags", FULL.replace(",sqlite", ""),
     [Mismatch("different", "decisions/a.json", 5)]),
    ("a line that stands twice", FULL + LINES[1], [Mismatch("twice", "decisions/a.json", 7)]),
    ("a line nobody can read", FULL + "- [DECISION] broken", [Mismatch("unreadable", "", 7)]),
    ("a line of no category", FULL + "- [IDEA] x -> a.json", [Mismatch("unreadable", "", 7)]),
    ("a list item that is no entry", FULL + "- x", [Mismatch("unreadable", "", 7)]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "found"), [row[1:] for row in MISMATCHES], ids=[row[0] for row in MISMATCHES]
)
def test_where_index_and_records_differ_is_said(text, found):
    assert find_mismatches(text, [A, B]) == found


def test_health_counts_and_names():
    often = ("runbooks/o.json", sample("runbook", times_updated=6))
    long_gone = ("decisions/l.json", RETIRED[1] | {"retired_at": "2026-01-01T00:00:00Z"})
    found = health(build([A]), [A, B, RETIRED, long_gone, ARCHIVED, often], NOW)
    assert found["records"] == 6
    assert found["counts"]["decision"] == {"active": 1, "retired": 2, "archived": 1}
    assert found["counts"]["tech_debt"] == {"active": 1, "retired": 0, "archived": 0}
    assert (found["mismatches"], found["in_sync"]) == (2, False)
    assert found["often_updated"] == ["runbooks/o.json"]
    assert found["recently_retired"] == ["decisions/r.json"]
    assert health(build([A]), [A], NOW)["in_sync"] is True
