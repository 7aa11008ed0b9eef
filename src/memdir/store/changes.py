"""Everything that changes memories: save, edit, touch, retire, restore, purge, import, undo."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache

from memdir.config.settings import repository_root
from memdir.errors import BadInput, Conflict, MemdirError, Missing, Unwritable
from memdir.format import draft as drafts
from memdir.format.draft import SKIPPED, Change, Draft, Revision, Wishes, memory_change
from memdir.format.index import survey_pointers
from memdir.format.names import expand_names, find_named_path, fold_paths
from memdir.format.outline import Lookup
from memdir.format.pointer import Pointer
from memdir.hot import safe
from memdir.hot.memory import INDEX, Memory, decode, encode, read_memory, stem, write_header
from memdir.store import ports, save
from memdir.store.history import History
from memdir.store.ports import ARCHIVE, TRASH, Logged, Shelved, Store, read_if_stored
from memdir.store.trash import Shelf
from memdir.store.writer import App, Desk, Done, DryRun, is_store_for_others

MERGED = "is without what this change did to it; later lines stay"
DEAD_LINES = "lines-without-file"
KEPT = "was changed again at the same place; there it keeps its present text"


def remark_git_ignored_in_store(app: App, paths: Sequence[str]) -> list[str]:
    if not is_store_for_others(app) or not paths:
        return []
    # slow to import, and only a shared store needs it
    from memdir.store.git import find_git_ignored_in_store

    if not repository_root(app.store.root):
        alone = app.config.scope.kind == "local"
        return ["there is no git repository here, so nobody else gets it"] if alone else []
    left_out = sorted(find_git_ignored_in_store(app.store.root, [*paths, app.store.index_path]))
    if not left_out:
        return []
    why = "others who have this repository do not get it; git check-ignore -v says why"
    return [f"git ignores {ports.name_few_store_paths(left_out)}: {why}"]


def retire_memory(path: str, store: Store, shelf: Shelf, now: float, room: str = TRASH) -> Change:
    """Copies to the shelf first, then deletes, so the memory always exists somewhere."""
    if path == INDEX and room == ARCHIVE:
        raise BadInput(
            f"{INDEX} is this store's only memory and its index; it cannot be archived",
            path=path,
            next="keep it, or retire it: memdir retire MEMORY.md",
        )
    data = store.read(path)
    shelf.lay(room, path, data, now)
    store.drop(path)
    return memory_change(drafts.ARCHIVED if room == ARCHIVE else drafts.RETIRED, path, data)


def move_memory(path: str, to: str, store: Store) -> Change:
    """The same bytes under a new path, copied before the old one goes; its pointer follows."""
    data = store.read(path)
    store.put(to, data)
    store.drop(path)
    index = store.index()
    if index is not None and store.is_memory(path) and store.is_memory(to):
        # A line that a person wrote keeps its words; ours is written anew, in its place.
        ours = save.stored_index_line(read_memory(path, data, 0))
        new, mark = save.stored_index_line(read_memory(to, data, 0)), f"]({path})"
        lines = [
            new if line.rstrip() == ours else line.replace(mark, f"]({to})")
            for line in decode(index).split("\n")
        ]
        if (text := encode("\n".join(lines))) != index:
            store.put(store.index_path, text)
    return memory_change(drafts.UPDATED, to, data, remarks=(f"renamed from {path}",))


def restore_memory(shelved: Shelved, store: Store, shelf: Shelf) -> Change:
    data, path = shelf.read(shelved), shelved.path
    standing = read_if_stored(store, path)
    if standing is None:
        store.put(path, data)
        return memory_change(drafts.RESTORED, path, data)
    if standing == data:
        return memory_change(SKIPPED, path, data, "it is there already, the same")
    raise BadInput(
        f"{path}: another memory stands there now; it is not overwritten",
        path=path,
        next=f"retire that one first: memdir retire {stem(path)}",
    )


def save_memory(app: App, draft: Draft, wishes: Wishes, reason: str = "") -> Done:
    with app.changing("save", reason) as desk:
        before = _read_memory(desk.store, draft.name + ".md") if draft.name else None
        change = save.save_draft_to_store(draft, desk.store, app.rules(), wishes)
        desk.remarks += change.remarks
        finish_change(app, desk, [change], before)
        desk.remarks += remark_git_ignored_in_store(app, [change.path] if change.changed else [])
    return desk.done


def edit_memory(app: App, name: str, revision: Revision, wishes: Wishes) -> Done:
    with app.changing("edit") as desk:
        memory = save.find_in_store(desk.store, [name])[0]
        revision = replace(revision, path=memory.path)
        change = save.write_memory_edit(revision, desk.store, app.rules(), wishes)
        finish_change(app, desk, [change], memory)
    return desk.done


def touch_memories(app: App, names: Sequence[str]) -> Done:
    with app.changing("touch") as desk:
        rules = app.rules()
        seen = (("last_verified", safe.iso_time(rules.now)),)
        done = [
            save.write_memory_edit(Revision(path, seen), desk.store, rules, Wishes())
            for path in _find_paths(desk, names)
        ]
        finish_change(app, desk, done)
    return desk.done


def retire_memories(app: App, names: Sequence[str], room: str = TRASH, reason: str = "") -> Done:
    with app.changing("archive" if room == ARCHIVE else "retire", reason) as desk:
        paths, now = _find_paths(desk, names), app.now()
        done = [retire_memory(path, desk.store, desk.shelf, now, room) for path in paths]
        finish_change(app, desk, done)
    return desk.done


def restore_memories(app: App, names: Sequence[str]) -> Done:
    with app.changing("restore") as desk:
        everything = app.shelf.list_all()
        wanted = expand_names(names, [item.path for item in everything])
        chosen = list(dict.fromkeys(find_on_store_shelf(everything, name)[0] for name in wanted))
        dry = DryRun(desk.store)
        for item in chosen:  # fails before anything is written if one cannot be restored
            restore_memory(item, dry, desk.shelf)
        finish_change(app, desk, [restore_memory(item, desk.store, desk.shelf) for item in chosen])
        try:
            for item in chosen:
                desk.shelf.clear(item)
        except MemdirError as error:
            desk.remarks.append(f"a copy stays on the shelf: {error.message}")
    return desk.done


def rebuild_memory_index(app: App) -> Done:
    with app.changing("index") as desk:
        path = desk.store.index_path
        if not isinstance(app.store, ports.IndexKeeper):
            desk.changes += _keep_words_of_dead_lines(app, desk)
        changed = _keep_index(app, desk, anew=True)
        desk.changes.append(memory_change(drafts.REBUILT if changed else SKIPPED, path))
    return desk.done


def _keep_words_of_dead_lines(app: App, desk: Desk) -> list[Change]:
    """A line whose file nobody has any more is all there is: it goes to the notes."""
    indexed = save.follow_in_index(DryRun(desk.store), app.rules(), anew=True)
    known = _ask_if_kept(app)
    words = []
    for pointer, lines in indexed.healed.dead:
        words += lines if pointer.says_more and not known(pointer) else []
    path = f"{DEAD_LINES}.md"
    old = decode(read_if_stored(desk.store, path) or b"")
    new = [line for line in words if line not in old.split("\n")]
    if not new:
        return []
    about = "Lines of the index whose files are gone"
    head = old or write_header(
        [("name", DEAD_LINES), ("description", about), ("type", "project")], ""
    )
    data = encode(head.rstrip("\n") + "\n" * (2 - bool(old)) + "\n".join(new) + "\n")
    desk.store.put(path, data)
    desk.remarks.append(f"{path} has the words of lines whose file is gone")
    return [memory_change(drafts.UPDATED if old else drafts.CREATED, path, data)]


def _ask_if_kept(app: App, changed: Iterable[str] = ()) -> Callable[[Pointer], bool]:
    """Asks whether the memory of a line is kept: on a shelf, or in the history."""

    @cache
    def known() -> Lookup:
        paths = {item.path for item in app.shelf.list_all()}
        if app.history.begun:
            paths |= {path for logged in app.history.log() for _, path in logged.paths}
        return Lookup(paths | {*changed}, {})

    return lambda pointer: known().find(pointer.target, pointer.form) is not None


def import_into_store(
    app: App, files: Sequence[tuple[str, bytes]], *, origin: str = "", allow_secret: bool = False
) -> Done:
    """Import files unchanged, as one batch that one undo takes back."""
    with app.changing("import") as desk:
        rules = app.rules()
        reason = f"from {origin}" if origin else ""
        desk.cause = replace(desk.cause, batch=f"import-{int(rules.now)}", reason=reason)
        standing = fold_paths(desk.store.tree())
        secret = allow_secret and not rules.shared
        done = [save.adopt_memory(*file, desk.store, rules, standing, secret) for file in files]
        finish_change(app, desk, done)
    return desk.done


def finish_change(
    app: App, desk: Desk, changes: list[Change], before: Memory | None = None
) -> None:
    desk.changes += changes
    names = [change.name for change in changes if change.changed]
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    desk.cause = replace(desk.cause, name=names[0] + more if names else "")
    if not any(change.path for change in changes):
        return  # refused; an unchanged memory has a path, and may still lack its pointer
    try:
        known = _ask_if_kept(app, [change.path for change in changes])
        touched = [change.path for change in changes if change.changed]
        indexed = save.follow_in_index(
            desk.store, app.rules(), before, changed=touched, known=known
        )
        desk.remarks += indexed.remarks([change.path for change in changes])
    except MemdirError as error:
        done = ", ".join(f"{change.path} is {change.kind}" for change in changes)
        raise Unwritable(
            f"{done}, but the index is not in step: {error.message}",
            path=error.path,
            next=f"{error.next}; the next change, or memdir index --rebuild, brings it in step",
        ) from None


def _keep_index(app: App, desk: Desk, *, anew: bool = False) -> bool:
    if isinstance(app.store, ports.IndexKeeper):
        return app.store.keep_index(desk.store)
    known = None if anew else _ask_if_kept(app)
    done = save.follow_in_index(desk.store, app.rules(), anew=anew, known=known)
    desk.remarks += done.remarks() if anew else []
    return done.changed


def undo_these_changes(app: App, desk: Desk, chosen: list[Logged], explicit: bool) -> list[Change]:
    """Undo these changes, all or none; one that a killed undo had finished is only recorded."""
    name = f"{chosen[0].verb} {chosen[0].name}".strip()
    more = f" and {len(chosen) - 1} more" if len(chosen) > 1 else ""
    desk.cause = replace(desk.cause, name=name + more, undoes=tuple(logged.id for logged in chosen))
    desk.undone[:] = chosen
    if not app.dry_run:
        # Without `undoes`: if this undo is killed, the next one completes it.
        app.history.announce(app.store, replace(desk.cause, undoes=()))
    wanted, remark = _plan_undo(chosen, desk.store, app.history)
    if not wanted and explicit:
        message = f"{chosen[0].id[:8]} is taken back already; nothing was written"
        hint = "memdir undo ID takes back an older change: memdir log lists them"
        raise Missing(message, next=hint)
    index_path, done = desk.store.index_path, []
    for path, data in wanted.items():
        if data is None:
            desk.store.drop(path)
        else:
            desk.store.put(path, data)
        if path != index_path or not remark:
            reason = "gone again" if data is None else ""
            done.append(memory_change(drafts.UNDONE, path, reason=reason))
    # These record their changes of the index, so it needs no update here.
    alone = all(logged.verb in ("restructure", "dream") for logged in chosen)
    if remark or (_leads_nowhere(app, desk) if index_path in wanted else not alone):
        _keep_index(app, desk)
    if remark:
        kind = drafts.UNDONE if index_path in wanted else SKIPPED
        done.append(memory_change(kind, index_path, reason=remark))
        desk.remarks.append(f"{index_path} {remark}; its pointers are in step")
    return done


def _leads_nowhere(app: App, desk: Desk) -> bool:
    """A line of the index came back whose memory somebody else has deleted meanwhile."""
    text, lost = decode(desk.store.index() or b""), save.Targets(desk.store).lost
    dangling = survey_pointers(text, desk.store.files(), {}, lost).dangling
    return any(map(_ask_if_kept(app), dangling))


def _plan_undo(
    changes: Sequence[Logged], store: Store, history: History
) -> tuple[dict[str, bytes | None], str]:
    """New content per file, index last, and a remark if the index had to be merged."""
    wanted: dict[str, bytes | None] = {}
    standing: dict[str, bytes | None] = {}
    index_path, remark = store.index_path, ""
    for logged in changes:
        for _, path in logged.paths:
            if path not in standing:
                standing[path] = wanted[path] = read_if_stored(store, path)
            now = wanted[path]
            after, before = (history.content(oid, path) for oid in (logged.id, logged.parent))
            if now == after:
                wanted[path] = before
            elif now != before:
                is_index = path == index_path
                merged, clashes = _undo_lines(after, now, before) if is_index else (b"", 1)
                if clashes and (not is_index or len(logged.paths) == 1):
                    raise Conflict(
                        f"{path} was changed again after {logged.id[:8]}; nothing was undone",
                        path=path,
                        next=f"undo the newer change first (memdir log {stem(path)}), "
                        "or edit it by hand",
                        ours=before or b"",
                        theirs=standing[path] or b"",
                    )
                remark = KEPT if clashes or now is None or remark == KEPT else MERGED
                wanted[path] = merged if now is not None else None
    # The index comes last: if killed before that, it is only out of date and can be rebuilt.
    order = sorted(wanted, key=lambda path: (path == index_path, wanted[path] is None, path))
    return {path: wanted[path] for path in order if wanted[path] != standing[path]}, remark


def _undo_lines(after: bytes | None, now: bytes | None, before: bytes | None) -> tuple[bytes, int]:
    """The index without the lines of one change, and the number of places that keep theirs."""
    from memdir.format.merge import merge_three_texts

    text, clashes = merge_three_texts(*(decode(data or b"") for data in (after, now, before)))
    return encode(text), clashes


def put_back_memories(app: App, desk: Desk, paths: Iterable[str]) -> list[Change]:
    newest = next(app.history.log()).id
    for path in paths:
        data = app.history.content(newest, path)
        if data is not None:
            desk.store.put(path, data)
        elif desk.store.exists(path):
            desk.store.drop(path)
    return [memory_change(ports.UNDO, path) for path in paths]


def _read_memory(store: Store, path: str) -> Memory | None:
    try:
        return read_memory(path, store.read(path), 0)
    except (BadInput, Missing, ValueError):
        return None  # writing there reports the bad name


def _find_paths(desk: Desk, names: Sequence[str]) -> list[str]:
    memories = save.find_in_store(desk.store, expand_names(names, desk.store.files()))
    return list(dict.fromkeys(memory.path for memory in memories))


def find_on_store_shelf(everything: Sequence[Shelved], name: str) -> list[Shelved]:
    path = find_named_path(name, [item.path for item in everything])
    return [item for item in everything if item.path == path]
