"""What the memory tool writes is a memory like any other: found, versioned, undone, guarded."""

from pathlib import Path

import pytest

from memdir.errors import BadInput
from memdir.library import Memdir
from memdir.memory_tool import MemoryTool, memory_tool
from tests.helpers.tables import table

pytestmark = pytest.mark.usefixtures("project")

TOKEN = "token = ghp_" + "a1B2" * 9


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def tool(store: Path) -> MemoryTool:
    return memory_tool(dir=str(store))


def done(tool: MemoryTool, command: str, name: str, **rest: object) -> None:
    answer = tool.call({"command": command, "path": f"/memories/{name}", **rest})
    assert not answer.is_error, answer.text


def create(tool: MemoryTool, name: str, text: str) -> None:
    done(tool, "create", name, file_text=text)


def everything(store: Path) -> dict[str, bytes]:
    found = [path for path in store.rglob("*") if path.is_file()]
    return {str(path.relative_to(store)): path.read_bytes() for path in found}


def test_a_file_without_a_header_is_a_memory_in_the_index_and_in_recall(tool, store):
    create(tool, "releases.md", "Releases are cut with make release, never by hand.\n")
    assert (store / "releases.md").read_text().startswith("Releases are cut")  # as it was given
    assert "(releases.md)" in (store / "MEMORY.md").read_text()
    recalled = Memdir.open(dir=str(store)).recall("please cut the next release")
    assert "never by hand" in recalled.text


def test_the_line_of_the_index_follows_the_memory(tool, store):
    create(tool, "a.md", "---\nname: Uv\ndescription: use uv\n---\n\nUse uv.\n")
    assert (store / "MEMORY.md").read_text() == "- [Uv](a.md) — use uv\n"
    done(tool, "str_replace", "a.md", old_str="description: use uv", new_str="description: uv!")
    assert (store / "MEMORY.md").read_text() == "- [uv](a.md)\n"
    tool.call({"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/b/c.md"})
    assert (store / "MEMORY.md").read_text() == "- [uv](b/c.md)\n"
    done(tool, "delete", "b/c.md")
    assert "c.md" not in (store / "MEMORY.md").read_text()


def test_a_line_that_a_person_wrote_keeps_its_words_when_the_file_is_renamed(tool, store):
    create(tool, "a.md", "Use uv.\n")
    (store / "MEMORY.md").write_text("# Tools\n\n- [Packages](a.md) - what Anna said\n")
    tool.call({"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/b.md"})
    assert (store / "MEMORY.md").read_text() == "# Tools\n\n- [Packages](b.md) - what Anna said\n"


@pytest.mark.parametrize(
    ("given"), table("library", "one_undo_takes_a_command_back"), ids=lambda given: given["command"]
)
def test_one_undo_takes_a_command_back(tool, store, given):
    for name in ("a.md", "notes.txt", "sub/b.md", "sub/deep/c.txt"):
        create(tool, name, "Use uv.\n")
    before = everything(store)
    assert not tool.call(given).is_error
    assert everything(store) != before
    (undone,) = Memdir.open(dir=str(store)).undo().undone
    assert undone.actor == "memory-tool"
    assert everything(store) == before


def test_the_index_can_be_edited_but_not_taken_away(tool, store):
    create(tool, "a.md", "Use uv.\n")
    done(tool, "insert", "MEMORY.md", insert_line=0, insert_text="# Tools")
    assert (store / "MEMORY.md").read_text().startswith("# Tools\n")
    for given in (
        {"command": "delete", "path": "/memories/MEMORY.md"},
        {"command": "rename", "old_path": "/memories/MEMORY.md", "new_path": "/memories/b.md"},
    ):
        answer = tool.call(given)
        assert answer.is_error and "is the index" in answer.text
    assert "(a.md)" in (store / "MEMORY.md").read_text()


def test_a_secret_is_refused_and_what_stood_there_before_stays_editable(tool, store):
    answer = tool.call({"command": "create", "path": "/memories/a.md", "file_text": TOKEN})
    assert answer.is_error and "github-token" in answer.text and TOKEN[8:] not in answer.text
    assert not (store / "a.md").exists()
    store.mkdir(exist_ok=True)
    (store / "a.md").write_text(f"{TOKEN}\nUse uv.\n")
    done(tool, "str_replace", "a.md", old_str="Use uv", new_str="Use uv always")
    done(memory_tool(dir=str(store), allow_secret=True), "create", "b.md", file_text=TOKEN)


def test_nothing_lets_a_secret_into_a_store_that_others_read(tmp_path):
    (tmp_path / ".git").mkdir()
    tool = memory_tool(dir=str(tmp_path / "memory"), allow_secret=True)
    answer = tool.call({"command": "create", "path": "/memories/a.md", "file_text": TOKEN})
    assert answer.is_error and "shared" in answer.text
    assert not (tmp_path / "memory/a.md").exists()


def test_the_store_of_a_library_or_of_a_scope_is_served(project, store, home):
    create(memory_tool(Memdir.open(dir=str(store))), "a.md", "x\n")
    assert (store / "a.md").exists()
    create(memory_tool(scope="user"), "b.md", "x\n")
    assert (home / ".claude/memory/b.md").exists()
    with pytest.raises(BadInput, match="structured records"):
        memory_tool(scope="records")
