"""Trees, answers and caches that no honest git or memdir ever made."""

import os
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memdir.claims import code_index
from memdir.claims.claim import Wanted
from memdir.claims.tree import WorkTree, match_patterns
from memdir.store.git import Git
from tests.helpers.repositories import TEXT, Checkout, look
from tests.helpers.tables import table

WANTED = {"paths": ["a.py", "gone.py"], "symbols": ["the_name", "gone_name"]}


@pytest.fixture
def checkout(tmp_path):
    checkout = Checkout(tmp_path / "code")
    checkout.commit({"a.py": "the_name\n", "gone.py": "gone_name\n" + TEXT})
    checkout.remove("gone.py")
    checkout.commit({"keep": "k\n"})
    return checkout


def raw_tree(checkout, *entries):
    """Commit a tree that git itself would refuse to write."""
    data = b"".join(mode + b" " + name + b"\0" + bytes.fromhex(oid) for mode, name, oid in entries)
    words = ("hash-object", "-t", "tree", "-w", "--literally", "--stdin")
    return checkout.git(*words, given=data)


def test_a_tree_with_parts_that_lead_out_opens_nothing_outside(checkout, tmp_path):
    (tmp_path / "secret.py").write_text("secret_name\n")
    (checkout.folder / ".git/inner.py").write_text("secret_name\n")
    blob = checkout.git("hash-object", "-w", "--stdin", given=b"")
    inner = raw_tree(checkout, (b"100644", b"secret.py", blob))
    own = raw_tree(checkout, (b"100644", b"inner.py", blob))
    entries = [(b"40000", b"..", inner), (b"40000", b".GIT", own), (b"100644", b"a.py", blob)]
    tree = raw_tree(checkout, *entries)
    checkout.git("reset", "-q", "--soft", checkout.git("commit-tree", tree, "-m", "x"))
    checkout.git("config", "core.repositoryformatversion", "1")
    checkout.git("config", "extensions.partialclone", "origin")
    names = ["../secret.py", "secret.py", "inner.py", ".GIT/inner.py", "a.py"]
    seen = checkout.look(paths=names, symbols=["secret_name"])
    assert set(seen.paths) == {"a.py"} and seen.symbols == {}


@pytest.mark.parametrize("path", ["../secret", "x/../../secret", ".git/config", ".GIT/config", ""])
def test_the_work_tree_refuses_parts_that_lead_out(checkout, tmp_path, path):
    (tmp_path / "secret").write_text("x")
    (checkout.folder / "x").mkdir()
    shutil.copytree(checkout.folder / ".git", checkout.folder / ".GIT", dirs_exist_ok=True)
    work_tree = WorkTree(str(checkout.folder))
    assert not work_tree.read(path, 100_000) and work_tree.facts(path) == ()
    assert not work_tree.has_file(path) and not work_tree.has_folder(path)
    assert not work_tree.leads_to(path)


def test_manifests_that_nest_without_end_declare_nothing(checkout):
    toml = "a = " + "\n[" * 40_000
    checkout.commit({"package.json": "[" * 90_000, "pyproject.toml": toml})
    assert checkout.look().commands == frozenset()


@pytest.mark.parametrize(
    ("pattern", "fits"), table("claims", "a_pattern_fits_whole_parts_and_what_is_below")
)
def test_a_pattern_fits_whole_parts_and_what_is_below(pattern, fits):
    paths = ["src/a.py", "src/b/c.py", "x/src/d.py", "docs/x.md"]
    assert match_patterns([pattern], paths).get(pattern, []) == fits


def test_a_pattern_of_repeated_letters_tries_no_place_twice():
    path = "src/" + "a" * 200_000  # for hours, with a regex
    paths = [path, path + "b", path + "b.py"]
    assert match_patterns(["src/a*a*b.py"], paths) == {"src/a*a*b.py": [path + "b.py"]}


@pytest.fixture
def fake_git(tmp_path, monkeypatch):
    """Puts a git in front that finds the checkout, and else prints the given bytes."""

    def put(answer, head="1" * 40):
        folder = tmp_path / "fake"
        folder.mkdir(exist_ok=True)
        (folder / "answer").write_bytes(answer)
        (folder / "git").write_text(
            "#!/bin/sh\ncase \"$*\" in *is-bare*) printf 'false\\nfalse\\n';;"
            f" *rev-parse*) echo '{head}';; *) cat {folder}/answer;; esac\n"
        )
        (folder / "git").chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    return put


