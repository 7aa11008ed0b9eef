"""Tricks with paths: refused by their words, and where they pass, by the directory handles."""

import os
from pathlib import Path

import pytest

from memdir.errors import BadInput
from memdir.memory_tool import MemoryTool, below_root, memory_tool
from tests.helpers.tables import table

pytestmark = pytest.mark.usefixtures("project")

SECRET = "the outside\n"
TRICKS = [
    # out of the folder
    *("/memories/../secret.md", "/memories/a/../../secret.md", "/memories/..", "/memories/."),
    *("/memories/./a.md", "/memories//etc/passwd", "/memories/a//b.md", "/memories/.../../x"),
    *("../memories/a.md", "memories/a.md", "/memoriesX/a.md", "/memories.md", "/Memories/a.md"),
    *(
        "/etc/passwd",
        "~/.ssh/id_rsa",
        "file:///etc/passwd",
        "",
        "/",
        "//memories/a.md",
        " /memories",
    ),
    # encoded
    *("/memories/%2e%2e/secret.md", "/memories/%2E%2E%2Fsecret.md", "/memories/..%2fsecret.md"),
    *("/memories/%252e%252e/x.md", "/memories/a%00.md", "/memories/%c0%ae%c0%ae/x.md"),
    # characters that other programs take for a dot or a slash
    *("/memories/\uff0e\uff0e/secret.md", "/memories/\u2024\u2024/x.md", "/memories/\u2025/x.md"),
    *("/memories/a\uff0fb.md", "/memories/..\u2215secret.md", "/memories/a\u2044b.md"),
    *("/memories/a\uff3cb.md", "/memories/\ufe52\ufe52/x.md", "/memories/\u2026/x.md"),
    # other systems
    *("/memories/..\\secret.md", "\\memories\\a.md", "/memories/C:\\x", "/memories/a\\b.md"),
    # what nobody sees
    *("/memories/a\0.md", "/memories/\0", "/memories/a\n.md", "/memories/a\u202e.md"),
    *("/memories/a\u200b.md", "/memories/\udcff.md", "/memories/ a.md", "/memories/a.md "),
    *("/memories/\x7f.md", "/memories/a\u2028b.md", "/memories/" + "a" * 2000),
]
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
def test_a_trick_is_refused_by_its_words(path):
    with pytest.raises(BadInput) as refused:
        below_root(path)
    assert refused.value.next
    assert refused.value.message.isprintable() and len(refused.value.message) < 400


@pytest.mark.parametrize("path", TRICKS[:: max(1, len(TRICKS) // 8)], ids=ascii)
def test_no_command_does_anything_with_a_trick(tool, tmp_path, path):
    before = everything(tmp_path)
    for given in calls(path):
        answer = tool.call(given)
        assert answer.is_error and SECRET not in answer.text
    assert everything(tmp_path) == before


@pytest.mark.parametrize("name", FINE)
def test_a_plain_name_is_no_trick(name):
    assert below_root(f"/memories/{name}") == name


def lay_file_link(store: Path) -> str:
    (store / "link.md").symlink_to("../secret.md")
    return "/memories/link.md"


def lay_folder_link(store: Path) -> str:
    (store / "link").symlink_to("../folder")
    return "/memories/link/secret.md"


def lay_absolute_link(store: Path) -> str:
    (store / "link").symlink_to(store.parent / "folder")
    return "/memories/link/secret.md"


def lay_loop(store: Path) -> str:
    (store / "loop.md").symlink_to("loop.md")
    return "/memories/loop.md"


def lay_pipe(store: Path) -> str:
    os.mkfifo(store / "pipe.md")
    return "/memories/pipe.md"


@pytest.mark.parametrize(
    "lay", [lay_file_link, lay_folder_link, lay_absolute_link, lay_loop, lay_pipe]
)
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
