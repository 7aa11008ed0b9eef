"""Every change of a store of memories, and the stores and texts that the changes start from."""

import os

from memdir.capture import capture as capture_module
from memdir.capture import inbox, plan, review
from memdir.capture.signals import Catch, Origin
from memdir.clients import claude_transcript
from memdir.config.config import read_config
from memdir.errors import Conflict, Missing, Unwritable
from memdir.format.draft import Change, Draft, Revision, Wishes, content_hash
from memdir.hot.disk import disk_failure
from memdir.hot.queue import Queue
from memdir.memory_tool import MemoryTool
from memdir.share.share import share_memories
from memdir.store import changes, purge
from memdir.store.ports import ARCHIVE, TRASH
from memdir.store.writer import App, Done, open_app
from memdir.upkeep.restructure import restructure_store
from tests.faults import driver, trees
from tests.faults.checker import MemoryView
from tests.faults.driver import NOW, Operation, World
from tests.helpers.tables import table

TEXTS = table("faults", "texts")
ZETA = ("Zeta, the older version.", "Zeta, the newer version.\n" + "Z" * 3000)
LINE = (
    '{{"type":"user","uuid":"m{0}","cwd":"/p","timestamp":"2026-02-25T12:00:00Z",'
    '"message":{{"role":"user","content":"{1}"}}}}\n'
)


def texts_of(name: str) -> dict[str, str]:
    return {path: text + more * n + "\n" for path, (text, more, n) in table("faults", name).items()}


MEMORIES = texts_of("memories")

# -- the operations ----------------------------------------------------------------------------


def save(app: App, name: str, text: str, description: str = "", **more: str | None) -> Done:
    """As it is, whatever the checks of a draft would advise."""
    draft = Draft(text, name=name, description=description or name, **more)
    return changes.save_memory(app, draft, Wishes(anyway=True))


def create(app: App) -> Done:
    text = "The build needs the flag --frozen, or it fails on the second run.\n\n" + "C" * 9000
    return save(app, "gamma", text, "third memory", type="reference")


def update(app: App) -> Done:
    """With the hash of the version that was read, as a careful client does it."""
    text = "Beta was moved to the second region.\n\n" + "b" * 5000
    read = content_hash(MEMORIES["beta.md"].encode())
    return save(app, "beta", text, "second memory, changed", expected=read)


def edit(app: App) -> Done:
    fields = (("description", "second memory, with other words"),)
    return changes.edit_memory(app, "beta", Revision("", fields), Wishes(anyway=True))


def bring(app: App) -> Done:
    texts = texts_of("brought").items()
    return changes.import_into_store(app, [(path, text.encode()) for path, text in texts])


def commit(app: App) -> Done:
    """What the worker behind a hook does: commit what others did."""
    app.snapshot()
    return Done(())


def capture(app: App) -> Done:
    """A conversation that asks for one memory and wants another gone: a batch of two."""
    path = f"{app.config.home}/{TEXTS['transcript']}"
    reader = claude_transcript.open_reader(app.config.home, {})  # our own code is on no broken disk
    outcome = capture_module.capture(app, plan.Request(path, "s1"), reader)
    names = [entry.name for entry in outcome.decided if entry.what == "saved"]
    return Done(tuple(Change("created", name, f"{name}.md") for name in names))


def enqueue(app: App) -> Done:
    """What a hook does at the end of a turn; there a log line takes the place of the sentence."""
    state = app.config.state_dir
    try:
        if not Queue(state).add(TEXTS["request"].encode()):
            raise Unwritable("the line was not added", next="the log says why")
    except OSError as error:
        raise disk_failure(error, state, "the line cannot be added; nothing was written") from None
    return Done(())


def share(app: App) -> Done:
    """Three memories of another store, two of them into folders."""
    root = os.path.dirname(app.config.home)
    other = read_config(driver.environment(root), app.config.checkout, dir=f"{root}/home/other")
    source = open_app(other, now=app.now, tell=app.tell)
    return share_memories(source, app, ["alpha-2", "beta-2", "deep/delta-2"])


def rename(old: str, new: str) -> Operation:
    """As an agent renames a file or a folder."""
    given = {"old_path": f"/memories/{old}", "new_path": f"/memories/{new}"}

    def act(app: App) -> Done:
        answer = MemoryTool(app).call({"command": "rename", **given})
        if answer.is_error:
            gone = f"{old} does not exist" in answer.text
            raise (Missing if gone else Unwritable)(answer.text)
        return Done(())

    return act


def approve(app: App) -> Done:
    """A draft that waits for a person becomes a memory, and leaves the list."""
    if not (held := review.find_held_drafts(app, (), True)):
        raise Missing("no draft waits")
    [settled] = review.approve_held_drafts(app, held, Wishes(anyway=True))
    if not settled.how:
        raise Unwritable(settled.done.changes[0].reason)
    return settled.done


def later(app: App) -> Done:
    return save(app, "later", "A later memory.")


