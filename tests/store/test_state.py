"""Append-only lines and small documents: what a killed writer, a link or a pipe may do to them."""

import pytest

from memdir.store import state


@pytest.mark.parametrize("torn", [b'{"n": 2', b"x" * 200_000, b"\0"])
def test_a_line_cut_off_by_a_kill_goes_before_the_next_is_added(tmp_path, torn):
    (tmp_path / "log").write_bytes(b'{"n": 1}\n' + torn)
    assert state.read_state_lines(str(tmp_path), "log") == ([b'{"n": 1}'], torn)
    state.append_state_json(str(tmp_path), "log", [{"n": 3}])
    assert (tmp_path / "log").read_bytes() == b'{"n": 1}\n{"n": 3}\n'


WRITERS = {
    "append": lambda folder: state.append_state(folder, "file", b"new\n"),
    "replace": lambda folder: state.replace_state(folder, "file", b"new\n"),
    "replace, not durable": lambda folder: state.replace_state(
        folder, "file", b"new\n", durable=False
    ),
    "overwrite": lambda folder: state.overwrite_state(folder, "file", b"new\n"),
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_link_is_never_written_through(tmp_path, write):
    (tmp_path / "theirs").write_bytes(b"theirs\n")
    (tmp_path / "file").symlink_to(tmp_path / "theirs")
    with pytest.raises(OSError):
        write(str(tmp_path))
    assert (tmp_path / "theirs").read_bytes() == b"theirs\n"
