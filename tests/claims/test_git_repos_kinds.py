"""Checkouts that are not the usual one: each is looked at as far as it goes, and says the rest."""

import os

import pytest

from memdir.claims.claim import Past
from memdir.claims.repo import GitRepo
from memdir.claims.tree import Bounds
from tests.helpers.repositories import TEXT, Checkout, look


def clone(checkout, folder, *words) -> Checkout:
    checkout.git("clone", "-q", *words, f"file://{checkout.folder}", str(folder))
    return Checkout(folder, init=False)


def test_without_a_commit_what_is_staged_is_there(checkout):
    checkout.files({"a.py": TEXT, "deep/b.py": TEXT})
    checkout.git("add", "deep")
    seen = checkout.look(paths=["a.py", "b.py", "c.py"], symbols=["line"], branches=["main"])
    assert seen.paths == {"a.py": ("a.py",), "b.py": ("deep/b.py",)}
    assert seen.commit == "" and "past" not in seen.known and "symbols" not in seen.known
    assert any("no commit yet" in remark for remark in seen.remarks)
    assert checkout.repo().state().startswith("+")


def test_a_partial_clone_fetches_nothing_and_says_so(checkout, tmp_path):
    checkout.git("config", "uploadpack.allowFilter", "true")
    checkout.commit({"a.py": TEXT + "old_name", "b.py": "kept_name"})
    checkout.move("a.py", "c.py")
    commit = checkout.commit()
    checkout.commit({"c.py": "x\n"})
    partial = clone(checkout, tmp_path / "partial", "--filter=blob:none")
    packs = sorted(os.listdir(partial.folder / ".git/objects/pack"))
    seen = partial.look(paths=["a.py"], symbols=["old_name", "kept_name"], commits=["0" * 40])
    assert seen.past["a.py"] == (Past("a.py", commit, "2026-01-02", "c.py"),)
    assert set(seen.symbols) == {"kept_name"} and "past_symbols" not in seen.known
    assert any("partial clone" in remark for remark in seen.remarks)
    assert sorted(os.listdir(partial.folder / ".git/objects/pack")) == packs


def test_below_a_submodule_only_what_is_checked_out_is_known(checkout, tmp_path):
    library = Checkout(tmp_path / "library")
    library.commit({"src/lib.c": TEXT})
    checkout.commit({"a.py": TEXT})
    checkout.git("submodule", "--quiet", "add", str(library.folder), "vendor/library")
    checkout.commit()
    names = ["vendor/library/src/lib.c", "vendor/library", "library/", "vendor/library/none.c"]
    seen = checkout.look(paths=[*names, "dist/x"])
    assert set(seen.paths) == set(names[:3])
    assert any("vendor/library" in remark for remark in seen.remarks)
    bare = clone(checkout, tmp_path / "without").look(paths=names)
    assert set(bare.paths) == {"vendor/library", "library/"} and bare.past == {}


def test_without_a_checkout_the_commit_is_looked_at_and_a_bare_repository_not_at_all(
    checkout, tmp_path
):
    checkout.commit({"a.py": "the_name"})
    seen = clone(checkout, tmp_path / "empty", "--no-checkout").look(
        paths=["a.py"], symbols=["the_name"]
    )
    assert set(seen.paths) == {"a.py"} and set(seen.symbols) == {"the_name"}
    assert any("nothing is checked out" in said for said in seen.remarks)
    seen = clone(checkout, tmp_path / "bare", "--bare").look(paths=["a.py"])
    assert seen.known == frozenset() and "has no working tree" in seen.remarks[0]


def test_odd_names_are_names(checkout):
    names = ["new\nline.py", "tab\t.py", 'quo"te.py', "ünï/日本.py", "-dash.py", ":(top)x.py"]
    checkout.commit({name: TEXT + name for name in names})
    (checkout.folder / os.fsdecode(b"bad\xff.py")).write_text("odd_name\n")
    checkout.commit()
    bad = "bad\udcff.py"
    seen = checkout.look(paths=[*names, bad], symbols=["odd_name"])
    assert seen.paths == {name: (name,) for name in [*names, bad]}
    assert seen.symbols["odd_name"].places == (bad,)
    for name in (*names, bad):
        os.unlink(checkout.folder / name)
    commit = checkout.commit({"keep": "k"})
    seen = checkout.look(paths=[*names, bad])
    assert {name: past[0].commit for name, past in seen.past.items()} == dict.fromkeys(
        [*names, bad], commit
    )


def test_without_git_nothing_is_known_and_that_is_said(checkout, monkeypatch, tmp_path):
    checkout.commit({"a.py": TEXT})
    (checkout.folder / "git").write_text("#!/bin/sh\ntouch ran\n")
    (checkout.folder / "git").chmod(0o755)
    monkeypatch.chdir(checkout.folder)
    monkeypatch.setenv("PATH", f".:{tmp_path}::relative")
    seen = checkout.look(paths=["a.py"])
    assert seen.known == frozenset() and "git is not installed" in seen.remarks[0]
    assert not (checkout.folder / "ran").exists()


def test_a_broken_repository_says_so_and_the_one_above_is_not_taken(checkout):
    checkout.commit({"a.py": TEXT})
    inner = checkout.folder / "inner"
    (inner / ".git").mkdir(parents=True)
    seen = look(GitRepo(str(inner), str(inner) + ".cache"), paths=["a.py"])
    assert seen.known == frozenset() and "git cannot read" in seen.remarks[0]


def test_a_lost_object_is_said_and_nothing_is_called_removed(checkout):
    checkout.commit({"a.py": "was_here\n", "b.py": "other\n"})
    checkout.commit({"a.py": "x\n"})
    oid = checkout.git("rev-parse", "HEAD:b.py")
    (checkout.folder / ".git/objects" / oid[:2] / oid[2:]).unlink()
    seen = checkout.look(paths=["a.py"], symbols=["was_here", "other"])
    assert seen.paths and seen.past_symbols == {}
    assert any("not all files were read" in remark for remark in seen.remarks)


def test_a_history_beyond_the_bound_is_said(checkout):
    checkout.commit({"a.py": "1 first_name\n", "b.py": "2 second_name\n", "keep": "k\n"})
    checkout.remove("a.py")
    checkout.commit()
    checkout.remove("b.py")
    checkout.commit()
    repo = checkout.repo(Bounds(commits=1))
    for _ in range(2):
        seen = look(repo, paths=["a.py", "b.py"], symbols=["first_name", "second_name"])
        assert set(seen.past) == {"b.py"} and set(seen.past_symbols) == {"second_name"}
        assert sum("history before 2026-01-03 was not" in remark for remark in seen.remarks) == 2


@pytest.mark.parametrize(
    ("bounds", "remark"),
    [
        (Bounds(files=2), "paths were read"),
        (Bounds(tree_bytes=10), "paths were read"),
        (Bounds(scan_seconds=0), "not all files were read"),
        (Bounds(dirty_files=0), "not committed"),
        (Bounds(manifests=1), "manifest"),
        (Bounds(quick_seconds=0), "read"),
    ],
)
def test_every_bound_is_said_and_nothing_is_called_removed(checkout, bounds, remark):
    files = {f"f{number}/package.json": "{}" for number in range(4)}
    checkout.commit({**files, "z.py": "a_name old_name\n"})
    checkout.commit({"z.py": "a_name\n"})
    checkout.files({"f0/package.json": "{ }"})
    seen = look(checkout.repo(bounds), paths=["z.py"], symbols=["a_name"])
    assert any(remark in said for said in seen.remarks)
    assert seen.past == {} and seen.past_symbols == {}
