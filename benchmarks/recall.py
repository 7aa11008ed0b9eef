"""Recall in process: how it grows with the store, and what a catalog costs to make and to miss."""

from __future__ import annotations

import os
import sqlite3
import time

from benchmarks.common import Row, fill, interleaved, middle, prompts, scratch
from memdir.hot.catalog import NAME, Fts
from memdir.hot.layout import Markdown
from memdir.hot.recall import Place, recall
from memdir.hot.run import SessionState
from memdir.hot.words import Words
from memdir.recall.scan import Scan

SIZES = (200, 1_000, 10_000, 100_000)
GROWTH = (1_000, 100_000)  # between these, below linear
ASKED, RUNS = 40, 5


def measure() -> list[Row]:
    """The curve over the store's size, then the catalog."""
    rows, taken = list[Row](), dict[int, float]()
    with scratch() as folder:
        for count in SIZES:
            where = os.path.join(folder, str(count))
            os.makedirs(where)
            fill(os.path.join(where, "memory"), count)
            cpu, fts5 = _ask(where, ASKED)
            taken[count] = cpu
            goal = 20.0 if count == SIZES[-1] else None
            note = f"FTS5 with the same words, an OR query with bm25: {fts5:.1f} ms CPU"
            name = f"recall, {count:,} memories, CPU"
            rows.append(Row(name, 0.0, cpu, goal, over=True, note=note))
        first, last = GROWTH
        name = f"  growth from {first:,} to {last:,}"
        rows.append(Row(name, taken[first], taken[last], last / first))
        rows += _catalog(os.path.join(folder, str(10_000)))
    return rows


def _ask(where: str, asked: int) -> tuple[float, float]:
    """CPU milliseconds of one recall, and of FTS5 for the same prompt; the median of many."""
    store = Markdown(os.path.join(where, "memory"))
    place = Place("project", store, Fts(store, os.path.join(where, "cache")))
    texts = prompts(store.root, asked)
    recall([place], texts[0], SessionState())
    recall([place], texts[0], SessionState())
    ours, theirs = [], []
    database = _fts5(store)
    for text in texts:
        start = time.process_time()
        recall([place], text, SessionState())
        ours.append((time.process_time() - start) * 1e3)
        query = " OR ".join(f'"{word}"' for word in text.split())
        start = time.process_time()
        database.execute(
            "SELECT rowid FROM word WHERE word MATCH ? ORDER BY bm25(word) LIMIT 20", (query,)
        ).fetchall()
        theirs.append((time.process_time() - start) * 1e3)
    return middle(ours), middle(theirs)


def _fts5(store: Markdown) -> sqlite3.Connection:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE word USING fts5(body, tokenize='porter unicode61')")
    rows = ((store.read(path).decode(),) for path in store.files())
    database.executemany("INSERT INTO word VALUES (?)", rows)
    return database


def _catalog(where: str) -> list[Row]:
    """Making it against reading the files; answering without it against the scan."""
    store = Markdown(os.path.join(where, "memory"))
    cache = os.path.join(where, "cache")
    text = prompts(store.root, 1)[0]
    paths = [os.path.join(store.root, path) for path in store.files()]

    def read() -> None:
        for path in paths:
            handle = os.open(path, os.O_RDONLY)
            os.read(handle, 1 << 20)
            os.close(handle)

    def made() -> None:
        os.unlink(os.path.join(cache, NAME))
        Fts(store, cache).find(text, 5)

    def scanned() -> None:
        Scan(store).find(text, 5)

    texts = [store.read(path).decode() for path in store.files()]
    words = Words()

    def counted() -> None:
        for one in texts:
            words.count(one)

    reads, builds, scans, counts = interleaved(RUNS, read, made, scanned, counted)
    floor = middle(reads)
    return [
        Row("catalog of 10,000 made, over reading", floor, middle(builds), 20.0),
        Row("  a scan alone, over reading", floor, middle(scans)),
        Row("  their words counted, nothing kept", floor, middle(counts)),
        Row("  answer without a catalog, over a scan", middle(scans), middle(builds), 2.0),
    ]
