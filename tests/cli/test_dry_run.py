"""`--dry-run` shows the change as a diff and writes nothing, anywhere."""

import zipfile

import pytest

from tests.helpers.tables import table
from tests.helpers.terminal import memdir, tree

pytestmark = pytest.mark.usefixtures("project")

CHANGES = table("cli", "changes")


@pytest.fixture
def world(store, project, home):
    for name in ("use-uv", "put-away"):
        assert (
            memdir("remember", f"Use {name}, always, and nothing else.", "--name", name).code == 0
        )
    memdir("retire", "put-away")
    (store / "orphan.md").write_text("---\nname: orphan\ndescription: no pointer\n---\nx\n")
    memdir("log")  # the history has all of it now
    (project / "draft.md").write_text("---\nname: drafted\n---\nA draft.\n")
    with zipfile.ZipFile(project / "brought.zip", "w") as archive:
        archive.writestr("brought.md", "---\nname: brought\n---\nx\n")
    return project.parent, home


@pytest.mark.parametrize("words", CHANGES, ids=lambda words: words[0])
def test_nothing_is_written(words, world):
    before = tree(*world)
    for answer in (memdir(*words, "--dry-run"), memdir(*words, "--dry-run", "--json")):
        assert answer.code == 0, answer
    assert answer.json["dry_run"] is True
    assert tree(*world) == before


@pytest.mark.parametrize("words", CHANGES[:9], ids=lambda words: words[0])
def test_the_real_run_then_changes_what_was_shown(words, world, store):
    shown = memdir(*words, "--dry-run", "--json").json
    before = tree(store)
    more = ["--yes"] if words[0] == "purge" else []
    assert memdir(*words, *more, "--json").json["change"] == shown["change"]
    changed = {path for path, _ in tree(store).items() ^ before.items()}
    assert changed == {str(store / file["path"]) for file in shown["files"]}


def test_a_refusal_is_one_on_a_dry_run_too(world):
    answer = memdir("edit", "use-uv", "--description", "x", "--if-hash", "0" * 64, "--dry-run")
    assert answer.code == 1
