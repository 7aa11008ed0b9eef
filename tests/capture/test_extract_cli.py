"""`memdir extract`: what a person sees, what a program gets, what git makes of the patches."""

import subprocess

import pytest

from memdir.config.scope import project_scope_name
from tests.helpers.conversing import Conversation
from tests.helpers.repositories import Checkout
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
        folder = home / ".claude/projects" / project_scope_name(str(cwd))
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
