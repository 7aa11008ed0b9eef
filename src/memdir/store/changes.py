"""Everything that changes memories: save, edit, touch, retire, restore, purge, import, undo."""

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
from memdir.format.names import expand_wildcards
from memdir.format.pointer import write_pointer
from memdir.hot import memory, safe
from memdir.hot.memory import INDEX, TEAM, Memory, is_of_records, read_memory, stem
from memdir.store import ports
from memdir.store.keep_index import index
from memdir.store.look import expired_trash, find_all, is_for_others, shelved
from memdir.store.ports import ARCHIVE, TRASH, Logged, Shelf, Shelved, Store
from memdir.store.save import adopt, write_draft, write_edit
from memdir.store.trash import OldArchive
from memdir.store.undo import Plan, undo
from memdir.store.writer import App, Desk, Done, Told
from memdir.text import secrets


def ignored(app: App, paths: Sequence[str]) -> list[str]:
    """Remarks on those of these files that others are to get and git leaves out."""
    if not is_for_others(app) or not paths:
        return []
    # Only a shared store asks git; the others need not load what asking takes.
    from memdir.store.commit_times import find_ignored, find_repository

    if not find_repository(app.store.root):
        alone = app.config.scope.kind == "local"
        return ["there is no git repository here, so nobody else gets it"] if alone else []
    left_out = sorted(find_ignored(app.store.root, [*paths, app.store.index_path]))
    if not left_out:
        return []
    named = ", ".join(left_out[:3]) + (f" and {len(left_out) - 3} more" * (len(left_out) > 3))
    why = "git check-ignore -v says why"
    return [f"git ignores {named}: others who have this repository do not get it; {why}"]


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


def restore_memory(shelved: Shelved, store: Store, shelf: Shelf) -> Change:
    """Write the memory back; a memory that has taken its place meanwhile is not overwritten."""
    data, path = shelf.read(shelved), shelved.path
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


def _untold(done: Done) -> None:
    """For callers that only want the answer."""


def save(app: App, draft: Draft, wishes: Wishes, told: Told = _untold, reason: str = "") -> Done:
    """A draft as a new memory, or as the next version of the one that has its name."""
    with app.changing("save") as desk:
        desk.cause = replace(desk.cause, reason=reason)
        before = _read_memory(desk.store, draft.name + ".md") if draft.name else None
        change = write_draft(draft, desk.store, app.rules(), wishes)
        desk.remarks += change.remarks
        _finish(app, desk, [change], before)
        desk.remarks += ignored(app, [change.path] if change.changed else [])
    told(desk.done)
    return desk.done


def edit(app: App, name: str, revision: Revision, wishes: Wishes, told: Told = _untold) -> Done:
    """New values or a new text for one memory."""
    with app.changing("edit") as desk:
        memory = find_all(desk.store, [name])[0]
        revision = replace(revision, path=memory.path)
        _finish(app, desk, [write_edit(revision, desk.store, app.rules(), wishes)], memory)
    told(desk.done)
    return desk.done


def touch(app: App, names: Sequence[str], told: Told = _untold) -> Done:
    """These memories were looked at and still hold."""
    with app.changing("touch") as desk:
        rules = app.rules()
        seen = (("last_verified", safe.iso_time(rules.now)),)
        desk.plan = _find_paths(desk, names)
        revisions = [Revision(path, seen) for path in desk.plan]
        _finish(app, desk, [write_edit(item, desk.store, rules, Wishes()) for item in revisions])
    told(desk.done)
    return desk.done


def retire(
    app: App, names: Sequence[str], room: str = TRASH, reason: str = "", told: Told = _untold
) -> Done:
    """Into the trash, or into the archive for ever."""
    with app.changing("archive" if room == ARCHIVE else "retire") as desk:
        desk.cause = replace(desk.cause, reason=reason)
        desk.plan, now = _find_paths(desk, names), app.now()
        done = [retire_memory(path, desk.store, desk.shelf, now, room) for path in desk.plan]
        _finish(app, desk, done)
    told(desk.done)
    return desk.done


def restore(app: App, names: Sequence[str], told: Told = _untold) -> Done:
    """Back from the trash or the archive; all of them, or nothing."""
    with app.changing("restore") as desk:
        everything = shelved(app)
        wanted = expand_wildcards(names, [item.path for item in everything])
        chosen = list(dict.fromkeys(_find_shelved(everything, name)[0] for name in wanted))
        shelf = OldArchive(desk.shelf, desk.store)
        desk.plan = [item.path for item in chosen]
        from memdir.store.dry_run import DryRun

        dry = DryRun(desk.store)
        for item in chosen:
            restore_memory(item, dry, shelf)
        _finish(app, desk, [restore_memory(item, desk.store, shelf) for item in chosen])
        try:
            for item in chosen:
                shelf.clear(item)
        except MemdirError as error:
            desk.remarks.append(f"a copy stays on the shelf: {error.message}")
    told(desk.done)
    return desk.done


