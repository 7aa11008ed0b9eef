"""Two memories that say the same, or may not both be right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from memdir.core.contradiction import OPPOSITE, Contradiction, find_contradictions
from memdir.core.finding import Finding
from memdir.core.inspection.page import command
from memdir.core.likeness import MERGE, Alike, find_alike

MOST = 100  # pairs of a kind: of a store that repeats itself there are millions
RESTRUCTURE = "memdir restructure --dry-run"
SAID = 60  # characters of a sentence
NAMED = 5  # memories of one finding that are named


def inspect_pairs(texts: Mapping[str, str]) -> Iterator[Finding]:
    """`texts` by path; each pair is said once, at its first memory, the surest first."""
    yield from _few("near-duplicate", [_duplicate(alike) for alike in find_alike(texts)])
    yield from _few("contradiction", [*_contradictions(find_contradictions(texts))])


def _few(kind: str, found: Sequence[Finding]) -> Iterator[Finding]:
    yield from found[:MOST]
    if len(found) > MOST:
        message = f"there are {len(found) - MOST:,} more such pairs; these were the surest"
        yield Finding(kind, "", message, RESTRUCTURE)


def _duplicate(alike: Alike) -> Finding:
    says = "says the same" if alike.score >= MERGE else "may say the same"
    message = f"{alike.second} {says} ({alike.score:.0%} alike)"
    return Finding("near-duplicate", alike.first, message, RESTRUCTURE)


def _contradictions(found: Sequence[Contradiction]) -> Iterator[Finding]:
    """What one sentence says against several memories, such as a rename, is said once."""
    groups: dict[tuple[str, int, str], list[Contradiction]] = {}
    for one in found:
        groups.setdefault((one.first, one.first_line, one.reason), []).append(one)
    for (path, line, _), group in groups.items():
        yield Finding("contradiction", path, _against(group), _mend(group[0]), line)


def _against(group: Sequence[Contradiction]) -> str:
    one = group[0]
    places = [f"{other.second}:{other.second_line}" for other in group]
    if len(group) == 1:
        said = f"“{_short(one.first_says)}” against “{_short(one.second_says)}”"
        return f"{said} ({places[0]}): {one.reason}"
    more = f" and {len(places) - NAMED} more" if len(places) > NAMED else ""
    return f"“{_short(one.first_says)}” against {', '.join(places[:NAMED])}{more}: {one.reason}"


def _mend(one: Contradiction) -> str:
    """Who says that something else is over is right more often than who does not know it."""
    second = command("edit", one.second)
    return second if one.kind != OPPOSITE else f"{command('edit', one.first)}, or {second}"


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= SAID else plain[: SAID - 1].rstrip() + "…"
