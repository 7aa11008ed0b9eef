"""Machines that change the same memories and sync them over one remote, while things go wrong.

Every change writes a mark of its own. Syncs are killed in the middle, files are changed under a
running sync, the remote refuses pushes for a while or is put back to an older state. In the end all
machines hold the same files, and every mark that nobody removed stands in a memory or in an inbox.
"""

import multiprocessing
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from memdir.capture.inbox import open_inbox
from memdir.config.config import read_config
from memdir.errors import MemdirError
from memdir.store.writer import App, open_app
from memdir.sync import delivery, engine, flow
from memdir.sync.git_transport import PERSONAL_BRANCH, GitTransport
from memdir.sync.remotes import PERSONAL, make_git_remote
from tests.faults import defects, kernel, trees
from tests.faults.stage import Tally

NAMES = tuple(f"n{number}" for number in range(12))
HEAD = "---\nname: {name}\ndescription: about {name}\ntype: reference\n---\n\n"
FILLER = "".join(f"filler {number}\n" for number in range(4))
MARKS = ("<<<<<<<", ">>>>>>>")
ORIGIN = '[remote "origin"]\n\turl = git@example.invalid:o/shop.git\n'
REFUSE = '#!/bin/sh\n[ "$1" = refs/heads/memories ] && [ -e "$GIT_DIR/closed" ] && exit 1\nexit 0\n'
SYNC_CHANCE, KILL_CHANCE, OUTSIDE_CHANCE = 0.35, 0.25, 0.05
CLOSE_CHANCE, ROLL_BACK_CHANCE = 0.01, 0.002
MOST_EVENTS = 60  # of a sync, before one of which it is killed
ROUNDS = 8  # in the end, at most, until all are in step


@dataclass
class Counts(Tally):
    """`kills` and `outside` are those that fired."""

    changes: int = 0
    syncs: int = 0
    kills: int = 0
    outside: int = 0
    refused: int = 0
    rolled_back: int = 0
    conflicts: int = 0


def run(worlds: int, changes: int, defect: str = "", seed: int = 0) -> Tally:
    """Each world has 2 to 6 machines; two worlds at once."""
    jobs = [(seed + number, changes, defect) for number in range(worlds)]
    tally = Counts()
    context = multiprocessing.get_context("fork")
    with context.Pool(2, maxtasksperchild=1) as pool:
        for counts in pool.imap_unordered(_world, jobs, chunksize=1):
            tally.merge(counts)
            if defect and tally.violations:
                break  # it is caught
    return tally


def _world(job: tuple[int, int, str]) -> Counts:
    seed, changes, defect = job
    defects.switch_off(defect)
    with trees.work_folder() as folder:
        return World(folder, seed).live(changes)


class Machine:
    """A home of its own, with another path and another name of the project."""

    def __init__(self, folder: str, number: int) -> None:
        self.home = f"{folder}/home-{number}/{'deep/' * number}me"
        self.project = f"{self.home}/work{number}/shop"
        os.makedirs(f"{self.project}/.git/objects")
        os.makedirs(f"{self.project}/.git/refs")
        trees.write(f"{self.project}/.git/HEAD", b"ref: refs/heads/main\n")
        trees.write(f"{self.project}/.git/config", ORIGIN.encode())
        env = {"HOME": self.home, "PATH": os.environ["PATH"], "USER": f"user{number}"}
        self.config = read_config(env, self.project)
        self.user = read_config(env, self.project, scope="user")
        self.store = self.config.store

    def app(self, scope: str = "project") -> App:
        config = self.user if scope == "user" else self.config
        return open_app(config, now=time.time, tell=lambda text: None)

    def join(self, remote: str) -> None:
        made = make_git_remote(self.config, remote, PERSONAL_BRANCH)
        flow.join_remote(self.config, PERSONAL, made)

    def sync(self) -> list[flow.Synced]:
        done, failed = flow.sync_project(self.config, self.app, tell=lambda text: None)
        if failed:
            raise failed[0]
        return done

    def files(self) -> dict[str, str]:
        names = [name for name in os.listdir(self.store) if name.endswith(".md")]
        return {name: trees.read(f"{self.store}/{name}").decode() for name in names}

    def kept(self) -> str:
        """What waits: drafts in the inbox, and what no draft could hold."""
        app = self.app()
        drafts = [held.catch.draft.body for held in open_inbox(app).list() if held.catch.draft]
        shelved = [app.shelf.read(item).decode() for item in app.shelf.list("trash")]
        return "\n".join((*drafts, *shelved))


