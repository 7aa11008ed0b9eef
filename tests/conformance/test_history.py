"""What every history promises, what git says of ours, and that what others did is in it."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.capture import review
from memdir.errors import HistoryBroken, MemdirError, Missing
from memdir.format.draft import Draft, Wishes
from memdir.store import changes, look
from memdir.store.ports import TRASH, Cause, read_history_message, write_history_message
from tests.helpers.opened import Opened, memory
from tests.helpers.tables import cases, rows

SOUND = ("fsck", "--strict", "--no-dangling")
BYTES = dict(rows(globals(), "BYTES"))
TEXT = st.text()
PATHS = st.lists(
    st.tuples(st.sampled_from("AMD"), st.text(st.characters(exclude_characters="\0"), min_size=1))
)


@pytest.fixture
def opened(tmp_path):
    return Opened(tmp_path)


@given(TEXT, TEXT, TEXT, TEXT, st.lists(st.text("0123456789abcdef", min_size=1)), PATHS)
def test_a_message_is_read_back_as_it_was_written(name, actor, reason, batch, undoes, paths):
    cause = Cause("save", name, actor or "memdir", reason, batch, tuple(undoes))
    assert read_history_message(write_history_message(cause, paths)) == (cause, tuple(paths))


def test_a_history_that_is_off_says_so_and_old_versions_go_to_the_trash(tmp_path):
    opened = Opened(tmp_path, history=0)
    opened.save("One", "a")
    opened.save("Two", "a")
    with pytest.raises(MemdirError, match="switched off") as off:
        review.undo_and_hold_again(opened.app())
    assert "MEMDIR_HISTORY" in off.value.next
    kept = [opened.app().shelf.read(item) for item in opened.app().shelf.list(TRASH)]
    assert any(b"One" in data for data in kept)


def test_git_finds_no_fault_and_reads_the_log(opened):
    opened.save("One", "a")
    opened.write("ünï cödé.md", memory("x"))
    opened.save("Two", "b", description="line: with “quotes”")
    changes.retire_memories(opened.app(), ["a"], reason='said "no"\nand more')
    review.undo_and_hold_again(opened.app())
    assert opened.git(*SOUND) in ("", "notice: No default references\n")
    subjects = opened.git("log", "--format=%s").splitlines()
    assert subjects[:3] == ["undo retire a", "retire a", "save b"]
    assert subjects[3:] == ["outside ünï cödé.md", "save a", "begin"]
    assert opened.git("log", "-1", "--format=%an <%ae> %cd", "--date=iso").strip() == (
        "tester <memdir> 2026-03-02 12:00:00 +0000"
    )
    assert "One" in opened.git("show", "main:a.md")
    assert opened.git("diff", "--stat", "main~1", "main").strip()


def test_bytes_in_are_bytes_out_whatever_the_name(opened):
    for path, data in BYTES.items():
        opened.write(path, data)
    opened.write("MEMORY.md", "")
    app = opened.app()
    app.snapshot()
    for path in BYTES:
        (opened.root / path).unlink()
    review.undo_and_hold_again(opened.app())
    kept = {path: opened.files()[path] for path in opened.files().keys() & BYTES.keys()}
    assert kept == BYTES
    assert opened.git(*SOUND) == ""
    listed = opened.git("ls-tree", "-r", "-z", "--name-only", "main").split("\0")
    assert sorted(filter(None, listed)) == sorted([*BYTES, "MEMORY.md"])


def test_nothing_of_the_users_git_world_has_an_effect(opened, home, monkeypatch, tmp_path):
    marks = tmp_path / "marks"
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("pre-commit", "post-commit", "reference-transaction", "post-index-change"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {marks}\nexit 1\n")
        (hooks / name).chmod(0o755)
    (home / "ignored").write_text("*\n*token*\n*.md\n")
    (home / "attributes").write_text("* text eol=crlf filter=spoil ident\n*.md export-ignore\n")
    [config] = rows(globals(), "GITCONFIG")
    for name, path in (("MARKS", marks), ("HOOKS", hooks), ("HOME", home)):
        config = config.replace(name, str(path))
    (home / ".gitconfig").write_text(config)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    opened.write(".gitattributes", "* text eol=crlf filter=spoil\n")
    opened.write(".gitignore", "*\n")
    opened.write("api-token-rules.md", b"aaa\nbbb\r\n$Id$\n")
    opened.save("aaa", "kept")
    opened.git("gc", "--quiet", "--prune=now")
    (opened.root / "api-token-rules.md").unlink()
    review.undo_and_hold_again(opened.app())
    assert opened.read("api-token-rules.md") == "aaa\nbbb\r\n$Id$\n"
    assert not marks.exists()
    assert not (tmp_path / "elsewhere").exists()
    assert opened.git(*SOUND) == ""


def test_without_git_on_the_path_saving_log_and_undo_still_work(opened, monkeypatch, tmp_path):
    (tmp_path / "nothing").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert shutil.which("git") is None
    opened.save("One", "a")
    opened.save("Two", "a")
    assert opened.verbs() == ["begin", "save a", "save a"]
    review.undo_and_hold_again(opened.app())
    assert "One" in opened.read("a.md")
    assert opened.said == []


def newest_object(git: Path) -> Path:
    oid = (git / "refs/heads/main").read_text().strip()
    (pack,) = git.glob(f"objects/pack/pack-*-{oid}.pack")
    return pack


@cases("damage", ids=["damaged ref", "no ref", "damaged commit", "no objects"])
def test_a_damaged_history_is_named_and_old_versions_go_to_the_trash(opened, damage):
    opened.save("One", "a")
    opened.save("Two", "a")
    damage(opened.state / "history.git")
    (opened.state / "known.json").touch()
    for ask in (
        lambda: look.store_log(opened.app()),
        lambda: review.undo_and_hold_again(opened.app()),
    ):
        try:
            assert ask() == []
            assert "history.git" in opened.said[-1]
        except HistoryBroken as broken:
            assert "history.git" in broken.message
            assert "doctor" in broken.next or "permissions" in broken.next
    opened.said.clear()
    opened.save("Three", "a")
    assert "Three" in opened.read("a.md")
    assert any("history" in line for line in opened.said)
    kept = [one for one in opened.app().shelf.list(TRASH) if one.path == "a.md"]
    assert b"Two" in opened.app().shelf.read(kept[0])


@cases("table", ids=range(6))
def test_the_table_of_known_files_is_only_derived(opened, table):
    opened.save("One", "a")
    known = opened.state / "known.json"
    known.unlink() if table is None else known.write_bytes(table)
    opened.write("b.md", memory("b"))
    opened.save("Two", "a")
    assert opened.verbs() == ["begin", "save a", "outside b.md", "save a"]
    assert known.stat().st_size > 10


def test_the_history_lies_outside_the_store_and_is_private(opened):
    opened.save("One", "a")
    assert not opened.state.is_relative_to(opened.root)
    for path in [opened.state, *opened.state.rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, path


def test_real_git_can_commit_between_ours(opened):
    """Somebody uses git on the history: what they commit is one more change, read as outside."""
    opened.save("One", "a")
    tree = opened.git("rev-parse", "main^{tree}").strip()
    line = ["git", "--git-dir", str(opened.state / "history.git"), "-c", "user.name=x"]
    line += ["-c", "user.email=x@y", "commit-tree", "-p", "main", "-m", "by hand", tree]
    done = subprocess.run(line, capture_output=True, check=True)
    opened.git("update-ref", "refs/heads/main", done.stdout.decode().strip())
    opened.save("Two", "b")
    assert opened.verbs() == ["begin", "save a", "outside", "save b"]
    with pytest.raises(Missing):
        opened.app().history.find("ffff")


# -- what others do to a store ------------------------------------------------------------------


def test_what_others_did_is_committed_before_ours(opened):
    opened.save("One", "a")
    opened.write("b.md", memory("b"))
    opened.write("a.md", memory("a", body="Theirs"))
    opened.save("Ours", "a")
    assert opened.verbs() == ["begin", "save a", "outside", "save a"]
    review.undo_and_hold_again(opened.app())
    assert "Theirs" in opened.read("a.md")
    assert opened.app().shelf.list(TRASH) == []
    assert opened.app().history.find(look.store_log(opened.app())[0].id).undoes


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
    app, log = opened.app(), look.store_log(opened.app())
    assert ("D", "b.md") in [change for one in log for change in one.paths]
    versions = [app.shelf.read(one) for one in app.shelf.list(TRASH) if one.path == "a.md"]
    versions += [app.history.content(one.id, "a.md") or b"" for one in log]
    assert any(b"Theirs" in data for data in versions)
