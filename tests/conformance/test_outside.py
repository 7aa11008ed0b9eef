"""What others do to a store is seen, named `outside`, and committed before ours."""

import os
import time

import pytest

from memdir.capture import review
from memdir.format.draft import Draft, Wishes
from memdir.store import changes, look
from memdir.store.ports import TRASH, Cause
from tests.helpers.opened import Opened, memory


@pytest.fixture
def opened(tmp_path):
    return Opened(tmp_path)


def test_what_others_did_is_committed_before_ours(opened):
    opened.save("One", "a")
    opened.write("b.md", memory("b"))
    opened.write("a.md", memory("a", body="Theirs"))
    opened.save("Ours", "a")
    assert opened.verbs() == ["begin", "save a", "outside", "save a"]
    review.undo_and_hold_again(opened.app())
    assert "Theirs" in opened.read("a.md")
    assert opened.app().shelf.list(TRASH) == []
    assert opened.app().history.find(look.store_log(opened.app())[0].id).cause.undoes


def test_an_edit_of_the_same_size_in_the_same_tick_is_seen(opened):
    """Same inode, same size, mtime put back: only bytes or ctime can tell."""
    opened.save("One", "a")
    path = opened.root / "a.md"
    for count in range(20):
        before, data = path.stat(), path.read_bytes()
        last = data[data.index(b"On") + 2 :][:1]
        with open(path, "r+b") as file:
            file.write(data.replace(b"On" + last, b"On%d" % (count % 10)))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert path.stat().st_size == before.st_size
        opened.app().snapshot()
        newest = look.store_log(opened.app())[0]
        assert opened.app().history.content(newest.id, "a.md") == path.read_bytes()


def test_an_edit_between_our_write_and_our_commit_is_seen_later(opened):
    app = opened.app()
    record = app.history.record

    def edit_first(*given: object) -> str:
        path = opened.root / "a.md"
        path.write_bytes(path.read_bytes().replace(b"One", b"Two"))
        time.sleep(0.05)  # longer than the clock's tick
        return record(*given)

    vars(app.history)["record"] = edit_first
    changes.save_memory(app, Draft("One", name="a"), Wishes())
    opened.save("Three", "b")
    assert opened.verbs() == ["begin", "save a", "outside a.md", "save b"]
    opened.save("Four", "a")
    review.undo_and_hold_again(opened.app())
    assert "Two" in opened.read("a.md")


def test_a_killed_writers_change_gets_its_name(opened):
    opened.save("One", "a")
    app = opened.app()
    cause = Cause("edit", actor="killed")
    app.history.announce(app.store, cause)
    for path, text in (("a.md", "Killed"), ("MEMORY.md", "- [A](a.md) - killed\n")):
        app.history.expect(path, text.encode())
        app.store.put(path, text.encode())
    opened.write("c.md", memory("c"))
    opened.save("Two", "b")
    assert opened.verbs() == ["begin", "save a", "edit a.md", "outside c.md", "save b"]
    actors = [change.cause.actor for change in look.store_log(opened.app())]
    assert actors == ["tester", "outside", "killed", "tester", "memdir"]


def test_what_was_announced_and_not_written_is_not_taken_for_ours(opened):
    opened.save("One", "a")
    app = opened.app()
    app.history.announce(app.store, Cause("retire", actor="killed"))
    app.history.expect("a.md", b"never written")
    opened.write("a.md", memory("a", body="Theirs"))
    opened.save("Two", "b")
    assert opened.verbs() == ["begin", "save a", "outside a.md", "save b"]


def test_a_full_state_disk_loses_no_change_from_the_log(opened, monkeypatch):
    """The commit of what others did fails, ours comes through: theirs is committed next time."""
    opened.save("One", "a")
    opened.write("b.md", memory("b"))
    opened.app().snapshot()
    (opened.root / "b.md").unlink()
    opened.write("a.md", memory("a", body="Theirs"))
    app = opened.app()
    real, left = app.history.objects.disk.put_all, [1]

    def failing(files) -> None:
        if left and any(path.startswith("refs/") for path in files):
            left.pop()
            raise OSError(28, "No space left on device")
        real(files)

    disk = type(app.history.objects.disk)
    monkeypatch.setattr(disk, "put_all", lambda self, files: failing(files))
    changes.save_memory(app, Draft("Ours", name="a"), Wishes(anyway=True))
    monkeypatch.undo()
    opened.app().snapshot()
    changed = {
        path for one in look.store_log(opened.app()) for kind, path in one.paths if kind == "D"
    }
    assert "b.md" in changed
    shelf = opened.app().shelf
    versions = [shelf.read(one) for one in shelf.list(TRASH) if one.path == "a.md"]
    history = [opened.app().history.content(one.id, "a.md") for one in look.store_log(opened.app())]
    assert any(data and b"Theirs" in data for data in versions + history)
