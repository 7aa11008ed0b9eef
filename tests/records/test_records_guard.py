"""Before a tool runs: what would write into the records is denied, nothing else ever is."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from memdir.clients.claude_code import UNGUARDED
from memdir.hot.place import Here
from memdir.hot.run import Event
from memdir.records import guard
from memdir.records.guard import MAX_LINE_CHARACTERS, MAX_WORD_CHARACTERS, written
from tests.acceptance.recording import read

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
    text, work = guard.answer("pre-tool", event, here)
    assert work is None
    if not text:
        return ""
    told = json.loads(text)["hookSpecificOutput"]
    assert (told["hookEventName"], told["permissionDecision"]) == ("PreToolUse", "deny")
    return told["permissionDecisionReason"]


@pytest.mark.parametrize(
    ("path", "cwd"),
    [
        (RECORD, ""),
        (f"./src/../{RECORD}", ""),
        (f"../{RECORD}", "src"),
        (f"~/project/{RECORD}", ""),
        ("link/decisions/new.json", ""),
        ("own.json", ""),
        (".claude/memory/index.md", ""),
        (".claude/memory/tech-debt/new.json", ""),
        (".claude/memory/tech-debt/../decisions/new.json", ""),
    ],
)
@pytest.mark.parametrize("absolute", [False, True])
def test_a_write_into_the_records_is_denied_with_the_command_to_use(project, path, cwd, absolute):
    if absolute and not path.startswith("~"):
        path = os.path.join(project, cwd, path)
    for tool, field in [("Write", "file_path"), ("Edit", "file_path"), ("MultiEdit", "file_path")]:
        assert "memdir records save" in decide(project, tool, cwd, **{field: path})
    assert decide(project, "NotebookEdit", cwd, notebook_path=path)


@pytest.mark.parametrize(
    "path",
    [
        ".claude/memory/memory-config.json",
        ".claude/memory/plain.md",
        ".claude/memory/notes/decisions/x.json",
        ".claude/settings.json",
        "decisions/x.json",
        "src/index.md",
        "link/plain.md",
        "",
        "\0",
        "/",
        "~nobody/x",
    ],
)
def test_everything_else_may_be_written(project, path):
    for tool in guard.WRITERS:
        assert decide(project, tool, file_path=path) == ""


@pytest.mark.parametrize("tool", ["Read", "Grep", "Agent", "mcp__x__write", ""])
def test_a_tool_that_writes_no_file_is_not_asked_about(project, tool):
    assert decide(project, tool, file_path=RECORD, command=f"rm {RECORD}") == ""


@pytest.mark.parametrize(
    "line",
    [
        f"echo '{{}}' > {RECORD}",
        f"echo '{{}}' >> {RECORD}",
        f"echo x 2>{RECORD}",
        f"echo x &> {RECORD}",
        f"echo x >| '{RECORD}'",
        f'jq . a | tee -a "$PWD/{RECORD}"',
        f"cp /tmp/a.json {RECORD}",
        "cp a.json b.json .claude/memory/decisions/",
        "cp -t .claude/memory/decisions a.json",
        "cp -r other/decisions .claude/memory",
        f"mv {RECORD} /tmp",
        f"rm -f {RECORD}",
        "rm -rf .claude/memory",
        "rm .claude/memory/decisions/*.json",
        f"sed -i 's/a/b/' {RECORD}",
        f"perl -pi -e s/a/b/ {RECORD}",
        f"dd if=a of={RECORD}",
        f"truncate -s 0 {RECORD}",
        "cd .claude/memory && rm decisions/use-uv.json",
        "cd src; (cd ../.claude/memory/decisions; rm use-uv.json)",
        f"D=.claude/memory; echo x > $D/decisions/a.json; ls {RECORD}",
        f"if true; then rm {RECORD}; fi",
        f"cat > {RECORD} <<'EOF'\n{{}}\nEOF",
        "echo x > link/decisions/a.json",
        f"curl -o {RECORD} http://localhost/",
        f"echo $(rm {RECORD})",
    ],
)
def test_a_command_line_that_plainly_writes_records_is_denied(project, line):
    assert "memdir records" in decide(project, "Bash", command=line)


@pytest.mark.parametrize(
    "line",
    [
        f"cat {RECORD}",
        f"cat < {RECORD} > /tmp/copy.json",
        f"cp {RECORD} /tmp/copy.json",
        f"grep -r uv .claude/memory/decisions 2>&1 >/dev/null; ls {RECORD} 2>/dev/null",
        f"echo 'rm {RECORD}'",
        f'echo "> {RECORD}" > log.txt',
        f"cat > how.md <<'EOF'\nrm {RECORD}\necho > {RECORD}\nEOF\n",
        f"cat <<-END\n\trm {RECORD}\n\tEND\necho done",
        f"sed -n 1p {RECORD}",
        'memdir records save --category decision --input - <<\'EOF\'\n{"a": "b > c"}\nEOF',
        "memdir records retire use-uv --reason old",
        "echo '{}' > .claude/memory/memory-config.json",
        "cp note.md .claude/memory/",
        "rm .claude/memory/plain.md",
        "git add .claude/memory && git commit -m 'decisions > all'",
        f"python3 -c \"open('{RECORD}', 'w')\"",
        f"# rm {RECORD}",
        "cd $UNKNOWN && rm decisions/use-uv.json",
        "rm decisions/use-uv.json",
        "echo 1 >&2",
        "diff <(cat a) <(cat b)",
        "",
        "'",
        "$(",
        "<<",
        ">",
        "((((((((((",
    ],
)
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


@pytest.mark.parametrize(
    "line",
    [
        "sudo rm {}",
        "timeout -k 1 5 rm {}",
        "nice -n 5 rm {}",
        "export F={}; rm $F",
        "echo `rm {}`",
        "perl -0pi -e s/a/b/ {}",
        "sed s/a/b/ -ni {}",
        "[[ a > b ]] && rm {}",
        "((1 > 2)) || rm {}",
        "rm -rf .claude",
        "rm -r ../project",
        "mv .claude /tmp",
        "rm -r .claude/memory/*",
        "rm .claude/mem*/decisions/use-uv.json",
        "rm .claude/memory/*.md",
    ],
)
def test_a_write_is_seen_behind_other_commands_and_patterns(project, line):
    assert "memdir records" in decide(project, "Bash", command=line.format(RECORD))


@pytest.mark.parametrize(
    "line",
    [
        "[[ a > {0} || b < {0} ]]",
        "cd .claude/memory/decisions && ((n > 3)) && echo $((n>3))",
        "(cd .claude/memory/decisions && ls); echo x > y.json",
        "cd .claude/memory/decisions; cd -; echo x > y.json",
        "perl -MFile::Find -e 1 {}",
        "rsync -t .claude/memory/decisions/ /tmp/backup",
        "mv other.txt ..",
        "mv -t .. other.txt",
        "rm -rf *",
        "rm .claude/memory/*.json",
        "rm -r .claude/memory-old .claude/m",
        "ls `echo {}`",
        "timeout 5 cat {}",
    ],
)
def test_a_line_that_only_looks_like_a_write_is_left_alone(project, line):
    assert decide(project, "Bash", command=line.format(RECORD)) == ""


@pytest.mark.parametrize(
    "line", ["x=$x$x;", ">$x;", "cd $x;>a;", "echo x > a; ", "$(", "((", "<<a\n", '"', "\\"]
)
def test_a_hostile_line_ends_and_takes_no_memory(line):
    paths = list(written("x=abc;" + line * 20_000, "/w", {}))
    assert len(paths) <= MAX_LINE_CHARACTERS
    assert all(len(path) <= 3 * MAX_WORD_CHARACTERS for path, _ in paths)
