"""One odd file must not silence the others, whatever a search does with it."""

import os
import signal

import pytest

from tests.helpers.searching import MANY, Searched, answers, memory

PROMPT = "how do we deploy the payment gateway?"


@pytest.fixture
def searched(tmp_path) -> Searched:
    searched = Searched(tmp_path)
    searched.write("good.md", memory("Good", "Deploy the payment gateway by hand"))
    return searched


def test_one_word_hundreds_of_times_silences_nobody(searched):
    searched.write("spam.md", memory("Spam", "deploy " * 3000))
    searched.settle()
    assert "good.md" in [hit.memory.path for hit in searched.fts().find(PROMPT, 5).hits]


@pytest.mark.parametrize("year", [1902, 2300, 2400])
def test_a_file_of_another_century_silences_nobody(searched, year):
    odd = searched.write("odd.md", memory("Odd", "The gateway of the future"))
    os.utime(odd, ((year - 1970) * 31_556_952,) * 2)
    searched.settle()
    assert searched.catalog_findings(PROMPT) == []


def test_a_pipe_in_the_place_of_the_journal_does_not_hang(searched):
    searched.settle()
    os.mkfifo(f"{searched.catalog}-journal")
    signal.alarm(20)  # a hang ends the test, not the run
    try:
        assert len(searched.catalog_findings(PROMPT)) == 1
    finally:
        signal.alarm(0)


def test_equals_come_in_the_same_order_whatever_was_touched(searched):
    for number in range(520):
        searched.write(f"n{number:03}.md", memory("Same", "The gateway of many"))
    searched.settle()
    for number in range(0, 520, 3):
        searched.write(f"n{number:03}.md", memory("Same", "The gateway of many"))
    assert answers(searched.fts().find("gateway of many", MANY)) == answers(
        searched.scan().find("gateway of many", MANY)
    )


def test_a_scan_sees_what_came_after_it_was_opened(searched):
    search = searched.scan()
    search.find(PROMPT, 5)
    searched.write("late.md", memory("Late", "A zeppelin came by"))
    assert [hit.memory.path for hit in search.find("the zeppelin", 5).hits][:1] == ["late.md"]


def test_an_index_that_says_much_about_one_memory_is_heard_in_part(searched):
    searched.write("MEMORY.md", "- [Good](good.md) — the gateway\n" * 20_000)
    searched.settle()
    assert searched.catalog_findings(PROMPT) == []


def test_the_catalog_is_private(searched):
    searched.settle()
    assert searched.catalog.stat().st_mode & 0o777 == 0o600


def test_a_text_without_spaces_takes_no_time_to_speak_of(searched):
    searched.write("long.md", memory("Long", "x" * 1_000_000 + "界" * 50_000))
    searched.settle()
    assert searched.catalog_findings(PROMPT) == []
