"""Names with wildcards, for commands that take many memories at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from memdir.core.errors import Missing
from memdir.core.memory import stem

WILD = "*?["


def spread(names: Sequence[str], paths: Iterable[str]) -> list[str]:
    """The names; one with a wildcard becomes every path that it matches, by path or by stem."""
    there = list(dict.fromkeys(paths))
    found: list[str] = []
    for name in names:
        if name in there or not any(mark in name for mark in WILD):
            found.append(name)
            continue
        matching = [path for path in there if _matches(path, name)]
        if not matching:
            raise Missing(f"nothing matches {name[:80]!r}", next="memdir list shows what there is")
        found += matching
    return list(dict.fromkeys(found))


def _matches(path: str, pattern: str) -> bool:
    return fnmatchcase(path, pattern) or fnmatchcase(stem(path), pattern.removesuffix(".md"))
