"""What is there in a way that is not indexed is not called removed."""

import pytest

from memdir.claims.tree import Bounds
from tests.helpers.repositories import TEXT, Checkout, look

NAME = "special_price_calc"
CODE = f"def {NAME}(): pass\n"


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path / "code")


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
        ("big.c", CODE.encode() + b"/* filler */\n" * 150_000),
        ("late.c", b"/* filler */\n" * 150_000 + CODE.encode()),
        ("wide.cs", CODE.encode("utf-16")),
        ("other.cs", CODE.encode("utf-16-be")),
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


def test_a_large_file_that_is_changed_counts_as_it_is_on_disk(without):
    without.commit({"big.c": b"/* filler */\n" * 150_000})
    assert set(without.look(symbols=[NAME]).past_symbols) == {NAME}
    without.files({"big.c": CODE.encode() + b"/* filler */\n" * 150_000})
    assert without.look(symbols=[NAME]).past_symbols == {}


def test_a_name_in_an_untracked_file_is_not_called_removed(without):
    without.files({"new.py": CODE})
    assert without.look(symbols=[NAME]).past_symbols == {}
    without.files({".gitignore": "new.py\n"})
    assert set(without.look(symbols=[NAME]).past_symbols) == {NAME}


def test_untracked_prose_and_memories_keep_no_name(without):
    without.files({"notes.md": CODE, ".claude/memory/x.py": CODE})
    assert set(without.look(symbols=[NAME]).past_symbols) == {NAME}


@pytest.mark.parametrize("bounds", [Bounds(unread_files=1), Bounds(unread_bytes=1000)])
def test_what_is_too_much_to_search_withdraws_what_is_removed(without, bounds):
    without.files({"one.py": "x" * 900, "two.py": "y" * 900})
    seen = look(without.repo(bounds), symbols=[NAME])
    assert seen.past_symbols == {} and "past_symbols" not in seen.known
    assert any("not searched for removed" in remark for remark in seen.remarks)


def test_too_many_changed_files_withdraw_what_is_removed(without):
    without.files({"b.py": CODE, "keep.py": "y\n"})
    seen = look(without.repo(Bounds(dirty_files=1)), symbols=[NAME])
    assert seen.past_symbols == {} and "past_symbols" not in seen.known


def test_a_bare_repository_with_data_withdraws_what_is_removed(without, tmp_path):
    without.commit({"data.bin": b"\0\0" + CODE.encode()})
    without.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))
    seen = Checkout(tmp_path / "bare.git", init=False).look(symbols=[NAME])
    assert seen.past_symbols == {} and "past_symbols" not in seen.known


def with_submodule(checkout, tmp_path):
    library = Checkout(tmp_path / "library")
    library.commit({"src/moved.py": CODE})
    checkout.git("submodule", "--quiet", "add", str(library.folder), "lib")
    checkout.commit()


def test_with_a_submodule_no_name_is_called_removed(without, tmp_path):
    with_submodule(without, tmp_path)
    seen = without.look(symbols=[NAME])
    assert seen.past_symbols == {} and "past_symbols" not in seen.known
    assert any("none is called removed" in remark for remark in seen.remarks)


def test_a_bare_name_or_a_path_that_may_be_in_a_submodule_has_no_past(checkout, tmp_path):
    checkout.commit({"old/moved.py": TEXT, "lib/inner.py": TEXT + "2", "keep": "k"})
    for path in ("old", "lib"):
        checkout.remove(path)
    checkout.commit({"x": "x"})
    with_submodule(checkout, tmp_path)
    assert set(checkout.look(paths=["old/moved.py", "moved.py", "lib/inner.py"]).past) == {
        "old/moved.py"
    }


def test_a_path_through_a_link_that_stays_in_the_checkout_is_there(checkout):
    checkout.commit({"src/old/file.py": TEXT, "old/file.py": TEXT + "2"})
    checkout.move("old", "new")
    checkout.move("src/old", "src/new")
    (checkout.folder / "old").symlink_to("new")
    (checkout.folder / "src/old").symlink_to("new")
    checkout.commit()
    seen = checkout.look(paths=["old/file.py", "old/", "src/old/file.py", "old/none.py"])
    assert set(seen.paths) == {"old/file.py", "old/", "src/old/file.py"} and seen.past == {}


def test_a_link_that_leads_out_or_into_git_makes_nothing_present(checkout, tmp_path):
    checkout.commit({"old/config": TEXT, "way/config": TEXT + "2"})
    for path in ("old", "way"):
        checkout.remove(path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out/config").write_text("x")
    (checkout.folder / "old").symlink_to(".git")
    (checkout.folder / "way").symlink_to(tmp_path / "out")
    checkout.commit()
    seen = checkout.look(paths=["old/config", "way/config"])
    assert seen.paths == {} and set(seen.past) == {"old/config", "way/config"}


def test_a_link_to_nothing_that_is_not_tracked_is_not_there(checkout):
    checkout.commit({"a.py": TEXT})
    (checkout.folder / "dangling.py").symlink_to("/nonexistent/zz")
    (checkout.folder / "round.py").symlink_to("round.py")
    (checkout.folder / "good.py").symlink_to("a.py")
    assert set(checkout.look(paths=["dangling.py", "round.py", "good.py"]).paths) == {"good.py"}


def test_a_folder_that_is_ignored_since_and_still_on_disk_has_no_past(checkout):
    checkout.commit({"data_store/f.txt": TEXT, "pkg/mod.py": TEXT + "2"})
    checkout.git("rm", "-rq", "--cached", "data_store", "pkg")
    checkout.remove("pkg/mod.py")
    checkout.files({".gitignore": "data_store/\n__pycache__/\n", "pkg/__pycache__/x": "x"})
    checkout.commit()
    seen = checkout.look(paths=["data_store/", "data_store/f.txt", "f.txt", "pkg/"])
    assert set(seen.past) == {"pkg/"}  # a build left that behind
    assert "data_store/" in seen.ignored


def test_a_path_that_is_a_thousand_folders_deep_is_asked_for(checkout):
    checkout.commit({"a.py": TEXT})
    deep = "d/" * 1_500 + "x.py"
    assert checkout.look(paths=[deep, deep + "/"]).paths == {}
