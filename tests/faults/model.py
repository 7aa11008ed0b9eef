"""The store against a dictionary: clients with stale hashes, people who edit and delete by hand,
crashes in the middle of a write, undo, restore. Hypothesis chooses what happens next.
"""

from __future__ import annotations

import os
import shutil
import signal
from typing import ClassVar

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from hypothesis.stateful import run_state_machine_as_test as run_machine

from tests.faults import checker, defects, driver, kernel, seeds
from tests.faults.stage import Tally

CONTROLS = ("no version check", "written in place")
NAMES = st.sampled_from(("a", "b", "c-1", "long_name"))
BODIES = st.text(st.sampled_from("abc äß漢字🙂-:#`'\"[]()|\n"), min_size=1, max_size=40).filter(
    lambda text: text.strip()
)
CLIENTS = st.integers(0, 1)
HOOKED = ("open", "write", "fsync", "rename", "close", "unlink", "mkdir")
FARTHEST_CALL = 120


def die_at(calls: int) -> None:
    """From here on this (forked) process makes so many calls of the file system, then no more."""
    left = [calls]
    for name in HOOKED:
        real = getattr(os, name)

        def wrapped(*given, _real=real, **named):
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return _real(*given, **named)

        setattr(os, name, wrapped)


class Model(RuleBasedStateMachine):
    """`live` and `shelf` are what the store must hold; all writing goes through the flows."""

    defect: ClassVar[str] = ""
    steps: ClassVar[int] = 0
    kills: ClassVar[int] = 0

    @initialize()
    def start(self) -> None:
        self.folder = seeds.work_folder()
        self.root = f"{self.folder}/root"
        seeds.make_root(self.root)
        self.now = driver.NOW
        self.live: dict[str, bytes] = {}
        self.past: list[bytes] = []
        self.held: list[dict[str, str]] = [{}, {}]
        self.undoable: list[tuple[str, bytes | None, bytes | None]] = []
        self.in_step = True  # until somebody else touches the store

    def teardown(self) -> None:
        shutil.rmtree(getattr(self, "folder", ""), ignore_errors=True)

    def app(self) -> driver.App:
        Model.steps += 1
        self.now += 60
        return driver.open_root(self.root, lambda text: None, now=self.now)

    def place(self, name: str) -> str:
        return os.path.join(seeds.store_of(self.root), f"{name}.md")

    def disk(self, name: str) -> bytes | None:
        try:
            with open(self.place(name), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def changed(self, name: str, before: bytes | None) -> None:
        """Take over what stands on disk now, after a change that we asked for."""
        after = self.disk(name)
        self.live.pop(name, None)
        if after is not None:
            self.live[name] = after
            self.past.append(after)
        if before != after:
            self.undoable.append((name, before, after))

    # -- what may happen ---------------------------------------------------------------------

    @rule(client=CLIENTS, name=NAMES)
    def read(self, client: int, name: str) -> None:
        data = self.disk(name)
        assert data == self.live.get(name)
        self.held[client][name] = driver.hash_of(data) if data is not None else ""

    @rule(client=CLIENTS, name=NAMES, body=BODIES)
    def save_what_i_read(self, client: int, name: str, body: str) -> None:
        """With the hash this client has read, fresh or stale."""
        before = self.live.get(name)
        current = driver.hash_of(before) if before is not None else ""
        expected = self.held[client].get(name) or None
        draft = driver.Draft(body, name=name, description=f"about {name}", expected=expected)
        try:
            done = driver.changes.save(self.app(), draft, driver.AS_IT_IS)
        except driver.MemdirError:
            assert expected and expected != current, "a fresh write is refused"
            return
        assert not expected or expected == current, "a stale write is accepted"
        self.held[client][name] = done.changes[0].hash
        self.in_step = self.in_step or done.changes[0].changed
        self.changed(name, before)
        assert body.strip() in self.live[name].decode(), "saved, but not what was given"

    @rule(name=NAMES, bodies=st.tuples(BODIES, BODIES))
    def two_clients_save_what_both_read(self, name: str, bodies: tuple[str, str]) -> None:
        """The second one must be told, unless the first one changed nothing."""
        for client in (0, 1):
            self.read(client, name)
        for client in (0, 1):
            self.save_what_i_read(client, name, bodies[client])

    @rule(name=NAMES)
    def retire(self, name: str) -> None:
        before = self.live.get(name)
        try:
            driver.changes.retire(self.app(), [name])
        except driver.MemdirError:
            assert before is None, "a memory that is there cannot be retired"
            return
        assert before is not None
        self.in_step = True
        self.changed(name, before)

    @rule(name=NAMES)
    def restore(self, name: str) -> None:
        before = self.live.get(name)
        try:
            done = driver.changes.restore(self.app(), [name])
        except driver.MemdirError:
            return
        assert before is None or not done.changes[0].changed, "restore overwrote a memory"
        self.in_step = self.in_step or done.changes[0].changed
        self.changed(name, before)
        assert self.live[name] in self.past

    @precondition(lambda self: self.undoable)
    @rule()
    def undo(self) -> None:
        """The newest change that stands is taken back, whoever made it."""
        name, before, _ = self.undoable.pop()
        driver.review.undo_changes(self.app())
        assert self.disk(name) == before, "undo did not bring back what stood before"
        self.in_step = True
        self.live.pop(name, None)
        if before is not None:
            self.live[name] = before

    @rule(name=NAMES, body=BODIES)
    def somebody_edits(self, name: str, body: str) -> None:
        if name not in self.live:
            return
        before = self.live[name]
        with open(self.place(name), "a", encoding="utf-8") as file:
            file.write(body)
        self.app().snapshot()
        self.in_step = False
        self.changed(name, before)

    @rule(name=NAMES)
    def somebody_deletes(self, name: str) -> None:
        if name not in self.live:
            return
        before = self.live[name]
        os.unlink(self.place(name))
        self.app().snapshot()
        self.in_step = False
        self.changed(name, before)

    @rule(name=NAMES, body=BODIES, calls=st.integers(0, FARTHEST_CALL))
    def crash_while_saving(self, name: str, body: str, calls: int) -> None:
        before = self.live.get(name)
        draft = driver.Draft(body, name=name, description=f"about {name}")
        Model.kills += self.crash(
            calls, lambda app: driver.changes.save(app, draft, driver.AS_IT_IS)
        )
        after = self.disk(name)
        whole = after is None or body.strip() in after.decode("utf-8", "replace")
        assert after == before or whole, "neither the old nor the new version"
        self.recover(name, before)

    @rule(name=NAMES, calls=st.integers(0, FARTHEST_CALL))
    def crash_while_retiring(self, name: str, calls: int) -> None:
        before = self.live.get(name)
        Model.kills += self.crash(calls, lambda app: driver.changes.retire(app, [name]))
        assert self.disk(name) in (before, None), "neither there nor gone"
        self.recover(name, before)

    def crash(self, calls: int, act) -> bool:
        app = self.app()
        pid = kernel.fork()
        if pid == 0:
            try:
                defects.switch_off(self.defect)
                die_at(calls)
                act(app)
            finally:
                os._exit(1)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL

    def recover(self, name: str, before: bytes | None) -> None:
        """The next command of any kind: here one that only brings the index in step."""
        driver.changes.rebuild_index(self.app())
        self.changed(name, before)
        # How far the crashed change had come decides what an undo takes back: start afresh.
        self.undoable.clear()
        driver.changes.save(
            self.app(), driver.Draft("x", name="fence", description=str(self.now)), driver.AS_IT_IS
        )
        self.live["fence"] = self.disk("fence") or b""
        self.in_step = True
        self.undoable.clear()

    # -- what always holds -------------------------------------------------------------------

    @invariant()
    def same_as_the_model(self) -> None:
        if not hasattr(self, "live"):
            return
        view = checker.look(self.root)
        assert {path[:-3]: data for path, data in view.memories.items()} == self.live
        assert not view.past.problems, view.past.problems
        behind = checker.in_step(view) if self.in_step else []
        assert not behind, behind
        kept = view.kept()
        assert all(data in kept for data in self.past), "a version has vanished"


def run(examples: int, steps: int, defect: str = "") -> Tally:
    """So many runs of so many steps; a violation is the first that Hypothesis finds."""
    tally = Tally()
    Model.steps = Model.kills = 0
    Model.defect = defect
    if defect not in ("", "written in place"):
        defects.switch_off(defect)
    try:
        run_machine(
            Model,
            settings=settings(
                max_examples=examples,
                stateful_step_count=steps,
                deadline=None,
                derandomize=True,
                database=None,
                print_blob=False,
                phases=(Phase.generate,) if defect else (Phase.generate, Phase.shrink),
                suppress_health_check=list(HealthCheck),
            ),
        )
        problems = []
    except AssertionError as error:
        problems = [str(error).partition("\n")[0] or "an invariant does not hold"]
    except Exception as error:
        problems = [f"{type(error).__name__}: {error}"]
    tally.add("model", True, problems)
    tally.points, tally.fired = Model.steps, Model.steps
    tally.states = Model.kills
    return tally
