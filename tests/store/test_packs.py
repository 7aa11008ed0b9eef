"""One change needs few fsyncs; each makes a pack, and git joins many of them."""

import os
import shutil
import subprocess
import sys

import pytest

from memdir.capture import review
from memdir.store import git_objects
from tests.helpers.opened import Opened

MAX_FSYNCS = 8


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
