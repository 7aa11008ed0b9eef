"""Deletes for good: memories from the shelves, a secret from everything that memdir keeps."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from memdir.errors import MemdirError, Missing
from memdir.format.draft import PURGED, UPDATED, Change, content_hash
from memdir.hot.disk import Disk, remove_file, sync_directory
from memdir.hot.memory import decode, encode, stem
from memdir.store import changes, git_objects, look
from memdir.store.history import ANNOUNCED, TABLE
from memdir.store.ports import Logged, read_if_stored
from memdir.store.state import state_errors
from memdir.store.writer import App, Done, store_cache_folder, store_state_folder
from memdir.text.secrets import text_before_secrets

REMOVED = "[removed]"
_KEY = re.compile(r"-----BEGIN [^-]*-----.*?(?:-----END [^-]*-----|\Z)", re.S)
_WORD = re.compile(r"\S+?(?=[.,;:!?)*_]*(?:\s|\Z))")


def purge_memories(app: App, names: Sequence[str], expired: bool = False) -> Done:
    with app.changing("purge") as desk:
        everything = look.list_shelved_memories(app)
        doomed = [item for name in names for item in changes.find_shelved(everything, name)]
        doomed += look.find_expired_trash(app) if expired else []
        for item in dict.fromkeys(doomed):
            desk.shelf.clear(item)
            desk.changes.append(Change(PURGED, stem(item.path), item.path))
    return desk.done


def purge_secret(app: App, name: str) -> Done:
    """Every byte of the secrets of one memory, from the store, the history, state and cache."""
    path = name if name.endswith(".md") else f"{name}.md"
    values = sorted(set(_find_values(app, path)), key=len, reverse=True)
    if not values:
        raise Missing(
            f"{path}: no secret is known in any version of it; nothing was removed",
            path=path,
            next="memdir log NAME lists its versions; edit the memory if it is none that is known",
        )

    def clean(data: bytes) -> bytes:
        for value in values:
            data = data.replace(encode(value), REMOVED.encode())
        return data

    with app.changing("purge") as desk:
        desk.cause = replace(desk.cause, name=stem(path))
        for found in [*desk.store.files(), desk.store.index_path]:
            data = read_if_stored(desk.store, found)
            if data is not None and clean(data) != data:
                desk.store.put(found, clean(data))
                desk.changes.append(Change(UPDATED, stem(found), found, content_hash(clean(data))))
    if not app.dry_run:
        with app.lock.held("memdir purge", app.tell):
            _clean_what_is_kept(app, clean)
    desk.changes.append(Change(PURGED, stem(path), path, reason=f"{len(values)} found"))
    return desk.done


def _find_values(app: App, path: str) -> Iterator[str]:
    versions = [read_if_stored(app.store, path) or b""]
    versions += [
        app.shelf.read(item) for item in look.list_shelved_memories(app) if item.path == path
    ]
    if app.history.begun:
        for logged in app.history.log():
            if path in [changed for _, changed in logged.paths]:
                versions += [app.history.content(oid, path) or b"" for oid in (logged.id,)]
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


def _clean_what_is_kept(app: App, clean: Callable[[bytes], bytes]) -> None:
    if app.history.begun:
        _rewrite_history(os.path.join(store_state_folder(app.config), "history.git"), clean)
        for name in (TABLE, ANNOUNCED):  # the table is made again
            remove_file(os.path.join(store_state_folder(app.config), name))
    shutil.rmtree(store_cache_folder(app.config), ignore_errors=True)
    for top, keep in ((app.config.state_dir, True), (app.config.cache_dir, False)):
        disk = Disk(top)
        with suppress(MemdirError):  # not there yet
            for _, path, _ in list(disk.walk(lambda _: True, [], hidden=True)):
                _clean_file(disk, path, clean, keep and "history.git" not in path)


def _clean_file(disk: Disk, path: str, clean: Callable[[bytes], bytes], keep: bool) -> None:
    place = os.path.join(disk.root, path)
    with state_errors(place, "a secret could not be removed from it"):
        try:
            data = disk.read(path)[0]
        except FileNotFoundError:
            return
        cleaned = clean(data)
        if cleaned == data:
            return
        if keep and not data.startswith(b"SQLite"):
            disk.put(path, cleaned)
        else:
            os.unlink(place)


def _rewrite_history(folder: str, clean: Callable[[bytes], bytes]) -> None:
    """Every commit anew with cleaned bytes, in one pack; nothing else is left.

    A kill leaves the old history or the new one whole; the next run removes the rest.
    """
    objects = git_objects.Objects(folder)
    chain, oid = list[Logged](), objects.head()
    while oid:
        chain.append(git_objects.read_history_commit(objects, oid))
        oid = chain[-1].parent
    objects.again = True
    new, blobs = dict[str, str](), dict[str, str]()
    for logged in reversed(chain):
        files = git_objects.read_history_tree(objects, logged.tree)
        for blob in {*files.values()} - blobs.keys():
            blobs[blob] = objects.write("blob", clean(objects.read(blob, "blob")))[0]
        tree = git_objects.write_history_tree(
            objects, {path: blobs[blob] for path, blob in files.items()}
        )
        undoes = tuple(new.get(id, id) for id in logged.cause.undoes)
        name, reason = (
            decode(clean(encode(text))) for text in (logged.cause.name, logged.cause.reason)
        )
        cause = replace(logged.cause, name=name, reason=reason, undoes=undoes)
        new[logged.id] = git_objects.write_history_commit(
            objects, tree, new.get(logged.parent, ""), logged.time, cause, list(logged.paths)
        )
    if not chain:
        return
    head = new[chain[0].id]
    objects.set_head(head)
    sync_directory(os.path.join(folder, os.path.dirname(git_objects.BRANCH)))
    for name in os.listdir(os.path.join(folder, git_objects.PACKS)):
        if not name.startswith(f"pack-{git_objects.NOTHING}-{head}."):
            remove_file(os.path.join(folder, git_objects.PACKS, name))
    for oid in objects.list_loose():
        remove_file(os.path.join(folder, git_objects.loose_path(oid)))
