"""What the memories say of the code, checked: read → find claims → one look → verdicts."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memdir.flows.opening_repo import open_repo
from memdir.app import App
from memdir.core import frontmatter
from memdir.flows.reading import find_all, read_all

if TYPE_CHECKING:
    from memdir.core.claim import Judged


@dataclass(frozen=True)
class Checked:
    """The judged claims of each memory by its path; what could not be read or looked at."""

    memories: dict[str, list[Judged]]
    remarks: tuple[str, ...] = ()


def _silent(text: str) -> None:
    """Nobody waits for it."""


def verify(app: App, names: Sequence[str] = (), say: Callable[[str], None] = _silent) -> Checked:
    """These memories (a name may also be a path), or all of them with their index."""
    from memdir.steps.verify import verify as check  # its patterns cost every command's start

    files, findings = read_all(app, _paths(app, names) if names else None)
    texts = [(path, frontmatter.decode(app.store.view(path, data))) for path, data in files]
    beside = frozenset(app.store.files())
    judged, remarks = check(texts, open_repo(app), folder=_folder(app), beside=beside, say=say)
    return Checked(judged, (*remarks, *(f"{one.message}; {one.fix}" for one in findings)))


def _paths(app: App, names: Sequence[str]) -> list[str]:
    """The paths of what is called so; a path stands for itself."""
    there = {*app.store.files(), app.store.index_path}
    named = iter(find_all(app.store, [name for name in names if name not in there]))
    return [name if name in there else next(named).path for name in names]


def _folder(app: App) -> str:
    """Where the store lies below the checkout; empty where it lies elsewhere."""
    if not app.config.code:
        return ""
    top, store = os.path.realpath(app.config.code), os.path.realpath(app.store.root)
    return os.path.relpath(store, top) if store.startswith(top.rstrip("/") + "/") else ""
