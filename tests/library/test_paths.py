"""Tricks with paths: refused by their words, and where they pass, by the directory handles."""

import os
from pathlib import Path

import pytest

from memdir.memory_tool import MemoryTool, memory_tool, path_for_memory_tool
from tests.helpers.tables import rows, table

pytestmark = pytest.mark.usefixtures("project")

SECRET = "the outside\n"
TRICKS = rows(globals(), "TRICKS")
FINE = table("library", "fine")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    store = tmp_path / "store"
    store.mkdir()
    (store / "a.md").write_text("inside\n")
    (tmp_path / "secret.md").write_text(SECRET)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/secret.md").write_text(SECRET)
    return store


@pytest.fixture
def tool(store: Path) -> MemoryTool:
    return memory_tool(dir=str(store))


def calls(path: str) -> list[dict[str, object]]:
    """Every command that takes a path, so that it would read, write, move or remove something."""
    given = {"path": path, "file_text": "new\n", "old_str": "e", "new_str": "x"}
    given |= {"insert_line": 0, "insert_text": "x"}
    commands = ("view", "create", "str_replace", "insert", "delete")
    return [
        *({"command": command, **given} for command in commands),
        {"command": "rename", "old_path": path, "new_path": "/memories/b.md"},
        {"command": "rename", "old_path": "/memories/a.md", "new_path": path},
    ]


def everything(folder: Path) -> dict[str, bytes | str]:
    found: dict[str, bytes | str] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[str(path)] = os.readlink(path)
        elif path.is_file():
            found[str(path)] = path.read_bytes()
    return found


@pytest.mark.parametrize("path", TRICKS, ids=ascii)
def test_no_command_does_anything_with_a_trick(tool, tmp_path, path):
    before = everything(tmp_path)
    for given in calls(path):
        answer = tool.call(given)
        assert answer.is_error and SECRET not in answer.text
        assert answer.text.isprintable() and len(answer.text) < 600
    assert everything(tmp_path) == before


@pytest.mark.parametrize("name", FINE)
def test_a_plain_name_is_no_trick(name):
    assert path_for_memory_tool(f"/memories/{name}") == name


def lay_file_link(store: Path) -> str:
    (store / "link.md").symlink_to("../secret.md")
    return "/memories/link.md"


def lay_folder_link(store: Path) -> str:
    (store / "link").symlink_to("../folder")
    return "/memories/link/secret.md"


def lay_pipe(store: Path) -> str:
    os.mkfifo(store / "pipe.md")
    return "/memories/pipe.md"


@pytest.mark.parametrize("lay", [lay_file_link, lay_folder_link, lay_pipe])
def test_nothing_is_reached_through_a_link_or_a_pipe(tool, store, tmp_path, lay):
    path = lay(store)
    before = everything(tmp_path)
    for given in calls(path):
        answer = tool.call(given)
        assert answer.is_error, given
        assert SECRET not in answer.text and str(tmp_path) not in answer.text
    listed = tool.call({"command": "view", "path": "/memories"}).text
    assert "secret" not in listed and "link" not in listed
    assert everything(tmp_path) == before


def test_a_folder_that_becomes_a_link_between_two_calls_leads_nowhere(tool, store, tmp_path):
    made = {"command": "create", "path": "/memories/sub/c.md", "file_text": "x\n"}
    assert not tool.call(made).is_error
    (store / "sub/c.md").rename(store / "c.md")
    (store / "sub").rmdir()
    (store / "sub").symlink_to("../folder")
    assert tool.call({**made, "path": "/memories/sub/d.md"}).is_error
    assert not (tmp_path / "folder/d.md").exists()


@pytest.mark.parametrize(
    ("path", "why"), table("library", "a_place_that_is_not_for_memories_is_refused")
)
def test_a_place_that_is_not_for_memories_is_refused(tool, store, tmp_path, path, why):
    before = everything(tmp_path)
    made = tool.call({"command": "create", "path": path, "file_text": "x\n"})
    moved = tool.call({"command": "rename", "old_path": "/memories/a.md", "new_path": path})
    assert made.is_error and moved.is_error
    assert why in made.text and why in moved.text
    assert everything(tmp_path) == before
