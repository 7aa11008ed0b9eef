"""One operation on one store through the real flows: what the harnesses break.

A root holds home/, project/ and state/. Two `getpgid` calls mark where the operation begins and
ends; what comes back (the change is written and in the history) is acknowledged in ROOT.ack.
What differs between stores of memories and of records is a `World`: memories.py and records.py.
"""

import os
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from memdir.cli.main import run_command_line
from memdir.config.config import read_config
from memdir.errors import MemdirError
from memdir.store import history
from memdir.store.writer import App, Done, open_app
from tests.faults import trees
from tests.faults.checker import View

NOW = 1_772_020_800.0  # the clock of every operation: bytes must not depend on the day
DONE, REFUSED, CRASHED = 0, 1, 3
ACK = "ACK"
ANSWER_FIRST = False  # a defect: the change is acknowledged before it is made

Operation = Callable[[App], Done]


def environment(root: str) -> dict[str, str]:
    return {
        "HOME": f"{root}/home",
        "MEMDIR_STATE_DIR": f"{root}/state",
        "MEMDIR_MANAGED_SETTINGS": f"{root}/none.json",
    }


@dataclass(frozen=True)
class World:
    """A kind of store: what can be done with it, what lies there before, how it is judged."""

    scope: str
    view: type[View]
    operations: Mapping[str, Operation]
    prepare: Callable[[str, str], None]  # lays out, in a root, what an operation needs
    later: Operation  # the next write: whatever happened before, it must work and heal
    new: str  # the file that it brings
    rebuild: Operation  # brings the index in step, and changes nothing where it is
    again: frozenset[str]  # what a person would simply run again when it was cut off
    is_right: Callable[[Exception], bool]  # may a person hear this who does so?
    environment: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # by operation

    def open(
        self,
        root: str,
        operation: str = "",
        now: float = NOW,
        tell: Callable[[str], object] = len,  # nobody listens
        **options: str,
    ) -> App:
        """The store of a root, wired as a command would; `options` are MEMDIR_<NAME>."""
        environ = environment(root) | self.environment.get(operation, {})
        environ |= {f"MEMDIR_{name.upper()}": value for name, value in options.items()}
        config = read_config(environ, f"{root}/project", scope=self.scope)
        return open_app(config, now=lambda: now, tell=tell)


def perform(
    world: World, root: str, operation: str, acknowledge: Callable[[list[str]], object]
) -> tuple[int, list[str]]:
    """Run one operation between two markers: its exit code, and what it says to the person."""
    said: list[str] = []
    app = world.open(root, operation, tell=said.append)
    os.getpgid(0)
    try:
        if ANSWER_FIRST:
            acknowledge([])
        done = world.operations[operation](app)
        if not ANSWER_FIRST:
            acknowledge([change.path for change in done.changes if change.changed])
            os.path.exists(root)  # the last point: killed here, the change is acknowledged
        code = DONE
    except MemdirError as error:
        said.append(f"refused: {error.message} [next: {error.next}]")
        code = REFUSED
    except BaseException:
        said.append("crashed: " + traceback.format_exc())
        code = CRASHED
    os.getpgid(0)
    return code, said


def run_once(world: World, root: str, operation: str) -> int:
    """The whole process: acknowledgement to ROOT.ack, words to ROOT.said."""
    handle = os.open(f"{root}.ack", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def acknowledge(paths: list[str]) -> None:
        os.write(handle, " ".join((ACK, *paths)).encode() + b"\n")

    code, said = perform(world, root, operation, acknowledge)
    trees.write(f"{root}.said", "\n".join(said).encode())
    return code


def run_typed(root: str, words: list[str]) -> int:
    """In a forked child: a command as typed, between the markers; its words to ROOT.said."""
    os.environ.clear()
    os.environ |= environment(root)
    os.chdir(f"{root}/project")
    handle = os.open(f"{root}.said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    sys.stdout = sys.stderr = os.fdopen(1, "w", closefd=False)
    os.getpgid(0)
    code = run_command_line(words)
    os.getpgid(0)
    return code


def forget_how_old_files_are() -> None:
    """Else how often files are read would depend on how many milliseconds old they are."""
    history.TICK_NS = 10**18
