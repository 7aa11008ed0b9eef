"""What every repository promises; the same facts as a git checkout and as lists."""

import json  # noqa: F401 (for the table)
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from evals import listing
from memdir.claims.claim import Past, Uses
from memdir.claims.repo import GitRepo, Repo
from tests.helpers.repositories import TEXT, Checkout, look  # noqa: F401
from tests.helpers.tables import rows

FILES = dict(rows(globals(), "FILES"))
TABLES = {"paths", "ignored", "past", "symbols", "past_symbols", "branches", "packages", "commits"}
TABLES |= {"commands"}
ODD = ["", "/", "..", "../x", "/etc/passwd", "a\0b", "\n", "*", "**/**", "-x", "\udcff", "x" * 9000]


def make_git(folder: Path) -> tuple[str, str]:
    """The facts as commits; the second and the last commit."""
    checkout = Checkout(folder)
    checkout.commit(FILES)
    checkout.move("api/auth/token.py", "api/tokens/token.py")
    renamed = checkout.commit()
    checkout.remove("api/old_api.py")
    removed = checkout.commit()
    checkout.git("tag", "v1.0")
    return renamed, removed


def make_listing(folder: Path) -> tuple[str, str]:
    """The same facts as lists."""
    folder.mkdir()
    for name, lines in rows(globals(), "LISTS"):
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    return "aaaaaa1", "aaaaaa2"


OPENERS = {"git": GitRepo, "none": GitRepo, "listing": listing.open_repo}
MAKERS: dict[str, Callable[[Path], tuple[str, str]]] = {"git": make_git, "listing": make_listing}


def opened(name: str, folder: Path) -> Repo:
    """The lists of labelled repositories belong to the benches; they answer as a checkout does."""
    return OPENERS[name](str(folder / "code"), str(folder / "cache"))


@pytest.fixture(params=sorted(OPENERS))
def repo(request: pytest.FixtureRequest, tmp_path: Path) -> Repo:
    if request.param in MAKERS:
        MAKERS[request.param](tmp_path / "code")
    return opened(request.param, tmp_path)


@pytest.fixture(params=sorted(MAKERS))
def told(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Repo, str, str]:
    """A repository that knows the facts, with the commits that renamed and removed."""
    renamed, removed = MAKERS[request.param](tmp_path / "code")
    return opened(request.param, tmp_path), renamed, removed


def test_only_what_was_asked_is_answered_and_what_is_not_known_is_empty_and_said(repo):
    wanted = ["session.ts", "never.py"]
    seen = look(repo, paths=wanted, symbols=["openSession"], branches=["main", "gone"])
    assert set(seen.paths) <= set(wanted) and set(seen.past) <= set(wanted)
    assert set(seen.symbols) <= {"openSession"} and seen.branches <= {"main", "gone"}
    assert seen.known <= TABLES
    assert all(not getattr(seen, table) for table in TABLES - seen.known)
    assert seen.remarks or seen.known == TABLES


def test_odd_names_break_nothing(repo):
    seen = look(repo, paths=ODD, symbols=ODD, branches=ODD, packages=ODD, commits=ODD[1:])
    assert all(not place.startswith(("/", "..")) for some in seen.paths.values() for place in some)
    assert set(seen.paths) <= {"*", "**/**"}
    assert not seen.branches and not seen.packages and not seen.commits


def test_nothing_there_is_said_not_raised(tmp_path):
    for root in (str(tmp_path / "gone"), ""):
        opened = GitRepo(root, str(tmp_path))
        seen = look(opened, paths=["a.py"], symbols=["name"])
        assert seen.remarks and not seen.paths and not seen.known
        assert opened.state() == ""


def test_paths_are_found_whole_by_their_ends_and_by_patterns(told):
    repo, _, _ = told
    names = ["web/src/session.ts", "src/session.ts", "session.ts", "web/src", "auth", "src/*.ts"]
    seen = look(repo, paths=[*names, "web/*/session.*", "ession.ts", "Session.ts", "*.rs"])
    assert {name: some[0] for name, some in seen.paths.items()} == {
        **dict.fromkeys([*names, "web/*/session.*"], "web/src/session.ts"),
        "web/src": "web/src",
        "auth": "api/auth",
    }


def test_what_was_renamed_and_removed_is_told(told):
    repo, renamed, removed = told
    seen = look(repo, paths=["auth/token.py", "api/old_api.py", "never.py", "token.py"])
    assert seen.past == {
        "auth/token.py": (Past("api/auth/token.py", renamed, "2026-01-02", "api/tokens/token.py"),),
        "api/old_api.py": (Past("api/old_api.py", removed, "2026-01-03"),),
    }
    assert seen.paths["token.py"] == ("api/tokens/token.py",)


def test_identifiers_are_counted_and_removed_ones_told(told):
    repo, _, removed = told
    seen = look(repo, symbols=["openSession", "check_login", "removed_call", "never_was"])
    counts = {name: Uses(uses.code, uses.prose) for name, uses in seen.symbols.items()}
    assert counts == {"openSession": Uses(1, 1), "check_login": Uses(1, 0)}
    past = {name: replace(each, defined=False) for name, each in seen.past_symbols.items()}
    assert past == {"removed_call": Past("removed_call", removed, "2026-01-03")}


def test_the_smaller_questions_are_answered(told):
    repo, _, removed = told
    seen = look(
        repo, paths=["dist/app.js", "src"], branches=["main", "v1.0", "gone"],
        packages=["left-pad", "react"], commits=[removed, "bbbbbb1"],
    )  # fmt: skip
    assert seen.ignored == {"dist/app.js"}
    assert seen.branches == {"main", "v1.0"} and seen.packages == {"left-pad"}
    assert seen.commits == {removed} and seen.commands == {"dev", "build"}
    assert seen.commit.startswith(removed) and seen.known == TABLES and seen.remarks == ()
    assert repo.state() == seen.commit
