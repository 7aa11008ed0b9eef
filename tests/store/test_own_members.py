"""Members of a user's own: one file beside config.toml; broken or foreign ones harm nobody."""

import os
from pathlib import Path

import pytest

from memdir.errors import BadInput
from memdir.hot import types
from memdir.library import Memdir
from memdir.store import registry
from tests.helpers.terminal import memdir
from tests.self.source import ROOT

OWN = ROOT / "examples/own"


@pytest.fixture(autouse=True)
def only_ours_afterwards():
    yield
    types.use({})


@pytest.fixture
def own(home: Path) -> Path:
    return home / ".config/memdir"


def lay(own: Path, family: str, name: str, text: str | None = None) -> Path:
    path = own / family / f"{name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    example = OWN / family / f"{name}.py"
    path.write_text(example.read_text() if text is None else text)
    return path


def opened(tmp_path: Path, home: Path, **options: str) -> tuple[Memdir, list[str]]:
    environ = {"HOME": str(home), **{f"MEMDIR_{key.upper()}": on for key, on in options.items()}}
    told: list[str] = []
    return Memdir.open(dir=str(tmp_path / "store"), environ=environ, tell=told.append), told


def test_a_layout_and_a_search_of_ones_own_are_used_by_their_names(own, home, tmp_path):
    lay(own, "layouts", "one_file")
    lay(own, "searches", "resting")
    memory, _ = opened(tmp_path, home, layout="one_file", search="resting")
    memory.save("Releases are cut with make release.", type="project", name="release")
    assert [path.name for path in (tmp_path / "store").iterdir()] == ["memories.sqlite"]
    assert "make release" in memory.recall("cut the next release").text
    memory.save("Releases are cut with just release.", type="project", name="release")
    assert "just release" in memory.recall("cut the next release").text
    memory.undo()
    assert "make release" in memory.recall("cut the next release").text
    again, _ = opened(tmp_path, home, layout="one_file")  # with the search that we bring
    assert "make release" in again.recall("cut the next release").text


def test_a_model_of_ones_own_is_asked(own, home, tmp_path):
    lay(own, "models", "command")
    program = tmp_path / "program"
    program.write_text(
        '#!/bin/sh\ncat >/dev/null\nprintf \'%s\' \'{"text": "{\\"memories\\": []}"}\'\n'
    )
    program.chmod(0o755)
    memory, _ = opened(tmp_path, home, model=f"command:{program}")
    memory.save("Releases are cut with make release.", type="project", name="release")
    recalled = memory.recall("cut the next release", model=True)
    assert recalled.selected_by == "model", recalled.selection


def test_the_command_line_knows_a_type_and_a_client_of_ones_own(own, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lay(own, "types", "incident")
    lay(own, "clients", "windsurf")
    assert [one["section"] for one in memdir("types", "incident", "--json").json["types"]] == [
        "Incidents"
    ]
    assert memdir("remember", "The pool was too small.", "--type", "incident").code == 0
    listed = memdir("list", "--type", "incident", "--json").json["memories"]
    assert [one["type"] for one in listed] == ["incident"]
    assert memdir("setup", "windsurf", "--dry-run", "--json").code == 0
    assert memdir("list", "--type", "nonsense", "--json").error["code"] == "bad_input"


def test_a_type_that_is_broken_is_told_and_hides_no_other(own, home, tmp_path):
    lay(own, "types", "incident")
    lay(own, "types", "broken", "this is no Python")
    lay(own, "types", "other", "TYPE = 5")
    lay(own, "types", "user", (OWN / "types/incident.py").read_text().replace("incident", "user"))
    _, told = opened(tmp_path, home)
    assert "incident" in types.names() and "broken" not in types.names()
    assert len(told) == 2 and all("types/" in line and "Next:" in line for line in told)
    assert types.get("user").section != "Incidents"  # ours keeps its name


def test_a_file_that_fails_says_which_and_why(own):
    lay(own, "searches", "mine", "import nothing_of_that_name")
    with pytest.raises(BadInput, match="nothing_of_that_name") as refused:
        registry.load("searches", "mine", str(own))
    assert refused.value.path == str(own / "searches/mine.py") and refused.value.next
    lay(own, "searches", "mine", "x = 1").touch()
    os.utime(own / "searches/mine.py", ns=(1, 1))
    assert registry.load("searches", "mine", str(own)).x == 1  # mended


def test_a_file_that_others_may_change_is_not_run(own):
    path = lay(own, "searches", "mine", "raise SystemError")
    path.chmod(0o646)
    with pytest.raises(BadInput, match="can be changed by others"):
        registry.load("searches", "mine", str(own))


def test_a_repository_cannot_bring_members(own, home, tmp_path):
    """Only the folder beside the user's config.toml counts, not one below the project."""
    lay(tmp_path / "store", "types", "incident")
    lay(tmp_path / ".config/memdir", "types", "incident")
    opened(tmp_path, home)
    assert "incident" not in types.names()
