"""A repository is a stranger's: it runs nothing, is not written to, and may spoil no cache.

Also trees, answers and caches that no honest git or memdir ever made.
"""

import os
import random
import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from memdir.claims import code_index
from memdir.claims.claim import Wanted
from memdir.claims.repo import GitRepo
from memdir.claims.tree import match_repo_patterns
from memdir.store import git as store_git
from tests.helpers.opened import tree
from tests.helpers.repositories import TEXT, Checkout, look
from tests.helpers.tables import table

WANTED = table("claims", "wanted")
SETTINGS = table("claims", "settings")


@pytest.fixture
def checkout(tmp_path):
    checkout = Checkout(tmp_path / "code")
    checkout.commit({"a.py": "the_name\n", "gone.py": "gone_name\n" + TEXT, "package.json": "{}"})
    checkout.remove("gone.py")
    checkout.commit({"keep": "k\n"})
    return checkout


@pytest.fixture
def trap(tmp_path):
    """A program that leaves a trace when somebody runs it."""
    program = tmp_path / "trap.sh"
    program.write_text(f"#!/bin/sh\necho ran >> {tmp_path}/trace\ncat\n")
    program.chmod(0o755)
    return program


def arm(checkout, trap):
    for name in SETTINGS:
        checkout.git("config", name, f"!{trap}" if name.startswith("alias.") else str(trap))
    hooks = trap.parent / "hooks"
    for name, value in {
        "filter.x.required": "true", "log.showSignature": "true", "log.diffMerges": "on",
        "remote.origin.url": f"ext::{trap}", "protocol.ext.allow": "always",
        "remote.origin.promisor": "true", "extensions.partialClone": "origin",
        "core.repositoryFormatVersion": "1", "core.hooksPath": str(hooks),
        "submodule.recurse": "true", "diff.submodule": "log", "status.submoduleSummary": "true",
    }.items():  # fmt: skip
        checkout.git("config", name, value)
    for folder in (hooks, checkout.folder / ".git/hooks"):
        folder.mkdir(exist_ok=True)
        for name in ("post-index-change", "fsmonitor-watchman", "reference-transaction"):
            shutil.copy(trap, folder / name)


def test_the_settings_of_a_repository_run_nothing(checkout, trap, tmp_path):
    checkout.files(
        {".gitattributes": "* diff=x filter=x merge=x\n*.json filter=y\nkeep filter=a=b\n"}
    )
    checkout.commit({"b.py": "x\n"})
    for name in SETTINGS:
        checkout.git("config", name, str(trap))
    seen = checkout.look(**WANTED)  # with the history, which a partial clone does not show
    assert "gone_name" in seen.past_symbols and "gone.py" in seen.past
    arm(checkout, trap)
    checkout.files({"a.py": "the_name changed\n", "package.json": "{ }", "keep": "K\n"})
    # Files that are as old as the index are compared by their content, through the filters.
    index = os.stat(checkout.folder / ".git/index")
    for name in ("b.py", ".gitattributes"):
        os.utime(checkout.folder / name, ns=(index.st_mtime_ns, index.st_mtime_ns))
    seen = checkout.look(**WANTED)
    assert set(seen.paths) == {"a.py"} and set(seen.symbols) == {"the_name"}
    checkout.repo().state()
    assert not (tmp_path / "trace").exists()
    checkout.git("status", check=False)
    assert (tmp_path / "trace").exists()  # the trap works


def test_a_submodule_runs_nothing(checkout, trap, tmp_path):
    library = Checkout(tmp_path / "library")
    library.commit({"lib.c": TEXT})
    checkout.git("submodule", "--quiet", "add", str(library.folder), "sub")
    checkout.commit()
    inner = Checkout(checkout.folder / "sub", init=False)
    inner.git("config", "core.fsmonitor", str(trap))
    inner.git("config", "filter.x.clean", str(trap))
    inner.files({".gitattributes": "* filter=x\n", "lib.c": "changed"})
    assert "sub/lib.c" in checkout.look(**WANTED).paths
    assert not (tmp_path / "trace").exists()


