"""Which contents of a store memdir itself wrote for the person, as its history tells."""

from __future__ import annotations

from collections.abc import Collection

from memdir.core.acceptance import PUT_BACK, UPKEEP
from memdir.core.errors import HistoryBroken
from memdir.core.history import GONE
from memdir.core.ports import History


def own_paths(history: History, contents: dict[str, bytes], *, upkeep: bool) -> set[str]:
    """Those of these files whose very bytes a command of ours wrote.

    With `upkeep` what was only tidied counts, too: before there was anything to accept, nobody
    could have said so.
    """
    left, found = set(contents), set[str]()
    passed: Collection[str] = PUT_BACK if upkeep else (*PUT_BACK, *UPKEEP)
    try:
        for logged in history.log():
            if not left:
                break
            if logged.cause.verb in passed:
                continue
            for kind, path in logged.paths:
                wanted = contents[path] if kind != GONE and path in left else None
                if wanted is not None and history.content(logged.id, path) == wanted:
                    found.add(path)
                    left.discard(path)
    except HistoryBroken:
        return found  # what cannot be read proves nothing
    return found
