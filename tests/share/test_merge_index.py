"""merge-index under a real git: two branches of an index become one, or say why not."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.helpers.repositories import Checkout
from tests.helpers.terminal import SCRIPT, memdir, tree

pytestmark = pytest.mark.usefixtures("project")

PATH = ".claude/memory/MEMORY.md"
HEAD = "# Memories\n\nWhat we know.\n\n"
A, B, C = (f"- [{n.upper()}]({n}.md) — about {n}\n" for n in "abc")


@pytest.fixture
def on_path(tmp_path, monkeypatch) -> None:
    """A `memdir` that git can call."""
    script = tmp_path / "bin/memdir"
    script.parent.mkdir()
    script.write_text(f"#!/bin/sh\nexec '{SCRIPT[0]}' -c '{SCRIPT[2]}' \"$@\"\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")


@pytest.fixture
def repository(tmp_path, on_path, monkeypatch) -> Checkout:
    """A repository whose indexes are merged by memdir."""
    checkout = Checkout((tmp_path / "repo").resolve())
    monkeypatch.chdir(checkout.folder)
    assert memdir("merge-index", "--install").code == 0
    return checkout


def merged(checkout: Checkout, base: str, ours: str, theirs: str) -> tuple[int, bytes]:
    """What `git merge` of two branches answers, and what the index is then."""
    checkout.commit({PATH: base})
    checkout.git("checkout", "-q", "-b", "theirs")
    checkout.commit({PATH: theirs})
    checkout.git("checkout", "-q", "main")
    checkout.commit({PATH: ours})
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    words = ["-c", "user.name=Ann", "-c", "user.email=ann@example.invalid", "merge", "theirs"]
    done = subprocess.run(["git", *words, "--no-edit"], cwd=checkout.folder, env=env, check=False)
    return done.returncode, (checkout.folder / PATH).read_bytes()


def test_two_branches_that_both_remember_merge_without_a_conflict(repository):
    """With memories and lines as memdir itself writes them, and real commits."""
    local = ("--scope", "local", "--type", "project")
    memdir("remember", "The release is in March.", "--name", "release", *local)
    repository.commit()
    repository.git("checkout", "-q", "-b", "theirs")
    memdir("remember", "The freeze starts on 2026-03-05.", "--name", "freeze", *local)
    memdir("remember", "Bob owns the importer.", "--name", "importer", *local)
    repository.commit()
    repository.git("checkout", "-q", "main")
    memdir("remember", "Tags are signed by two people.", "--name", "tags", *local)
    memdir("retire", "release", "--scope", "local")
    repository.commit()
    repository.git("-c", "user.name=Ann", "merge", "--no-edit", "theirs")
    store = repository.folder / ".claude/memory"
    assert sorted(p.name for p in store.glob("*.md")) == [
        *("MEMORY.md", "freeze.md", "importer.md", "tags.md")
    ]
    index = memdir("index", "--scope", "local", "--json").json
    assert (index["orphans"], index["dangling"], index["lines"]) == ([], [], 3)


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "wanted"),
    [
        pytest.param(HEAD + A, HEAD + A + B, HEAD + A + C, HEAD + A + B + C, id="adds"),
        pytest.param(HEAD + A + B, HEAD + B + C, HEAD + A + B, HEAD + B + C, id="takes out"),
        pytest.param("", A + B, A + C, A + B + C, id="new"),
        pytest.param(A[:-1], (A + B)[:-1], (A + C)[:-1], (A + B + C)[:-1], id="no line end"),
    ],
)
def test_git_merges_indexes_with_it(base, ours, theirs, wanted, repository):
    assert merged(repository, base, ours, theirs) == (0, wanted.encode())
    assert repository.git("status", "--porcelain") == ""


def test_prose_that_both_rewrote_is_a_conflict_that_git_shows(repository):
    ours, theirs = HEAD.replace("What we know", "Ours"), HEAD.replace("What we know", "Theirs")
    code, text = merged(repository, HEAD + A, ours + A + B, theirs + A + C)
    assert code == 1
    marked = "<<<<<<< ours\nOurs.\n=======\nTheirs.\n>>>>>>> theirs\n"
    assert text.decode() == f"# Memories\n\n{marked}\n{A}{B}{C}"
    assert repository.git("status", "--porcelain") == f"UU {PATH}"


@pytest.fixture
def three(tmp_path, monkeypatch) -> Path:
    """Three versions as git hands them over."""
    folder = tmp_path / "three"
    folder.mkdir()
    for name, text in (("base", A), ("ours", A + B), ("theirs", A + C)):
        (folder / name).write_text(text)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    ("side", "data"),
    [
        pytest.param("base", None, id="missing"),
        pytest.param("ours", bytes(range(256)), id="binary"),
        pytest.param("theirs", b" " * 5 * 1024 * 1024, id="huge"),
        pytest.param("theirs", b"x\n" * 20_001, id="many lines"),
    ],
)
def test_what_is_no_index_is_refused_and_nothing_is_written(side, data, three):
    (three / side).unlink() if data is None else (three / side).write_bytes(data)
    before = tree(three)
    answer = memdir("merge-index", "base", "ours", "theirs", "--json")
    assert (answer.code, answer.error["code"]) == (1, "bad_input"), answer.text
    assert side in answer.error["message"] and answer.error["next"]
    assert tree(three) == before


def test_ours_that_is_a_link_is_not_written_through(three):
    (three / "kept").write_text(A + B)
    (three / "ours").unlink()
    (three / "ours").symlink_to("kept")
    answer = memdir("merge-index", "base", "ours", "theirs", "--json")
    assert (answer.code, answer.error["code"]) == (1, "unwritable")
    assert (three / "kept").read_text() == A + B


def test_install_for_a_team_directory_that_is_a_clone(tmp_path, store):
    team = Checkout(store / "team")
    assert memdir("merge-index", "--install", "--scope", "team").code == 0
    assert (team.folder / ".gitattributes").read_text() == "MEMORY.md merge=memdir-index\n"


def test_install_is_refused_where_git_is_not(tmp_path, monkeypatch):
    folder = tmp_path / "plain"
    folder.mkdir()
    monkeypatch.chdir(folder)
    answer = memdir("merge-index", "--install", "--json")
    assert (answer.code, answer.error["code"]) == (1, "bad_input")
    assert list(folder.iterdir()) == []


def test_install_does_not_write_through_a_link(tmp_path, monkeypatch):
    checkout = Checkout((tmp_path / "repo").resolve())
    (tmp_path / "outside").write_text("theirs\n")
    (checkout.folder / ".gitattributes").symlink_to(tmp_path / "outside")
    monkeypatch.chdir(checkout.folder)
    answer = memdir("merge-index", "--install", "--json")
    assert answer.code == 1 and "symbolic link" in answer.error["message"]
    assert (tmp_path / "outside").read_text() == "theirs\n"


def test_an_index_in_its_place_has_another_writer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("base", "MEMORY.md", "theirs"):
        Path(name).write_text(f"- [A](a.md) — {name}\n")
    answer = memdir("merge-index", "base", "MEMORY.md", "theirs", "--json")
    assert answer.code == 1
    assert "nothing was written" in answer.error["message"]
    assert Path("MEMORY.md").read_text() == "- [A](a.md) — MEMORY.md\n"