def test_a_work_tree_that_the_settings_put_elsewhere_is_not_looked_at(checkout, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.py").write_text("secret_name\n")
    (outside / ".gitignore").write_text("dist\n")
    checkout.git("config", "core.worktree", str(outside))
    seen = checkout.look(paths=["a.py", "dist"], symbols=["secret_name", "the_name"])
    assert set(seen.symbols) == {"the_name"} and seen.ignored == frozenset()


def test_a_link_that_took_a_files_place_is_not_followed(checkout, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/b.py").write_text("secret_name\n")
    checkout.commit({"src/b.py": "x\n"})
    for path in ("a.py", "src", "package.json"):
        checkout.remove(path)
    (checkout.folder / "a.py").symlink_to(tmp_path / "folder/b.py")
    (checkout.folder / "src").symlink_to(tmp_path / "folder")
    os.mkfifo(checkout.folder / "package.json")
    assert checkout.look(symbols=["secret_name"], paths=["src/b.py"]).symbols == {}


def test_the_variables_of_a_hook_do_not_lead_elsewhere(checkout, tmp_path, monkeypatch):
    other = Checkout(tmp_path / "other")
    other.commit({"other.py": TEXT})
    monkeypatch.setenv("GIT_DIR", str(other.folder / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.folder))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.folder / ".git/index"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "/bin/false")
    assert set(checkout.look(paths=["a.py", "other.py"]).paths) == {"a.py"}


def test_a_look_changes_nothing_and_the_state_changes_with_every_edit(checkout):
    states = [checkout.repo().state()]
    assert states[0] == checkout.git("rev-parse", "HEAD")
    for text in ("first edit\n", "second edit, longer\n"):
        checkout.files({"a.py": text})
        states.append(checkout.repo().state())
    os.utime(checkout.folder / "keep", (1, 1))  # git would note that in its index
    before = tree(checkout.folder)
    checkout.look(**WANTED)
    checkout.repo().state()
    assert tree(checkout.folder) == before
    checkout.commit()
    assert len({*states, checkout.repo().state()}) == 4


def index_of(checkout) -> Path:
    (path,) = Path(f"{checkout.folder}.cache/repos").glob("*/index.sqlite")
    return path


def test_a_spoilt_cache_changes_no_answer(checkout, tmp_path):
    expected, path = checkout.look(**WANTED), index_of(checkout)
    assert [stat.S_IMODE(each.stat().st_mode) for each in (path, path.parent)] == [0o600, 0o700]
    good = path.read_bytes()
    torn = good[:4096] + b"x" * 4096 + good[8192:]
    for data in (b"", good[:8192], b"x" * 99, good[:26] * 2, torn):
        path.write_bytes(data)
        assert checkout.look(**WANTED) == expected
    (tmp_path / "theirs").write_text("untouched")
    for make in (os.mkfifo, os.mkdir, lambda path: os.symlink(tmp_path / "theirs", path)):
        path.unlink()
        make(path)
        assert checkout.look(**WANTED) == expected
        assert path.is_file() and not path.is_symlink()
    assert (tmp_path / "theirs").read_text() == "untouched"
    wanted = Wanted(**{key: frozenset(names) for key, names in WANTED.items()})
    no_folder = str(tmp_path / "theirs")
    assert GitRepo(str(checkout.folder), no_folder).look(wanted) == expected


def test_an_index_that_another_look_holds_is_done_without(checkout, monkeypatch):
    first = checkout.look(**WANTED)
    monkeypatch.setattr(code_index, "LOCK_SECONDS", 0.1)
    with closing(sqlite3.connect(index_of(checkout), isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        assert checkout.look(**WANTED) == first


def test_a_commit_of_the_index_that_is_an_option_reaches_no_command_line(checkout):
    first = checkout.look(**WANTED)
    with closing(sqlite3.connect(index_of(checkout), isolation_level=None)) as db:
        db.execute("UPDATE state SET value = '--output=x' WHERE key LIKE '% commit'")
    assert checkout.look(**WANTED) == first and not (checkout.folder / "x").exists()


def test_a_cache_of_another_commit_that_is_gone_changes_no_answer(checkout):
    checkout.look(**WANTED)
    checkout.git("checkout", "-q", "--orphan", "fresh")
    checkout.commit()
    checkout.git("branch", "-D", "main")
    checkout.git("reflog", "expire", "--expire=now", "--all")
    checkout.git("gc", "-q", "--prune=now")
    seen = checkout.look(**WANTED)
    assert seen.past == {} and seen.past_symbols == {} and set(seen.symbols) == {"the_name"}


def test_the_caches_of_old_repositories_make_room(checkout, monkeypatch):
    monkeypatch.setattr(code_index, "MAX_REPOSITORIES", 2)
    above = Path(f"{checkout.folder}.cache/repos")
    for number, name in enumerate(["oldest", "older", "newest"]):
        (above / name).mkdir(parents=True)
        os.utime(above / name, (number, number))
    checkout.look(**WANTED)
    left = {path.name for path in above.iterdir()}
    assert "newest" in left and len(left) == 2


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
    commit = checkout.git("commit-tree", raw_tree(checkout, *entries), "-m", "x")
    checkout.git("reset", "-q", "--soft", commit)
    checkout.git("config", "core.repositoryformatversion", "1")
    checkout.git("config", "extensions.partialclone", "origin")
    names = ["../secret.py", "secret.py", "inner.py", ".GIT/inner.py", "a.py"]
    seen = checkout.look(paths=names, symbols=["secret_name"])
    assert set(seen.paths) == {"a.py"} and seen.symbols == {}


def test_manifests_that_nest_without_end_declare_nothing(checkout):
    checkout.commit({"package.json": "[" * 90_000, "pyproject.toml": "a = " + "\n[" * 40_000})
    assert checkout.look().commands == frozenset()


@pytest.mark.parametrize(
    ("pattern", "fits"), table("claims", "a_pattern_fits_whole_parts_and_what_is_below")
)
def test_a_pattern_fits_whole_parts_and_what_is_below(pattern, fits):
    paths = ["src/a.py", "src/b/c.py", "x/src/d.py", "docs/x.md"]
    assert match_repo_patterns([pattern], paths).get(pattern, []) == fits


def test_a_pattern_of_repeated_letters_tries_no_place_twice():
    path = "src/" + "a" * 200_000  # for hours, with a regex
    paths = [path, path + "b", path + "b.py"]
    assert match_repo_patterns(["src/a*a*b.py"], paths) == {"src/a*a*b.py": [path + "b.py"]}


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


ANSWERS = [
    random.Random(5).randbytes(3000),
    *(b"100644 blob 1111\ta.py\0", b"\xff\xfe\0" * 50, b"\0" * 100, b"\n" * 100, b"a\tb\tc\0"),
    *(b"\x01\0D\0x\0", b"D\0x\0", b"R\0x\0y\0", b"\x01" + b"1" * 40 + b" " + b"9" * 5000 + b"\0"),
    *(b"blob " + b"9" * 5000 + b"\n", b"x blob 5\n", b"\xff\xff x.py\0", b"1 2 3 4\tx\0"),
]


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_git_that_talks_nonsense_is_cut_short_and_that_is_said(checkout, fake_git, answer):
    fake_git(answer)
    seen = look(checkout.repo(), **WANTED)
    assert seen.past == {} and seen.past_symbols == {} and seen.remarks
    assert checkout.repo().state().startswith("1" * 40)


def test_a_head_that_is_no_commit_is_a_problem(checkout, fake_git):
    fake_git(b"", head="--output=/tmp/x")
    seen = look(checkout.repo(), **WANTED)
    assert seen.known == frozenset() and "no claim was checked" in seen.remarks[0]


def test_a_repository_names_no_ignore_file_outside(checkout, tmp_path, home):
    (tmp_path / "theirs").write_text("secret\n")
    (home / "mine").write_text("build\n")
    checkout.git("config", "core.excludesFile", str(tmp_path / "theirs"))
    assert checkout.look(paths=["secret", "build"]).ignored == frozenset()
    (home / ".gitconfig").write_text("[core]\n\texcludesFile = ~/mine\n")
    assert checkout.look(paths=["secret", "build"]).ignored == {"build"}


def test_the_hint_for_a_stranger_s_folder_quotes_it(tmp_path, monkeypatch):
    checkout = Checkout(tmp_path / "a folder; rm x")
    checkout.commit({"a.py": TEXT})
    monkeypatch.setitem(store_git.ENVIRONMENT, "GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    remarks = checkout.repo().look(Wanted()).remarks
    assert f"safe.directory '{checkout.folder}'" in remarks[0]
