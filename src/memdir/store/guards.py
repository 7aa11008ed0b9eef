"""Compiles the guards of a store into a small file that the hook reads: cache/guards/STORE.

A save compiles what it wrote, the worker and `memdir guards` everything. Only the user's own and
accepted memories count.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from memdir.errors import MemdirError
from memdir.format.prohibitions import find_guards
from memdir.hot.disk import digest_of, keep_derived_file
from memdir.hot.guard import (
    MAX_GUARDS,
    MAX_MEMORY_BYTES,
    Guard,
    guards_file,
    read_guards,
    write_guards_for_hook,
)
from memdir.hot.memory import Memory, decode, stem

if TYPE_CHECKING:
    from memdir.store.writer import App

TYPES = ("feedback", "constraint", "preference")
MAIN = ("project", "user", "local", "team")


def guards_of_store(app: App) -> list[Guard]:
    """Reads every memory; keeps the result for the hook."""
    from memdir.store.accept import accepted_view

    view = accepted_view(app) if app.config.origin else None
    store, guards = view or app.store, list[Guard]()
    chosen = [memory for memory in store.scan().memories if memory.kind in TYPES]
    for memory in sorted(chosen, key=lambda memory: memory.path):
        with suppress(MemdirError):  # one unreadable memory must not hide the others
            giver = view.source(memory.path) if view else ""
            guards += _guards_of(memory.path, store.read(memory.path), giver)
    _keep(app, guards)
    return guards[:MAX_GUARDS]


def update_store_guards(app: App, written: Mapping[str, bytes | None]) -> None:
    """After a change: only what was written is read again."""
    if not _applies(app) or not any(map(app.store.is_memory, written)):
        return
    if app.config.origin:
        guards_of_store(app)  # which memories are accepted may have changed, too
        return
    path = guards_file(app.config.cache_dir, app.config.store, "")
    old = [guard for guard in read_guards(path)[1] if guard.path not in written]
    new = [
        guard
        for name, data in sorted(written.items())
        if data is not None and app.store.is_memory(name)
        if Memory(name, decode(data), 0, len(data)).kind in TYPES
        for guard in _guards_of(name, data)
    ]
    if new or len(old) < len(read_guards(path)[1]):
        _keep(app, [*old, *new])


def _applies(app: App) -> bool:
    """Not to a directory named with --dir, which may be anybody's."""
    config = app.config
    return config.layout == "markdown" and not config.foreign and str(config.scope) in MAIN


def _guards_of(path: str, data: bytes, giver: str = "") -> Iterable[Guard]:
    if len(data) >= MAX_MEMORY_BYTES:
        return
    for number, guard in enumerate(find_guards(decode(data))):
        guard.name = stem(path) + (f".{number + 1}" if number else "")
        guard.path, guard.digest, guard.giver = path, digest_of(data), giver
        yield guard


def _keep(app: App, guards: list[Guard]) -> None:
    from memdir.store.writer import store_state_folder

    if app.dry_run or not _applies(app):
        return
    path = guards_file(app.config.cache_dir, app.config.store, app.config.origin)
    if guards:
        facts = ""
        if app.config.origin:
            from memdir.hot.acceptance import acceptance_facts  # only a shared store needs it

            facts = acceptance_facts(store_state_folder(app.config))
        keep_derived_file(path, write_guards_for_hook(facts, guards[:MAX_GUARDS]))
        return
    with suppress(OSError):
        os.unlink(path)
        os.rmdir(os.path.dirname(path))  # only if it is empty: then no hook looks here
