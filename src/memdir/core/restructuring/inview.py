"""Sections of the index that say themselves that they must stay in view."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memdir.core.outline import CONTENT, ELSEWHERE, HEADING, POINTER, Line
from memdir.core.restructuring.bodies import heading_text, level_of

_TITLE = re.compile(
    r"\b(?:always[- ]on|always[- ]loaded|always in (?:view|context)|binding|non-negotiables?"
    r"|read (?:this )?before acting|read this first|must[- ]read|must stay)\b|^\W{0,4}IMPORTANT\b"
)
_WORDS = re.compile(
    r"\b(?:always[- ]on|always[- ]loaded|binding inline|(?:must|should) (?:stay|remain|be) "
    r"(?:in view|inline|in the index|in this index|always loaded)"
    r"|keep (?:this|these)(?: \w{1,12})? (?:inline|in the index|in this index|in view))\b"
)
_LOOK = 400  # characters of a line


def asks_to_stay(texts: Sequence[str]) -> bool:
    """Does a heading, or the text below it, say that agents must always see it?"""
    first = heading_text(texts[0]) if texts and level_of(texts[0]) else ""
    if _TITLE.search(first) or _TITLE.search(first.lower()):
        return True
    body = [text for text in texts if not level_of(text)]
    return any(_WORDS.search(text[:_LOOK].lower()) for text in body)


def in_view(lines: Sequence[Line]) -> set[int]:
    """The places of the lines in such sections; a section with pointers is none."""
    found: set[int] = set()
    heads = [at for at, line in enumerate(lines) if line.kind == HEADING]
    for at in heads:
        level = lines[at].level
        end = next((to for to in heads if to > at and lines[to].level <= level), len(lines))
        own = next((to for to in heads if to > at), len(lines))
        below = lines[at + 1 : end]
        if level == 1 and end == len(lines) and own < end:
            continue  # the title of the whole index
        leads = any(line.kind in (POINTER, ELSEWHERE) for line in below)
        texts = [line.text for line in lines[at:own]]
        if not leads and asks_to_stay(texts) and any(line.kind == CONTENT for line in below):
            found.update(range(at, end))
    return found
