"""Files that are hardly memories: they stay readable, and somebody hears of them."""

import pytest

from memdir.audit import ages
from memdir.capture import review
from memdir.care.doctor import examine_installation
from memdir.store import changes, look
from tests.helpers.opened import DAY, NOON, Opened, findings, still_works
from tests.helpers.tables import rows


@pytest.fixture
def opened(tmp_path):
    opened = Opened(tmp_path)
    opened.save("Good words", "good")
    return opened


def said_by_doctor(opened: Opened) -> list[str]:
    checks = examine_installation(opened.app())
    return [check.message for check in checks if check.name == "memories" and not check.ok]


ODD = dict(rows(globals(), "ODD"))


@pytest.mark.parametrize("kind", ODD)
def test_a_file_without_text_is_listed_readable_and_reported(opened, kind):
    data, problem = ODD[kind]
    opened.write("odd.md", data)
    assert problem in findings(opened)["odd.md"]
    assert any(problem in said for said in said_by_doctor(opened))
    listed = [one.memory.path for one in ages.list_memory_ages(opened.app())[0]]
    assert "odd.md" in listed
    assert look.show_in_store(opened.app(), "odd")[1] == data
    still_works(opened)
    assert opened.files()["odd.md"] == data


# -- an index that is the only memory ------------------------------------------------------

ALONE = dict(rows(globals(), "ALONE"))


@pytest.mark.parametrize("kind", ALONE)
def test_an_index_that_is_all_there_is_counts_as_one_memory(tmp_path, kind):
    opened = Opened(tmp_path)
    opened.write("MEMORY.md", ALONE[kind])
    app = opened.app()
    listed, found = ages.list_memory_ages(app)
    assert ([one.memory.path for one in listed], found) == (["MEMORY.md"], [])
    assert (listed[0].memory.type, app.store.shape) == ("unknown", "standalone index")
    assert look.read_store_files(app.store)[0] == [("MEMORY.md", ALONE[kind].encode())]

    opened.save("First", "first")
    assert ALONE[kind] in opened.read("notes.md")
    assert len(ages.list_memory_ages(opened.app())[0]) == 2


def test_what_a_change_itself_has_written_is_not_kept_as_an_old_version(tmp_path):
    """The index is written twice in this change; its first form is ours and goes nowhere."""
    opened = Opened(tmp_path)
    opened.write("MEMORY.md", ALONE["paragraphs"])
    opened.save("First", "first")
    assert opened.app().shelf.list_all() == []
    assert opened.verbs() == ["begin", "save first"]


# -- clocks --------------------------------------------------------------------------------

BEYOND = 300_000_000_000.0  # the year 11476


@pytest.mark.parametrize("now", [BEYOND, 1e17, -1.0, -70_000_000_000.0])
def test_a_clock_beyond_the_calendar_loses_nothing(opened, now):
    opened.now = now
    opened.save("Later words", "later")
    changes.retire_memories(opened.app(), ["later"])
    assert [one.path for one in opened.app().shelf.list_all()] == ["later.md"]
    changes.restore_memories(opened.app(), ["later"])
    assert "Later words" in opened.read("later.md")
    review.undo_and_hold_again(opened.app())
    assert ages.list_memory_ages(opened.app()) and look.store_log(opened.app())


def test_a_change_of_a_clock_that_was_ahead_is_not_taken_for_a_new_one(opened):
    opened.now = NOON + 3650 * DAY
    opened.save("Made with a wrong clock", "wrong")
    opened.now = NOON + DAY
    opened.save("Made today", "today")
    review.undo_and_hold_again(opened.app(), since=NOON + DAY / 2)
    assert (opened.root / "wrong.md").exists()
    assert not (opened.root / "today.md").exists()
