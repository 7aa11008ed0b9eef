"""The sequence; verdicts refreshed for hooks."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memdir.claims.claim import STALE, TRUE, Judged
from memdir.hot import memory
from memdir.hot.memory import Memory
from memdir.hot.verdicts import Kept, Verdicts, facts_of
from memdir.store.look import find_all, read_all
from memdir.store.writer import App, cache_folder

if TYPE_CHECKING:
    from memdir.claims.repo import Repo
    from memdir.hot.verdicts import Row


def _silent(text: str) -> None:
    """Nobody waits for it."""


# The code that memories speak of.


def open_repo(app: App) -> Repo:
    """The code that this store's memories speak of; one that knows nothing without git."""
    from memdir.claims.repo import open_git_repo, open_no_repo

    code = app.config.code
    return open_git_repo(code, app.config.cache_dir) if code else open_no_repo(code, "")


# What the memories say of the code, checked: read → find claims → one look → verdicts.


@dataclass(frozen=True)
class Checked:
    """The judged claims of each memory by its path; what could not be read or looked at."""

    memories: dict[str, list[Judged]]
    remarks: tuple[str, ...] = ()


def verify(app: App, names: Sequence[str] = (), say: Callable[[str], None] = _silent) -> Checked:
    """These memories (a name may also be a path), or all of them with their index."""
    files, findings = read_all(app, _paths(app, names) if names else None)
    texts = [(path, memory.decode(app.store.view(path, data))) for path, data in files]
    beside = frozenset(app.store.files())
    judged, remarks = verify_claims(
        texts, open_repo(app), folder=_folder(app), beside=beside, say=say
    )
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


# Verdicts left behind for recall: verify → keep; recall only glances at what they rest on.


def kept_verdicts(app: App) -> Verdicts:
    """What was left behind for this store, against this checkout."""
    return Verdicts(cache_folder(app.config), app.config.code)


def refresh_verdicts(
    app: App, paths: Sequence[str] | None = None, say: Callable[[str], None] = _silent
) -> int:
    """verify → keep, of these memories or of all; how many were looked at.

    Left out are those whose text and whose code are as they were.
    """
    if not app.config.code:
        return 0
    kept, state = kept_verdicts(app), open_repo(app).state()
    memories = app.store.scan().memories
    if paths is None:
        kept.drop_all_but(memory.path for memory in memories)
    old = {
        memory.path: memory
        for memory in memories
        if (paths is None or memory.path in paths) and not _current(kept, memory, state)
    }
    if not old:
        return 0
    checked = verify(app, () if len(old) == len(memories) else list(old), say)
    for path, judged in checked.memories.items():
        if path in old:
            kept.keep(path, Kept(facts_of(old[path]), state, rows_of(judged, kept)))
    return len(old)


def _current(kept: Verdicts, memory: Memory, state: str) -> bool:
    found = kept.load(memory.path, facts_of(memory))
    return found is not None and bool(state) and found.state == state


def rows_of(judged: Sequence[Judged], kept: Verdicts) -> list[Row]:
    """What is worth keeping of a memory's claims, stale ones first."""
    rows: list[Row] = []
    for one in sorted(judged, key=lambda one: one.verdict != STALE):
        if one.verdict in (TRUE, STALE):
            place = one.place or (one.claim.names[0] if one.claim.names else "")
            facts = kept.glance(place) if one.verdict == TRUE else None
            rows.append((one.verdict, one.claim.kind, one.claim.text, one.reason, place, facts))
    return rows


# Verify: the claims of memories against the code, with one look for all of them.

Verified = dict[str, list[Judged]]


def verify_claims(
    texts: Sequence[tuple[str, str]],
    repo: Repo,
    *,
    folder: str = "",
    beside: frozenset[str] = frozenset(),
    say: Callable[[str], None] = lambda _: None,
) -> tuple[Verified, tuple[str, ...]]:
    """The judged claims of each (path, text), and the repository's remarks.

    `folder` is where the store lies below the repository, if it does; `beside` its memories.
    """
    from memdir.claims.find import find_claims  # its patterns cost every command's start
    from memdir.claims.judge import judge, wanted

    below = f"{folder}/" if folder else ""
    found = {path: find_claims(text, below + path if below else "") for path, text in texts}
    seen = repo.look(wanted([one for claims in found.values() for one in claims]), say)
    judged = {path: [judge(one, seen, beside) for one in claims] for path, claims in found.items()}
    return judged, seen.remarks
