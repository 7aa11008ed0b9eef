"""Hostile files, indexes, locks and sizes: each is named, and everything else still works."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from memdir.audit import ages
from memdir.capture import review
from memdir.errors import MemdirError, Unwritable
from memdir.format.index import survey_pointers
from memdir.library import Memdir
from memdir.store import changes, look
from tests.helpers.hostile import inputs
from tests.helpers.opened import Opened, edit, findings, memory, still_works, tree
from tests.helpers.terminal import memdir


@pytest.fixture
def opened(tmp_path):
    opened = Opened(tmp_path)
    opened.save("Good words", "good")
    return opened


# -- links and special files ---------------------------------------------------------------


def plant_link(path: Path) -> None:
    path.symlink_to(path.parent.parent / "victim")


def plant_pipe(path: Path) -> None:
    os.mkfifo(path)


def plant_directory(path: Path) -> None:
    path.mkdir()
    (path / "inside.md").write_text("x")


PLANTED = {
    plant_link: "a symbolic link",
    plant_pipe: "a special file",
    plant_directory: "a directory",
}


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_what_is_no_file_is_named_and_neither_read_nor_written(opened, plant):
    victim = opened.home / "victim"
    victim.write_text("precious")
    plant(opened.root / "beta.md")
    assert PLANTED[plant] in findings(opened)["beta.md"]
    calls = (
        lambda: opened.save("New", "beta"),
        lambda: edit(opened, "beta", "New"),
        lambda: changes.retire_memories(opened.app(), ["beta"]),
        lambda: look.show_in_store(opened.app(), "beta"),
    )
    for call in calls:
        with pytest.raises(MemdirError) as refused:
            call()
        assert "beta" in refused.value.message
        assert refused.value.next
    done = changes.import_into_store(opened.app(), [("beta.md", b"x"), ("other.md", b"y")])
    assert [one.kind for one in done.changes] == ["skipped", "created"]
    assert victim.read_text() == "precious"
    assert "beta.md" not in opened.index
    still_works(opened)


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_an_index_that_is_no_file_is_refused_and_what_stands_is_said(opened, plant):
    victim = opened.home / "victim"
    victim.write_text("precious")
    (opened.root / "MEMORY.md").unlink()
    plant(opened.root / "MEMORY.md")
    with pytest.raises(Unwritable) as refused:
        opened.save("New", "new")
    assert refused.value.message.startswith("new.md is created, but the index is not in step")
    assert "MEMORY.md" in refused.value.message
    assert "New" in opened.read("new.md")
    assert victim.read_text() == "precious"
    assert len(ages.list_memory_ages(opened.app())[0]) == 2
    for call in (lambda: look.load_index(opened.app()), lambda: look.survey_index(opened.app())):
        with pytest.raises(Unwritable):
            call()


def test_a_folder_that_becomes_a_link_takes_nothing_out_of_the_store(opened, tmp_path):
    opened.write("deep/x.md", memory("x"))
    opened.app().snapshot()
    (opened.root / "deep").rename(tmp_path / "outside")
    (opened.root / "deep").symlink_to(tmp_path / "outside")
    before = tree(tmp_path / "outside")
    with pytest.raises(MemdirError):
        review.undo_and_hold_again(opened.app())
    assert tree(tmp_path / "outside") == before


def test_a_hard_link_is_replaced_and_its_other_name_keeps_its_bytes(opened):
    other = opened.home / "other"
    other.write_text(memory("beta"))
    os.link(other, opened.root / "beta.md")
    edit(opened, "beta", "New words")
    assert "New words" in opened.read("beta.md")
    assert other.read_text() == memory("beta")


def test_a_store_that_became_a_file_is_one_sentence(store):
    memdir("remember", "Ann likes figs.", "--name", "figs")
    shutil.rmtree(store)
    store.write_text("not a directory")
    answer = memdir("remember", "Bob likes plums.")
    said = " ".join(answer.stderr.split())
    assert (answer.code, said.count("Not a directory")) == (1, 1)
    assert f"memdir: {store}: the store cannot be opened" in said and "move it away" in said


def test_a_secret_in_a_name_is_refused_and_not_repeated(project, tmp_path, store):
    token = "ghp_" + "a1B2" * 9
    (tmp_path / "theirs").mkdir()
    (tmp_path / f"theirs/key-{token}.md").write_text("some words")
    for command in (["import", str(tmp_path / "theirs")], ["retire", token]):
        for more in ([], ["--json"]):
            answer = memdir(*command, *more)
            said = answer.text + answer.stderr
            assert answer.code == 1 and token not in said and "github-token" in said
    library = Memdir.open()
    for call in (library.get, library.forget, lambda name: library.update(name, "New")):
        with pytest.raises(MemdirError) as refused:
            call(token)
        assert token not in refused.value.message


# -- the index -----------------------------------------------------------------------------


@pytest.mark.parametrize("hostile", inputs("index injection", "index"))
def test_a_hostile_index_hides_no_memory_and_costs_no_line(opened, hostile):
    opened.write("b.md", memory("b"))
    old = opened.index
    if hostile.setup == "index deleted by hand":
        (opened.root / "MEMORY.md").unlink()
    elif "older copy" in hostile.setup:
        changes.retire_memories(opened.app(), ["b"])
        opened.write("MEMORY.md", old + "- [B](b.md) — About b\n")
    else:
        opened.write("MEMORY.md", f"{hostile.value}\n" + old)
    opened.save("New words", "new")
    kept = survey_pointers(opened.index, opened.app().store.files())
    assert kept.orphans == []
    assert {"good.md", "new.md"} <= set(kept.pointers)
    if hostile.id == "IX08":
        assert hostile.value in opened.index  # it says something
    elif hostile.id == "IX11":
        assert opened.index.startswith(f"{hostile.value}\n")
        assert [pointer.hook for pointer in kept.duplicates] == ["two"]
    elif hostile.id == "IX17":
        assert "b.md" not in opened.index
        assert not (opened.root / "b.md").exists()
    elif not hostile.setup:
        assert opened.index.startswith(f"{hostile.value}\n")
    loaded = look.load_index(opened.app())
    assert loaded.characters < 25_000 or loaded.warning
    still_works(opened)


# -- clocks --------------------------------------------------------------------------------


# -- sizes ---------------------------------------------------------------------------------


def test_a_file_over_the_limit_is_named_and_its_bytes_are_never_lost(opened):
    big = b"---\nname: big\n---\n" + b"x" * 5_000_000
    opened.write("big.md", big)
    assert "5,000,018 bytes" in findings(opened)["big.md"]
    assert "big.md" not in [one.memory.path for one in ages.list_memory_ages(opened.app())[0]]
    opened.save("Small now", "big")
    kept = [opened.app().shelf.read(one) for one in opened.app().shelf.list_all()]
    assert kept == [big]
    still_works(opened)


def test_folders_inside_each_other_by_the_thousand_stop_nobody(opened):
    handle = os.open(opened.root, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=handle)
        inner = os.open("d", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inner
    os.close(os.open("x.md", os.O_CREAT | os.O_WRONLY, dir_fd=handle))
    os.close(handle)
    still_works(opened)
    assert any("d/d/d" in path for path in findings(opened))
    subprocess.run(["rm", "-rf", str(opened.root / "d")], check=True)


def test_debris_of_a_killed_writer_is_swept_and_nothing_else(opened):
    opened.write("deep/x.md", memory("x"))
    debris = [opened.write(f"{where}.memdir-1-abc.tmp", "half") for where in ("", "deep/")]
    theirs = opened.write(".memdir-notes.md", "theirs")
    opened.save("x", "y")
    assert [path.exists() for path in debris] == [False, False]
    assert theirs.read_text() == "theirs"
