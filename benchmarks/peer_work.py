"""The work that every peer does: the same memories, the same prompts, the same deletions."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmarks.peer_install import measure_size
from benchmarks.peer_kinds import Peer, Session
from benchmarks.peer_place import Asked, Clock, Failed, Note, Place, Root

FIRST = 5
RUNS = 9  # of what is timed; at least LEAST of them
LEAST = 3
ENOUGH = 10.0  # seconds for one timed row
MOST_LOAD = 2.0  # per processor; the work itself is one or two of it
WRITERS, EACH = 2, 20
DELETED = 5
STARTS = 3  # of a server, counted for its start
NO_MCP = {"not run": "it has no MCP server"}
WORK = ("size", "ranking", "writers", "deletion", "speed")  # only the last needs a quiet machine
WORK_OF = {"install": "size", "listed": "ranking", "start": "speed", "machine": "speed"}  # cells
Cells = dict[str, dict[str, object]]


def read_corpus(data: str) -> list[Root]:
    """The memory directories that have labelled prompts; the index of a directory is no memory."""
    roots: dict[str, Root] = {}
    for line in Path(data, "queries.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        folder = os.path.join(data, row["repo"].replace("/", "__"), row["root"])
        root = roots.setdefault(folder, Root(folder))
        if row["gold"]:
            root.asked.append(Asked(row["prompt"], tuple(row["gold"])))
    for root in roots.values():
        for path in sorted(Path(root.folder).rglob("*.md")):
            if path.name != "MEMORY.md":
                text = path.read_text("utf-8", errors="replace")
                name = path.relative_to(root.folder).as_posix()
                root.notes.append(Note(name, _title(path.stem, text), text))
    return sorted(roots.values(), key=lambda root: -len(root.notes))


def _title(stem: str, text: str) -> str:
    """Its description, else its name."""
    lines = (line for line in text.split("\n")[:12] if line.startswith("description:"))
    return next(lines, "").partition(":")[2].strip(" \"'")[:120] or stem.replace("_", " ")


class Trial:
    """One peer, measured; each cell on its own, so that one that fails costs only itself."""

    def __init__(self, peer: Peer, roots: list[Root], clock: Clock, say: Callable[[str], None]):
        self.peer, self.roots, self.clock, self.say = peer, roots, clock, say
        self.cells: Cells = {}

    def measure(self, chosen: Collection[str]) -> Cells:
        for name in WORK:
            if name not in chosen:
                continue
            began = time.monotonic()
            try:
                getattr(self, name)()
            except Failed as error:
                self.cells[name] = {"not run": str(error)}
            except (KeyError, ValueError, IndexError, OSError) as error:
                reason = f"its answer was not understood: {type(error).__name__}: {error}"
                self.cells[name] = {"not run": reason[:200]}
            self.say(f"  {name}: {time.monotonic() - began:.0f} s")
        return self.cells

    def size(self) -> None:
        size, packages = measure_size(self.peer)
        self.cells["install"] = {"megabytes": size, "packages": packages}

    @contextmanager
    def place(self) -> Iterator[Place]:
        """A home that is thrown away; nothing goes on running in it."""
        with tempfile.TemporaryDirectory(prefix="memdir-peer-", ignore_cleanup_errors=True) as at:
            place = Place(at, self.clock, **self.peer.variables())
            try:
                yield place
            finally:
                with suppress(Failed):
                    self.peer.stop(place)

    @contextmanager
    def session(self, place: Place) -> Iterator[Session]:
        session = self.peer.open(place)
        try:
            yield session
        finally:
            session.close()

    def ranking(self) -> None:
        """Every directory in a home of its own: keep its memories, put its prompts."""
        told, ranked, missing = [], [], 0
        for root in self.roots:
            with self.place() as place, self.filled(place, root) as (session, keys, refused):
                missing += refused
                for asked in root.asked:
                    got = [keys.get(key, "") for key in session.find(asked.prompt, FIRST)]
                    told.append(share(got, asked))
                    if (found := self.peer.search(place, asked.prompt, FIRST)) is not None:
                        ranked.append(share(found, asked))
                listed = {"bytes": session.listed, "tools": session.tools}
        self.cells["listed"] = listed if self.peer.has_mcp else NO_MCP
        ranking = {"R@5": statistics.mean(ranked or told), "n": len(told), "refused": missing}
        ranking |= {"R@5 of what is told": statistics.mean(told)} if ranked else {}
        self.cells["ranking"] = {"not run": self.peer.unranked} if self.peer.unranked else ranking

    @contextmanager
    def filled(self, place: Place, root: Root) -> Iterator[tuple[Session, dict[str, str], int]]:
        """A session on the memories of a directory, what it calls them, and how many it refused."""
        laid, refused = self.peer.lay_down(place, root.notes), 0
        keys = laid or {}
        with self.session(place) as session:
            for note in root.notes if laid is None else ():
                key = session.save(note)
                refused += not key
                keys[key] = note.path
            yield session, keys, refused

    def speed(self) -> None:
        """In the largest directory: prompts and saves, in a process that runs and in new ones."""
        busy = [os.getloadavg()[0]]
        self.cells["machine"] = {"bare": bare(), "load": busy[0]}
        prompts, other = self.roots[0].asked, self.roots[1].notes
        with self.place() as place:
            with self.filled(place, self.roots[0]) as (session, _, _):
                starts = [session.started]
                again = timed(lambda i: session.find(prompts[i % len(prompts)].prompt, FIRST))
                save_again = timed(lambda i: kept(session.save(other[i])))
            recall = self.peer.recall(place)
            cold = timed(lambda i: recall(prompts[i % len(prompts)].prompt), warm_up=False)
            saves = timed(lambda i: self.peer.save(place, other[RUNS + 1 + i]), warm_up=False)
            while self.peer.has_mcp and len(starts) < STARTS:
                with self.session(place) as session:
                    starts.append(session.started)
        busy.append(os.getloadavg()[0])
        self.cells["machine"]["load"] = max(busy)
        if max(busy) > MOST_LOAD * (os.cpu_count() or 1):
            # The times of a busy machine would be unfair to the peer.
            raise Failed(f"the machine was busy, load {max(busy):.0f}")
        timings = {"again": again, "save again": save_again, "recall": cold, "save": saves}
        self.cells["speed"] = timings
        self.cells["start"] = {"ms": starts} if self.peer.has_mcp else NO_MCP

    def writers(self) -> None:
        """Two processes that save at the same moment: what was acknowledged must be found."""
        notes = [note for root in self.roots[1:3] for note in root.notes]
        notes = [note for note in unique(notes) if len(note.text) > 300]
        kept_keys: list[tuple[str, Note]] = []
        refused: list[str] = []
        with self.place() as place:

            def write(mine: list[Note]) -> None:
                try:
                    with self.session(place) as session:
                        with suppress(threading.BrokenBarrierError):  # the other did not start
                            ready.wait(120)
                        for note in mine:
                            if key := session.save(note):
                                kept_keys.append((key, note))
                            else:
                                refused.append("refused")
                except Failed as error:
                    ready.abort()
                    refused.extend([str(error)] * (len(mine)))

            ready = threading.Barrier(WRITERS)
            parts = [notes[i * EACH : (i + 1) * EACH] for i in range(WRITERS)]
            threads = [threading.Thread(target=write, args=(part,)) for part in parts]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            with self.session(place) as session:
                found = sum(session.holds(key, note) for key, note in kept_keys)
        asked = WRITERS * EACH
        self.cells["writers"] = {"asked": asked, "acknowledged": len(kept_keys), "found": found}
        if refused:
            self.cells["writers"]["why"] = max(set(refused), key=refused.count)

    def deletion(self) -> None:
        """An agent deletes the files; then the way back that the documents name."""
        notes = self.roots[1].notes[:DELETED]
        with self.place() as place:
            with self.session(place) as session:
                keys = {kept(session.save(note)): note for note in notes}
            self.peer.wipe(place)
            way = {"wiped": self.peer.wiped, "way back": self.peer.way_back}
            self.cells["deletion"] = {"saved": len(keys), "back": 0, **way}
            try:
                self.peer.bring_back(place)
                with self.session(place) as session:
                    back = sum(session.holds(key, note) for key, note in keys.items())
                self.cells["deletion"] |= {"back": back}
            except Failed as error:
                self.cells["deletion"] |= {"why": str(error)}


def timed(act: Callable[[int], object], warm_up: bool = True) -> list[float]:
    """Milliseconds of each run; a warm-up is not counted."""
    if warm_up:
        act(0)
    taken: list[float] = []
    while len(taken) < RUNS and (len(taken) < LEAST or sum(taken) < ENOUGH * 1e3):
        start = time.perf_counter()
        act(len(taken) + 1)
        taken.append((time.perf_counter() - start) * 1e3)
    return taken


def bare() -> list[float]:
    """What an interpreter that does nothing takes meanwhile: the floor of this peer's times."""
    words = [sys.executable, "-I", "-S", "-c", "pass"]
    return timed(lambda _: subprocess.run(words, check=True))


def kept(key: str) -> str:
    if not key:
        raise Failed("it refused to save")
    return key


def share(found: list[str], asked: Asked) -> float:
    return len(set(found) & set(asked.gold)) / len(set(asked.gold))


def unique(notes: list[Note]) -> list[Note]:
    return list({Path(note.path).name: note for note in notes}.values())
