"""Links, pipes and other files that are no files: named, never followed, never in the way."""

import os

import pytest

from tests.helpers.hostile import inputs
from tests.helpers.tables import table
from tests.helpers.terminal import memdir, process, tree

pytestmark = pytest.mark.usefixtures("project")

TEXT = "Use uv, never pip, to install packages."
# Where each row of the class is tested; SL07 is a race, which tests/faults runs.
TESTED = table("cli", "tested")
as_user = pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind root")


@pytest.fixture
def filled(store):
    """A store with one good memory."""
    assert memdir("remember", "The good one stays readable.", "--name", "good").code == 0
    return store


def kinds() -> set[str]:
    return {finding["kind"] for finding in memdir("list", "--json").json["findings"]}


def good_is_listed() -> bool:
    return "good.md" in [one["path"] for one in memdir("list", "--json").json["memories"]]


@pytest.mark.parametrize("row", inputs("links and special files"))
def test_no_row_of_the_class_is_forgotten(row):
    where = TESTED[row.id]
    assert where.startswith("tests/") or where in globals()


def test_a_link_is_not_followed(filled, tmp_path):
    outside = tmp_path / "outside.md"
    outside.write_text("---\nname: secret\ndescription: not yours\n---\nprivate words\n")
    (filled / "beta.md").symlink_to(outside)
    before = outside.read_bytes()
    assert good_is_listed() and kinds() == {"special-file"}
    for words in (("show", "beta"), ("edit", "beta", "--description", "x"), ("retire", "beta")):
        answer = memdir(*words, "--json")
        assert answer.code == 1 and "private words" not in answer.text
    answer = memdir("remember", TEXT, "--name", "beta", "--json")
    assert (answer.code, answer.error["code"]) == (1, "unwritable")
    assert "private words" not in memdir("load", "--full").text
    assert memdir("export", "--json").code == 1
    checks = memdir("doctor", "--json").json["checks"]
    assert any("beta.md" in check["message"] and not check["ok"] for check in checks)
    assert outside.read_bytes() == before


def test_a_store_behind_a_link_of_the_repository_is_refused(project, tmp_path):
    (tmp_path / "victim").mkdir()
    (project / ".claude").mkdir()
    (project / ".claude/memory").symlink_to(tmp_path / "victim")
    answer = memdir("remember", TEXT, "--scope", "local", "--json")
    assert (answer.code, answer.error["code"]) == (1, "bad_input")
    assert "symbolic link" in answer.error["message"]
    assert list((tmp_path / "victim").iterdir()) == []
    assert memdir("where", "--json").json["findings"][0]["kind"] == "redirect-attempt"


def test_an_index_that_is_a_link_is_not_written(filled, tmp_path):
    victim = tmp_path / "bashrc"
    victim.write_text("export A=1\n")
    (filled / "MEMORY.md").unlink()
    (filled / "MEMORY.md").symlink_to(victim)
    answer = memdir("remember", TEXT, "--name", "beta", "--json")
    assert answer.code == 1 and "MEMORY.md" in answer.error["message"]
    for words in (("load",), ("index",), ("index", "--rebuild"), ("list",), ("doctor",)):
        assert memdir(*words, "--json").code in (0, 1), words
    assert victim.read_text() == "export A=1\n"
    assert (filled / "MEMORY.md").is_symlink()


def test_a_lock_that_is_a_link_harms_nobody(filled, home, tmp_path):
    (lock,) = home.glob(".local/state/memdir/stores/*/lock")
    victim = tmp_path / "victim"
    victim.write_text("precious")
    for target in (victim, tmp_path / "not-there"):
        lock.unlink()
        lock.symlink_to(target)
        answer = memdir("remember", TEXT, "--name", "beta", "--json")
        assert (answer.code, answer.error["code"]) == (1, "unwritable")
        assert good_is_listed()
    assert victim.read_text() == "precious"
    assert not (tmp_path / "not-there").exists()


def test_a_pipe_does_not_block(filled):
    os.mkfifo(filled / "beta.md")
    os.mkfifo(filled / "team.txt")
    answer = process("list", "--json")
    assert [one["path"] for one in answer.json["memories"]] == ["good.md"]
    assert {finding["kind"] for finding in answer.json["findings"]} == {"special-file"}
    assert process("doctor").code == 1
    assert process("remember", TEXT, "--name", "gamma").code == 0
    assert process("import", str(filled / "beta.md"), "--json").error["code"] == "bad_input"
    assert process("save", "--file", str(filled / "beta.md"), "--json").code == 1


def test_a_directory_in_the_place_of_a_memory(filled):
    (filled / "beta.md").mkdir()
    assert good_is_listed() and kinds() == {"special-file"}
    answer = memdir("remember", TEXT, "--name", "beta", "--json")
    assert (answer.code, answer.error["code"]) == (1, "unwritable")


def test_a_hard_link_keeps_its_other_name_as_it_was(filled, tmp_path):
    outside = tmp_path / "outside.md"
    outside.write_text("---\nname: beta\ndescription: shared bytes\n---\nx\n")
    os.link(outside, filled / "beta.md")
    before = outside.read_bytes()
    assert memdir("edit", "beta", "--description", "changed", "--json").json["change"] == "updated"
    assert outside.read_bytes() == before


@as_user
def test_an_unreadable_file_is_named_and_kept(filled):
    (filled / "beta.md").write_text("x")
    (filled / "beta.md").chmod(0)
    assert good_is_listed() and "unreadable" in kinds()
    assert memdir("remember", TEXT, "--name", "gamma").code == 0
    assert (filled / "beta.md").exists()
    assert "beta.md" in (filled / "MEMORY.md").read_text()


def test_what_lies_beside_the_memories_is_left_alone(filled):
    for name in (
        ".hidden.md",
        "picture.png",
        "logs/2026/day.md",
        "team/MEMORY.md",
        "sessions/a.json",
    ):
        path = filled / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\x00\xff")
    before = tree(filled)
    memdir("remember", TEXT, "--name", "beta")
    memdir("retire", "beta")
    memdir("undo")
    memdir("undo")
    after = tree(filled)
    kept = [path for path in before if not path.endswith(("good.md", "/MEMORY.md"))]
    assert {path: after.get(path) for path in kept} == {path: before[path] for path in kept}