class World:
    """Some machines and their remote, which refuses pushes while there is a file `closed`."""

    def __init__(self, folder: str, seed: int) -> None:
        self.folder, self.seed, self.chance = folder, seed, random.Random(seed)
        self.counts = Counts()
        self.written: set[str] = set()
        self.removed: set[str] = set()
        self.heads: list[str] = []
        self.remote = f"{self.folder}/remote.git"
        self._git("init", "--quiet", "--bare", self.remote, at=self.folder)
        trees.write(f"{self.remote}/hooks/update", REFUSE.encode(), 0o700)
        self.machines = [Machine(self.folder, n) for n in range(self.chance.randint(2, 6))]
        for machine in self.machines:
            machine.join(self.remote)

    def live(self, changes: int) -> Counts:
        while self.counts.changes < changes:
            machine = self.chance.choice(self.machines)
            self.change(machine)
            self._trouble()
            if self.chance.random() < SYNC_CHANCE:
                self.sync(machine)
        if os.path.exists(f"{self.remote}/closed"):
            os.unlink(f"{self.remote}/closed")
        self.counts.add(f"seed {self.seed}", self.judge())
        self.counts.count(self.counts.changes - 1)
        return self.counts

    # -- what people and agents do ---------------------------------------------------------------

    def change(self, machine: Machine) -> None:
        """As an agent changes a file: without a lock, by rename or in place; the index lags."""
        self.counts.changes += 1
        mark = f"k{self.seed}-{self.counts.changes}"
        name = self.chance.choice(NAMES)
        path = f"{machine.store}/{name}.md"
        text = trees.read(path).decode() if os.path.exists(path) else ""
        lines = text.splitlines() or (HEAD.format(name=name) + FILLER).splitlines()
        draw, row = self.chance.random(), self.chance.randrange(6, len(lines) + 1)
        if text and draw < 0.1:
            self.removed |= marks(text)
            os.unlink(path)
            return
        if text and draw < 0.4 and row < len(lines):
            self.removed |= marks(lines.pop(row))
        lines.insert(row, mark)
        self.written.add(mark)
        os.makedirs(machine.store, exist_ok=True)
        place = path if draw < 0.7 else f"{path}.swp"
        trees.write(place, ("\n".join(lines) + "\n").encode())
        if place != path:
            os.rename(place, path)

    def _trouble(self) -> None:
        draw = self.chance.random()
        if draw < CLOSE_CHANCE:
            trees.write(f"{self.remote}/closed", b"")
        elif draw < 4 * CLOSE_CHANCE and os.path.exists(f"{self.remote}/closed"):
            os.unlink(f"{self.remote}/closed")
        elif draw > 1 - ROLL_BACK_CHANCE and self.heads:
            self._git("update-ref", "refs/heads/memories", self.chance.choice(self.heads[-5:]))
            self.counts.rolled_back += 1

    # -- syncs -----------------------------------------------------------------------------------

    def sync(self, machine: Machine) -> None:
        self.counts.syncs += 1
        if self.chance.random() < KILL_CHANCE:
            return self._killed(machine)
        with self._meddling(machine):
            try:
                done = machine.sync()
            except MemdirError:  # a git of a killed sync holds a lock; the next one does it
                self.counts.refused += 1
                return
        self.counts.conflicts += sum(len(item.report.conflicts) for item in done)
        self.counts.refused += sum(item.report.result != delivery.IN_STEP for item in done)
        head = self._git("rev-parse", "--verify", "--quiet", "refs/heads/memories")
        self.heads += [head] if head and head not in self.heads else []

    def _killed(self, machine: Machine) -> None:
        """In a process of its own, killed before one of the calls that change anything."""
        events = self.chance.randint(1, MOST_EVENTS)

        def work() -> None:
            _kill_before(events)
            machine.sync()

        self.counts.kills += kernel.wait(kernel.start(work)) == -signal.SIGKILL

    @contextmanager
    def _meddling(self, machine: Machine) -> Iterator[None]:
        """Somebody edits while a sync runs: before it reads, while it fetches, as it writes."""
        fetch, check = GitTransport.fetch, engine.Unmoved.check

        def meddle() -> None:
            if self.chance.random() < OUTSIDE_CHANCE:
                self.change(machine)
                self.counts.outside += 1

        def fetched(transport, since):
            result = fetch(transport, since)
            meddle()
            return result

        def checked(store, path):
            meddle()
            check(store, path)

        GitTransport.fetch, engine.Unmoved.check = fetched, checked
        try:
            yield
        finally:
            GitTransport.fetch, engine.Unmoved.check = fetch, check

    def _git(self, *words: str, at: str = "") -> str:
        env = {"PATH": os.environ["PATH"], "HOME": self.folder, "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(
            ["git", *words], cwd=at or self.remote, env=env, capture_output=True, text=True
        )
        return done.stdout.strip()

    # -- judgement -------------------------------------------------------------------------------

    def judge(self) -> list[str]:
        for _ in range(ROUNDS):
            for machine in self.machines:
                try:
                    machine.sync()
                except MemdirError as error:
                    return [f"the last sync fails: {error.message}"]
            states = [machine.files() for machine in self.machines]
            paths = {path for state in states for path in state}
            odd = sorted(path for path in paths if len({state.get(path) for state in states}) > 1)
            if not odd:
                break
        problems = [f"the machines do not agree on {', '.join(odd)}"] if odd else []
        everything = "\n".join(text for state in states for text in state.values())
        kept = marks(everything) | marks("\n".join(machine.kept() for machine in self.machines))
        if lost := self.written - self.removed - kept:
            problems.append(f"{len(lost)} of {len(self.written)} changes are lost: {min(lost)}")
        index = states[0].get("MEMORY.md", "")
        for path, text in states[0].items():
            if any(line.startswith(MARKS) for line in text.splitlines()):
                problems.append(f"conflict marks in {path}")
            if path != "MEMORY.md" and index.count(f"]({path})") != 1:
                problems.append(f"the index has {index.count(f']({path})')} lines of {path}")
        return problems


def marks(text: str) -> set[str]:
    return {line for line in text.splitlines() if line.startswith("k")}


def _kill_before(events: int) -> None:
    """Counts the calls that change something, of this process alone; its gits live on."""
    left = [events]

    def counted(real):
        def call(*args, **options):
            left[0] -= 1
            if left[0] <= 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **options)

        return call

    for name in ("rename", "unlink", "mkdir", "link", "write", "ftruncate"):
        setattr(os, name, counted(getattr(os, name)))
    subprocess.Popen = counted(subprocess.Popen)
