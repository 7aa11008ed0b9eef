"""Copies memories into a shared store; never overwrites."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from memdir.errors import BadInput, Conflict, Missing
from memdir.format.draft import Rules, why_not_shared
from memdir.format.names import expand_names, fold_paths
from memdir.hot import types
from memdir.hot.memory import TEAM, UNKNOWN, Memory, stem
from memdir.store.changes import finish_change, remark_git_ignored_in_store
from memdir.store.save import adopt_memory, find_in_store, refuse_file_in_store, refused_store_file
from memdir.store.writer import App, Desk, Done

File = tuple[Memory, bytes]


def share_memories(source: App, target: App, names: Sequence[str]) -> Done:
    """Each path of the diff starts with the scope."""
    _check_places(source, target)
    wanted = expand_names(names, source.store.files())
    memories = {memory.path: memory for memory in find_in_store(source.store, wanted)}
    files = [(memory, source.store.read(path)) for path, memory in memories.items()]
    rules = target.rules()
    refused = {
        memory.path: reason for memory, data in files if (reason := _refuse(memory, data, rules))
    }
    with target.changing("share") as desk:
        allowed = [file for file in files if file[0].path not in refused]
        _check_conflicts(desk, target, allowed)
        desk.cause = replace(desk.cause, reason=f"from {source.config.scope}")
        standing, index = fold_paths(desk.store.tree()), desk.store.index()
        changes = [
            refused_store_file(memory.path, refused[memory.path])
            if memory.path in refused
            else adopt_memory(memory.path, data, desk.store, rules, standing)
            for memory, data in files
        ]
        made = [change.path for change in changes if change.changed]
        finish_change(target, desk, changes)  # a share that was killed may have left out the index
        there = [change.path for change in desk.changes if change.hash]
        desk.remarks += remark_git_ignored_in_store(target, there)
        versions = [(path, None, desk.store.read(path)) for path in made]
        diff = [*versions, (desk.store.index_path, index, desk.store.index())]
    scope = target.config.scope
    scoped = [(f"{scope}/{path}", old, new) for path, old, new in diff if old != new]
    return replace(desk.done, diff=tuple(scoped))


def _refuse(memory: Memory, data: bytes, rules: Rules) -> str:
    type = types.get(memory.type)
    if reason := why_not_shared(type):
        other = f" (memdir edit {stem(memory.path)} --type TYPE)" if type.name == UNKNOWN else ""
        return reason + other
    return refuse_file_in_store(memory.path, data, rules)


def _check_places(source: App, target: App) -> None:
    """The stores must differ, and the team's must not be a link, which could lead anywhere."""
    if os.path.realpath(source.store.root) == os.path.realpath(target.store.root):
        scope = target.config.scope
        raise BadInput(
            f"it is in the scope {scope} already", next="share from another one: --scope"
        )
    project = target.config.scopes.get("project", "")
    for path in (target.store.root, os.path.join(project, TEAM)):
        if target.config.scope.kind == TEAM and os.path.islink(path):
            raise BadInput(
                f"{path} is a symbolic link; it is not followed",
                path=path,
                next="put the directory itself there, for example as a git clone",
            )


def _check_conflicts(desk: Desk, target: App, files: Sequence[File]) -> None:
    scope = target.config.scope
    for memory, data in files:
        try:
            standing = desk.store.read(memory.path)
        except Missing:
            continue
        if standing != data:
            name = stem(memory.path)
            raise Conflict(
                f"the scope {scope} has another {memory.path}; nothing was shared",
                path=memory.path,
                next=f"change that one (memdir edit {name}), or put it away "
                f"(memdir retire {name}) and share again",
                ours=data,
                theirs=standing,
            )
