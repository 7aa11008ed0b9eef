"""Save, edit, touch, retire, archive, restore, purge, import."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from memdir.errors import BadInput, MemdirError, Missing, Unwritable
from memdir.format import names
from memdir.format.draft import (
    ARCHIVED,
    CREATED,
    PURGED,
    REBUILT,
    RESTORED,
    RETIRED,
    SKIPPED,
    UPDATED,
    Change,
    Draft,
    Revision,
    Rules,
    Wishes,
    hash_of,
)
from memdir.format.names import spread
from memdir.format.pointer import write_pointer
from memdir.hot import memory, safe
from memdir.hot.memory import INDEX, TEAM, Memory, is_of_records, read_memory, stem
from memdir.hot.place import RECORDS
from memdir.store import ports
from memdir.store.keep_index import index
from memdir.store.look import expired_trash, find_all, shelved
from memdir.store.ports import ARCHIVE, TRASH, Logged, Shelf, Shelved, Store
from memdir.store.save import adopt
from memdir.store.save import edit as edit_step
from memdir.store.save import save as save_step
from memdir.store.trash import OldArchive
from memdir.store.undo import Plan
from memdir.store.undo import undo as undo_step
from memdir.store.writer import App, Desk, Done, Told
from memdir.text import secrets

# Whether git carries what a shared store holds, or leaves some of it out.


def ignored(app: App, paths: Sequence[str]) -> list[str]:
    """Remarks on those of these files that others are to get and git leaves out."""
    if not is_for_others(app) or not paths:
        return []
    # Only a shared store asks git; the others need not load what asking takes.
    from memdir.store.commit_times import find_ignored, find_repository

    if not find_repository(app.store.root):
        alone = app.config.scope.kind == "local"
        return ["there is no git repository here, so nobody else gets it"] if alone else []
    found = find_ignored(app.store.root, [*paths, app.store.index_path])
    if not found:
        return []
    named = ", ".join(sorted(found)[:3]) + (f" and {len(found) - 3} more" * (len(found) > 3))
    why = "git check-ignore -v says why"
    return [f"git ignores {named}: others who have this repository do not get it; {why}"]


def is_for_others(app: App) -> bool:
    """True where others are to get what is saved; a local agent's memory is nobody else's."""
    scope = app.config.scope
    return app.config.shared and not (scope.kind == "agent" and scope.place == "local")


# Take memories off their shelf for good.


def purge_memory(doomed: Iterable[Shelved], shelf: Shelf) -> list[Change]:
    """Remove these copies; what the history keeps is not touched."""
    changes = []
    for item in doomed:
        shelf.clear(item)
        changes.append(Change(PURGED, stem(item.path), item.path))
    return changes


# Bring a shelved memory back to where it was.


def restore_memory(shelved: Shelved, store: Store, shelf: Shelf) -> Change:
    """Write the memory back; a memory that has taken its place meanwhile is not overwritten."""
    data = shelf.read(shelved)
    path = shelved.path
    try:
        standing = store.read(path)
    except Missing:
        store.put(path, data)
        return Change(RESTORED, stem(path), path, hash_of(data))
    if standing == data:
        return Change(SKIPPED, stem(path), path, hash_of(data), "it is there already, the same")
    raise BadInput(
        f"{path}: another memory stands there now; it is not overwritten",
        path=path,
        next=f"retire that one first: memdir retire {stem(path)}",
    )


# Retire or archive a memory: out of the store, onto a shelf, whole.


def retire_memory(path: str, store: Store, shelf: Shelf, now: float, room: str = TRASH) -> Change:
    """Copy to the shelf first, then take the file away: at no moment is it in neither place."""
    if path == INDEX and room == ARCHIVE:
        raise BadInput(
            f"{INDEX} is this store's only memory and its index; it cannot be archived",
            path=path,
            next="keep it, or retire it: memdir retire MEMORY.md",
        )
    data = store.read(path)
    shelf.lay(room, path, data, now)
    store.drop(path)
    return Change(ARCHIVED if room == ARCHIVE else RETIRED, stem(path), path, hash_of(data))


# Everything that changes a store: lock, commit what others did, act, tell, commit ours.


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
        seen = (("last_verified", safe.iso_time(rules.now)),)
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
        done = [retire_memory(path, desk.store, desk.shelf, now, room) for path in paths]
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
        from memdir.store.dry_run import DryRun

        dry = DryRun(desk.store)  # all can be restored, or nothing is
        for one in chosen:
            restore_memory(one, dry, shelf)
        done = [restore_memory(one, desk.store, shelf) for one in chosen]
        _index(app, desk, done)
        try:
            purge_memory(chosen, shelf)
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
        return purge_memory(dict.fromkeys(doomed), OldArchive(desk.shelf, desk.store))

    return app.change("purge", act, told)


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
        from memdir.records.index_md import bring_in_step  # no other change needs records

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
    return [Change(ports.UNDO, stem(path), path) for path in paths]


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
    path = names.find_path(name, [one.path for one in everything])
    return [one for one in everything if one.path == path]


# Move a file of a store to another path, whole: at no moment is it in neither place.


def move(path: str, to: str, store: Store) -> Change:
    """The same bytes under the new path; the line of the index that led to it leads there."""
    data = store.read(path)
    store.put(to, data)
    store.drop(path)
    if store.is_memory(path) and store.is_memory(to):
        _lead_on(store, read_memory(path, data, 0), read_memory(to, data, 0))
    return Change(UPDATED, stem(to), to, hash_of(data), remarks=(f"renamed from {path}",))


def _lead_on(store: Store, before: Memory, after: Memory) -> None:
    """A line that a person wrote keeps its words; ours is written anew, in its place."""
    try:
        text = memory.decode(store.index() or b"")
    except MemdirError:
        return  # an index that cannot be read is reported when it is brought in step
    ours, mark = _line(before), f"]({before.path})"
    lines = [
        _line(after) if line.rstrip() == ours else line.replace(mark, f"]({after.path})")
        for line in text.split("\n")
    ]
    if "\n".join(lines) != text:
        store.put(store.index_path, memory.encode("\n".join(lines)))


def _line(memory: Memory) -> str:
    return write_pointer(names.title_for(memory), memory.path, memory.description)


# Write a file of a store as it was given: an agent's own file, not a draft that we complete.


def write(path: str, data: bytes, store: Store, rules: Rules, wishes: Wishes) -> Change:
    """Put these bytes there, whatever stood there; a refusal is a value."""
    try:
        old: bytes | None = store.read(path)
    except Missing:
        old = None
    if data == old:
        return Change(SKIPPED, stem(path), path, hash_of(data), "it says exactly this already")
    reason = _refused_place(path, new=old is None)
    reason = reason or _refused_text(path, data, old or b"", rules, wishes)
    if reason:
        return Change(SKIPPED, stem(path), path, reason=reason)
    store.put(path, data)
    return Change(CREATED if old is None else UPDATED, stem(path), path, hash_of(data))


def _refused_place(path: str, *, new: bool) -> str:
    *folders, name = path.split("/")
    if new and path != INDEX and path.lower() == INDEX.lower():
        return f"some systems take it for {INDEX}, the index; choose another name"
    if any(part[:1] == "." for part in (*folders, name)):
        return "a hidden file is no memory; choose a name without a leading dot"
    if any(folder[-3:].lower() == ".md" for folder in folders):
        return "a folder cannot be called .md"
    if folders and folders[0].lower() == TEAM:
        return "the folder team is another store; it is written through its own scope"
    return "it is the place of a structured record" if is_of_records(path) else ""


def _refused_text(path: str, data: bytes, old: bytes, rules: Rules, wishes: Wishes) -> str:
    if len(data) > rules.max_file_bytes:
        return f"it would have {len(data):,} bytes (limit: {rules.max_file_bytes:,})"
    if wishes.secret and not rules.shared:
        return ""
    if found := secrets.find_secrets(path):
        return f"its name holds what looks like a secret ({found[0].rule})"
    # What stood there before is not this writer's doing, and may be what the change takes out.
    new = _secret_lines(data).difference(_secret_lines(old))
    if not new:
        return ""
    rule, _ = min(new)
    shared = "; this store is shared with others" if rules.shared else ""
    return f"it holds what looks like a secret ({rule}){shared}. Say where to find it instead"


def _secret_lines(data: bytes) -> set[tuple[str, str]]:
    text = memory.decode(data)
    lines = text.split("\n")
    return {(one.rule, lines[one.line - 1]) for one in secrets.find_secrets(text)}
