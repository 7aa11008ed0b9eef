"""Looking into a directory makes no copy of it: not of a foreign one, not of a huge one."""

import pytest

from memdir.audit import ages
from memdir.capture import review
from memdir.errors import BadInput
from memdir.store import history
from memdir.store import look as look_module
from tests.helpers.opened import Opened, memory
from tests.helpers.world import World


def state(opened: Opened) -> list[str]:
    """Everything below the state directory."""
    top = opened.home / ".local/state"
    return [str(path.relative_to(top)) for path in top.rglob("*")]


def look(opened: Opened) -> None:
    ages.list_memory_ages(opened.app())
    look_module.store_log(opened.app())
    opened.app().snapshot()


def test_reading_a_foreign_directory_leaves_no_history_of_it(opened):
    for name in ("notes.md", "src/main.py", "picture.png"):
        opened.write(name, memory("x"))
    look(opened)
    assert state(opened) == []


def test_reading_where_nothing_is_makes_nothing(opened):
    opened.dir = None  # the store of the project, which may be kept at once
    look(opened)
    assert state(opened) == []


def test_reading_what_has_the_shape_of_a_store_protects_it(opened):
    opened.write("MEMORY.md", "- [A](a.md)\n")
    opened.write("a.md", memory("a"))
    look(opened)
    (opened.root / "a.md").unlink()
    review.undo_and_hold_again(opened.app())
    assert opened.read("a.md") == memory("a")


@pytest.mark.parametrize(("name", "limit"), [("MAX_FILES", 5), ("MAX_BYTES", 2000)])
def test_a_flood_of_files_is_refused_by_the_history_and_saving_goes_on(
    opened, monkeypatch, name, limit
):
    opened.write("MEMORY.md", "- [A](a.md)\n")
    opened.write("a.md", memory("a"))
    opened.save("One", "b")
    before = len(opened.verbs())
    monkeypatch.setattr(history, name, limit)
    for count in range(9):
        opened.write(f"data/{count}.txt", "x" * 500)
    look(opened)
    said = opened.said[-1]
    assert "9 new files" in said and "move out what is no memory" in said
    opened.save("Two", "b")
    assert "Two" in opened.read("b.md")
    for count in range(9):
        (opened.root / f"data/{count}.txt").unlink()
    assert len(opened.verbs()) == before + 1
    review.undo_and_hold_again(opened.app())
    assert "One" in opened.read("b.md")


# -- what cannot be a store ----------------------------------------------------------------

HOME = ("~", "~/.claude", "~/.claude/projects", "~/.local/state/memdir", "~/.cache", "~/..")
SYSTEM = ("/", "/etc/ssh", "/usr", "/tmp", "/home", "/proc/self", "/var")


@pytest.mark.parametrize("path", HOME + SYSTEM)
def test_a_home_or_a_directory_of_the_system_is_refused_by_hand_and_by_a_setting(tmp_path, path):
    world = World(tmp_path)
    with pytest.raises(BadInput, match="cannot be a store"):
        world.read(dir=path.replace("~", str(world.home)))
    assert not (world.home / ".local").exists()
    world.user(autoMemoryDirectory=path)
    config = world.read()
    assert config.store == world.default(world.project)
    assert [finding.kind for finding in config.findings] == ["rejected-override"]
