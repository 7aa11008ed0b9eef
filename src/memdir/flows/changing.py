"""Everything that changes a store: lock, commit what others did, act, tell, commit ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from memdir.adapters.wrappers.dry_run import DryRun
from memdir.adapters.wrappers.old_archive import OldArchive
from memdir.app import App, Desk, Done, Told
from memdir.core import dates, history, naming
from memdir.core.draft import REBUILT, SKIPPED, Change, Draft, Wishes
from memdir.core.errors import BadInput, MemdirError, Missing, Unwritable
from memdir.core.history import Logged
from memdir.core.matching import spread
from memdir.core.memory import Memory, read_memory, stem
from memdir.core.ports import ARCHIVE, TRASH, Shelved, Store
from memdir.core.revision import Revision
from memdir.core.scope import RECORDS
from memdir.flows.ignoring import ignored
from memdir.flows.reading import expired_trash, find_all, readable_log, shelved
from memdir.flows.reopening import reopen_drafts
from memdir.steps.adopt import adopt
from memdir.steps.edit import edit as edit_step
from memdir.steps.index import index
from memdir.steps.purge import purge as purge_step
from memdir.steps.restore import restore as restore_step
from memdir.steps.retire import retire as retire_step
from memdir.steps.save import save as save_step
from memdir.steps.undo import Plan
from memdir.steps.undo import undo as undo_step


def _untold(done: Done) -> None:
    """For callers that only want the answer."""


def save(app: App, draft: Draft, wishes: Wishes, told: Told = _untold, reason: str = "") -> Done:
    """save → index"""

    def act(desk: Desk) -> list[Change]:
        desk.cause = replace(desk.cause, reason=reason)
        before = _memory(desk.store, draft.name + ".md") if draft.name else None
        change = save_step(draft, desk.store, app.rules(), wishes)
        desk.remarks += change.remarks
        _index(app, desk, [change], before)
        desk.remarks += ignored(app, [change.path] if change.changed else [])
        return [change]

    return app.change("save", act, told)


def edit(app: App, name: str, revision: Revision, wishes: Wishes, told: Told = _untold) -> Done:
    """edit → index"""

    def act(desk: Desk) -> list[Change]:
        memory = find_all(desk.store, [name])[0]
        change = edit_step(replace(revision, path=memory.path), desk.store, app.rules(), wishes)
        return _index(app, desk, [change], memory)

    return app.change("edit", act, told)


def touch(app: App, names: Sequence[str], told: Told = _untold) -> Done:
    """edit → index: these memories were looked at and still hold"""

    def act(desk: Desk) -> list[Change]:
        rules = app.rules()
        seen = (("last_verified", dates.iso_time(rules.now)),)
        wanted = spread(names, desk.store.files())
        paths = dict.fromkeys(memory.path for memory in find_all(desk.store, wanted))
        desk.plan = list(paths)
        changes = [edit_step(Revision(p, seen), desk.store, rules, Wishes()) for p in paths]
        return _index(app, desk, changes)

    return app.change("touch", act, told)


def retire(
    app: App, names: Sequence[str], room: str = TRASH, reason: str = "", told: Told = _untold
) -> Done:
    """retire → index: into the trash, or into the archive for ever"""

    def act(desk: Desk) -> list[Change]:
        desk.cause = replace(desk.cause, reason=reason)
        wanted = spread(names, desk.store.files())
        paths = dict.fromkeys(memory.path for memory in find_all(desk.store, wanted))
        desk.plan, now = list(paths), app.now()
        done = [retire_step(path, desk.store, desk.shelf, now, room) for path in paths]
        return _index(app, desk, done)

    return app.change("archive" if room == ARCHIVE else "retire", act, told)


def restore(app: App, names: Sequence[str], told: Told = _untold) -> Done:
    """restore → index → off the shelf"""

    def act(desk: Desk) -> list[Change]:
        everything = shelved(app)
        wanted = spread(names, [one.path for one in everything])
        chosen = list(dict.fromkeys(_find_shelved(everything, name)[0] for name in wanted))
        shelf = OldArchive(desk.shelf, desk.store)
        desk.plan = [one.path for one in chosen]
        dry = DryRun(desk.store)  # all can be restored, or nothing is
        for one in chosen:
            restore_step(one, dry, shelf)
        done = [restore_step(one, desk.store, shelf) for one in chosen]
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
        everything = shelved(app)
        doomed = [one for name in names for one in _find_shelved(everything, name)]
        doomed += expired_trash(app) if expired else []
        return purge_step(dict.fromkeys(doomed), OldArchive(desk.shelf, desk.store))

    return app.change("purge", act, told)


def undo(
    app: App, change: str = "", batch: str = "", since: float | None = None, told: Told = _untold
) -> Done:
    """undo → index, unless the index itself was put back; drafts that were approved wait again"""
    explicit = bool(change or batch or since is not None)

    def act(desk: Desk) -> list[Change]:
        # What others did last is what may be undone.
        if not app.dry_run:
            app.history.catch_up(app.store)
        elif not explicit:
            unseen = app.history.unseen(app.store)
            if unseen:
                desk.remarks.append("this takes back what others did since the last change")
                return _put_back(app, desk, unseen)
        done: list[Change] = []
        passed: set[str] = set()
        while not done:
            log = (one for one in readable_log(app, since) if one.id not in passed)
            chosen = history.to_undo(log, change, batch, since, app.now())
            done = _take_back(app, desk, chosen, explicit)
            passed.update(logged.id for logged in chosen)
        desk.remarks += reopen_drafts(app, desk.undone)
        return done

    return app.change(history.UNDO, act, told)


def rebuild_index(app: App, told: Told = _untold) -> Done:
    """index: in step with the files, every line that is not ours kept"""

    def act(desk: Desk) -> list[Change]:
        path = desk.store.index_path
        changed = _bring_in_step(app, desk, anew=True)
        return [Change(REBUILT if changed else SKIPPED, stem(path), path)]

    return app.change("index", act, told)


def bring_in(
    app: App, files: Sequence[tuple[str, bytes]], told: Told = _untold, *, origin: str = ""
) -> Done:
    """adopt, each → index; one batch, one undo; the history tells the origin"""

    def act(desk: Desk) -> list[Change]:
        rules = app.rules()
        reason = f"from {origin}" if origin else ""
        desk.cause = replace(desk.cause, batch=f"import-{int(rules.now)}", reason=reason)
        desk.plan = [path for path, _ in files]
        return _index(app, desk, [adopt(path, data, desk.store, rules) for path, data in files])

    return app.change("import", act, told)


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


def _take_back(app: App, desk: Desk, chosen: list[Logged], explicit: bool) -> list[Change]:
    """Undo these; nothing, where an undo that was cut off had done all of it already."""
    ids = tuple(logged.id for logged in chosen)
    what = f"{chosen[0].cause.verb} {chosen[0].cause.name}".strip()
    more = f" and {len(chosen) - 1} more" if len(chosen) > 1 else ""
    desk.cause = replace(desk.cause, name=what + more, undoes=ids)
    desk.undone[:] = chosen
    if not app.dry_run:
        # Killed on the way, it has taken nothing back yet: the next undo completes it.
        app.history.announce(app.store, replace(desk.cause, undoes=()))
    plan = Plan(desk.plan)
    try:
        done = undo_step(chosen, desk.store, app.history, plan)
    except Missing:
        if explicit:
            raise
        return []
    # They see to the index themselves: before them, the index was as it was.
    alone = all(logged.cause.verb in ("restructure", "dream") for logged in chosen)
    if plan.merged or (desk.store.index_path not in plan.files and not alone):
        _bring_in_step(app, desk)
    if plan.merged:
        desk.remarks.append(f"{done[-1].path} {done[-1].reason}; its pointers are in step")
    return done


def _bring_in_step(app: App, desk: Desk, *, anew: bool = False) -> bool:
    """The index by the rules of its layout; True where it had to change."""
    if app.config.layout == RECORDS:
        from memdir.flows.records.indexing import bring_in_step  # no other change needs records

        return bring_in_step(desk.store)
    done = index(desk.store, app.rules(), anew=anew)
    desk.remarks += done.remarks() if anew else []
    return done.changed


def _put_back(app: App, desk: Desk, paths: Iterable[str]) -> list[Change]:
    """What stood at these paths when the history last saw them."""
    newest = next(app.history.log()).id
    for path in paths:
        data = app.history.content(newest, path)
        if data is not None:
            desk.store.put(path, data)
        elif desk.store.exists(path):
            desk.store.drop(path)
    return [Change(history.UNDO, stem(path), path) for path in paths]


def _named(desk: Desk, changes: list[Change]) -> list[Change]:
    """Let the history call the change by what was changed."""
    names = [change.name for change in changes if change.changed]
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    desk.cause = replace(desk.cause, name=names[0] + more if names else "")
    return changes


def _memory(store: Store, path: str) -> Memory | None:
    """The memory at that very path, if there is one."""
    try:
        return read_memory(path, store.read(path), 0)
    except (BadInput, Missing, ValueError):
        return None  # whoever wants to write there hears what is wrong with the name


def _find_shelved(everything: Sequence[Shelved], name: str) -> list[Shelved]:
    """What of the shelves has that name, the newest first."""
    path = naming.find_path(name, [one.path for one in everything])
    return [one for one in everything if one.path == path]
