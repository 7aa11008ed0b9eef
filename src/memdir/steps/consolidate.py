"""Carry out the plan of a restructuring: new memories first, the index next to last."""

from __future__ import annotations

from memdir.core.draft import CREATED, RETIRED, UPDATED, Change
from memdir.core.errors import KnowledgeAtRisk
from memdir.core.frontmatter import encode
from memdir.core.memory import stem
from memdir.core.ports import TRASH, Shelf, Store
from memdir.core.restructuring.planning import Plan
from memdir.core.revision import hash_of


def consolidate(plan: Plan, store: Store, shelf: Shelf, now: float) -> list[Change]:
    """Write everything that the plan changes; at no moment is a line in neither place."""
    if plan.lost:
        first = plan.lost[0]
        more = f" and {len(plan.lost) - 1} more" if len(plan.lost) > 1 else ""
        raise KnowledgeAtRisk(
            f"{first.path}:{first.line} would be lost ({first.text.strip()[:60]!r}){more}; "
            "nothing was written",
            path=first.path,
            next="this is a mistake in memdir: please report it; nothing was changed",
        )
    known = plan.work.given.pages
    new = [path for path in sorted(plan.texts) if path not in known]
    old = [path for path in sorted(plan.texts) if path in known]
    done = [_write(plan, path, CREATED, plan.texts[path], store) for path in new]
    done += [_write(plan, path, UPDATED, plan.texts[path], store) for path in old]
    index = plan.work.given.index_path
    if plan.index is not None:
        kind = UPDATED if store.exists(index) else CREATED
        done.append(_write(plan, index, kind, plan.index, store))
    for path in plan.gone:
        data = store.read(path)
        shelf.lay(TRASH, path, data, now)
        store.drop(path)
        done.append(Change(RETIRED, stem(path), path, hash_of(data), plan.reasons.get(path, "")))
    return done


def _write(plan: Plan, path: str, kind: str, text: str, store: Store) -> Change:
    data = encode(text)
    store.put(path, data)
    return Change(kind, stem(path), path, hash_of(data), plan.reasons.get(path, ""))