OPERATIONS = {
    "create": create,
    "first": create,
    "update": update,
    "keep-old": update,
    "edit": edit,
    "touch": lambda app: changes.touch_memories(app, ["alpha", "beta"]),
    "retire": lambda app: changes.retire_memories(app, ["beta"], TRASH),
    "archive": lambda app: changes.retire_memories(app, ["beta", "delta"], ARCHIVE),
    "restore": lambda app: changes.restore_memories(app, ["zeta"]),
    "purge": lambda app: purge.purge_memories(app, ["zeta"]),
    "undo": review.undo_and_hold_again,
    "rebuild": changes.rebuild_memory_index,
    "standalone": create,
    "import": bring,
    "share": share,
    "rename": rename("alpha.md", "omega.md"),
    "folder": rename("deep", "deeper"),
    "approve": approve,
    "restructure": lambda app: restructure_store(app)[1],
    "recovery": later,
    "commit": commit,
    "capture": capture,
    "enqueue": enqueue,
}

# -- what lies there before --------------------------------------------------------------------


def store_of(root: str) -> str:
    return WORLD.open(root).config.store


def plant(root: str, files: dict[str, str]) -> None:
    """Write files into the store as somebody else does: in place, readable for all."""
    for path, text in files.items():
        write_in(store_of(root), path, text, 0o644)


def write_in(folder: str, path: str, text: str, mode: int = 0o600) -> None:
    os.makedirs(os.path.dirname(f"{folder}/{path}"), exist_ok=True)
    trees.write(f"{folder}/{path}", text.encode(), mode)


def drop(root: str, *paths: str) -> None:
    for path in paths:
        os.unlink(os.path.join(store_of(root), path))


def prepare(root: str, operation: str) -> None:
    """Lay out what an operation needs: alpha, beta, deep/delta, a hand-kept index, a history."""
    trees.make_root(root)
    if operation == "first":
        return
    if operation == "standalone":
        plant(root, {"MEMORY.md": TEXTS["standalone"]})
        return
    plant(root, {**MEMORIES, "MEMORY.md": TEXTS["index"]})
    WORLD.open(root, operation, now=NOW - 900).snapshot()
    if operation in ("restore", "purge"):  # two versions of one memory on the shelf
        app = WORLD.open(root, now=NOW - 600)
        for text in ZETA:
            save(app, "zeta", text, "retired twice in the past")
            changes.retire_memories(app, ["zeta"])
    elif operation == "undo":
        drop(root, *MEMORIES)
    elif operation == "rebuild":
        plant(root, {"omega.md": TEXTS["orphan"]})
        drop(root, "deep/delta.md")
    elif operation == "commit":
        edited = MEMORIES["alpha.md"] + "\nA line added by an editor.\n"
        plant(root, {"alpha.md": edited, "omega.md": TEXTS["orphan"]})
        drop(root, "beta.md")
    elif operation == "recovery":  # debris, an index behind the files, a change not committed
        debris = TEXTS["debris"]
        plant(root, {debris: "half a memo", f"deep/{debris}": "half", "omega.md": TEXTS["orphan"]})
        drop(root, "deep/delta.md")
        announced = f"{WORLD.open(root).history.folder}/announced"
        trees.write(announced, TEXTS["accident"].encode(), 0o644)
    elif operation == "capture":
        lines = [LINE.format(number, text) for number, text in enumerate(TEXTS["said"])]
        write_in(f"{root}/home", TEXTS["transcript"], "".join(lines))
    elif operation == "share":
        for path, text in MEMORIES.items():
            text = text.replace("name: ", "name: another-")
            write_in(f"{root}/home/other", path.replace(".md", "-2.md"), text)
    elif operation == "approve":
        draft = Draft(TEXTS["waiting"], name="waiting", description="a draft that waits")
        app = WORLD.open(root, operation)
        inbox.open_inbox(app).hold(Catch(Origin("claude-code", "s1", "m1"), draft), "ask", NOW)
    elif operation == "restructure":
        plant(root, {"MEMORY.md": TEXTS["index"] + TEXTS["inline"]})
    elif operation == "enqueue":
        trees.write(f"{root}/state/queue", f"{TEXTS['requested']}\n".encode())


WORLD = World(
    scope="project",
    view=MemoryView,
    operations=OPERATIONS,
    prepare=prepare,
    later=lambda app: save(app, "afterwards", "A later memory."),
    new="afterwards.md",
    rebuild=changes.rebuild_memory_index,
    again=frozenset(OPERATIONS) - {"commit", "recovery"},
    is_right=lambda error: (
        isinstance(error, (Missing, Conflict)) or "stands there now" in str(error)
    ),
    # Where nothing remembers old versions, they go to the trash.
    # A catalog is derived, and lies where the checker wants nothing to be written.
    environment={"keep-old": {"MEMDIR_HISTORY": "false"}, "capture": {"MEMDIR_SEARCH": "scan"}},
)
