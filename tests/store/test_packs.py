"""One change needs few fsyncs; each makes a pack, and git joins many of them."""

import os
import shutil
import subprocess
import sys

import pytest

from memdir.capture import review
from memdir.store import git_objects
from memdir.store.history import GitHistory
from memdir.store.ports import Cause
from tests.helpers.hooked import Client
from tests.helpers.opened import Opened
from tests.helpers.terminal import process

MAX_FSYNCS = 8
OWN = dict.fromkeys(("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"), "")


@pytest.mark.skipif(not shutil.which("strace"), reason="strace counts the calls")
def test_one_remember_makes_few_fsyncs(tmp_path):
    trace = tmp_path / "trace"
    for number in (1, 2):  # the first one makes folders and the history
        words = ["remember", "--dir", str(tmp_path / "store"), f"Deploys {number} run at noon"]
        line = ["strace", "-f", "-e", "trace=fsync,fdatasync", "-o", str(trace)]
        program = os.path.join(os.path.dirname(sys.executable), "memdir")
        line += [program, *words, "--name", f"note-{number}"]
        ran = subprocess.run(line, capture_output=True, check=False)
        if b"PTRACE" in ran.stderr or b"ptrace" in ran.stderr:
            pytest.skip("strace may not trace here")
        assert ran.returncode == 0, ran.stderr
    assert 0 < trace.read_text().count("sync(") <= MAX_FSYNCS


def test_where_the_platform_has_a_full_sync_it_is_asked_for(tmp_path):
    """A stand-in: Linux refuses the call of macOS, which then falls back to fsync."""
    (tmp_path / "sitecustomize.py").write_text("import fcntl\nfcntl.F_FULLFSYNC = 51\n")
    trace, program = tmp_path / "trace", os.path.join(os.path.dirname(sys.executable), "memdir")
    line = ["strace", "-f", "-e", "trace=fsync,fcntl", "-o", str(trace), program, "remember"]
    line += ["--dir", str(tmp_path / "store"), "Deploys run at noon"]
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ran = subprocess.run(line, capture_output=True, check=False, env=env)
    if b"ptrace" in ran.stderr.lower():
        pytest.skip("strace may not trace here")
    assert ran.returncode == 0, ran.stderr
    calls = [each for each in trace.read_text().split("\n") if "fsync(" in each or "0x33" in each]
    assert len(calls) >= 8
    assert all(
        "0x33" in full and "fsync(" in plain
        for full, plain in zip(calls[::2], calls[1::2], strict=True)
    )


def test_everything_of_ours_is_private_whatever_the_umask(tmp_path):
    client = Client(tmp_path)
    before = os.umask(0)
    try:
        for words in (["remember", "Never run `git push --force`."], ["recall", "push"], ["audit"]):
            place = ("--project", str(client.project))
            assert process(*words, *place, **client.env, **OWN).code == 0
        client.fire("session-start")
        client.fire("prompt")
    finally:
        os.umask(before)
    ours = [
        path for path in tmp_path.rglob("*") if "memdir" in path.parts or ".cache" in path.parts
    ]
    assert len(ours) > 10
    assert [path for path in ours if path.stat().st_mode & 0o077] == []


def test_commits_that_the_branch_has_lost_in_a_power_cut_are_found_again(tmp_path):
    opened = Opened(tmp_path)
    opened.save("One", "a")
    branch = opened.state / "history.git/refs/heads/main"
    old = branch.read_bytes()
    opened.save("Two", "a")
    opened.save("Three", "a")
    newest = branch.read_bytes()
    branch.write_bytes(old)
    assert opened.verbs() == ["begin", "save a", "save a", "save a"]
    opened.app().snapshot()
    assert branch.read_bytes() == newest


def test_git_joins_many_packs_and_everything_is_read_back(tmp_path, monkeypatch):
    opened = Opened(tmp_path)
    packs = "history.git/objects/pack/*.pack"
    count = git_objects.MAX_SINGLE_PACKS + 3
    text = "".join(f"Line {number} of a long memory.\n" for number in range(60))
    for number in range(count):
        opened.save(f"{text}Version {number}", "a")
    assert len(list(opened.state.glob(packs))) < 6
    assert opened.git("fsck", "--strict", "--no-dangling") == ""
    monkeypatch.setenv("PATH", "/nonexistent")  # what git has joined is read without it
    assert opened.verbs() == ["begin", *["save a"] * count]
    assert opened.app().history.check(lambda: False) == (count + 1, True)
    for number in reversed(range(count - 1)):
        review.undo_and_hold_again(opened.app())
        assert f"Version {number}\n" in opened.read("a.md")


def test_commits_that_the_branch_has_lost_are_joined_too(tmp_path):
    objects = git_objects.Objects(str(tmp_path / "history.git"))
    objects.create()
    heads = [""]
    for number in range(git_objects.MAX_SINGLE_PACKS + 3):
        file = git_objects.FILE_MODE, objects.write("blob", b"Version %d" % number)[0]
        tree = git_objects.write_tree(objects, {"a.md": file})
        cause, parent = Cause("save"), heads[-1]
        heads.append(git_objects.write_history_commit(objects, tree, parent, number, cause, []))
        objects.set_head(heads[-1], parent)
    (tmp_path / "history.git/refs/heads/main").write_text(f"{heads[3]}\n")
    objects.join_packs()
    assert len(list((tmp_path / "history.git/objects/pack").glob("*.pack"))) < 6
    history = GitHistory(str(tmp_path), lambda: 0.0)
    assert history.check(lambda: False) == (len(heads) - 1, True)
