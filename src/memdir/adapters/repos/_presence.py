"""Past paths that are there after all: untracked, through a link, or in a submodule."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping

from memdir.adapters.repos import _answers
from memdir.adapters.repos._process import Git
from memdir.adapters.repos._work_tree import OWN, WorkTree
from memdir.core.claim import Past

Pasts = Mapping[str, tuple[Past, ...]]


def untracked_folders(
    git: Git, missing: Mapping[str, str], past: Pasts
) -> dict[str, tuple[str, ...]]:
    """Folders with nothing tracked; one that once had is only what a build left behind."""
    work_tree = WorkTree(git.root)
    unseen = [(name, form) for name, form in missing.items() if name not in past]
    return {name: (form,) for name, form in unseen if work_tree.has_folder(form)}


def present(
    git: Git, past: Pasts, files: Iterable[str], submodules: Collection[str], most: int
) -> set[str] | None:
    """The names of what is there; None if submodules hold too much to tell."""
    there = _on_disk(git, past, files, submodules)
    if not past or not submodules:
        return there
    below = _in_submodules(git.root, past, submodules, most)
    return None if below is None else there | below


def _on_disk(git: Git, past: Pasts, files: Iterable[str], submodules: Collection[str]) -> set[str]:
    """What stands there; a folder only if it is ignored, for else a build left it behind."""
    work_tree = WorkTree(git.root)
    there: set[str] = set()
    folders: dict[str, str] = {}
    for name, some in past.items():
        for path in (one.name for one in some):
            if work_tree.is_there(path, folder=name.endswith("/")):
                there.add(name)
            elif work_tree.has_folder(path):
                folders[path] = path
    ignored = _answers.ignored(git, folders, files, submodules) if folders else frozenset()
    return there | {name for name, some in past.items() if any(one.name in ignored for one in some)}


def _in_submodules(
    root: str, past: Pasts, submodules: Collection[str], most: int
) -> set[str] | None:
    """The names of what may be in one by its last part; None if they hold too much to tell."""
    starts = tuple(f"{one}/" for one in submodules)
    below = {
        name for name, some in past.items() if any(one.name.startswith(starts) for one in some)
    }
    lasts = _names(root, submodules, most)
    if lasts is None:
        return None
    gone = {name: [one for one in some if not one.now] for name, some in past.items()}
    return below | {
        name
        for name, some in gone.items()
        if any(one.name.rpartition("/")[2] in lasts for one in some)
    }


def _names(root: str, submodules: Collection[str], most: int) -> set[str] | None:
    """The last parts of all paths on disk below the submodules; no link is entered."""
    work_tree, names, seen = WorkTree(root), set[str](), 0
    waiting = [os.path.join(root, one) for one in submodules if work_tree.enters(one)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    seen += 1
                    names.add(entry.name)
                    if entry.is_dir(follow_symlinks=False) and entry.name.lower() != OWN:
                        waiting.append(entry.path)
        except OSError:
            return None
        if seen > most:
            return None
    return names
