"""The eyes of the agent that captures: bounded, without a shell, and blind for secrets."""

import os
from pathlib import Path

import pytest

from memdir.capture.agent_tools import LARGEST_BYTES, Allowed, Looking, decide


@pytest.fixture
def look(tmp_path: Path) -> Looking:
    project, store = tmp_path / "project", tmp_path / "store"
    (project / "src").mkdir(parents=True)
    store.mkdir()
    (project / "src/app.py").write_text("def main():\n    return 1\n")
    (project / ".env").write_text("KEY = main\n")
    (store / "tests.md").write_text("Use a real database.\n")
    return Looking(str(project), str(store))


def seen(look: Looking, tool: str, **given: object) -> str:
    decision = decide(tool, given, look.places, look.resolve)
    assert isinstance(decision, Allowed), decision
    return look.run(decision)


def test_a_file_is_read_from_a_line_on(look):
    assert seen(look, "Read", file_path="src/app.py") == "def main():\n    return 1\n"
    part = seen(look, "Read", file_path="src/app.py", offset=2, limit=1)
    assert part == "    return 1\n(1 more lines)"


def test_a_search_finds_lines_but_none_of_secrets(look):
    assert seen(look, "Grep", pattern="main") == "./src/app.py:1:def main():"
    assert seen(look, "Bash", command="grep -rn main .") == "./src/app.py:1:def main():"
    assert seen(look, "Grep", pattern=r"return \d") == "./src/app.py:2:    return 1"
    assert seen(look, "Grep", pattern="main", glob="**/*.md") == "(nothing was printed)"


def test_a_search_opens_no_secret_whose_name_is_written_in_capitals(look):
    for name in (".ENV", "Credentials.json", "prod.PEM", ".SSH/id", "secrets/db", "CREDENTIALS/a"):
        path = Path(look.places.project, name)
        path.parent.mkdir(exist_ok=True)
        path.write_text("main value\n")
    assert seen(look, "Grep", pattern="main") == "./src/app.py:1:def main():"
    assert seen(look, "Bash", command="grep -rn main .") == "./src/app.py:1:def main():"


def test_a_key_is_not_shown_by_leaving_its_first_line_out(look):
    body = [f"q{at}W3rTyUiOpAsDfGhJkLzXcVbNm{at}+/q1w2e3r4t5ENDy6" for at in range(10, 18)]
    lines = ["-----BEGIN OPENSSH PRIVATE KEY-----", *body, "-----END OPENSSH PRIVATE KEY-----"]
    Path(look.places.project, "deploy.txt").write_text("\n".join(["first", *lines, "last"]))
    shown = [
        seen(look, "Read", file_path="deploy.txt", offset=3, limit=20),
        seen(look, "Bash", command="tail -n +3 deploy.txt"),
        seen(look, "Bash", command="cat -A deploy.txt"),
        seen(look, "Bash", command="grep -rh W3rT"),
        seen(look, "Grep", pattern="W3rT"),
    ]
    assert [one for one in shown if any(line in one for line in body)] == []
    assert all("[left out" in one for one in shown)
    assert "last" in shown[0] and "last" in shown[1]


def test_files_are_found_by_a_pattern(look):
    for pattern in ("**/*.py", "*.py", "src/*.py", f"{look.places.project}/src/*.py"):
        assert seen(look, "Glob", pattern=pattern) == "src/app.py"
    assert seen(look, "Glob", pattern="*.rs") == "(no file fits)"


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("ls", "src"),
        ("ls src", "app.py"),
        ("cat src/app.py", "def main():\n    return 1"),
        ("head -1 src/app.py", "def main():"),
        ("tail -n 1 src/app.py", "    return 1"),
        ("wc -l src/app.py", "2 ./src/app.py"),
        ("find . -name '*.py'", "./src/app.py"),
        ("stat -c %s src/app.py", "25"),
        ("cat src/none.py", "(nothing was printed)"),
    ],
)
def test_each_command_is_run(look, command, printed):
    assert seen(look, "Bash", command=command) == printed


def test_a_command_knows_nothing_of_our_environment(look, monkeypatch):
    monkeypatch.setenv("PLANTED_KEY", "sk-planted")
    text = look.run(Allowed("Bash", words=("env",)))
    assert "PLANTED" not in text


def test_no_shell_looks_at_the_words(look):
    assert look.run(Allowed("Bash", words=("ls", "--", "src; touch x"))) == "(nothing was printed)"
    assert not Path(look.places.project, "x").exists()


def test_a_long_output_is_cut_and_the_command_ended(look):
    Path(look.places.project, "big").write_bytes(b"x" * (LARGEST_BYTES * 20))
    text = seen(look, "Bash", command="cat big")
    assert text.endswith("(more was printed)")
    assert len(text) < LARGEST_BYTES + 100
    assert len(seen(look, "Read", file_path="big")) < LARGEST_BYTES + 100


def test_a_pipe_holds_nobody_up(look, monkeypatch):
    # Whoever opens the pipe waits for it longer than anybody waits for this test.
    monkeypatch.setattr("memdir.capture.agent_tools.SECONDS", 3600.0)
    os.mkfifo(Path(look.places.project, "pipe"))
    assert seen(look, "Read", file_path="pipe").startswith("(cannot be read")
    for command in ("cat pipe", "head -n 5 pipe", "wc -c pipe", "grep x pipe", "grep -r x pipe"):
        assert seen(look, "Bash", command=command) == "(it is no file)"
    assert seen(look, "Bash", command="grep -rn main .") == "./src/app.py:1:def main():"
    assert seen(look, "Bash", command="cat pipe src/app.py").startswith("def main")


def test_what_is_not_there_is_said(look):
    assert seen(look, "Read", file_path="none.py") == "(cannot be read: No such file or directory)"
    assert seen(look, "Read", file_path="src").startswith("(cannot be read")


def test_a_folder_that_became_a_link_is_not_followed(look, tmp_path):
    decision = decide("Read", {"file_path": "src/app.py"}, look.places, look.resolve)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "app.py").write_text("secret")
    source = Path(look.places.project, "src")
    source.rename(tmp_path / "moved")
    source.symlink_to(outside)
    assert isinstance(decision, Allowed)
    assert look.run(decision) == "(it was moved just now)"


def test_links_below_are_not_followed_by_a_search(look, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/x.py").write_text("def main(): secret\n")
    Path(look.places.project, "link").symlink_to(tmp_path / "outside")
    Path(look.places.project, "file.py").symlink_to(tmp_path / "outside/x.py")
    assert "secret" not in seen(look, "Grep", pattern="main")
    assert "x.py" not in seen(look, "Glob", pattern="**/*.py").replace("file.py", "")


def test_memories_are_known_by_their_names(look):
    assert look.names() == ["tests"]
    assert look.memory("tests") == b"Use a real database.\n"
    assert look.memory("none") is None
    os.symlink("/etc/hosts", os.path.join(look.places.store, "link.md"))
    assert look.memory("link") is None


def test_a_store_that_is_not_there_has_no_names(tmp_path):
    look = Looking("", str(tmp_path / "none"))
    assert look.names() == []
    assert look.memory("x") is None
