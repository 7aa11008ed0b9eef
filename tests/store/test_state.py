"""Append-only lines and small documents: what a killed writer, a link or a pipe may do to them."""

import errno
import os
import subprocess
import sys

import pytest

from memdir.store import state


def test_lines_come_back_in_order_and_nobody_else_can_read_them(tmp_path):
    folder = f"{tmp_path}/new/folder"
    assert state.append_json(folder, "log", [{"n": 1}, {"n": 2}]) == 18
    state.append_json(folder, "log", [{"n": 3}])
    lines, torn = state.read_lines(folder, "log")
    assert (state.parse_lines(lines, lambda said: said["n"]), torn) == (([1, 2, 3], []), b"")
    assert os.stat(f"{folder}/log").st_mode & 0o777 == 0o600
    assert os.stat(folder).st_mode & 0o777 == 0o700


@pytest.mark.parametrize("torn", [b'{"n": 2', b"x" * 200_000, b"\0"])
def test_a_line_cut_off_by_a_kill_goes_before_the_next_is_added(tmp_path, torn):
    (tmp_path / "log").write_bytes(b'{"n": 1}\n' + torn)
    assert state.read_lines(str(tmp_path), "log") == ([b'{"n": 1}'], torn)
    state.append_json(str(tmp_path), "log", [{"n": 3}])
    assert (tmp_path / "log").read_bytes() == b'{"n": 1}\n{"n": 3}\n'


def test_a_last_line_that_may_be_a_persons_is_ended_and_kept(tmp_path):
    (tmp_path / "day.md").write_bytes(b"# day\n- mine")
    state.append(str(tmp_path), "day.md", b"- ours\n", heading=b"# other\n", keep_torn=True)
    assert (tmp_path / "day.md").read_bytes() == b"# day\n- mine\n- ours\n"


def test_a_damaged_line_hides_no_other(tmp_path):
    lines = [b'{"n": 1}', b"[" * 100_000, b"\xff", b'{"m": 1}', b'{"n": 5}']
    assert state.parse_lines(lines, lambda said: said["n"]) == ([1, 5], [2, 3, 4])


def test_a_file_that_is_full_takes_no_line_and_is_not_read(tmp_path):
    folder = str(tmp_path)
    state.append(folder, "log", b"12345678\n", max_bytes=10)
    with pytest.raises(OSError) as refused:
        state.append(folder, "log", b"9\n", max_bytes=10)
    assert refused.value.errno == errno.EFBIG
    assert state.read_lines(folder, "log", 9) == ([b"12345678"], b"")
    with pytest.raises(OSError):
        state.read_lines(folder, "log", 8)


ADD = """
import sys
from memdir.store import state
for n in range(200):
    state.append_json(sys.argv[1], "log", [[sys.argv[2], n]], durable=False)
"""


def test_writers_at_the_same_time_lose_no_line(tmp_path):
    command = [sys.executable, "-c", ADD, str(tmp_path)]
    writers = [subprocess.Popen([*command, name]) for name in "abc"]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    values, damaged = state.parse_lines(state.read_lines(str(tmp_path), "log")[0], tuple)
    assert sorted(values) == [(name, n) for name in "abc" for n in range(200)] and not damaged


WRITERS = {
    "append": lambda folder: state.append(folder, "file", b"new\n"),
    "replace": lambda folder: state.replace(folder, "file", b"new\n"),
    "replace, not durable": lambda folder: state.replace(folder, "file", b"new\n", durable=False),
    "overwrite": lambda folder: state.overwrite(folder, "file", b"new\n"),
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_link_is_never_written_through(tmp_path, write):
    (tmp_path / "theirs").write_bytes(b"theirs\n")
    (tmp_path / "file").symlink_to(tmp_path / "theirs")
    with pytest.raises(OSError):
        write(str(tmp_path))
    assert (tmp_path / "theirs").read_bytes() == b"theirs\n"


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_pipe_or_a_folder_in_its_place_is_refused_without_waiting(tmp_path, write):
    os.mkfifo(tmp_path / "file")
    with pytest.raises(OSError):
        write(str(tmp_path))
    with pytest.raises(OSError):
        state.read_bytes(str(tmp_path), "file")
    os.unlink(tmp_path / "file")
    (tmp_path / "file").mkdir()
    with pytest.raises(OSError):
        write(str(tmp_path))


@pytest.mark.parametrize("durable", [True, False])
def test_a_document_is_replaced_whole_and_read_back(tmp_path, durable):
    folder = f"{tmp_path}/state"
    assert state.read_json(folder, "plan", dict) is None
    for value in ({"a": "x" * 10_000}, {"a": 1}):
        state.replace_json(folder, "plan", value, durable=durable)
        assert state.read_json(folder, "plan", dict) == value
    assert os.listdir(folder) == ["plan"] and os.stat(f"{folder}/plan").st_mode & 0o777 == 0o600
    state.overwrite(folder, "plan", b"{")
    with pytest.raises(state.DAMAGE):
        state.read_json(folder, "plan", dict)
    assert state.remove(folder, "plan") and not state.remove(folder, "plan")
