"""The store against a dictionary: clients with stale hashes, people who edit and delete by hand,
crashes in the middle of a write, undo, restore. Hypothesis chooses what happens next.
"""

import os
import signal
from collections.abc import Callable
from contextlib import ExitStack
from typing import ClassVar

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from hypothesis.stateful import run_state_machine_as_test as run_machine

from memdir.capture import review
from memdir.errors import MemdirError
from memdir.format.draft import content_hash
from memdir.store import changes
from tests.faults import defects, driver, kernel, memories, trees
from tests.faults.driver import NOW, App
from tests.faults.stage import Tally

NAMES = st.sampled_from(("a", "b", "c-1", "long_name"))
BODIES = st.text(st.sampled_from("abc äß漢字🙂-:#`'\"[]()|\n"), min_size=1, max_size=40).filter(
    lambda text: text.strip()
)
CLIENTS = st.integers(0, 1)
HOOKED = ("open", "write", "fsync", "rename", "close", "unlink", "mkdir")
CALLS = st.integers(0, 120)  # of a change, before it crashes


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
    """`live` is what the store must hold; all writing goes through the flows."""

    defect: ClassVar[str] = ""
    steps: ClassVar[int] = 0
    kills: ClassVar[int] = 0

    @initialize()
    def start(self) -> None:
        self.stack = ExitStack()
        self.root = f"{self.stack.enter_context(trees.work_folder())}/root"
        trees.make_root(self.root)
        self.now = NOW
        self.live: dict[str, bytes] = {}
        self.past: list[bytes] = []
        self.held: list[dict[str, str]] = [{}, {}]
        self.undoable: list[tuple[str, bytes | None, bool]] = []
        self.in_step = True  # until somebody else touches the store

    def teardown(self) -> None:
        if hasattr(self, "stack"):
            self.stack.close()

    def app(self) -> App:
        Model.steps += 1
        self.now += 60
        return memories.WORLD.open(self.root, now=self.now)

    def place(self, name: str) -> str:
        return os.path.join(memories.store_of(self.root), f"{name}.md")

    def disk(self, name: str) -> bytes | None:
        return trees.read(self.place(name)) if os.path.exists(self.place(name)) else None

    def changed(self, name: str, in_step: bool = True) -> None:
        """Take over what stands on disk now, after a change of ours or of somebody else.

        An undo of ours brings the index back as it was; one of somebody's edit mends it.
        """
        before, after = self.live.pop(name, None), self.disk(name)
        was_in_step, self.in_step = self.in_step or not in_step, in_step
        if after is not None:
            self.live[name] = after
            self.past.append(after)
        if before != after:
            self.undoable.append((name, before, was_in_step))

    # -- what may happen ---------------------------------------------------------------------

    @rule(client=CLIENTS, name=NAMES)
    def read(self, client: int, name: str) -> None:
        data = self.disk(name)
        assert data == self.live.get(name)
        self.held[client][name] = content_hash(data) if data is not None else ""

    @rule(client=CLIENTS, name=NAMES, body=BODIES)
    def save_what_i_read(self, client: int, name: str, body: str) -> None:
        """With the hash this client has read, fresh or stale."""
        current = content_hash(self.live[name]) if name in self.live else ""
        expected = self.held[client].get(name) or None
        try:
            done = memories.save(self.app(), name, body, f"about {name}", expected=expected)
        except MemdirError:
            assert expected and expected != current, "a fresh write is refused"
            return
        assert not expected or expected == current, "a stale write is accepted"
        self.held[client][name] = done.changes[0].hash
        self.changed(name, self.in_step or done.changes[0].changed)
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
        try:
            changes.retire_memories(self.app(), [name])
        except MemdirError:
            assert name not in self.live, "a memory that is there cannot be retired"
            return
        assert name in self.live
        self.changed(name)

    @rule(name=NAMES)
    def restore(self, name: str) -> None:
        try:
            done = changes.restore_memories(self.app(), [name])
        except MemdirError:
            return
        assert name not in self.live or not done.changes[0].changed, "it overwrote a memory"
        self.changed(name, self.in_step or done.changes[0].changed)
        assert self.live[name] in self.past[:-1]

    @precondition(lambda self: self.undoable)
    @rule()
    def undo(self) -> None:
        """The newest change that stands is taken back, whoever made it."""
        name, before, self.in_step = self.undoable.pop()
        review.undo_and_hold_again(self.app())
        assert self.disk(name) == before, "undo did not bring back what stood before"
        self.live.pop(name, None)
        if before is not None:
            self.live[name] = before

    @rule(name=NAMES, body=BODIES | st.none())
    def somebody_edits_or_deletes(self, name: str, body: str | None) -> None:
        if name not in self.live:
            return
        if body is None:
            os.unlink(self.place(name))
        else:
            with open(self.place(name), "a", encoding="utf-8") as file:
                file.write(body)
        self.app().snapshot()
        self.changed(name, in_step=False)

    @rule(name=NAMES, body=BODIES, calls=CALLS)
    def crash_while_saving(self, name: str, body: str, calls: int) -> None:
        self.crash(calls, lambda app: memories.save(app, name, body, f"about {name}"))
        after = self.disk(name)
        whole = after is None or body.strip() in after.decode("utf-8", "replace")
        assert after == self.live.get(name) or whole, "neither the old nor the new version"
        self.recover(name)

    @rule(name=NAMES, calls=CALLS)
    def crash_while_retiring(self, name: str, calls: int) -> None:
        self.crash(calls, lambda app: changes.retire_memories(app, [name]))
        assert self.disk(name) in (self.live.get(name), None), "neither there nor gone"
        self.recover(name)

    def crash(self, calls: int, act: Callable[[App], object]) -> None:
        app = self.app()

        def work() -> None:
            defects.switch_off(self.defect)
            die_at(calls)
            act(app)

        Model.kills += kernel.wait(kernel.start(work)) == -signal.SIGKILL

    def recover(self, name: str) -> None:
        """The next command of any kind: here one that only brings the index in step."""
        changes.rebuild_memory_index(self.app())
        self.changed(name)
        # How far the crashed change had come decides what an undo takes back: start afresh.
        memories.save(self.app(), "fence", "x", str(self.now))
        self.live["fence"] = self.disk("fence") or b""
        self.undoable.clear()

    # -- what always holds -------------------------------------------------------------------

    @invariant()
    def same_as_the_model(self) -> None:
        if not hasattr(self, "live"):
            return
        view = memories.WORLD.view.look(self.root)
        assert {path[:-3]: data for path, data in view.memories.items()} == self.live
        assert not view.past.problems, view.past.problems
        behind = view.in_step() if self.in_step else []
        assert not behind, behind
        kept = view.kept()
        assert all(data in kept for data in self.past), "a version has vanished"


def run(examples: int, steps: int, defect: str = "") -> Tally:
    """So many runs of so many steps; a violation is the first that Hypothesis finds."""
    driver.forget_how_old_files_are()  # else the calls that a crash counts would vary
    Model.steps = Model.kills = 0
    Model.defect = defect
    if defect not in ("", "written in place"):
        defects.switch_off(defect)
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        derandomize=True,
        database=None,
        print_blob=False,
        phases=(Phase.generate,) if defect else (Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    problems = []
    try:
        run_machine(Model, settings=chosen)
    except Exception as error:
        each = error.exceptions if isinstance(error, ExceptionGroup) else [error]
        problems = ["\n".join([repr(it), *getattr(it, "__notes__", [])]) for it in each]
    tally = Tally()
    tally.add("model", problems)
    tally.count(Model.steps - 1)
    tally.crashes = Model.kills
    return tally
