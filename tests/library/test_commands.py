"""The six commands, in the words of the tool's documentation; compared with the SDK's own tool."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from memdir.memory_tool import MemoryTool, memory_tool
from tests.helpers.tables import cases, rows, table

pytestmark = pytest.mark.usefixtures("project")

TWO_LINES = "Use uv.\nNot pip.\n"
SHOWN = "     1\tUse uv.\n     2\tNot pip.\n     3\t"
CONTENT = "Here's the content of /memories/a.md with line numbers:\n"
HEAD = "Here're the files and directories up to 2 levels deep in {}, excluding hidden items and "
HEAD += "node_modules:\n"


@pytest.fixture
def tool(tmp_path: Path) -> MemoryTool:
    tool = memory_tool(dir=str(tmp_path / "store"))
    assert (
        tool.call(create("a.md", TWO_LINES)).text == "File created successfully at: /memories/a.md"
    )
    return tool


def create(path: str, text: str = "x\n") -> dict[str, str]:
    return {"command": "create", "path": f"/memories/{path}", "file_text": text}


def replace(old: object, new: object = "", path: str = "a.md") -> dict[str, object]:
    given = {"command": "str_replace", "path": f"/memories/{path}"}
    return {**given, "old_str": old, "new_str": new}


def insert(line: object, text: object = "new", path: str = "a.md") -> dict[str, object]:
    given = {"command": "insert", "path": f"/memories/{path}"}
    return {**given, "insert_line": line, "insert_text": text}


def on(command: str, path: str, **rest: object) -> dict[str, object]:
    return {"command": command, "path": path, **rest}


def rename(old: str, new: str) -> dict[str, str]:
    return {"command": "rename", "old_path": f"/memories/{old}", "new_path": f"/memories/{new}"}


def view(tool: MemoryTool, path: str = "/memories/a.md", **rest: object) -> str:
    return tool.call(on("view", path, **rest)).text


@pytest.mark.parametrize(
    ("given", "text"), table("library", "what_is_done_is_answered_as_documented")
)
def test_what_is_done_is_answered_as_documented(tool, given, text):
    answer = tool.call(given)
    assert (answer.text, answer.is_error) == (text, False)


@pytest.mark.parametrize(
    ("given", "text"), table("library", "what_is_not_done_is_an_error_as_documented")
)
def test_what_is_not_done_is_an_error_as_documented(tool, given, text):
    answer = tool.call(given)
    assert (answer.text, answer.is_error) == (text, True)
    assert view(tool) == CONTENT + SHOWN


def test_a_folder_shows_two_levels_with_sizes(tool):
    for path in ("sub/c.md", "sub/deep/d.md", "sub-2/e.md", "node_modules/x.md", "big.txt"):
        tool.call(create(path, "x" * 1536 if path == "big.txt" else "12345"))
    assert view(tool, "/memories").startswith(HEAD.format("/memories"))
    rows = view(tool, "/memories").split("\n")[2:]
    assert [row for row in rows if "MEMORY.md" not in row] == [
        "17B\t/memories/a.md",
        "1.5K\t/memories/big.txt",
        "10B\t/memories/sub/",
        "5B\t/memories/sub/c.md",
        "5B\t/memories/sub/deep/",
        "5B\t/memories/sub-2/",
        "5B\t/memories/sub-2/e.md",
    ]
    below = HEAD.format("/memories/sub") + "10B\t/memories/sub\n5B\t/memories/sub/c.md\n"
    below += "5B\t/memories/sub/deep/\n5B\t/memories/sub/deep/d.md"
    assert view(tool, "/memories/sub") == view(tool, "/memories/sub/") == below


def test_a_long_file_is_cut_at_a_line_and_says_how_to_go_on(tool):
    tool.call(create("long.txt", "x" * 99 + "\n" + ("y" * 99 + "\n") * 5000))
    text = view(tool, "/memories/long.txt")
    assert len(text) < 210_000
    last = text.count("\n") - 1
    assert text.endswith("cut here: view the rest with view_range, or a folder below")
    rest = view(tool, "/memories/long.txt", view_range=[last + 1, last + 1])
    assert rest.endswith(f"{last + 1:>6}\t{'y' * 99}")


@cases("given", ids=repr)
def test_a_call_that_makes_no_sense_is_an_error_and_changes_nothing(tool, given):
    answer = tool.call(given)
    assert answer.is_error and answer.text.startswith("Error: ")
    assert view(tool) == CONTENT + SHOWN
    answer.text.encode()  # it can be sent


def test_bytes_that_are_no_utf_8_are_shown_and_stay(tool, tmp_path):
    (tmp_path / "store/a.md").write_bytes(b"one \xff two\n")
    assert "one ? two" in view(tool)
    assert not tool.call(replace("two", "three")).is_error
    assert (tmp_path / "store/a.md").read_bytes() == b"one \xff three\n"


def test_the_answer_to_a_block_is_a_result_for_it(tool):
    block = {"type": "tool_use", "id": "t1", "name": "memory", "input": create("a.md")}
    assert tool.param == {"type": "memory_20250818", "name": "memory"}
    assert tool.result(block) == {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": "Error: File /memories/a.md already exists",
        "is_error": True,
    }


# -- the SDK's own tool on a directory, asked the same -----------------------------------------

SAME: list[dict[str, Any]] = rows(globals(), "SAME")
# The documentation says more than the SDK's tool: it is followed.
MORE = (" of lines of the file:", "Error: ", ".")


@pytest.mark.skipif(importlib.util.find_spec("anthropic") is None, reason="needs anthropic")
def test_the_sdks_own_tool_answers_the_same(tmp_path):
    from anthropic.lib.tools import ToolError
    from anthropic.tools.memory import BetaLocalFilesystemMemoryTool

    theirs = BetaLocalFilesystemMemoryTool(str(tmp_path / "theirs"))
    ours = memory_tool(dir=str(tmp_path / "ours"))
    for given in SAME:
        try:
            expected, failed = str(theirs.call(given)), False
        except ToolError as error:
            expected, failed = str(error), True
        answer = ours.call(given)
        assert (_same(answer.text), answer.is_error) == (_same(expected), failed), given


def _same(text: str) -> str:
    for more in MORE:
        text = text.replace(more, "")
    return text.partition(" give a path")[0]