RANDOM = random.Random(5)
ANSWERS = [
    *(RANDOM.randbytes(3000) for _ in range(4)),
    *(b"a\0b\0", b"100644 blob 1111\ta.py\0", b"\xff\xfe\0" * 50, b"\0" * 100, b"\n" * 100),
    *(b"\x01\0D\0x\0", b"D\0x\0", b"R\0x\0y\0", b"\x01" + b"1" * 40 + b" " + b"9" * 5000 + b"\0"),
    *(
        b"blob " + b"9" * 5000 + b"\n",
        b"x blob 5\n",
        b"\xff\xff x.py\0",
        b"a\tb\tc\0",
        b"1 2 3 4\tx\0",
    ),
]


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_git_that_talks_nonsense_is_cut_short_and_that_is_said(checkout, fake_git, answer):
    fake_git(answer)
    seen = look(checkout.repo(), **WANTED, branches=["x"], commits=["abcdef1"])
    assert seen.past == {} and seen.past_symbols == {} and seen.remarks
    assert checkout.repo().state().startswith("1" * 40)


def test_a_head_that_is_no_commit_is_a_problem(checkout, fake_git):
    fake_git(b"", head="--output=/tmp/x")
    seen = look(checkout.repo(), **WANTED)
    assert seen.known == frozenset() and "no claim was checked" in seen.remarks[0]


def index_of(checkout) -> Path:
    (path,) = Path(f"{checkout.folder}.cache/repos").glob("*/index.sqlite")
    return path


def test_a_pipe_a_link_or_a_folder_in_place_of_the_index_is_replaced(checkout, tmp_path):
    first = checkout.look(**WANTED)
    path = index_of(checkout)
    (tmp_path / "theirs").write_text("untouched")
    for make in (os.mkfifo, os.mkdir, lambda path: os.symlink(tmp_path / "theirs", path)):
        path.unlink()
        make(path)
        assert checkout.look(**WANTED) == first
        assert path.is_file() and not path.is_symlink()
    assert (tmp_path / "theirs").read_text() == "untouched"


def test_a_commit_of_the_index_that_is_an_option_reaches_no_command_line(checkout, monkeypatch):
    first = checkout.look(**WANTED)
    monkeypatch.setattr(code_index, "_is_intact", lambda *given: True)
    with closing(sqlite3.connect(index_of(checkout), isolation_level=None)) as db:
        db.execute("UPDATE state SET value = '--output=x' WHERE key LIKE '% commit'")
    with pytest.raises(ValueError, match="no commit"):
        checkout.repo()._look(Wanted(paths=frozenset({"a.py"})), print)
    monkeypatch.undo()
    assert checkout.look(**WANTED) == first and not (checkout.folder / "x").exists()


def test_an_index_that_another_look_holds_is_done_without(checkout, monkeypatch):
    first = checkout.look(**WANTED)
    monkeypatch.setattr(code_index, "LOCK_SECONDS", 0.1)
    with closing(sqlite3.connect(index_of(checkout), isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        assert checkout.look(**WANTED) == first


def test_a_repository_names_no_ignore_file_outside(checkout, tmp_path, monkeypatch):
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (tmp_path / "theirs").write_text("secret\n")
    (tmp_path / "home/mine").write_text("build\n")
    checkout.git("config", "core.excludesFile", str(tmp_path / "theirs"))
    assert checkout.look(paths=["secret", "build"]).ignored == frozenset()
    (tmp_path / "home/.gitconfig").write_text("[core]\n\texcludesFile = ~/mine\n")
    assert checkout.look(paths=["secret", "build"]).ignored == {"build"}
    git = Git(str(checkout.folder), shutil.which("git") or "")
    assert git.settings["core.attributesFile"] == os.devnull


def test_the_hint_for_a_stranger_s_folder_quotes_it(tmp_path, monkeypatch):
    checkout = Checkout(tmp_path / "a folder; rm x")
    checkout.commit({"a.py": TEXT})
    monkeypatch.setitem(
        __import__("memdir.store.git", fromlist=["x"]).ENVIRONMENT,
        "GIT_TEST_ASSUME_DIFFERENT_OWNER",
        "1",
    )
    remarks = checkout.repo().look(Wanted()).remarks
    assert f"safe.directory '{checkout.folder}'" in remarks[0]
