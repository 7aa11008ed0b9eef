"""Identifiers in the files of a checkout, and in the lines that its history removed."""

from tempfile import TemporaryDirectory

import pytest

from memdir.claims.claim import Past, Uses
from memdir.claims.repo import GitRepo
from tests.helpers.repositories import Checkout, look
from tests.helpers.tables import table


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path / "code")


def test_code_and_prose_are_counted_apart(checkout):
    files = {"a.py": "load_user()\n", "b.ts": "x = load_user\n", "README.md": "`load_user`\n"}
    checkout.commit({**files, "package-lock.json": '"load_user"', "c.py": "load_users()\n"})
    seen = checkout.look(symbols=["load_user", "load_use", "never"])
    assert list(seen.symbols) == ["load_user"]
    assert (seen.symbols["load_user"].code, seen.symbols["load_user"].prose) == (2, 2)
    assert "symbols" in seen.known


@pytest.mark.parametrize(
    ("name", "text", "there"), table("claims", "an_identifier_is_a_whole_word")
)
def test_an_identifier_is_a_whole_word(checkout, name, text, there):
    checkout.commit({"a.py": text})
    assert (name in checkout.look(symbols=[name]).symbols) == there
    many = [f"other{number}" for number in range(50)]
    assert (name in checkout.look(symbols=[name, *many]).symbols) == there


def test_memories_do_not_prove_themselves(checkout):
    folders = [".claude/memory", ".claude/agent-memory/reviewer", "docs/memory", "a/.memory"]
    files = {f"{folder}/m.md": "uses `only_here`\n" for folder in folders}
    checkout.commit({**files, "docs/memory/MEMORY.md": "- [m](m.md) — only_here\n"})
    assert checkout.look(symbols=["only_here"]).symbols == {}
    checkout.commit({"docs/memory/tool.py": "only_here()\n", "MEMORY.md": "only_here"})
    assert checkout.look(symbols=["only_here"]).symbols == {
        "only_here": Uses(1, 1, ("docs/memory/tool.py", "MEMORY.md"))
    }


def test_data_is_not_searched(checkout):
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:abc the_name\nsize 1\n"
    large = b"the_name\n" * 200_000
    checkout.commit({"a.bin": b"\0the_name", "b.psd": pointer, "c.js": large, "d.txt": b""})
    assert checkout.look(symbols=["the_name"]).symbols == {}


def test_what_is_changed_and_not_committed_counts(checkout):
    checkout.commit({"a.py": "old_name()\n", "b.py": "x\n", "c.py": "kept_name()\n"})
    assert set(checkout.look(symbols=["old_name", "new_name", "kept_name"]).symbols) == {
        "old_name",
        "kept_name",
    }
    checkout.files({"a.py": "new_name()\n"})
    seen = checkout.look(symbols=["old_name", "new_name", "kept_name"])
    assert set(seen.symbols) == {"new_name", "kept_name"}
    assert seen.past_symbols == {}  # no commit has removed it
    checkout.files({"a.py": "old_name()\n"})
    assert set(checkout.look(symbols=["old_name", "new_name"]).symbols) == {"old_name"}


def test_a_removed_identifier_tells_the_commit_that_removed_the_last_one(checkout):
    checkout.commit({"a.py": "gone_one()\n", "b.py": "gone_one()\nstays()\n", "c.md": "in_prose"})
    checkout.commit({"a.py": "x = 1\n", "c.md": "nothing"})
    last = checkout.commit({"b.py": "stays()\n"})
    checkout.commit({"b.py": "stays()\ny = 2\n"})
    seen = checkout.look(symbols=["gone_one", "stays", "never_was", "in_prose"])
    assert seen.past_symbols == {"gone_one": Past("gone_one", last, "2026-01-03")}
    assert set(seen.symbols) == {"stays"}
    assert "past_symbols" in seen.known


def test_the_name_of_a_removed_file_is_no_removed_identifier(checkout):
    checkout.commit({"src/quaint_module.py": "old_word = 1\n", "keep": "k\n"})
    checkout.remove("src/quaint_module.py")
    commit = checkout.commit()
    seen = checkout.look(symbols=["quaint_module", "old_word", "dev", "null"])
    assert seen.past_symbols == {"old_word": Past("old_word", commit, "2026-01-02")}


def test_a_line_that_looks_like_a_header_is_a_line(checkout):
    text = "-- a/first_word\n++ b/second_word\n@@ third_word\ndiff --git fourth_word\n\x01abcd 12\n"
    checkout.commit({"a.sql": text + "fifth_word\n"})
    commit = checkout.commit({"a.sql": "x\n"})
    names = ["first_word", "second_word", "third_word", "fourth_word", "fifth_word"]
    assert checkout.look(symbols=names).past_symbols == {
        name: Past(name, commit, "2026-01-02") for name in names
    }


def test_an_identifier_that_is_still_in_prose_is_removed_from_code(checkout):
    checkout.commit({"a.py": "old_api()\n", "README.md": "call old_api\n"})
    commit = checkout.commit({"a.py": "new_api()\n"})
    seen = checkout.look(symbols=["old_api"])
    assert seen.symbols == {"old_api": Uses(0, 1, ("README.md",))}
    assert seen.past_symbols == {"old_api": Past("old_api", commit, "2026-01-02")}


# -- the cache: every state gives what it would give without one ---------------------------

NAMES = ["one_name", "two_name", "three_name", "four_name", "five_name"]
PATHS = ["a.py", "b.py", "c.py", "lib", "d.py"]


def same(checkout):
    """The look with the cache so far; somebody who never looked before must see the same."""
    warm = checkout.look(paths=PATHS, symbols=NAMES)
    with TemporaryDirectory() as empty:
        cold = look(GitRepo(str(checkout.folder), empty), paths=PATHS, symbols=NAMES)
    assert warm == cold
    return warm


def test_commits_branches_and_rewritten_histories_give_the_same_with_and_without_a_cache(checkout):
    checkout.commit({"a.py": "one_name\ntwo_name\n" * 9, "b.py": "three_name\n"})
    same(checkout)
    checkout.move("a.py", "lib/a2.py")
    checkout.commit({"b.py": "four_name\n"})
    assert set(same(checkout).past_symbols) == {"three_name"}
    checkout.git("switch", "-qc", "feature")
    checkout.remove("b.py")
    checkout.commit({"c.py": "five_name\n"})
    assert {"three_name", "four_name"} == set(same(checkout).past_symbols)
    checkout.commit({"c.py": "three_name\n"})
    same(checkout)
    checkout.git("switch", "-q", "main")
    seen = same(checkout)  # what only the branch has removed is here
    assert set(seen.past_symbols) == {"three_name"} and "b.py" not in seen.past
    checkout.git("switch", "-q", "feature")
    checkout.git("reset", "-q", "--hard", "HEAD~1")
    same(checkout)
    checkout.commit({"d.py": "one_name\n"})
    same(checkout)
    checkout.git("merge", "-q", "main")
    same(checkout)


def test_names_that_are_asked_later_are_found_too(checkout):
    checkout.commit({"a.py": "one_name two_name\n"})
    assert set(checkout.look(symbols=["one_name"]).symbols) == {"one_name"}
    assert set(checkout.look(symbols=["two_name"]).symbols) == {"two_name"}
    checkout.commit({"a.py": "one_name\n", "b.py": "three_name\n"})
    assert set(checkout.look(symbols=NAMES).symbols) == {"one_name", "three_name"}
