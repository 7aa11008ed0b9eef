"""Which records lie in a store, which one somebody means, and what the store's settings say."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from memdir.errors import Finding, MemdirError, Missing
from memdir.format import names
from memdir.hot.memory import RECORD_SETTINGS, decode, stem
from memdir.records import fields, refusal
from memdir.records.fields import Record
from memdir.records.memory_config import MAX_FILE_CHARACTERS, RecordSettings, read_settings
from memdir.records.record import read_record
from memdir.records.refusal import RecordError
from memdir.store.ports import Store

Collected = dict[str, Record]  # by path

PROJECT_FOLDER = ".claude/memory/"
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,79}\Z")


def collect(store: Store, paths: Iterable[str]) -> tuple[Collected, list[Finding]]:
    """The records at these paths; a broken one is a finding, hiding no other."""
    records, findings = Collected(), list[Finding]()
    for path in paths:
        try:
            records[path] = read_record(store.read(path), path)[0]
        except Missing:
            continue  # gone since the paths were listed
        except MemdirError as error:
            findings.append(Finding("broken-record", path, error.message, error.next))
    return records, findings


def everything(store: Store) -> tuple[Collected, list[Finding]]:
    """All records whatever their status, and what could not be read."""
    return collect(store, paths_of(store))


def paths_of(store: Store, type: str = "") -> list[str]:
    """Where all records lie, or those of one type, whatever their status."""
    folder = f"{fields.FOLDERS[type]}/" if type else ""
    return sorted(it for it in store.tree() if store.is_memory(it) and it.startswith(folder))


def index_of(store: Store) -> str:
    """What the index says now; nothing where there is none."""
    try:
        return decode(store.read(store.index_path))
    except Missing:
        return ""


def settings_of(store: Store) -> tuple[RecordSettings, tuple[Finding, ...]]:
    """What memory-config.json says; one that cannot be read says nothing, and that is a finding."""
    try:
        return sure_settings_of(store)
    except MemdirError as error:
        settings, _ = read_settings(None)
        return settings, (Finding("bad-setting", RECORD_SETTINGS, error.message, error.next),)


def sure_settings_of(store: Store) -> tuple[RecordSettings, tuple[Finding, ...]]:
    """The same for who puts records away: with a file that cannot be read, that were a guess."""
    try:
        data = store.read(RECORD_SETTINGS)
    except Missing:
        return read_settings(None)
    return read_settings(data[: 4 * MAX_FILE_CHARACTERS + 4].decode("utf-8", "replace"))


def type_of(name: str) -> str:
    """The type that somebody names; refuses what is none."""
    type = fields.type_named(name)
    if not type:
        message = f"there is no category {name[:40]!r}"
        raise RecordError(refusal.INPUT, message, fix=f"use {', '.join(fields.TYPES)}")
    return type


def target_path(target: str, root: str) -> str:
    """The path below the store that a target names; refuses whatever is no record's place."""
    given = target.strip()
    for top in (root.rstrip("/") + "/", os.path.realpath(root) + "/", "./", PROJECT_FOLDER):
        given = given.removeprefix(top)
    folder, _, name = given.rpartition("/")
    right = folder in fields.TYPE_OF_FOLDER and name.endswith(".json")
    if right and _SLUG.match(name.removesuffix(".json")):
        return given
    raise RecordError(
        refusal.PATH,
        f"{target[:200]!r} is no record's place",
        facts=(("folders", ", ".join(fields.TYPE_OF_FOLDER)),),
        fix="give FOLDER/NAME.json with a name of a-z, 0-9 and -",
        path=target[:200],
    )


def find_record(name: str, store: Store) -> str:
    """The path of the record that is called so: by its path, or by its id in any folder."""
    paths = list[str]()
    if "/" in name:
        path = target_path(name, store.root)
        matches = [path] if store.exists(path) else []
    else:
        wanted, paths = name.strip().removesuffix(".json"), paths_of(store)
        matches = [path for path in paths if stem(path) == wanted]
        matches = matches or [path for path in paths if names.means(wanted, path)]
    if len(matches) > 1:
        message = f"{name[:80]!r} means several records: {', '.join(matches[:5])}"
        raise RecordError(refusal.PATH, message, fix="give the path")
    if matches:
        return matches[0]
    from difflib import get_close_matches  # only a mistake needs it

    by_name = {stem(path): path for path in paths}
    near = get_close_matches(name[:80], list(by_name), 1, 0.75)
    fix = f"did you mean {by_name[near[0]]}?" if near else "memdir list --scope records"
    raise RecordError(refusal.READ, f"there is no record {name[:80]!r}", fix=fix, path=name[:200])
