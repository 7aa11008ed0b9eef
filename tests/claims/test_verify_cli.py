"""`memdir verify` from the outside: verdicts, exit codes, columns; a real repository."""

import subprocess

import pytest

from tests.cli.test_looks import too_wide
from tests.helpers.terminal import memdir

pytestmark = pytest.mark.usefixtures("project")

RULES = "Rules are in `docs/rules.md`; the code is `src/api.py`, its plan `plans/later.md`."
FIELDS = {"path", "line", "text", "kind", "verdict", "reason"}


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


def test_json_has_the_fields_that_scripts_rely_on(rules):
    answer = memdir("verify", "rules", "--json")
    assert (answer.code, answer.stderr) == (0, "")
    claims = answer.json["claims"]
    assert all(set(one) >= FIELDS and one["path"] == "rules.md" for one in claims)
    told = {one["text"]: one for one in claims}
    assert told["src/api.py"]["verdict"] == "true"
    assert told["plans/later.md"]["verdict"] == "unknown"
    gone = told["docs/rules.md"]
    assert (gone["kind"], gone["verdict"]) == ("path", "stale")
    assert gone["reason"].startswith("renamed to docs/style.md in ")
    assert answer.json["counts"]["stale"] >= 1


def test_a_person_sees_stale_claims_first_in_80_columns(rules):
    answer = memdir("verify", "rules")
    assert answer.code == 0
    lines = answer.text.split("\n")
    assert lines[0] == "rules.md"
    assert lines[1].startswith("  stale") and "docs/rules.md – renamed to docs/style.md" in lines[1]
    verdicts = [line.split()[0] for line in lines[1:] if line[:3].strip() and line[:2] == "  "]
    assert verdicts == sorted(verdicts, key=["stale", "unknown", "true", "no"].index)
    assert too_wide(answer.text) == []


def test_without_names_only_what_is_stale_is_listed(rules):
    text = memdir("verify").text
    assert "docs/rules.md" in text and "src/api.py" not in text and "kind.md" not in text
    assert "claims in 3 files: " in text
    assert "src/api.py" in memdir("verify", "--all").text


def test_check_makes_it_an_exit_code(rules):
    assert memdir("verify", "--check").code == 1
    assert memdir("verify", "kind", "--check").code == 0
    assert memdir("verify").code == 0


def test_a_memory_that_is_not_there_is_an_error_with_a_next_step(rules):
    answer = memdir("verify", "nothing", "--json")
    assert answer.code == 1
    assert answer.error["code"] == "missing" and answer.error["next"]
    assert memdir("verify", "ruels", "--json").error["next"] == "did you mean rules.md?"


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
