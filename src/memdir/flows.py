"""The sequences: what happens, in which order, when somebody asks for something.

Every change goes through `App.change`: lock, commit what others did, act, tell, commit ours.
Reading takes no lock and waits for nobody.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import replace

from memdir.adapters.wrappers.old_archive import OldArchive
from memdir.app import App, Desk, Done, Told
from memdir.core import dates, frontmatter, history, loading, naming
from memdir.core import index as index_text
from memdir.core.draft import REBUILT, SKIPPED, Change, Draft, Wishes
from memdir.core.errors import BadInput, MemdirError, Missing, Unwritable
from memdir.core.finding import Finding
from memdir.core.frontmatter import Document
from memdir.core.history import Logged
from memdir.core.listing import Listed, list_by_age
from memdir.core.memory import Memory, read_memory, stem
from memdir.core.ports import ARCHIVE, TRASH, Shelved, Store
from memdir.core.revision import Revision
from memdir.steps.adopt import adopt
from memdir.steps.edit import edit as edit_step
from memdir.steps.gather import Files, gather
from memdir.steps.index import index
from memdir.steps.purge import purge as purge_step
from memdir.steps.restore import restore as restore_step
from memdir.steps.retire import retire as retire_step
from memdir.steps.save import save as save_step
from memdir.steps.undo import undo as undo_step

KEPT_NEWEST = 100  # trashed memories that no date alone can expire: clocks jump
DAY = 86_400  # seconds


def _untold(done: Done) -> None:
    """For callers that only want the answer."""


# -- changing ------------------------------------------------------------------------------


def save(app: App, draft: Draft, wishes: Wishes, told: Told = _untold) -> Done:
    """save → index"""

    def act(desk: Desk) -> list[Change]:
        before = _memory(desk.store, draft.name + ".md") if draft.name else None
        change = save_step(draft, desk.store, app.rules(), wishes)
        desk.remarks += change.remarks
        return _index(app, desk, [change], before)

    return app.change("save", act, told)


def edit(app: App, name: str, revision: Revision, wishes: Wishes, told: Told = _untold) -> Done:
    """edit → index"""

    def act(desk: Desk) -> list[Change]:
        memory = _find(desk.store, name)
        change = edit_step(replace(revision, path=memory.path), desk.store, app.rules(), wishes)
        return _index(app, desk, [change], memory)

    return app.change("edit", act, told)


def touch(app: App, names: Sequence[str], told: Told = _untold) -> Done:
    """edit: these memories were looked at and still hold"""

    def act(desk: Desk) -> list[Change]:
        rules = app.rules()
        seen = (("last_verified", dates.iso_time(rules.now)),)
        paths = dict.fromkeys(_find(desk.store, name).path for name in names)
        changes = [edit_step(Revision(p, seen), desk.store, rules, Wishes()) for p in paths]
        return _named(desk, changes)

    return app.change("touch", act, told)


def retire(
    app: App, names: Sequence[str], room: str = TRASH, reason: str = "", told: Told = _untold
) -> Done:
    """retire → index: into the trash, or into the archive for ever"""

    def act(desk: Desk) -> list[Change]:
        desk.cause = replace(desk.cause, reason=reason)
        paths = dict.fromkeys(_find(desk.store, name).path for name in names)
        now = app.now()
        done = [retire_step(path, desk.store, desk.shelf, now, room) for path in paths]
        return _index(app, desk, done)

    return app.change("archive" if room == ARCHIVE else "retire", act, told)


def restore(app: App, names: Sequence[str], told: Told = _untold) -> Done:
    """restore → index → off the shelf"""

    def act(desk: Desk) -> list[Change]:
        chosen = list(dict.fromkeys(_find_shelved(app, name)[0] for name in names))
        shelf = OldArchive(desk.shelf, desk.store)
        done = [restore_step(shelved, desk.store, shelf) for shelved in chosen]
        _index(app, desk, done)
        try:
            purge_step(chosen, shelf)
        except MemdirError as error:
            desk.remarks.append(f"a copy stays on the shelf: {error.message}")
        return done

    return app.change("restore", act, told)


def purge(app: App, names: Sequence[str], expired: bool = False, told: Told = _untold) -> Done:
    """purge: off the shelf for good"""

    def act(desk: Desk) -> list[Change]:
        doomed = [shelved for name in names for shelved in _find_shelved(app, name)]
        doomed += expired_trash(app) if expired else []
        return purge_step(dict.fromkeys(doomed), OldArchive(desk.shelf, desk.store))

    return app.change("purge", act, told)


def undo(
    app: App, change: str = "", batch: str = "", since: float | None = None, told: Told = _untold
) -> Done:
    """undo → index, unless the index itself was put back"""

    def act(desk: Desk) -> list[Change]:
        if not app.dry_run:
            app.history.catch_up(app.store)  # what others did last is what may be undone
        chosen = history.to_undo(app.history.log(), change, batch, since)
        ids = tuple(logged.id for logged in chosen)
        what = f"{chosen[0].cause.verb} {chosen[0].cause.name}".strip()
        more = f" and {len(chosen) - 1} more" if len(chosen) > 1 else ""
        desk.cause = replace(desk.cause, name=what + more, undoes=ids)
        if not app.dry_run:
            app.history.announce(app.store, desk.cause)  # killed, it must not look like a change
        done = undo_step(chosen, desk.store, app.history)
        if desk.store.index_path not in [one.path for one in done]:
            index(desk.store, app.rules())
        return done

    return app.change(history.UNDO, act, told)


def rebuild_index(app: App, told: Told = _untold) -> Done:
    """index: in step with the files, every line that is not ours kept"""

    def act(desk: Desk) -> list[Change]:
        done = index(desk.store, app.rules(), anew=True)
        desk.remarks += done.remarks()
        path = desk.store.index_path
        return [Change(REBUILT if done.changed else SKIPPED, stem(path), path)]

    return app.change("index", act, told)


def bring_in(app: App, files: Sequence[tuple[str, bytes]], told: Told = _untold) -> Done:
    """adopt, each → index; one batch, one undo"""

    def act(desk: Desk) -> list[Change]:
        rules = app.rules()
        desk.cause = replace(desk.cause, batch=f"import-{int(rules.now)}")
        return _index(app, desk, [adopt(path, data, desk.store, rules) for path, data in files])

    return app.change("import", act, told)


# -- reading -------------------------------------------------------------------------------


def list_memories(app: App) -> tuple[list[Listed], list[Finding]]:
    """scan, the most recently confirmed first"""
    scan = app.store.scan()
    return list_by_age(scan.memories, app.now()), scan.findings


def show(app: App, name: str) -> tuple[str, bytes, Document]:
    """The path, bytes and document of a memory, or of `name@version`."""
    wanted, mark, version = name.rpartition("@")
    if not mark or not version or version.lower().strip("0123456789abcdef"):
        memory = _find(app.store, name)
        data = app.store.read(memory.path)
        return memory.path, data, frontmatter.read(frontmatter.decode(data))
    logged = app.history.find(version)
    path = naming.find_path(wanted, app.history.paths(logged.id))
    old = app.history.content(logged.id, path) or b""
    return path, old, frontmatter.read(frontmatter.decode(old))


def survey_index(app: App) -> index_text.Survey:
    """What the index points at, and what it misses."""
    scan = app.store.scan()
    names = {memory.name: memory.path for memory in scan.memories}
    text = frontmatter.decode(app.store.index() or b"")
    return index_text.survey(text, app.store.files(), names)


def load(app: App) -> loading.Loaded:
    """The index as an agent gets it; the directory is there before the agent wants to write."""
    if app.config.enabled and app.config.scope.kind == "project" and not app.dry_run:
        app.store.make()
    return loading.load(frontmatter.decode(app.store.index() or b""))


def read_all(app: App, paths: Iterable[str] | None = None) -> tuple[Files, list[Finding]]:
    """gather: the bytes of these memories, or of all with their index"""
    return gather(app.store, paths)


def log(app: App, name: str = "", limit: int | None = None) -> list[Logged]:
    """The changes of this store, or of one memory, the newest first."""
    app.snapshot()
    found: list[Logged] = []
    for logged in app.history.log():
        if limit is not None and len(found) >= limit:
            break
        if not name or any(naming.means(name, path) for _, path in logged.paths):
            found.append(logged)
    return found


def diff(app: App, change: str = "") -> tuple[Logged, list[tuple[str, bytes | None, bytes | None]]]:
    """What one change did (the newest by default): (path, before, after)."""
    app.snapshot()
    logged = app.history.find(change) if change else next(app.history.log(), None)
    if logged is None:
        raise Missing("there is no change yet", next="memdir remember TEXT makes the first one")
    versions = [
        (path, app.history.content(logged.parent, path), app.history.content(logged.id, path))
        for _, path in logged.paths
    ]
    return logged, versions


def shelved(app: App) -> list[Shelved]:
    """Everything that can be restored, the newest first."""
    shelf = OldArchive(app.shelf, app.store)
    rooms = (shelf.list(TRASH), shelf.list(ARCHIVE))
    return list(heapq.merge(*rooms, key=lambda one: -one.time))  # each room keeps its own order


def expired_trash(app: App) -> list[Shelved]:
    """Trash past its days and past the newest hundred: a date alone may be a clock's mistake."""
    limit = app.now() - app.config.options.trash_days * DAY
    return [one for one in app.shelf.list(TRASH)[KEPT_NEWEST:] if one.time < limit]


