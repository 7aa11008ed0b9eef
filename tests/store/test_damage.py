"""A damaged history costs what is damaged, not the rest: it is named, set aside, begun anew."""

import os
import shutil
from pathlib import Path

import pytest

from memdir.audit import ages
from memdir.capture import review
from memdir.care import doctor
from memdir.errors import HistoryBroken, Unwritable
from memdir.store import changes, look
from memdir.store.writer import App
from memdir.upkeep.worksheet import Check
from tests.helpers.opened import DAY, Opened

SECONDS = 30


@pytest.fixture
def opened(tmp_path):
    opened = Opened(tmp_path)
    for count in range(4):
        opened.save(f"Version {count}", "a")
        opened.now += DAY
    opened.save("Beside", "b")
    return opened


def check_up(opened: Opened, fix: bool = False) -> dict[str, Check]:
    trial: App = Opened(opened.top / "trial").app()
    return {check.name: check for check in doctor.run_doctor(opened.app(), trial, fix)}


def damage(opened: Opened, position: int) -> str:
    """Write rubbish over the commit at this place of the log; gives its id."""
    oid = look.store_log(opened.app())[position].id
    (pack,) = (opened.state / "history.git/objects/pack").glob(f"pack-*-{oid}.pack")
    pack.write_bytes(b"rubbish")
    return oid


def test_the_log_shows_what_can_be_read_and_names_the_damage_once(opened):
    before = [one.id for one in look.store_log(opened.app())]
    bad = damage(opened, 3)
    found = look.store_log(opened.app())
    assert [one.id for one in found] == before[:3]
    (said,) = [text for text in opened.said if bad in text]
    assert "doctor --fix" in said and before[2][:8] in said


def test_everything_since_a_moment_is_undone_only_where_all_of_it_can_be_read(opened):
    log = look.store_log(opened.app())
    bad = damage(opened, 3)
    before = opened.files()
    with pytest.raises(HistoryBroken, match=bad):
        review.undo_and_hold_again(opened.app(), since=log[4].time)
    assert opened.files() == before
    review.undo_and_hold_again(opened.app(), since=log[1].time)
    assert "Version 2" in opened.read("a.md")


@pytest.mark.parametrize("position", [0, 3, 5])
def test_doctor_finds_damage_anywhere_and_starts_anew_beside_it(opened, position):
    bad = damage(opened, position)
    before = opened.files()
    found = check_up(opened)["history"]
    assert not found.ok and bad in found.message and "doctor --fix" in found.fix
    assert check_up(opened, fix=True)["history"].ok
    assert opened.files() == before
    assert (opened.state / "history.git.damaged-1/HEAD").is_file()
    assert opened.verbs() == ["begin"]
    changes.retire_memories(opened.app(), ["b"])
    review.undo_and_hold_again(opened.app())
    assert opened.files() == before


def stand_in(where: Path, kind: str) -> None:
    """Put something that is neither the file nor the directory we want."""
    if where.is_dir():
        shutil.rmtree(where)
    where.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(where)
    elif kind == "directory":
        where.mkdir()
    elif kind == "dangling link":
        where.symlink_to(where.with_name("not-there"))
    else:
        where.write_bytes(b"not what it should be")


@pytest.mark.parametrize("kind", ["pipe", "dangling link", "file"])
def test_something_else_in_the_place_of_the_history_is_said_and_mended(opened, kind):
    stand_in(opened.state / "history.git", kind)
    found = check_up(opened)["history"]
    assert not found.ok and "stands there" in found.message and "doctor --fix" in found.fix
    with pytest.raises(HistoryBroken, match="stands there"):
        look.store_log(opened.app())
    opened.save("Still works", "c")
    assert any("Old versions go to the trash" in said for said in opened.said)
    assert check_up(opened, fix=True)["history"].ok
    assert os.path.lexists(opened.state / "history.git.damaged-1")
    opened.save("Again", "c")
    review.undo_and_hold_again(opened.app())
    assert "Still works" in opened.read("c.md")


@pytest.fixture
def in_time():
    """Fails instead of hanging for ever."""
    import signal

    def late(*_):
        raise AssertionError("it hangs")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)


@pytest.mark.parametrize("kind", ["pipe", "directory", "dangling link"])
@pytest.mark.parametrize("name", ["known.json", "announced"])
def test_a_table_that_is_no_file_makes_nobody_wait(opened, in_time, name, kind):
    stand_in(opened.state / name, kind)
    opened.save("Still works", "a")
    review.undo_and_hold_again(opened.app())
    assert "Version 3" in opened.read("a.md")


@pytest.mark.parametrize("kind", ["pipe", "directory", "dangling link"])
def test_a_lock_that_is_no_file_is_said_and_makes_nobody_wait(opened, in_time, kind):
    stand_in(opened.state / "lock", kind)
    before = opened.files()
    with pytest.raises(Unwritable) as refused:
        opened.save("Other", "a")
    assert str(opened.state / "lock") in refused.value.message and refused.value.next
    assert opened.app().lock.holder() == "an unknown process"
    assert [one.memory.path for one in ages.list_memory_ages(opened.app())[0]] == ["b.md", "a.md"]
    assert not check_up(opened)["lock"].ok
    assert opened.files() == before
    assert not (opened.state / "not-there").exists()
