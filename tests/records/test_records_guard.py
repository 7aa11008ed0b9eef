"""Before a tool runs: what would write into the records is denied, nothing else ever is."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from memdir.clients.claude_code import UNGUARDED
from memdir.hot import guard
from memdir.hot.guard import MAX_LINE_CHARACTERS
from memdir.hot.place import Here
from memdir.hot.run import Event
from memdir.records.denial import WRITERS, find_writes_to_records
from tests.acceptance.recording import read
from tests.helpers.tables import toml_cases as cases

pytestmark = pytest.mark.usefixtures("project")

RECORDED = read()
RECORD = ".claude/memory/decisions/use-uv.json"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With a record, a Markdown memory beside it, settings, and a link that leads there."""
    project = tmp_path / "project"
    (project / ".claude/memory/decisions").mkdir(parents=True)
    (project / RECORD).write_text("{}")
    (project / ".claude/memory/plain.md").write_text("x")
    (project / ".claude/memory/memory-config.json").write_text("{}")
    (project / "src").mkdir()
    (project / "link").symlink_to(".claude/memory")
    (project / "own.json").symlink_to(RECORD)
    monkeypatch.setenv("HOME", str(tmp_path))
    return project


def decide(project: Path, tool: str, cwd: str = "", **given: object) -> str:
    """The reason of a denial; empty where the client decides."""
    said = {**RECORDED["PreToolUse-Write"], "cwd": str(project / cwd)}
    event = Event(json.dumps({**said, "tool_name": tool, "tool_input": given}).encode())
    scopes = {"project": "/nowhere", "local": str(project / ".claude/memory")}
    here = Here(str(project / "s"), str(project / "c"), "", frozenset(), scopes, 1 << 20)
    text, work = guard.answer_tool_hook("pre-tool", event, here)
    assert work is None
    if not text:
        return ""
    told = json.loads(text)["hookSpecificOutput"]
    assert (told["hookEventName"], told["permissionDecision"]) == ("PreToolUse", "deny")
    return told["permissionDecisionReason"]


@cases("records")
@pytest.mark.parametrize("absolute", [False, True])
def test_a_write_into_the_records_is_denied_with_the_command_to_use(project, path, cwd, absolute):
    if absolute and not path.startswith("~"):
        path = os.path.join(project, cwd, path)
    for tool, field in [("Write", "file_path"), ("Edit", "file_path"), ("MultiEdit", "file_path")]:
        assert "memdir records save" in decide(project, tool, cwd, **{field: path})
    assert decide(project, "NotebookEdit", cwd, notebook_path=path)


@cases("records")
def test_everything_else_may_be_written(project, path):
    for tool in WRITERS:
        assert decide(project, tool, file_path=path) == ""


@pytest.mark.parametrize("tool", ["Read", "Grep", "Agent", "mcp__x__write", ""])
def test_a_tool_that_writes_no_file_is_not_asked_about(project, tool):
    assert decide(project, tool, file_path=RECORD, command=f"rm {RECORD}") == ""


@cases("records")
def test_a_command_line_that_plainly_writes_records_is_denied(project, line):
    assert "memdir records" in decide(project, "Bash", command=line)


@cases("records")
def test_a_command_line_that_writes_no_record_is_left_alone(project, line):
    assert decide(project, "Bash", command=line) == ""


def test_a_project_without_records_has_nothing_to_guard(tmp_path):
    (tmp_path / ".claude/memory").mkdir(parents=True)
    (tmp_path / ".claude/memory/plain.md").write_text("x")
    assert decide(tmp_path, "Write", file_path=RECORD) == ""
    assert decide(tmp_path, "Bash", command=f"rm {RECORD}") == ""


@pytest.mark.parametrize("inside", [True, False])
def test_without_records_no_python_is_started_for_a_tool(tmp_path, inside):
    top = tmp_path / "a project"
    (top / "src").mkdir(parents=True)
    if inside:
        (top / ".claude/memory").mkdir(parents=True)
    env = {"CLAUDE_PROJECT_DIR": str(top / "src"), "PATH": os.environ["PATH"]}
    line = [*("/bin/sh", "-c"), f"{UNGUARDED}echo started"]
    done = subprocess.run(line, env=env, cwd="/", capture_output=True, text=True, check=True)
    assert done.stdout == ("started\n" if inside else "")


@pytest.mark.parametrize("line", ["x=$x$x;", "cd $x;>a;", "$(", "((", "<<a\n", '"', "\\"])
def test_a_hostile_line_ends_and_takes_no_memory(line):
    paths = list(find_writes_to_records("x=abc;" + line * 20_000, "/w"))
    assert len(paths) <= MAX_LINE_CHARACTERS
