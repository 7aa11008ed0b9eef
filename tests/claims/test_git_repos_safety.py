"""A repository is a stranger's: it runs nothing, is not written to, and may spoil no cache."""

import os
import random
import stat
from pathlib import Path

import pytest

from memdir.claims.claim import Wanted
from tests.helpers.repositories import TEXT, Checkout
from tests.helpers.tables import table

WANTED = table("claims", "wanted")


@pytest.fixture
def checkout(tmp_path):
    checkout = Checkout(tmp_path / "code")
    checkout.commit({"a.py": "the_name\n", "gone.py": "gone_name\n" + TEXT, "package.json": "{}"})
    checkout.remove("gone.py")
    checkout.commit({"keep": "k\n"})
    return checkout


def state_of(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    found = {}
    for path in sorted(folder.rglob("*")):
        facts = path.lstat()
        data = path.read_bytes() if stat.S_ISREG(facts.st_mode) else b""
        found[str(path)] = facts.st_mtime_ns, facts.st_mode, data
    return found


@pytest.fixture
def trap(tmp_path):
    """A program that leaves a trace when somebody runs it."""
    program = tmp_path / "trap.sh"
    program.write_text(f"#!/bin/sh\necho ran >> {tmp_path}/trace\ncat\n")
    program.chmod(0o755)
    return program


SETTINGS = table("claims", "settings")  # fmt: skip


def arm(checkout, trap):
    for name in SETTINGS:
        command = f"!{trap}" if name.startswith("alias.") else str(trap)
        checkout.git("config", name, command)
    for name, value in {
        "filter.x.required": "true", "log.showSignature": "true", "log.diffMerges": "on",
        "remote.origin.url": f"ext::{trap}", "protocol.ext.allow": "always",
        "remote.origin.promisor": "true", "extensions.partialClone": "origin",
        "core.repositoryFormatVersion": "1", "core.hooksPath": str(trap.parent / "hooks"),
        "submodule.recurse": "true", "diff.submodule": "log", "status.submoduleSummary": "true",
    }.items():  # fmt: skip
        checkout.git("config", name, value)
    hooks = trap.parent / "hooks"
    hooks.mkdir()
    for name in (
        "post-index-change",
        "fsmonitor-watchman",
        "post-checkout",
        "reference-transaction",
    ):
        for folder in (hooks, checkout.folder / ".git/hooks"):
            folder.mkdir(exist_ok=True)
            (folder / name).write_bytes(trap.read_bytes())
            (folder / name).chmod(0o755)


def test_the_settings_of_a_repository_run_nothing(checkout, trap, tmp_path):
    checkout.files(
        {".gitattributes": "* diff=x filter=x merge=x\n*.json filter=y\nkeep filter=a=b\n"}
    )
    checkout.commit({"b.py": "x\n"})
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


def test_the_trap_would_have_been_sprung(checkout, trap, tmp_path):
    checkout.commit({".gitattributes": "* filter=x\n"})
    arm(checkout, trap)
    checkout.files({"a.py": "changed\n"})
    checkout.git("status", check=False)
    assert (tmp_path / "trace").exists()


def test_a_repository_of_traps_without_a_promise_runs_nothing_in_its_history(
    checkout, trap, tmp_path
):
    checkout.commit({".gitattributes": "* diff=x filter=x\n", "a.py": "the_name 2\n"})
    for name in SETTINGS:
        checkout.git("config", name, str(trap))
    seen = checkout.look(**WANTED)
    assert "gone_name" in seen.past_symbols and "gone.py" in seen.past
    assert not (tmp_path / "trace").exists()


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
    (tmp_path / "secret").write_text("secret_name\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/b.py").write_text("secret_name\n")
    checkout.commit({"src/b.py": "x\n"})
    checkout.remove("a.py")
    checkout.remove("src")
    (checkout.folder / "a.py").symlink_to(tmp_path / "secret")
    (checkout.folder / "src").symlink_to(tmp_path / "folder")
    (checkout.folder / "package.json").unlink()
    os.mkfifo(checkout.folder / "package.json")
    assert checkout.look(symbols=["secret_name"], paths=["src/b.py"]).symbols == {}


def test_the_variables_of_a_hook_do_not_lead_elsewhere(checkout, tmp_path, monkeypatch):
    other = Checkout(tmp_path / "other")
    other.commit({"other.py": TEXT})
    monkeypatch.setenv("GIT_DIR", str(other.folder / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.folder))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.folder / ".git/index"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "/bin/false")
    seen = checkout.look(paths=["a.py", "other.py"])
    assert set(seen.paths) == {"a.py"}


