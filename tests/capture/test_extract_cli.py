"""`memdir extract`: what a person sees, what a program gets, what git makes of the patches."""

import subprocess

import pytest

from memdir.config.scope import project_name
from tests.helpers.conversing import Conversation
from tests.helpers.repositories import Checkout
from tests.helpers.tables import toml_cases as cases
from tests.helpers.terminal import memdir

pytestmark = pytest.mark.usefixtures("project")

OSLO = "Please remember: the staging cluster is in Oslo."
TUESDAY = "Remember that we deploy only on Tuesdays. The release team is in then."
NO_MOCKS = "From now on don't mock the database in tests."
NO_FORCE = "Never force-push to main, you always do that!"
SQLITE = "Remember to add to the decision log: SQLite, because nobody should run a server."
FIELDS = ("before", "after", "changes", "batch", "lost")


@pytest.fixture
def talk(home, project):
    """Begins a session of a project; its name is the number."""

    def begin(*texts, cwd=project, number=1):
        name = f"{number:04d}cafe-0000-4000-8000-000000000000.jsonl"
        folder = home / ".claude/projects" / project_name(str(cwd))
        return Conversation(folder / name, str(cwd)).say(*texts)

    return begin


@pytest.fixture
def repository(project):
    """The project as a real repository with a CLAUDE.md."""
    (project / ".git").rmdir()
    checkout = Checkout(project)
    checkout.commit({"CLAUDE.md": "# Rules\n\n- Be kind."})
    return checkout


def test_a_program_gets_the_fields_of_the_contract(talk, store):
    talk(OSLO, "Noted.", NO_MOCKS, "Right.", NO_FORCE)
    answer = memdir("extract", "--json")
    said = answer.json
    assert answer.code == 0
    assert set(FIELDS) <= set(said)
    assert (said["lost"], said["batch"][:8]) == ([], "extract-")
    assert [change["change"] for change in said["changes"]] == ["created"]
    assert said["before"] == {"memories": 0, "held": 0}
    assert said["after"] == {"memories": 1, "held": 1}
    assert [one["destination"] for one in said["routed"]] == ["memory", "memory", "claude_md"]
    assert [one["outcome"] for one in said["routed"]] == ["saved", "held", "proposed"]
    first = said["routed"][0]
    assert first["draft"]["body"] == "the staging cluster is in Oslo."
    assert first["origin"]["who"] == "person"
    assert first["origin"]["session"].startswith("0001cafe")
    assert all(one["reason"] for one in said["routed"])
    assert [one["path"] for one in said["patches"]] == ["CLAUDE.md"]


def test_the_patches_are_files_that_git_applies(talk, repository, tmp_path):
    talk(NO_FORCE, "Sorry.", SQLITE)
    folder = tmp_path / "patches"
    answer = memdir("extract", "--patches", str(folder))
    assert sorted(path.name for path in folder.iterdir()) == [
        "shop-CLAUDE.md.patch",
        "shop-docs-knowledge-decisions.md.patch",
    ]
    steps = [text.strip() for text in answer.text.split("\n") if "git -C " in text]
    steps = [step[step.index("git -C ") :] for step in steps]
    assert len(steps) == 2
    for step in steps:
        done = subprocess.run(step, shell=True, capture_output=True)
        assert done.returncode == 0, done.stderr
    rules = (repository.folder / "CLAUDE.md").read_text()
    assert rules.startswith("# Rules\n\n- Be kind.\n") and "force-push" in rules
    assert "SQLite" in (repository.folder / "docs/knowledge/decisions.md").read_text()


def test_a_dry_run_lists_the_sessions_by_ids_that_can_be_given(talk):
    talk(OSLO)
    talk("Please list the files.", number=2)
    lines = memdir("extract", "--dry-run").text.splitlines()
    listed = [text.split() for text in lines[lines.index("Sessions") + 1 :] if "cafe" in text]
    assert sorted((words[0][:4], words[2]) for words in listed) == [("0001", "1"), ("0002", "0")]
    for words in listed:
        found = memdir("extract", words[0], "--dry-run", "--json").json
        assert [one["id"] for one in found["looked_at"]] == [words[0]]
    error = memdir("extract", "ffff", "--json").error
    assert "memdir extract --dry-run lists the sessions" in error["next"]


def test_a_named_store_is_honoured_or_refused_but_never_ignored(talk, store, tmp_path):
    talk(OSLO)
    named = tmp_path / "named"
    answer = memdir("extract", "--all-projects", "--dir", str(named), "--json")
    assert (answer.code, answer.error["code"]) == (2, "usage")
    assert memdir("extract", "--dir", str(named)).code == 0
    assert (named / "the-staging-cluster-is-in-oslo.md").exists() and not store.exists()


@cases("capture")
def test_what_cannot_be_asked_is_said_in_words(talk, words, code, kind):
    talk(OSLO)
    answer = memdir("extract", *words, "--json")
    assert (answer.code, answer.error["code"]) == (code, kind)
    assert answer.error["next"]


def test_hostile_words_move_no_cursor(talk):
    talk("Remember: the \x1b[2Jbell \x07rings\u202e and the tower is \x9b31mred.")
    text = memdir("extract").text
    assert not set("\x1b\x07\x9b\u202e") & set(text)
