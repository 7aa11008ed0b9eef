"""One operation on one store through the real flows: the process that the harnesses break.

    python -I -S tests/faults/driver.py ROOT OPERATION

ROOT holds home/, project/ and state/. Two `getpgid` calls mark where the operation begins and
ends; what comes back (the change is written and in the history) is acknowledged in the
file ROOT.ack. MEMDIR_DEFECT switches one protection off: see defects.py.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
for folder in (HERE.parents[1], HERE.parents[1] / "src"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

from memdir.capture import capture as capture_module  # noqa: E402
from memdir.capture import plan, review  # noqa: E402
from memdir.clients import claude_code  # noqa: E402
from memdir.config.config import read_config  # noqa: E402
from memdir.errors import MemdirError, Unwritable  # noqa: E402
from memdir.format.draft import Change, Draft, Revision, Wishes, hash_of  # noqa: E402
from memdir.hot.disk import failure  # noqa: E402
from memdir.hot.queue import Queue  # noqa: E402
from memdir.store import changes  # noqa: E402
from memdir.store.ports import ARCHIVE, TRASH  # noqa: E402
from memdir.store.writer import App, Done, open_app  # noqa: E402
from tests.faults import texts  # noqa: E402

NOW = 1_772_020_800.0  # the clock of every operation: bytes must not depend on the day
DONE, REFUSED, CRASHED = 0, 1, 3
ENDLESS_NS = 10**18
ACK = "ACK"

AS_IT_IS = Wishes(anyway=True)
Operation = Callable[[App], Done]
ANSWER_FIRST = False  # a defect: the change is acknowledged before it is made


def create(app: App) -> Done:
    draft = Draft(texts.CREATED, name="gamma", type="reference", description="third memory")
    return changes.save(app, draft, AS_IT_IS)


def update(app: App) -> Done:
    """With the hash of the version that was read, as a careful client does it."""
    read = hash_of(texts.MEMORIES["beta.md"].encode())
    draft = Draft(texts.UPDATED, name="beta", description="second memory, changed", expected=read)
    return changes.save(app, draft, AS_IT_IS)


def edit(app: App) -> Done:
    fields = (("description", "second memory, with other words"),)
    return changes.edit(app, "beta", Revision("", fields), AS_IT_IS)


def touch(app: App) -> Done:
    return changes.touch(app, ["alpha", "beta"])


def retire(app: App) -> Done:
    return changes.retire(app, ["beta"], TRASH)


def archive(app: App) -> Done:
    return changes.retire(app, ["beta", "delta"], ARCHIVE)


def restore(app: App) -> Done:
    return changes.restore(app, ["zeta"])


def purge(app: App) -> Done:
    return changes.purge(app, ["zeta"])


def undo(app: App) -> Done:
    return review.undo_changes(app)


def rebuild(app: App) -> Done:
    return changes.rebuild_index(app)


def bring(app: App) -> Done:
    return changes.bring_in(app, [(path, text.encode()) for path, text in texts.BROUGHT.items()])


def commit(app: App) -> Done:
    """What the worker behind a hook does: commit what others did."""
    app.snapshot()
    return Done(())


def capture(app: App) -> Done:
    """A conversation that asks for one memory and wants another gone: a batch of two."""
    path = f"{app.config.home}/{texts.TRANSCRIPT}"
    reader = claude_code.open_reader(app.config.home, {})  # our own code is on no broken disk
    outcome = capture_module.capture(app, plan.Request(path, "s1"), reader)
    paths = [f"{entry.name}.md" for entry in outcome.decided if entry.what == "saved"]
    return Done(tuple(Change("created", path[:-3], path) for path in paths))


def enqueue(app: App) -> Done:
    """What a hook does at the end of a turn; there a log line takes the place of the sentence."""
    state = app.config.state_dir
    try:
        if not Queue(state).add(texts.REQUEST):
            raise Unwritable("the line was not added", next="the log says why")
    except OSError as error:
        raise failure(error, state, "the line cannot be added; nothing was written") from None
    return Done(())


def later(app: App, name: str = "later") -> Done:
    """The next write: whatever happened before, it must work and bring all in step."""
    draft = Draft(texts.LATER, name=name, description=f"written {name}")
    return changes.save(app, draft, AS_IT_IS)


OPERATIONS: dict[str, Operation] = {
    "create": create,
    "first": create,
    "update": update,
    "keep-old": update,
    "edit": edit,
    "touch": touch,
    "retire": retire,
    "archive": archive,
    "restore": restore,
    "purge": purge,
    "undo": undo,
    "rebuild": rebuild,
    "standalone": create,
    "import": bring,
    "recovery": later,
    "commit": commit,
    "capture": capture,
    "enqueue": enqueue,
}
# Where nothing remembers old versions, they go to the trash.
# A catalog is derived, and lies where the checker wants nothing to be written.
ENVIRONMENT = {"keep-old": {"MEMDIR_HISTORY": "false"}, "capture": {"MEMDIR_SEARCH": "scan"}}


def open_root(
    root: str,
    tell: Callable[[str], None],
    operation: str = "",
    now: float = NOW,
    scope: str = "project",
    more: Mapping[str, str] = MappingProxyType({}),
    **options: str,
) -> App:
    """The store of ROOT/project, wired as a command would; `options` are MEMDIR_<NAME>."""
    environ = {
        "HOME": f"{root}/home",
        "MEMDIR_STATE_DIR": f"{root}/state",
        "MEMDIR_MANAGED_SETTINGS": f"{root}/none.json",
        **ENVIRONMENT.get(operation, {}),
        **more,
        **{f"MEMDIR_{name.upper()}": value for name, value in options.items()},
    }
    config = read_config(environ, f"{root}/project", scope=scope)
    return open_app(config, now=lambda: now, tell=tell)


class World(NamedTuple):
    """What can be done, and how the store for it is opened."""

    operations: dict[str, Operation]
    open_root: Callable[..., App]


WORLD = World(OPERATIONS, open_root)


def perform(
    root: str,
    operation: str,
    said: list[str],
    acknowledge: Callable[[list[str]], object],
    world: World = WORLD,
) -> int:
    """Run one operation between two markers; what it says to the person is added to `said`."""
    app = world.open_root(root, said.append, operation)
    os.getpgid(0)
    try:
        if ANSWER_FIRST:
            acknowledge([])
        done = world.operations[operation](app)
        if not ANSWER_FIRST:
            acknowledge(changed(done))
            os.path.exists(root)  # the last point: killed here, the change is acknowledged
        code = DONE
    except MemdirError as error:
        said.append(f"refused: {error.message} [next: {error.next}]")
        code = REFUSED
    except BaseException:
        said.append("crashed: " + traceback.format_exc())
        code = CRASHED
    os.getpgid(0)
    return code


def changed(done: Done) -> list[str]:
    """The memories that an answer says were changed."""
    return [change.path for change in done.changes if change.changed]


def answer(paths: list[str]) -> bytes:
    return " ".join((ACK, *paths)).encode() + b"\n"


def run_once(root: str, operation: str, world: World = WORLD) -> int:
    """The whole process: acknowledgement to ROOT.ack, words to ROOT.said."""
    handle = os.open(f"{root}.ack", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    said: list[str] = []
    code = perform(root, operation, said, lambda paths: os.write(handle, answer(paths)), world)
    with open(f"{root}.said", "w", encoding="utf-8") as file:
        file.write("\n".join(said))
    return code


def forget_how_old_files_are() -> None:
    """Else how often files are read would depend on how many milliseconds old they are."""
    from memdir.store import history

    history.TICK_NS = ENDLESS_NS


def main(arguments: list[str]) -> int:
    from tests.faults import defects

    root, operation = arguments
    if os.environ.get("MEMDIR_FAULTS_ENDLESS"):
        forget_how_old_files_are()
    defects.switch_off(os.environ.get("MEMDIR_DEFECT", ""))
    return run_once(root, operation)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
