"""`memdir verify` from the outside: verdicts, exit codes, columns; a real repository."""

import subprocess

import pytest

from tests.cli.test_looks import too_wide
from tests.helpers.terminal import memdir

pytestmark = pytest.mark.usefixtures("project")

RULES = "Rules are in `docs/rules.md`; the code is `src/api.py`, its plan `plans/later.md`."


def git(project, *words):
    who = ["-c", "user.name=Ann", "-c", "user.email=", "-c", "commit.gpgsign=0"]
    subprocess.run(["git", *who, *words], cwd=project, check=True, capture_output=True)


@pytest.fixture
def repository(project):
    """`docs/rules.md` was renamed, `src/api.py` is there."""
    (project / ".git").rmdir()
    git(project, "init", "-q", "-b", "main")
    for path in ("docs/rules.md", "src/api.py"):
        (project / path).parent.mkdir()
        (project / path).write_text(f"the text of {path}\n" * 5)
    git(project, "add", "-A")
    git(project, "commit", "-qm", "first")
    git(project, "mv", "docs/rules.md", "docs/style.md")
    git(project, "commit", "-qm", "second")
    return project


@pytest.fixture
def rules(repository):
    assert memdir("remember", RULES, "--name", "rules").code == 0
    assert memdir("remember", "Be kind.", "--name", "kind").code == 0


def test_without_a_repository_that_is_said_and_nothing_is_stale(project):
    (project / ".git").rmdir()
    memdir("remember", RULES, "--name", "rules")
    answer = memdir("verify", "--json")
    assert answer.code == 0
    assert {one["verdict"] for one in answer.json["claims"]} <= {"unknown", "true", "not_a_claim"}
    assert any("no git repository" in text for text in answer.json["remarks"])
    assert "remark: " in memdir("verify").text


def test_a_hostile_memory_breaks_nothing(repository, store):
    memdir("remember", RULES, "--name", "rules")
    (store / "bad.md").write_bytes(b"`a\0b.py` `\x1b[31m` `" + b"x/" * 5_000 + b"` \xff\xfe `")
    answer = memdir("verify", "--all")
    assert answer.code == 0
    assert "\x1b" not in answer.text and "\0" not in answer.text
    assert "docs/rules.md" in answer.text
    assert too_wide(answer.text) == []


def test_an_unreadable_memory_hides_no_other(rules, store):
    (store / "odd.md").mkdir()
    (store / "link.md").symlink_to("nowhere.md")
    answer = memdir("verify", "--json")
    assert answer.code == 0
    assert "docs/rules.md" in {one["text"] for one in answer.json["claims"]}
