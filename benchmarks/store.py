"""The store: saving against raw durable writes, scanning against raw reads, opening when hot."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.common import Row, fill, interleaved, memory_text, middle, scratch
from memdir.config.config import read_config
from memdir.format.draft import Draft, Wishes
from memdir.hot.layout import Markdown
from memdir.store import changes
from memdir.store.writer import App, open_app

SAVE_RUNS, SCAN_RUNS, START_RUNS = 60, 9, 40
HOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hot_open.py")


def measure() -> list[Row]:
    """Every figure of the store."""
    rows = []
    with scratch() as folder:
        for count in (20, 100, 190):
            rows += _saves(os.path.join(folder, f"save{count}"), count)
    with scratch() as folder:
        rows += _scans(os.path.join(folder, "many"), 10_000)
    with scratch() as folder:
        rows += _hot(os.path.join(folder, "hot"), 200)
    return rows


def _open(folder: str) -> App:
    config = read_config({"HOME": folder, "PATH": os.environ["PATH"]}, folder, dir=folder + "/mem")
    return open_app(config, now=time.time, tell=print, actor="bench")


def _saves(folder: str, count: int) -> list[Row]:
    fill(os.path.join(folder, "mem"), count)
    raw = os.path.join(folder, "raw")
    os.mkdir(raw)
    app = _open(folder)
    app.snapshot()
    rnd = random.Random(7)
    index = Path(folder, "mem", "MEMORY.md").read_bytes()
    commits: list[float] = []
    commit = app.history.record

    def time_commit(*given: Any) -> str:
        start = time.perf_counter()
        oid = commit(*given)
        commits.append((time.perf_counter() - start) * 1e3)
        return oid

    vars(app.history)["record"] = time_commit

    def floor() -> None:
        for name, data in (("memory.md", memory_text(1, rnd)), ("MEMORY.md", index)):
            _durable_write(raw, name, data)

    def save() -> float:
        body = memory_text(rnd.randrange(10**9), rnd).decode().partition("\n---\n\n")[2]
        draft = Draft(body, type="project", name="the-one-we-save", description=body[:80].strip())
        start = time.perf_counter()
        changes.save_memory(app, draft, Wishes())
        took = (time.perf_counter() - start) * 1e3 - commits[-1]
        changes.retire_memories(app, ["the-one-we-save"])
        return took

    floors, saves = interleaved(SAVE_RUNS, floor, save)
    note = f"history commit besides: {middle(commits):.2f} ms"
    return [Row(f"save, index of {count} memories", middle(floors), middle(saves), 2.5, note=note)]


def _durable_write(folder: str, name: str, data: bytes) -> None:
    temporary = os.path.join(folder, ".raw.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(handle, data)
    os.fsync(handle)
    os.close(handle)
    os.rename(temporary, os.path.join(folder, name))
    handle = os.open(folder, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)


def _scans(folder: str, count: int) -> list[Row]:
    fill(folder, count)
    store = Markdown(folder)

    def floor() -> None:
        for name in os.listdir(folder):
            handle = os.open(os.path.join(folder, name), os.O_RDONLY)
            os.read(handle, 4096)
            os.close(handle)

    def scan() -> None:
        assert len(store.scan().memories) == count

    def parse() -> None:
        assert all(memory.description for memory in store.scan().memories)

    floors, scans, parsed = interleaved(SCAN_RUNS, floor, scan, parse)
    return [
        Row(f"scan of {count:,} files", middle(floors), middle(scans), 2.0),
        Row("  and every header parsed", middle(floors), middle(parsed)),
    ]


def _hot(folder: str, count: int) -> list[Row]:
    fill(folder, count)
    bare = [sys.executable, "-I", "-S", "-c", "pass"]
    standard = [sys.executable, "-I", "-S", "-c", "import errno, os, stat, time"]
    floor = [sys.executable, "-I", "-S", HOT]
    ours = [sys.executable, "-I", "-S", HOT, folder]

    def run(command: list[str]) -> None:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    run(ours)  # leaves the byte code behind, as the first session does
    bares, standards, floors, opened = interleaved(
        START_RUNS, lambda: run(bare), lambda: run(standard), lambda: run(floor), lambda: run(ours)
    )
    return [
        Row(f"hot open of {count}, same imports", middle(floors), middle(opened), 5.0, over=True),
        Row("  with memdir's own imports", middle(standards), middle(opened), over=True),
        Row("  over the bare interpreter", middle(bares), middle(opened), over=True),
    ]
