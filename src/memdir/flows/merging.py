"""The indexes of two branches: merged by memdir where git is told so."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from memdir.adapters import merge_driver
from memdir.adapters.committed import find_repository
from memdir.adapters.disk import Disk, failure
from memdir.core import frontmatter
from memdir.core.errors import BadInput
from memdir.core.index_merge import Merged, merge_indexes
from memdir.core.memory import INDEX

MOST_LINES = 20_000  # of an index: more is no index but an attack on our time
AGENTS = ".claude/agent-memory/*"


@dataclass(frozen=True)
class Installed:
    """Who merges the indexes of a repository: its files before and after, and what others set."""

    root: str
    files: Sequence[merge_driver.Planned]
    settings: dict[str, str]


def merge_index(base: str, ours: str, theirs: str) -> Merged:
    """Three versions of an index, by their texts."""
    for what, text in (("base", base), ("ours", ours), ("theirs", theirs)):
        if "\0" in text:
            raise BadInput(
                f"{what} holds a NUL byte, so it is no index; nothing was merged",
                next="choose one side: git checkout --ours, or --theirs",
            )
        if text.count("\n") > MOST_LINES:
            raise BadInput(
                f"{what} has more than {MOST_LINES:,} lines; nothing was merged",
                next="merge it by hand, or take one side and run memdir index --rebuild",
            )
    return merge_indexes(base, ours, theirs)


def write_merged(path: str, text: str) -> None:
    """Put the merged text where git expects it: whole, or not at all."""
    folder, name = os.path.split(os.path.abspath(path))
    if name == INDEX:  # git hands over copies; a store's own index has one writer, with a history
        raise BadInput(
            f"{path} is an index in its place, and not a copy of one; nothing was written",
            path=path,
            next="let git call memdir merge-index, or merge a copy under another name",
        )
    try:
        Disk(folder).put(name, frontmatter.encode(text))
    except OSError as error:
        raise failure(error, path, "cannot be written") from None


def install_driver(store: str, program: str, *, agents: bool, dry_run: bool) -> Installed:
    """Name the driver in .gitattributes and in the settings of the store's repository."""
    root = find_repository(store)
    if not root:
        raise BadInput(
            f"{store} is in no git repository", path=store, next="git init, or choose a --scope"
        )
    patterns = [os.path.normpath(os.path.join(os.path.relpath(store, root), INDEX))]
    patterns += [f"{AGENTS}/{INDEX}"] if agents else []
    here = merge_driver.settings(program)
    planned = merge_driver.plan(root, patterns, here)
    if not dry_run:
        merge_driver.install(root, planned, here)
    return Installed(root, planned, merge_driver.settings())
