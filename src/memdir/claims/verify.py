"""Verifies claims of memories against the code, and stores the verdicts for recall."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memdir.claims.claim import NOT_A_CLAIM, STALE, TRUE, UNKNOWN, VERSION, Judged
from memdir.hot import memory
from memdir.hot.verdicts import Kept, Verdicts, verdict_facts
from memdir.store.look import read_store_files
from memdir.store.save import find_in_store
from memdir.store.writer import App, store_cache_folder

if TYPE_CHECKING:
    from memdir.claims.repo import Repo
    from memdir.hot.verdicts import Row


@dataclass(frozen=True)
class CheckedClaim:
    """What a memory says of the code, and what was seen; `path` is the memory's."""

    path: str
    line: int
    text: str
    kind: str
    verdict: str
    reason: str
    place: str
    column: int
    scope: str


@dataclass(frozen=True)
class Checked:
    """The judged claims of each memory by its path; what could not be read or looked at."""

    memories: dict[str, list[Judged]]
    remarks: tuple[str, ...] = ()
    scope: str = ""

    @property
    def claims(self) -> tuple[CheckedClaim, ...]:
        """All of them, in the order of the text."""
        return tuple(
            CheckedClaim(
                *(path, item.claim.line, item.claim.text, item.claim.kind, item.verdict),
                *(item.reason, item.place, item.claim.column, self.scope),
            )
            for path, judged in self.memories.items()
            for item in judged
        )

    @property
    def counts(self) -> dict[str, int]:
        """How many claims have each verdict."""
        found = Counter(item.verdict for judged in self.memories.values() for item in judged)
        return {verdict: found[verdict] for verdict in (STALE, UNKNOWN, TRUE, NOT_A_CLAIM)}

    @property
    def files(self) -> int:
        return len(self.memories)

    def __repr__(self) -> str:
        counts = ", ".join(f"{number} {verdict}" for verdict, number in self.counts.items())
        return f"<Checked: {self.files} files: {counts}>"


def open_repo(app: App) -> Repo:
    from memdir.claims.repo import GitRepo

    return GitRepo(app.config.code, app.config.cache_dir)


def verify_memories(app: App, names: Sequence[str] = ()) -> Checked:
    """Checks these memories (by name or path), or all of them with their index."""
    store, paths = app.store, None
    if names:
        there = {*store.files(), store.index_path}
        named = iter(find_in_store(store, [name for name in names if name not in there]))
        paths = [name if name in there else next(named).path for name in names]
    files, findings = read_store_files(app.store, paths)
    texts = [(path, memory.decode(store.view(path, data))) for path, data in files]
    # If the store is inside the checkout, `..` in paths can be resolved.
    folder = ""
    if app.config.code:
        top, root = os.path.realpath(app.config.code), os.path.realpath(store.root)
        folder = os.path.relpath(root, top) if root.startswith(top.rstrip("/") + "/") else ""
    beside = frozenset(store.files())
    judged, remarks = verify_claims(texts, open_repo(app), folder=folder, beside=beside)
    unread = (f"{finding.message}; {finding.fix}" for finding in findings)
    return Checked(judged, (*remarks, *unread), str(app.config.scope))


def verify_claims(
    texts: Sequence[tuple[str, str]],
    repo: Repo,
    *,
    folder: str = "",
    beside: frozenset[str] = frozenset(),
) -> tuple[dict[str, list[Judged]], tuple[str, ...]]:
    """`folder` is the store's path below the repository, if it is there; `beside` its memories."""
    from memdir.claims.find import find_claims  # compiling its patterns would slow every command
    from memdir.claims.judge import collect_evidence_claims_need, judge_claim

    own = repo.own_names()
    claims_by_path = {
        path: find_claims(text, f"{folder}/{path}" if folder else "", own) for path, text in texts
    }
    found = (claim for claims in claims_by_path.values() for claim in claims)
    seen = repo.look(collect_evidence_claims_need(found))
    judged = {
        path: [
            judge_claim(claim, seen, beside, f"{folder}/\n{text}")
            for claim in claims_by_path[path]
            # A number after a word is a version only if a manifest asks for one.
            if claim.kind != VERSION or claim.names[0] in seen.versions
        ]
        for path, text in texts
    }
    return judged, seen.remarks


def open_verdicts(app: App) -> Verdicts:
    return Verdicts(store_cache_folder(app.config), app.config.code)


def refresh_verdicts(app: App, paths: Sequence[str] | None = None) -> int:
    """Skips memories whose text and code did not change; returns how many were verified."""
    if not app.config.code:
        return 0
    kept, state = open_verdicts(app), open_repo(app).state()
    memories = app.store.scan().memories
    if paths is None:
        kept.drop_all_but(each.path for each in memories)
    old = set()
    for each in memories:
        before = kept.load(each.path, verdict_facts(each))
        current = before is not None and bool(state) and before.state == state
        if not current and (paths is None or each.path in paths):
            old.add(each.path)
    if not old:
        return 0
    checked = verify_memories(app, () if len(old) == len(memories) else sorted(old))
    keep_verdicts(app, {path: item for path, item in checked.memories.items() if path in old})
    return len(old)


def keep_verdicts(app: App, judged: Mapping[str, Sequence[Judged]]) -> None:
    """Left for hooks and for commands that check nothing themselves."""
    if not app.config.code:
        return
    kept, state = open_verdicts(app), open_repo(app).state()
    for each in app.store.scan().memories:
        if each.path in judged:
            rows = make_verdict_rows(judged[each.path], kept)
            kept.keep(each.path, Kept(verdict_facts(each), state, rows))


def make_verdict_rows(judged: Sequence[Judged], kept: Verdicts) -> list[Row]:
    rows: list[Row] = []
    for each in sorted(judged, key=lambda each: each.verdict != STALE):
        if each.verdict in (TRUE, STALE):
            claim = each.claim
            place = each.place or (claim.names[0] if claim.names else "")
            facts = kept.glance(place) if each.verdict == TRUE else None
            rows.append((each.verdict, claim.kind, claim.text, each.reason, place, facts))
    return rows
