"""Deletes for good: memories from the shelves, a secret from everything that memdir keeps."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from memdir.errors import MemdirError, Missing
from memdir.format.draft import PURGED, UPDATED, memory_change
from memdir.hot.acceptance import HISTORY
from memdir.hot.disk import Disk, force_directory_to_disk
from memdir.hot.memory import decode, encode, stem
from memdir.store import changes, git_objects, look
from memdir.store.history import ANNOUNCED, TABLE
from memdir.store.ports import Logged, name_few_store_paths, read_if_stored
from memdir.store.state import remove_state, replace_state, state_errors
from memdir.store.trash import FOLDER, THEIRS
from memdir.store.writer import (
    App,
    Done,
    store_cache_folder,
    store_state_folder,
)
from memdir.text.secrets import text_before_secrets

REMOVED = "[removed]"
UNFINISHED = "purging"  # there while old packs may still have what was removed
SHORT, LONG = 8, 16  # characters of a value that stands nowhere by chance
_KEY = re.compile(r"-----BEGIN [^-]*-----.*?(?:-----END [^-]*-----|\Z)", re.S)
_WORD = re.compile(r"\S+?(?=[.,;:!?)*_]*(?:\s|\Z))")


def purge_memories(app: App, names: Sequence[str], expired: bool = False) -> Done:
    with app.changing("purge") as desk:
        everything = app.shelf.list_all()
        doomed = [item for name in names for item in changes.find_on_store_shelf(everything, name)]
        doomed += look.find_expired_trash(app) if expired else []
        for item in dict.fromkeys(doomed):
            desk.shelf.clear(item)
            desk.changes.append(memory_change(PURGED, item.path))
    return desk.done


@dataclass(frozen=True)
class _Cleaner:
    """`everywhere` is cut out of all that is kept, `here` out of the versions of one memory.

    A short value or a word, as in `password: postgres`, may stand elsewhere by chance.
    """

    path: str
    index: str
    everywhere: tuple[bytes, ...]
    here: tuple[bytes, ...]

    def clean(self, data: bytes, path: str = "") -> bytes:
        if path == self.path:
            return _cut(data, self.everywhere + self.here)
        if path == self.index:  # its own line there
            pointer = encode(f"({self.path})")
            lines = data.splitlines(keepends=True)
            data = b"".join(_cut(line, self.here) if pointer in line else line for line in lines)
        return _cut(data, self.everywhere)


class _Eraser(_Cleaner):
    """Every version of one memory as a whole, and its lines in the index."""

    def clean(self, data: bytes, path: str = "") -> bytes:
        if path == self.path:
            return REMOVED.encode()
        if path == self.index:
            pointer = encode(f"({self.path})")
            lines = data.splitlines(keepends=True)
            return b"".join(line for line in lines if pointer not in line)
        return data


def purge_versions(app: App, path: str) -> None:
    """Nothing of a memory stays here, not even in the history; its file is gone already."""
    if not app.dry_run:
        with app.lock.held("memdir purge", app.tell):
            _clean_what_is_kept(app, _Eraser(path, app.store.index_path, (), ()))


def _cut(data: bytes, values: Sequence[bytes]) -> bytes:
    for value in values:
        data = data.replace(value, REMOVED.encode())
    return data


def purge_secret(app: App, name: str, everywhere: bool = False) -> Done:
    """The secrets of one memory, out of its versions and, if nothing else can be meant, all else.

    The histories of other stores are not looked at: their packs are not this store's to rewrite.
    """
    path = name if name.endswith(".md") else f"{name}.md"
    values = sorted(set(_find_values(app, path)), key=len, reverse=True)
    folder = store_state_folder(app.config)
    if not values and not os.path.exists(os.path.join(folder, UNFINISHED)):
        raise Missing(
            f"{path}: no secret is known in any version of it; nothing was removed",
            path=path,
            next="memdir log NAME lists its versions; edit the memory if it is none that is known",
        )
    sure = [value for value in values if everywhere or _is_unmistakable(value)]
    here = [encode(value) for value in values if value not in sure]
    cleaner = _Cleaner(path, app.store.index_path, tuple(map(encode, sure)), tuple(here))
    others = set[str]()
    with app.changing("purge") as desk:
        desk.cause = replace(desk.cause, name=stem(path))
        theirs = [item for item in app.shelf.list_all() if item.number == THEIRS]
        places = [*desk.store.files(), desk.store.index_path, *(FOLDER + x.path for x in theirs)]
        for found in places:
            data = read_if_stored(desk.store, found)
            if data is None:
                continue
            cleaned = cleaner.clean(data, found.removeprefix(FOLDER))
            if cleaned != data:
                desk.store.put(found, cleaned)
                desk.changes.append(memory_change(UPDATED, found, cleaned))
            if any(value in cleaned for value in here):
                others.add(found)
    if not app.dry_run:
        with app.lock.held("memdir purge", app.tell):
            _clean_what_is_kept(app, cleaner)
    desk.changes.append(memory_change(PURGED, path, reason=f"{len(values)} found"))
    if here:
        desk.remarks.append(_name_what_stays(len(here), path, sorted(others)))
    return replace(desk.done, diff=())  # a diff would show the value


def _is_unmistakable(value: str) -> bool:
    """No word or version: long, or of small and capital letters and digits."""
    mixed = all(re.search(kind, value) for kind in ("[a-z]", "[A-Z]", "[0-9]"))
    return len(value) >= LONG or (len(value) >= SHORT and mixed)


def _name_what_stays(count: int, path: str, others: list[str]) -> str:
    says = f"{count} short or plain: cut out of the versions of {path} only"
    if others:
        says += f"; also in {name_few_store_paths(others)}"
    return f"{says}. With --everywhere out of all that is kept, whatever it means there"


def _find_values(app: App, path: str) -> Iterator[str]:
    versions = [read_if_stored(app.store, path) or b""]
    versions += [app.shelf.read(item) for item in app.shelf.list_all() if item.path == path]
    if app.history.begun:
        for logged in app.history.log():
            if path in [changed for _, changed in logged.paths]:
                versions.append(app.history.content(logged.id, path) or b"")
    for data in set(versions):
        yield from _secrets_of(decode(data))


def _secrets_of(text: str) -> Iterator[str]:
    while (before := text_before_secrets(text)) != text:
        rest = text[len(before) :]
        quote = before[-1:]
        if key := _KEY.match(rest):
            value = key[0]
        elif quote and quote in "\"'`" and quote in rest:
            value = rest.partition(quote)[0]
        else:
            word = _WORD.match(rest)
            value = word[0] if word else ""
        if not value or value == REMOVED:
            return
        yield value
        text = text.replace(value, REMOVED)


def _clean_what_is_kept(app: App, cleaner: _Cleaner) -> None:
    """The history last: it tells what to look for, should this be killed and given again."""
    folder = store_state_folder(app.config)
    shutil.rmtree(store_cache_folder(app.config), ignore_errors=True)
    for item in app.shelf.list_all():
        data = app.shelf.read(item)
        if item.number != THEIRS and cleaner.clean(data, item.path) != data:
            app.shelf.overwrite(item, cleaner.clean(data, item.path))
    for top, keep in ((app.config.state_dir, True), (app.config.cache_dir, False)):
        disk = Disk(top)
        with suppress(MemdirError):  # not there yet
            for _, path, _ in list(disk.walk(lambda _: True, [], hidden=True)):
                if HISTORY not in path.split("/"):
                    _clean_file(disk, path, cleaner, keep)
    if app.history.begun:
        place = os.path.join(folder, HISTORY)
        with state_errors(place, "old versions could not be removed from it"):
            replace_state(folder, UNFINISHED, b"")  # until the old packs are gone
            _rewrite_history(place, cleaner)
            for name in (TABLE, ANNOUNCED, UNFINISHED):  # the table is made again
                remove_state(folder, name)


def _clean_file(disk: Disk, path: str, cleaner: _Cleaner, keep: bool) -> None:
    place = os.path.join(disk.root, path)
    with state_errors(place, "a secret could not be removed from it"):
        try:
            data = disk.read(path)[0]
        except FileNotFoundError:
            return
        cleaned = cleaner.clean(data)
        if cleaned == data:
            return
        if keep and not data.startswith(b"SQLite"):
            disk.put(path, cleaned)
        else:
            os.unlink(place)


def _rewrite_history(folder: str, cleaner: _Cleaner) -> None:
    """Every commit anew with cleaned bytes, in one pack; nothing else is left.

    A kill leaves the old history or the new one whole; the next run removes the rest.
    """
    objects = git_objects.Objects(folder)
    chain, oid = list[Logged](), objects.head()
    while oid:
        chain.append(git_objects.read_history_commit(objects, oid))
        oid = chain[-1].parent
    objects.again = True
    new, blobs = dict[str, str](), dict[tuple[str, str], str]()
    for logged in reversed(chain):
        files = git_objects.read_tree(objects, logged.tree)
        for path, (mode, blob) in files.items():
            if (key := (blob, path)) not in blobs:
                cleaned = cleaner.clean(objects.read(blob, "blob"), path)
                blobs[key] = objects.write("blob", cleaned)[0]
            files[path] = mode, blobs[key]
        tree = git_objects.write_tree(objects, files)
        undoes = tuple(new.get(id, id) for id in logged.undoes)
        name, reason = (
            decode(cleaner.clean(encode(text))) for text in (logged.name, logged.reason)
        )
        cause = replace(logged, name=name, reason=reason, undoes=undoes)
        new[logged.id] = git_objects.write_history_commit(
            objects, tree, new.get(logged.parent, ""), logged.time, cause, list(logged.paths)
        )
    if not chain:
        return
    head = new[chain[0].id]
    objects.set_head(head)
    force_directory_to_disk(os.path.join(folder, os.path.dirname(git_objects.BRANCH)))
    for name in os.listdir(os.path.join(folder, git_objects.PACKS)):
        if not name.startswith(f"pack-{git_objects.NOTHING}-{head}."):
            os.unlink(os.path.join(folder, git_objects.PACKS, name))
    for oid in objects.list_loose():
        os.unlink(os.path.join(folder, git_objects.loose_path(oid)))
