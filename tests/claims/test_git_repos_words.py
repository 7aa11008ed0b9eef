"""Identifiers in the files of a checkout, and in the lines that its history removed."""

from tempfile import TemporaryDirectory

import pytest

from memdir.claims.claim import Past, Uses
from memdir.claims.repo import GitRepo
from memdir.claims.tree import Bounds
from tests.helpers.repositories import TEXT, look
from tests.helpers.tables import table


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


def test_what_is_changed_and_not_committed_counts(checkout):
    names = ["old_name", "new_name", "kept_name"]
    checkout.commit({"a.py": "old_name()\n", "b.py": "x\n", "c.py": "kept_name()\n"})
    assert set(checkout.look(symbols=names).symbols) == {"old_name", "kept_name"}
    checkout.files({"a.py": "new_name()\n"})
    seen = checkout.look(symbols=names)
    assert set(seen.symbols) == {"new_name", "kept_name"}
    assert seen.past_symbols == {}  # no commit has removed it


def test_a_removed_identifier_tells_the_commit_that_removed_the_last_one(checkout):
    checkout.commit({"a.py": "gone_one()\n", "b.py": "gone_one()\nstays()\n", "c.md": "in_prose"})
    checkout.commit({"a.py": "x = 1\n", "c.md": "still gone_one"})
    last = checkout.commit({"b.py": "stays()\n"})
    checkout.commit({"b.py": "stays()\ny = 2\n"})
    seen = checkout.look(symbols=["gone_one", "stays", "never_was", "in_prose"])
    assert seen.past_symbols == {"gone_one": Past("gone_one", last, "2026-01-03")}
    assert set(seen.symbols) == {"stays", "gone_one"} and not seen.symbols["gone_one"].code


def test_headers_of_a_patch_are_no_removed_lines_and_lines_like_headers_are(checkout):
    text = "-- a/first_word\n++ b/second_word\n@@ third_word\ndiff --git fourth_word\n\x01abcd 12\n"
    checkout.commit({"a.sql": text + "fifth_word\n", "src/quaint_module.py": "old_word = 1\n"})
    checkout.remove("src/quaint_module.py")
    checkout.commit({"a.sql": "x\n"})
    words = {"first_word", "second_word", "third_word", "fourth_word", "fifth_word", "old_word"}
    seen = checkout.look(symbols=[*words, "quaint_module", "dev", "null"])
    assert set(seen.past_symbols) == words


# What is there in a way that is not indexed is not called removed.

NAME = "special_price_calc"
CODE = f"def {NAME}(): pass\n"
FILLER = b"/* filler */\n" * 150_000


@pytest.fixture
def without(checkout):
    """A checkout whose last commit removed the name."""
    checkout.commit({"a.py": CODE, "keep.py": TEXT})
    checkout.remove("a.py")
    checkout.commit({"b.py": "x = 1\n"})
    assert set(checkout.look(symbols=[NAME]).past_symbols) == {NAME}
    return checkout


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("late.c", FILLER + CODE.encode()),
        ("wide.cs", CODE.encode("utf-16")),
        ("data.bin", b"\0\0" + CODE.encode()),
    ],
)
def test_a_name_in_data_or_in_a_large_file_is_not_called_removed(without, path, data):
    without.commit({path: data})
    for _ in range(2):  # the second time from the cache
        seen = without.look(symbols=[NAME])
        assert seen.past_symbols == {} and "past_symbols" in seen.known
    without.remove(path)
    without.commit()
    assert set(without.look(symbols=[NAME]).past_symbols) == {NAME}


def test_files_that_are_changed_or_untracked_keep_a_name_but_prose_and_memories_do_not(without):
    without.commit({"big.c": FILLER})
    without.files({"notes.md": CODE, ".claude/memory/x.py": CODE, ".gitignore": "ignored.py\n"})
    without.files({"ignored.py": CODE})
    assert set(without.look(symbols=[NAME]).past_symbols) == {NAME}
    without.files({"big.c": CODE.encode() + FILLER})
    assert without.look(symbols=[NAME]).past_symbols == {}
    without.files({"big.c": FILLER, "new.py": CODE})
    assert without.look(symbols=[NAME]).past_symbols == {}


@pytest.mark.parametrize(
    "bounds", [Bounds(unread_files=1), Bounds(unread_bytes=1000), Bounds(dirty_files=1)]
)
def test_what_is_too_much_to_search_withdraws_what_is_removed(without, bounds):
    without.files({"one.py": "x" * 900, "two.py": "y" * 900, "b.py": "z\n", "keep.py": "y\n"})
    seen = look(without.repo(bounds), symbols=[NAME])
    assert seen.past_symbols == {} and "past_symbols" not in seen.known and seen.remarks


# The cache: every state gives what it would give without one.

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
    assert set(checkout.look(symbols=["one_name"]).symbols) == {"one_name"}
    same(checkout)  # names that are asked later are found, too
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