# -- parts of the above --------------------------------------------------------------------


def _index(
    app: App, desk: Desk, changes: list[Change], before: Memory | None = None
) -> list[Change]:
    """The index after these changes; when it cannot be written, say what stands."""
    _named(desk, changes)
    if not any(change.path for change in changes):
        return changes  # refused; but a change that was made already may lack its pointer
    try:
        indexed = index(desk.store, app.rules(), before)
        desk.remarks += indexed.remarks([change.path for change in changes])
    except MemdirError as error:
        done = ", ".join(f"{change.path} is {change.kind}" for change in changes)
        raise Unwritable(
            f"{done}, but the index is not in step: {error.message}",
            path=error.path,
            next=f"{error.next}; the next change, or memdir index --rebuild, brings it in step",
        ) from None
    return changes


def _named(desk: Desk, changes: list[Change]) -> list[Change]:
    """Let the history call the change by what was changed."""
    names = [change.name for change in changes if change.changed]
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    desk.cause = replace(desk.cause, name=names[0] + more if names else "")
    return changes


def _find(store: Store, name: str) -> Memory:
    scan = store.scan()
    return naming.find(name, scan.memories, scan.findings)


def _memory(store: Store, path: str) -> Memory | None:
    """The memory at that very path, if there is one."""
    try:
        return read_memory(path, store.read(path), 0)
    except (BadInput, Missing, ValueError):
        return None  # whoever wants to write there hears what is wrong with the name


def _find_shelved(app: App, name: str) -> list[Shelved]:
    """What lies on the shelves under that name, the newest first."""
    everything = shelved(app)
    path = naming.find_path(name, [one.path for one in everything])
    return [one for one in everything if one.path == path]
