"""One operation on one store through the real flows: the process that the harnesses break.

    python -I -S tests/faults/driver.py ROOT OPERATION

ROOT holds home/, project/ and state/. Two `getpgid` calls mark where the operation begins and
ends; `told` (called when the change is written and in the history) acknowledges it in the
file ROOT.ack. MEMDIR_DEFECT switches one protection off: see defects.py.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
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
from memdir.store.writer import App, Done, Told, open_app  # noqa: E402
from tests.faults import texts  # noqa: E402

NOW = 1_772_020_800.0  # the clock of every operation: bytes must not depend on the day
DONE, REFUSED, CRASHED = 0, 1, 3
ENDLESS_NS = 10**18
ACK = "ACK"

AS_IT_IS = Wishes(anyway=True)
Operation = Callable[[App, Told], object]


def create(app: App, told: Told) -> None:
    draft = Draft(texts.CREATED, name="gamma", type="reference", description="third memory")
    changes.save(app, draft, AS_IT_IS, told)


def update(app: App, told: Told) -> None:
    """With the hash of the version that was read, as a careful client does it."""
    read = hash_of(texts.MEMORIES["beta.md"].encode())
    draft = Draft(texts.UPDATED, name="beta", description="second memory, changed", expected=read)
    changes.save(app, draft, AS_IT_IS, told)


def edit(app: App, told: Told) -> None:
    fields = (("description", "second memory, with other words"),)
    changes.edit(app, "beta", Revision("", fields), AS_IT_IS, told)


def touch(app: App, told: Told) -> None:
    changes.touch(app, ["alpha", "beta"], told)


def retire(app: App, told: Told) -> None:
    changes.retire(app, ["beta"], TRASH, told=told)


def archive(app: App, told: Told) -> None:
    changes.retire(app, ["beta", "delta"], ARCHIVE, told=told)


def restore(app: App, told: Told) -> None:
    changes.restore(app, ["zeta"], told)


def purge(app: App, told: Told) -> None:
    changes.purge(app, ["zeta"], told=told)


def undo(app: App, told: Told) -> None:
    told(review.undo_changes(app))


def rebuild(app: App, told: Told) -> None:
    changes.rebuild_index(app, told)


def bring(app: App, told: Told) -> None:
    changes.bring_in(app, [(path, text.encode()) for path, text in texts.BROUGHT.items()], told)


def commit(app: App, told: Told) -> None:
    """What the worker behind a hook does: commit what others did."""
    app.snapshot()
    told(Done(()))


def capture(app: App, told: Told) -> None:
    """A conversation that asks for one memory and wants another gone: a batch of two."""
    path = f"{app.config.home}/{texts.TRANSCRIPT}"
    reader = claude_code.open_reader(app.config.home, {})  # our own code is on no broken disk
    outcome = capture_module.capture(app, plan.Request(path, "s1"), reader)
    paths = [f"{entry.name}.md" for entry in outcome.decided if entry.what == "saved"]
    told(Done(tuple(Change("created", path[:-3], path) for path in paths)))


def enqueue(app: App, told: Told) -> None:
    """What a hook does at the end of a turn; there a log line takes the place of the sentence."""
    state = app.config.state_dir
    try:
        if not Queue(state).add(texts.REQUEST):
            raise Unwritable("the line was not added", next="the log says why")
    except OSError as error:
        raise failure(error, state, "the line cannot be added; nothing was written") from None
    told(Done(()))


def later(app: App, told: Told, name: str = "later") -> None:
    """The next write: whatever happened before, it must work and bring all in step."""
    draft = Draft(texts.LATER, name=name, description=f"written {name}")
    changes.save(app, draft, AS_IT_IS, told)


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
    root: str, tell: Callable[[str], None], operation: str = "", now: float = NOW, **options: str
) -> App:
    """The store of ROOT/project, wired as a command would; `options` are MEMDIR_<NAME>."""
    environ = {
        "HOME": f"{root}/home",
        "MEMDIR_STATE_DIR": f"{root}/state",
        "MEMDIR_MANAGED_SETTINGS": f"{root}/none.json",
        **ENVIRONMENT.get(operation, {}),
        **{f"MEMDIR_{name.upper()}": value for name, value in options.items()},
    }
    return open_app(read_config(environ, f"{root}/project"), now=lambda: now, tell=tell)


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
        world.operations[operation](app, lambda done: acknowledge(changed(done)))
        code = DONE
    except MemdirError as error:
        said.append(f"refused: {error.message} [next: {error.next}]")
        code = REFUSED
    except BaseException:
        said.append("crashed: " + traceback.format_exc())
        code = CRASHED
    os.getpgid(0)
    return code


def changed(done: object) -> list[str]:
    """The memories that an answer says were changed; a broken store may answer with nothing."""
    return [change.path for change in getattr(done, "changes", ()) if change.changed]


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
