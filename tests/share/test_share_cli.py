"""share on the command line: the diff, the refusals, what git leaves out, and where it all goes."""

import pytest

from tests.helpers.repositories import Checkout
from tests.helpers.terminal import memdir

pytestmark = pytest.mark.usefixtures("project")


@pytest.fixture(autouse=True)
def saved(project) -> None:
    memdir("remember", "No merges in March.", "--name", "freeze", "--type", "project")
    memdir("remember", "Ann reads diffs on a phone.", "--name", "ann", "--type", "user")


@pytest.fixture
def checkout(project) -> Checkout:
    """The project as a real repository."""
    (project / ".git").rmdir()
    return Checkout(project)


def test_what_another_clone_gets_is_what_was_shared(checkout, tmp_path, monkeypatch):
    memdir("share", "freeze", "--to", "local")
    checkout.commit()
    checkout.git("clone", "-q", ".", str(tmp_path / "clone"))
    monkeypatch.chdir(tmp_path / "clone")
    assert memdir("list", "--scope", "local", "--json").json["memories"][0]["name"] == "freeze"
    assert (
        "No merges in March." in memdir("recall", "may I merge in March?", "--scope", "local").text
    )


@pytest.mark.parametrize("line", [".claude/", "*.md", "MEMORY.md"])
def test_it_says_when_git_leaves_it_out(line, checkout):
    checkout.commit({".gitignore": line + "\n"})
    (said,) = memdir("share", "freeze", "--to", "local", "--json").json["remarks"]
    assert said.startswith("git ignores") and "git check-ignore -v" in said


def test_without_git_it_says_that_nobody_gets_it(project, monkeypatch):
    (project / ".git").rmdir()
    answer = memdir("share", "freeze", "--to", "local", "--json")
    assert answer.json["remarks"] == ["there is no git repository here, so nobody else gets it"]


def test_the_next_step_names_the_directory_that_was_named(tmp_path):
    folder = tmp_path / "named"
    place = ("--dir", str(folder))
    memdir("remember", "No merges in March.", "--name", "freeze", "--type", "project", *place)
    answer = memdir("share", "freeze", *place)
    assert answer.code == 0 and (folder / "team/freeze.md").exists()
    said = " ".join(answer.text.split())
    assert f"memdir undo --dir {folder}/team" in said
    assert f"memdir retire --dir {folder} freeze" in said


def test_both_indexes_reach_the_agent_once_there_is_a_team():
    memdir("share", "freeze")
    told = memdir("prompt", "--json").json
    assert told["mode"] == "team" and "(freeze.md)" in told["text"] and "(ann.md)" in told["text"]