def purge(app: App, names: Sequence[str], expired: bool = False, told: Told = _untold) -> Done:
    """Off the shelf for good; what the history keeps is not touched."""
    with app.changing("purge") as desk:
        everything = shelved(app)
        doomed = [item for name in names for item in _find_shelved(everything, name)]
        doomed += expired_trash(app) if expired else []
        shelf = OldArchive(desk.shelf, desk.store)
        for item in dict.fromkeys(doomed):
            shelf.clear(item)
            desk.changes.append(Change(PURGED, stem(item.path), item.path))
    told(desk.done)
    return desk.done


def rebuild_index(app: App, told: Told = _untold) -> Done:
    """The index in step with the files, every line that is not ours kept."""
    with app.changing("index") as desk:
        path = desk.store.index_path
        changed = _keep_index(app, desk, anew=True)
        desk.changes.append(Change(REBUILT if changed else SKIPPED, stem(path), path))
    told(desk.done)
    return desk.done


def bring_in(
    app: App, files: Sequence[tuple[str, bytes]], told: Told = _untold, *, origin: str = ""
) -> Done:
    """Files from elsewhere as they are; one batch, one undo; the history tells the origin."""
    with app.changing("import") as desk:
        rules = app.rules()
        reason = f"from {origin}" if origin else ""
        desk.cause = replace(desk.cause, batch=f"import-{int(rules.now)}", reason=reason)
        desk.plan = [path for path, _ in files]
        _finish(app, desk, [adopt(path, data, desk.store, rules) for path, data in files])
    told(desk.done)
    return desk.done


def _finish(app: App, desk: Desk, changes: list[Change], before: Memory | None = None) -> None:
    """Name the change after what was changed, and keep the index in step with it."""
    desk.changes += changes
    names = [change.name for change in changes if change.changed]
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    desk.cause = replace(desk.cause, name=names[0] + more if names else "")
    if not any(change.path for change in changes):
        return  # refused; but a change that was made already may lack its pointer
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


def _keep_index(app: App, desk: Desk, *, anew: bool = False) -> bool:
    """The index by the rules of its layout; True where it had to change."""
    if isinstance(app.store, ports.IndexKeeper):
        return app.store.keep_index(desk.store)
    done = index(desk.store, app.rules(), anew=anew)
    desk.remarks += done.remarks() if anew else []
    return done.changed


def take_back(app: App, desk: Desk, chosen: list[Logged], explicit: bool) -> list[Change]:
    """Undo these; nothing, where an undo that was cut off had done all of it already."""
    ids = tuple(logged.id for logged in chosen)
    name = f"{chosen[0].cause.verb} {chosen[0].cause.name}".strip()
    more = f" and {len(chosen) - 1} more" if len(chosen) > 1 else ""
    desk.cause = replace(desk.cause, name=name + more, undoes=ids)
    desk.undone[:] = chosen
    if not app.dry_run:
        # Killed on the way, it has taken nothing back yet: the next undo completes it.
        app.history.announce(app.store, replace(desk.cause, undoes=()))
    plan = Plan(desk.plan)
    try:
        done = undo(chosen, desk.store, app.history, plan)
    except Missing:
        if explicit:
            raise
        return []
    # They see to the index themselves: before them, the index was as it was.
    alone = all(logged.cause.verb in ("restructure", "dream") for logged in chosen)
    if plan.merged or (desk.store.index_path not in plan.files and not alone):
        _keep_index(app, desk)
    if plan.merged:
        desk.remarks.append(f"{done[-1].path} {done[-1].reason}; its pointers are in step")
    return done


def put_back(app: App, desk: Desk, paths: Iterable[str]) -> list[Change]:
    """What stood at these paths when the history last saw them."""
    newest = next(app.history.log()).id
    for path in paths:
        data = app.history.content(newest, path)
        if data is not None:
            desk.store.put(path, data)
        elif desk.store.exists(path):
            desk.store.drop(path)
    return [Change(ports.UNDO, stem(path), path) for path in paths]


def _read_memory(store: Store, path: str) -> Memory | None:
    try:
        return read_memory(path, store.read(path), 0)
    except (BadInput, Missing, ValueError):
        return None  # whoever wants to write there hears what is wrong with the name


def _find_paths(desk: Desk, names: Sequence[str]) -> list[str]:
    """The memories that are meant, each once, all or none."""
    memories = find_all(desk.store, expand_wildcards(names, desk.store.files()))
    return list(dict.fromkeys(memory.path for memory in memories))


def _find_shelved(everything: Sequence[Shelved], name: str) -> list[Shelved]:
    """What of the shelves has that name, the newest first."""
    path = names.find_path(name, [item.path for item in everything])
    return [item for item in everything if item.path == path]


def move(path: str, to: str, store: Store) -> Change:
    """The same bytes under a new path, at no moment in neither place; its pointer follows."""
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


def write(path: str, data: bytes, store: Store, rules: Rules, wishes: Wishes) -> Change:
    """An agent's own file as it was given, whatever stood there; a refusal is a value."""
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
    if hits := secrets.find_secrets(path):
        return f"its name holds what looks like a secret ({hits[0].rule})"
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
    return {(item.rule, lines[item.line - 1]) for item in secrets.find_secrets(text)}
