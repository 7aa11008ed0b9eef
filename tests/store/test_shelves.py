"""Retire, archive, restore, purge; and every shape that a store can have."""

import pytest

from memdir.capture import review
from memdir.errors import BadInput
from memdir.format.draft import Draft, Revision, Wishes
from memdir.store import changes, look, purge
from memdir.store.ports import ARCHIVE, TRASH
from tests.helpers.opened import DAY, Opened, memory

STANDALONE = (
    "\ufeff# My notes\n\n- Use tabs.\r\n- Run `make test` first — always.\n\n```\ncode\n```\nLast"
)


def shelved(opened: Opened) -> list[tuple[str, str]]:
    return [(one.room, one.path) for one in opened.app().shelf.list_all()]


# -- retire and archive --------------------------------------------------------------------


@pytest.mark.parametrize(("room", "kind"), [(TRASH, "retired"), (ARCHIVE, "archived")])
def test_a_memory_goes_onto_its_shelf_whole_and_comes_back_whole(opened, room, kind):
    opened.write("deep/a.md", b"---\r\nname: a\r\n---\r\n\xff")
    opened.save("Two", "b")
    before = opened.files()
    done = changes.retire_memories(opened.app(), ["deep/a.md"], room, reason="too old")
    assert [one.kind for one in done.changes] == [kind]
    assert "deep/a.md" not in opened.files()
    assert "deep/a.md" not in opened.index
    assert shelved(opened) == [(room, "deep/a.md")]
    assert look.store_log(opened.app())[0].reason == "too old"
    assert not any(path.suffix == ".md" for path in opened.root.rglob("*/*") if path.is_file())
    changes.restore_memories(opened.app(), ["a"])
    assert opened.files() == before
    assert shelved(opened) == []


def test_the_newest_copy_is_restored_first_whatever_its_shelf(opened):
    for number, room in enumerate((TRASH, ARCHIVE, TRASH)):
        opened.save(f"Version {number}", "a")
        changes.retire_memories(opened.app(), ["a"], room)
        opened.now += DAY
    for number in (2, 1, 0):
        changes.restore_memories(opened.app(), ["a"])
        assert f"Version {number}" in opened.read("a.md")
        (opened.root / "a.md").unlink()
    assert shelved(opened) == []


def test_what_was_put_away_is_listed_until_it_stands_there_again(opened):
    opened.save("Old", "a")
    changes.retire_memories(opened.app(), ["a"])
    opened.write("a.md", "Another")  # hides nothing
    assert [one.path for one in look.list_restorable_on_store_shelf(opened.app())] == ["a.md"]
    (opened.root / "a.md").unlink()
    changes.restore_memories(opened.app(), ["a"])
    changes.retire_memories(opened.app(), ["a"])
    review.undo_and_hold_again(opened.app())
    assert look.list_restorable_on_store_shelf(opened.app()) == [] != shelved(opened)


def test_a_clock_set_back_does_not_change_which_copy_is_the_newest(opened):
    opened.save("Old", "a")
    changes.retire_memories(opened.app(), ["a"])
    opened.now -= 9 * DAY
    opened.save("New", "a")
    changes.retire_memories(opened.app(), ["a"])
    changes.restore_memories(opened.app(), ["a"])
    assert "New" in opened.read("a.md")


def test_an_archive_of_another_tool_can_be_restored_from(opened):
    opened.write("archive/old.md", memory("old"))
    opened.save("One", "a")
    assert shelved(opened) == [(ARCHIVE, "old.md")]
    changes.restore_memories(opened.app(), ["old"])
    assert opened.read("old.md") == memory("old")
    assert "old.md" in opened.index
    assert not (opened.root / "archive/old.md").exists()
    review.undo_and_hold_again(opened.app())
    assert opened.read("archive/old.md") == memory("old")


# -- purge ---------------------------------------------------------------------------------


def test_trash_expires_by_date_and_by_count_never_by_one_alone(opened):
    shelf = opened.app().shelf
    for number in range(103):
        shelf.lay(TRASH, f"m{number}.md", b"x", opened.now + number)
    shelf.lay(ARCHIVE, "kept.md", b"x", opened.now)
    assert look.find_expired_trash(opened.app()) == []
    opened.now += 31 * DAY  # old enough, but the newest hundred stay
    expired = look.find_expired_trash(opened.app())
    assert [one.path for one in expired] == ["m2.md", "m1.md", "m0.md"]
    done = purge.purge_memories(opened.app(), [], expired=True)
    assert [one.path for one in done.changes] == ["m2.md", "m1.md", "m0.md"]
    assert len(shelf.list(TRASH)) == 100
    opened.now += 365 * DAY
    assert look.find_expired_trash(opened.app()) == []
    assert [one.path for one in shelf.list(ARCHIVE)] == ["kept.md"]


# -- shapes --------------------------------------------------------------------------------


def test_a_standalone_index_becomes_a_memory_and_a_pointer_with_nothing_lost(opened):
    opened.write("MEMORY.md", STANDALONE)
    assert opened.app().store.shape == "standalone index"
    (before,) = opened.app().store.scan().memories
    assert (before.path, before.type) == ("MEMORY.md", "unknown")
    opened.save("New", "new")
    assert STANDALONE.strip("\n") in opened.read("notes.md")
    assert opened.index == "- [Notes](notes.md) — Use tabs.\n- [New](new.md)\n"
    assert [one.path for one in opened.app().shelf.list(TRASH)] == []
    review.undo_and_hold_again(opened.app())
    assert opened.read("MEMORY.md") == STANDALONE
    assert list(opened.files()) == ["MEMORY.md"]


