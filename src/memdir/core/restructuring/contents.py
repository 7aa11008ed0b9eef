"""A table of contents in the index: lines that lead to headings which are gone go as well."""

from __future__ import annotations

import re

from memdir.core.outline import BLANK, ELSEWHERE, HEADING, Line, write_outline
from memdir.core.restructuring.bodies import heading_text
from memdir.core.restructuring.sections import close_gaps, reread
from memdir.core.restructuring.work import DROPPED, Work

_ANCHOR = re.compile(
    r"\s{0,40}(?:[-*+]|\d{1,3}[.)])\s{1,4}\[[^\[\]]{1,200}\]\(#([^()\s]{1,200})\)\s*"
)


def without_anchors(work: Work, text: str) -> str:
    """The index without such lines, nor the heading that stood above nothing else."""
    bom, lines = reread(work, text)
    there = {_anchor(heading_text(line.text)) for line in lines if line.kind == HEADING}
    gone = {
        at
        for at, line in enumerate(lines)
        if line.kind == ELSEWHERE
        and (found := _ANCHOR.fullmatch(line.text))
        and found[1].lower() not in there
    }
    if not gone:
        return text
    gone |= _bare_headings(lines, gone)
    for at in sorted(gone):
        reason = "the heading it leads to is a memory now"
        work.account(work.given.index_path, lines[at].text, reason)
    what = "lines of the table of contents whose headings are memories now"
    work.say(DROPPED, work.given.index_path, what)
    return write_outline(bom, close_gaps(lines, gone))


def _bare_headings(lines: list[Line], gone: set[int]) -> set[int]:
    """Headings below which only such lines stood."""
    found = set()
    for at, line in enumerate(lines):
        if line.kind != HEADING or line.level < 2:
            continue
        end = next((to for to in range(at + 1, len(lines)) if lines[to].level), len(lines))
        filled = [to for to in range(at + 1, end) if lines[to].kind != BLANK]
        if filled and all(to in gone for to in filled):
            found.add(at)
    return found


def _anchor(heading: str) -> str:
    """A heading as a link names it."""
    kept = "".join(char for char in heading.lower() if char.isalnum() or char in " -_")
    return kept.strip().replace(" ", "-")