def test_a_look_changes_nothing_in_the_repository(checkout):
    checkout.files({"a.py": "the_name changed\n"})
    os.utime(checkout.folder / "keep", (1, 1))  # git would note that in its index
    before = state_of(checkout.folder)
    checkout.look(**WANTED)
    checkout.repo().state()
    assert state_of(checkout.folder) == before


def test_the_state_changes_with_the_commit_and_with_every_edit(checkout):
    states = [checkout.repo().state(), checkout.repo().state()]
    assert states[0] == states[1] == checkout.git("rev-parse", "HEAD")
    for text in ("first edit\n", "second edit, longer\n"):
        checkout.files({"a.py": text})
        states.append(checkout.repo().state())
    checkout.commit()
    states.append(checkout.repo().state())
    assert len(set(states)) == 4


# -- the cache -----------------------------------------------------------------------------


def cache_of(checkout) -> list[Path]:
    return [path for path in Path(str(checkout.folder) + ".cache").rglob("*") if path.is_file()]


def test_the_cache_is_private_and_lies_outside_the_checkout(checkout):
    checkout.look(**WANTED)
    files = cache_of(checkout)
    assert {path.name for path in files} == {"index.sqlite", "index.sum"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert stat.S_IMODE(files[0].parent.stat().st_mode) == 0o700


def test_a_spoilt_cache_changes_no_answer(checkout):
    expected = checkout.look(**WANTED)
    rnd = random.Random(5)
    for path in cache_of(checkout):
        good = path.read_bytes()
        spoilt = [b"", good[:-1], good[: len(good) // 2], b"x" * 99, good + b"x", good[:26] * 2]
        for _ in range(12):
            at = rnd.randrange(len(good))
            spoilt.append(good[:at] + bytes([good[at] ^ rnd.randrange(1, 256)]) + good[at + 1 :])
        for data in spoilt:
            path.write_bytes(data)
            assert checkout.look(**WANTED) == expected
    for path in cache_of(checkout):
        path.unlink()
        path.mkdir()
    assert checkout.look(**WANTED) == expected


def test_a_cache_of_another_commit_that_is_gone_changes_no_answer(checkout):
    checkout.look(**WANTED)
    checkout.git("checkout", "-q", "--orphan", "fresh")
    checkout.commit()
    checkout.git("branch", "-D", "main")
    checkout.git("reflog", "expire", "--expire=now", "--all")
    checkout.git("gc", "-q", "--prune=now")
    seen = checkout.look(**WANTED)
    assert seen.past == {} and seen.past_symbols == {} and set(seen.symbols) == {"the_name"}


def test_a_cache_that_cannot_be_written_changes_no_answer(checkout, tmp_path):
    expected = checkout.look(**WANTED)
    blocked = tmp_path / "blocked"
    blocked.write_text("no folder")
    from memdir.claims.repo import GitRepo

    repo = GitRepo(str(checkout.folder), str(blocked))
    wanted = Wanted(**{key: frozenset(names) for key, names in WANTED.items()})
    assert repo.look(wanted) == expected


def test_the_caches_of_old_repositories_make_room(checkout, monkeypatch):
    from memdir.claims import code_index

    monkeypatch.setattr(code_index, "MAX_REPOSITORIES", 2)
    above = Path(str(checkout.folder) + ".cache/repos")
    for number, name in enumerate(["oldest", "older", "newest"]):
        (above / name).mkdir(parents=True)
        os.utime(above / name, (number, number))
    checkout.look(**WANTED)
    left = {path.name for path in above.iterdir()}
    assert "newest" in left and len(left) == 2
