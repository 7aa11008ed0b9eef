"""Memories that disagree with their description or index line, on labelled memories."""

from __future__ import annotations

from collections.abc import Sequence

from evals.pairs_data import Single, Stores
from evals.report import COUNT, TEXT, Figure, Section, Table
from evals.shares import share_figure
from memdir.audit.disagree import MISSING, find_disagreements
from memdir.format.pointer import parse_pointers, pointer_path

UNFOUND = "What only understanding would find is not found: a clean list proves nothing."


def evaluate_disagreements(singles: Sequence[Single], stores: Stores) -> Section:
    """Every memory against its description and its index line; most are labelled by no one."""
    kinds = {(one.file.repo, one.file.path): one.kind for one in singles}
    hits: dict[str, int] = dict.fromkeys(kinds.values(), 0)
    alarms, files, missing = 0, 0, 0
    for folder, (texts, index) in stores.items():
        lines = _pointer_lines(index)
        repo, _, inside = folder.partition("/")
        for path, text in texts.items():
            files += 1
            found = [kind for kind, *_ in find_disagreements(text, lines.get(path, ""))]
            missing += MISSING in found
            told = any(kind != MISSING for kind in found)
            kind = kinds.get((repo.replace("__", "/", 1), f"{inside}/{path}"))
            if kind is not None:
                hits[kind] += told
            else:
                alarms += told
    rows = tuple(
        (kind, sum(one == kind for one in kinds.values()), found) for kind, found in hits.items()
    )
    figures = (
        share_figure("disagreements found", sum(hits.values()), len(kinds)),
        Figure("alarms on other memories", alarms, COUNT, files - len(kinds)),
        Figure("memories without description", missing, COUNT, files),
    )
    columns = (("kind", TEXT), ("n", COUNT), ("found", COUNT))
    table = Table("kinds", columns, rows)
    return Section("Description, index line and body", figures, (table,), (UNFOUND,))


def _pointer_lines(index: str) -> dict[str, str]:
    """The first line of the index that points at each memory."""
    found: dict[str, str] = {}
    for number, line in enumerate(index.split("\n"), 1):
        for pointer in parse_pointers(line, number):
            found.setdefault(pointer_path(pointer.target) or f"{pointer.target}.md", line)
    return found
