"""The lines of a body: headings outside of code, sections below them, groups of a good size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from memdir.core.loading import CODE, OPEN, TEXT, layers
from memdir.core.pointer import item_start

OVERLONG = 200  # lines of a file; more is read only in part, or not at all
HEADER_ROOM = 14  # lines that a header and the way back may take
MOST = OVERLONG - HEADER_ROOM  # lines of one part
AIM = 120  # lines of a group of sections


@dataclass(frozen=True)
class Section:
    """A heading (empty for what stands above the first one) and its lines, the heading's first."""

    title: str
    level: int
    lines: tuple[str, ...]

    @property
    def size(self) -> int:
        """Lines with something on them, the heading not counted."""
        filled = sum(1 for line in self.lines if line.strip())
        return filled - bool(self.title)


def level_of(line: str) -> int:
    """The level of a heading; 0 for a line that is none."""
    body = line.strip()
    level = len(body) - len(body.lstrip("#"))
    return level if 0 < level <= 6 and body[level : level + 1] in ("", " ", "\t") else 0


def heading_text(line: str) -> str:
    """The words of a heading."""
    return line.strip().lstrip("#").strip().rstrip("#").strip()


def headings(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Where headings stand and their levels; none inside code or comments."""
    return [
        (at, level)
        for at, (layer, shown) in enumerate(layers(lines))
        if layer == TEXT and (level := level_of(shown))
    ]


def with_marks(text: str) -> str:
    """The text with headings that are underlined written with `#`."""
    lines = text.split("\n")
    found = layers(lines)
    underlines: set[int] = set()
    for at in range(1, len(lines)):
        under, above = lines[at].strip(), lines[at - 1].strip()
        alone = at == 1 or not lines[at - 2].strip()
        if len(under) < 2 or under.strip(under[0]) or under[0] not in "=-" or not alone:
            continue
        told = any(map(str.isalnum, above)) and above[0] not in "#>|-*+<" and item_start(above) < 0
        if told and found[at][0] == found[at - 1][0] == TEXT:
            end = "\r" if lines[at - 1].endswith("\r") else ""
            lines[at - 1] = f"{'#' if under[0] == '=' else '##'} {above}{end}"
            underlines.add(at)
    return "\n".join(line for at, line in enumerate(lines) if at not in underlines)


def sections(lines: Sequence[str], level: int) -> list[Section]:
    """The lines cut at the headings of this level or above it; the first may have no heading."""
    cuts = [at for at, found in headings(lines) if found <= level]
    bounds = [0, *cuts, len(lines)] if not cuts or cuts[0] else [*cuts, len(lines)]
    found = []
    for start, end in pairwise(bounds):
        headed = start in cuts
        title = heading_text(lines[start]) if headed else ""
        found.append(Section(title, level if headed else 0, tuple(lines[start:end])))
    return [one for one in found if one.title or any(line.strip() for line in one.lines)]


def split_level(lines: Sequence[str]) -> int:
    """The level at which the lines fall into several sections; 0 where there is none."""
    levels = [level for _, level in headings(lines)]
    for level in sorted(set(levels)):
        if levels.count(level) > 1:
            return level
    return 0


def grouped(found: Sequence[Section], aim: int = AIM) -> list[list[Section]]:
    """Neighbours together up to the aim, so that no part is a scrap."""
    groups: list[list[Section]] = []
    size = 0
    for section in found:
        more = len(section.lines)
        if groups and size + more <= aim:
            groups[-1].append(section)
            size += more
        else:
            groups.append([section])
            size = more
    return groups


def runs(lines: Sequence[str], most: int = MOST) -> list[list[str]]:
    """Lines without headings cut between blocks; code, tables and nested lists stay whole."""
    found: list[list[str]] = [[]]
    layer = [name for name, _ in layers(lines)]
    for at, line in enumerate(lines):
        if len(found[-1]) >= most - 20 and _may_cut(lines, layer, at):
            found.append([])
        found[-1].append(line)
    return [run for run in found if any(line.strip() for line in run)]


def _may_cut(lines: Sequence[str], layer: Sequence[str], at: int) -> bool:
    """May a new part begin with this line?"""
    line, above = lines[at], lines[at - 1]
    if layer[at] in (CODE, OPEN):
        begins = layer[at - 1] not in (CODE, OPEN)
        return begins and not line.startswith((" ", "\t"))
    if layer[at] != TEXT or not line.strip() or line.startswith((" ", "\t")):
        return False
    item = line.startswith(("- ", "* ", "+ ")) or line[:1].isdigit()
    return item or not above.strip()


def trimmed(lines: Sequence[str]) -> list[str]:
    """Without blank lines and rules at both ends; a rule is no knowledge."""
    found = list(lines)
    while found and _empty(found[-1]):
        found.pop()
    while found and _empty(found[0]):
        found.pop(0)
    return found


def _empty(line: str) -> bool:
    body = line.strip()
    return not body or (len(body) > 2 and not body.strip(body[0] + " ") and body[0] in "-*_")
