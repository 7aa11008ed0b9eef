"""One change needs few fsyncs; what a power cut takes of the history comes back."""

import os
import shutil
import subprocess
import sys

import pytest

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


@pytest.mark.parametrize("left", [b"", b"torn", None])
def test_loose_objects_that_a_power_cut_took_come_back(tmp_path, left):
    opened = Opened(tmp_path)
    opened.save("One", "a")
    opened.save("Two", "a")
    objects = list((opened.state / "history.git/objects").glob("??/*"))
    for path in objects:
        path.unlink()
        if left is not None:
            path.write_bytes(left)
    assert opened.verbs() == ["begin", "save a", "save a"]
    opened.save("Three", "b")
    opened.git("fsck", "--strict")
    assert all(path.stat().st_size > len(b"torn") for path in objects)


def test_a_damaged_line_of_the_batch_hides_no_other_and_is_not_thrown_away(tmp_path):
    opened = Opened(tmp_path)
    opened.save("One", "a")
    opened.save("Two", "a")
    batch = opened.state / "history.git/batch"
    lines = batch.read_bytes().split(b"\n")
    batch.write_bytes(b"\n".join([lines[0][:50] + b"?!", *lines[1:]]))
    for oid in (line[:40].decode() for line in lines[1:-1]):
        (opened.state / f"history.git/objects/{oid[:2]}/{oid[2:]}").unlink()
    assert opened.verbs() == ["begin", "save a", "save a"]
    opened.app().history.objects.settle()
    assert batch.exists()
