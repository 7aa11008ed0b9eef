"""`memdir dashboard`: all projects at a glance, and nothing is touched."""

from pathlib import Path

import pytest

from memdir.config.scope import project_scope_name
from tests.helpers.terminal import memdir, tree

pytestmark = pytest.mark.usefixtures("project")


def text(type: str, modified: str, body: str = "Something to know.") -> str:
    return (
        f"---\nname: x\ndescription: About it\ntype: {type}\nmodified: {modified}\n---\n\n{body}\n"
    )


@pytest.fixture
def stores(home: Path, project: Path) -> list[Path]:
    """Two projects: one here, one whose directory is gone; nobody has run memdir yet."""
    found = []
    for root in (str(project), "/was/here"):
        store = home / ".claude/projects" / project_scope_name(root) / "memory"
        store.mkdir(parents=True)
        (store / "old.md").write_text(text("project", "2020-01-01"))
        (store / "young.md").write_text(text("user", "2999-01-01", "Long. " * 200))
        (store / "MEMORY.md").write_text("- [Old](old.md) — x\n- [Young](young.md) — y\n")
        found.append(store)
    return found


def test_counts_alerts_and_tokens_are_there_for_a_program(stores, home, project):
    before = tree(home, project)
    answer = memdir("dashboard", "--json").json
    assert tree(home, project) == before
    assert answer["counts"]["index_findings"] == 1  # of the project that is gone
    assert answer["counts"]["projects"] == 2
    assert answer["counts"]["memories"] == 4
    assert answer["counts"]["types"] == {"project": 2, "user": 2}
    assert [(one["path"], one["score"]) for one in answer["alerts"]] == [("old.md", 100)] * 2
    assert answer["top"][0]["path"] == "young.md"
    for one in answer["projects"]:
        tokens = one["tokens"]
        assert tokens["total"] == tokens["index"] + tokens["prompt"] > 0
        assert one["alerts"] == 1
    assert sorted(one["gone"] for one in answer["projects"]) == [False, True]


def test_a_store_that_cannot_be_read_hides_no_other(stores):
    (stores[0] / "MEMORY.md").unlink()
    (stores[0] / "MEMORY.md").symlink_to("MEMORY.md")
    (stores[0] / "odd.md").mkdir()
    answer = memdir("dashboard", "--json")
    assert answer.code == 0
    assert answer.json["counts"]["memories"] == 4
