"""Two memories that say the same, or may not both be right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from memdir.core.contradiction import Contradiction, find_contradictions
from memdir.core.finding import Finding
from memdir.core.inspection.page import command
from memdir.core.likeness import MERGE, Alike, find_alike

MOST = 100  # pairs of a kind: of a store that repeats itself there are millions
RESTRUCTURE = "memdir restructure --dry-run"
SAID = 60  # characters of a sentence


def inspect_pairs(texts: Mapping[str, str]) -> Iterator[Finding]:
    """`texts` by path; each pair is said once, at its first memory, the surest first."""
    yield from _few("near-duplicate", [_duplicate(alike) for alike in find_alike(texts)])
    yield from _few("contradiction", [_contradiction(one) for one in find_contradictions(texts)])


def _few(kind: str, found: Sequence[Finding]) -> Iterator[Finding]:
    yield from found[:MOST]
    if len(found) > MOST:
        message = f"there are {len(found) - MOST:,} more such pairs; these were the surest"
        yield Finding(kind, "", message, RESTRUCTURE)


def _duplicate(alike: Alike) -> Finding:
    says = "says the same" if alike.score >= MERGE else "may say the same"
    message = f"{alike.second} {says} ({alike.score:.0%} alike)"
    return Finding("near-duplicate", alike.first, message, RESTRUCTURE)


def _contradiction(one: Contradiction) -> Finding:
    said = f"“{_short(one.first_says)}” against “{_short(one.second_says)}”"
    message = f"{said} ({one.second}:{one.second_line}): {one.reason}"
    return Finding("contradiction", one.first, message, command("edit", one.first), one.first_line)


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= SAID else plain[: SAID - 1].rstrip() + "…"
