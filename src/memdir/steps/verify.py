"""Verify: the claims of memories against the code, with one look for all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memdir.core.claim import Judged
from memdir.core.claims import find_claims, judge, wanted
from memdir.core.ports import Repo

Verified = dict[str, list[Judged]]


def verify(
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
    below = f"{folder}/" if folder else ""
    found = {path: find_claims(text, below + path if below else "") for path, text in texts}
    seen = repo.look(wanted([one for claims in found.values() for one in claims]), say)
    judged = {path: [judge(one, seen, beside) for one in claims] for path, claims in found.items()}
    return judged, seen.remarks
