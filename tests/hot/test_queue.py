"""The queue between hooks and the worker: what was taken in is there for a worker to take."""

import fcntl
import os
import threading

from memdir.hot import queue
from memdir.hot.queue import Queue


def test_a_hook_that_is_stopped_before_it_writes_loses_no_line(tmp_path, monkeypatch):
    waiting, go_on, real = threading.Event(), threading.Event(), queue._write

    def late(handle: int, data: bytes) -> bool:
        waiting.set()
        assert go_on.wait(30)
        return real(handle, data)

    Queue(str(tmp_path)).add(b"first")
    monkeypatch.setattr(queue, "_write", late)
    hook = threading.Thread(target=Queue(str(tmp_path)).add, args=(b"second",))
    hook.start()
    assert waiting.wait(30)
    assert Queue(str(tmp_path)).take() == []  # it is held: nothing is taken away
    go_on.set()
    hook.join()
    assert Queue(str(tmp_path)).take() == [b"first", b"second"]


def test_a_file_that_was_taken_away_before_the_write_is_written_anew(tmp_path, monkeypatch):
    path, real = tmp_path / "queue", queue._write

    def taken_first(handle: int, data: bytes) -> bool:
        if path.exists():
            monkeypatch.setattr(queue, "_write", real)
            path.unlink()  # by a worker on a disk without locks
        return real(handle, data)

    monkeypatch.setattr(queue, "_write", taken_first)
    assert Queue(str(tmp_path)).add(b"line")
    assert Queue(str(tmp_path)).take() == [b"line"]


def test_what_was_taken_stays_until_it_is_let_go_of(tmp_path):
    Queue(str(tmp_path)).add(b"one")
    assert Queue(str(tmp_path)).take() == [b"one"]
    Queue(str(tmp_path)).add(b"two")
    assert Queue(str(tmp_path)).take() == [b"one", b"two"]
    Queue(str(tmp_path)).keep([b"two"])
    assert Queue(str(tmp_path)).take() == [b"two"]


def test_a_line_that_a_full_disk_cut_spoils_no_other(tmp_path):
    (tmp_path / "queue").write_bytes(b"half a li")
    assert Queue(str(tmp_path)).add(b"whole")
    assert b"whole" in Queue(str(tmp_path)).take()


def test_a_worker_leaves_what_another_process_holds(tmp_path):
    Queue(str(tmp_path)).add(b"line")
    handle = os.open(tmp_path / "queue", os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_SH)
    try:
        assert Queue(str(tmp_path)).take() == []
    finally:
        os.close(handle)
    assert Queue(str(tmp_path)).take() == [b"line"]


def test_no_line_is_lost_however_much_was_taken_before(tmp_path):
    box, noted = Queue(str(tmp_path)), 0
    for _ in range(12):  # a worker that is slow, and hooks that fill the queue each time
        while box.add(b"%07d" % noted + b"x" * 4_000):
            noted += 1
        box.take()
    found = box.take()
    box.keep([])
    found += box.take()
    assert [int(line[:7]) for line in found] == list(range(noted))
    assert not os.path.exists(box.path)