def test_a_standalone_index_cannot_be_archived_nor_edited_but_retired(opened):
    opened.write("MEMORY.md", STANDALONE)
    with pytest.raises(BadInput, match="cannot be archived") as refused:
        changes.retire_memories(opened.app(), ["MEMORY.md"], ARCHIVE)
    assert "retire" in refused.value.next
    with pytest.raises(BadInput, match="is the index"):
        changes.edit_memory(opened.app(), "MEMORY", Revision("", body="x"), Wishes())
    assert opened.read("MEMORY.md") == STANDALONE
    changes.retire_memories(opened.app(), ["MEMORY.md"])
    assert opened.files() == {}
    changes.restore_memories(opened.app(), ["MEMORY.md"])
    assert opened.read("MEMORY.md") == STANDALONE


def test_without_an_index_by_choice_none_is_made_and_none_is_touched(tmp_path):
    opened = Opened(tmp_path, index=0)
    opened.save("One", "a")
    opened.save("Two", "b")
    changes.retire_memories(opened.app(), ["a"])
    review.undo_and_hold_again(opened.app())
    assert sorted(opened.files()) == ["a.md", "b.md"]
    opened.write("MEMORY.md", "- [Gone](gone.md) - x\n")
    opened.save("Three", "c")
    assert opened.index == "- [Gone](gone.md) - x\n"
    changes.rebuild_memory_index(opened.app())
    assert "c.md" in opened.index


def test_a_readme_serves_as_the_index_where_it_is_one(opened):
    opened.write("a.md", memory("a"))
    opened.write("README.md", "# Memories\n\nHow to use them.\n\n- [A](a.md) — mine\n")
    opened.save("Two", "b")
    assert sorted(opened.files()) == ["README.md", "a.md", "b.md"]
    assert opened.read("README.md") == (
        "# Memories\n\nHow to use them.\n\n- [A](a.md) — mine\n- [B](b.md) — Two\n"
    )
    changes.retire_memories(opened.app(), ["a"])
    assert "a.md" not in opened.read("README.md")
    assert look.load_index(opened.app()).text.startswith("# Memories")
    changes.retire_memories(opened.app(), ["b"])
    assert opened.read("README.md") == "# Memories\n\nHow to use them.\n\n"


def test_orphans_and_pointers_to_nothing_are_healed_with_the_next_change(opened):
    opened.save("One", "a")
    opened.write("orphan.md", memory("orphan"))
    opened.write(
        "MEMORY.md",
        "# Mine\n- [Gone](gone.md) — gone\n" + opened.index + "See [docs](docs/x.md).\n",
    )
    survey = look.survey_index(opened.app())
    assert survey.orphans == ["orphan.md"]
    assert [pointer.target for pointer in survey.dangling][:1] == ["gone.md"]
    done = opened.save("Two", "b")
    assert opened.index == (
        "# Mine\n- [A](a.md) — One\n- [B](b.md) — Two\n- [Orphan](orphan.md) — About orphan\n"
        "See [docs](docs/x.md).\n"
    )
    assert [remark[:30] for remark in done.remarks if "index" in remark] == [
        "the index also got a pointer t",
        "the index lost a pointer to no",
    ]


def test_an_index_over_its_limit_shows_the_most_valuable_first_and_loses_nothing(opened):
    for number in range(260):
        day = f"2026-01-{number % 28 + 1:02}"
        text = memory(f"m{number:03}", f"d{number}\nmodified: {day}", type="reference")
        opened.write(f"m{number:03}.md", text)
    changes.rebuild_memory_index(opened.app())
    opened.write("MEMORY.md", "My first line.\n\n" + opened.index + "\nMy last line.\n")
    done = changes.save_memory(
        opened.app(), Draft("Never", name="pin", pinned=True, type="reference"), Wishes(anyway=True)
    )
    opened.save("Use tabs", "tabs", type="feedback")
    lines = opened.index.splitlines()
    assert lines[0] == "My first line."
    assert lines[-1] == "My last line."
    pointers = [line for line in lines if line.startswith("- [")]
    assert len(pointers) == 262
    assert pointers[0].startswith("- [Pin](pin.md)")
    assert pointers[1].startswith("- [Tabs](tabs.md)")
    assert "(m027.md)" in pointers[2]  # the freshest of the rest
    assert any("over its limit" in remark for remark in done.remarks)
    loaded = look.load_index(opened.app())
    assert "tabs.md" in loaded.text
    assert loaded.cut_lines > 0
    assert changes.rebuild_memory_index(opened.app()).changes[0].kind == "skipped"


# -- import --------------------------------------------------------------------------------


def test_an_import_overwrites_nothing_and_says_what_it_left_out(opened):
    opened.save("One", "a")
    standing = (opened.root / "a.md").read_bytes()
    (opened.root / "dir.md").mkdir()
    files = [
        ("a.md", b"other"),
        ("b.md", b"new"),
        ("b.md", b"new"),
        ("MEMORY.md", b"index"),
        ("/etc/x.md", b"x"),
        ("../x.md", b"x"),
        ("dir.md", b"x"),
        ("c\n.md", b"x"),
        ("deep/d.md", b"deep"),
    ]
    done = changes.import_into_store(opened.app(), files)
    assert [one.kind for one in done.changes] == [
        *("skipped", "created", "skipped", "skipped", "skipped", "skipped", "skipped", "skipped"),
        "created",
    ]
    assert all(one.reason for one in done.changes if one.kind == "skipped")
    assert (opened.root / "a.md").read_bytes() == standing
    assert opened.read("deep/d.md") == "deep"
    assert "deep/d.md" in opened.index
