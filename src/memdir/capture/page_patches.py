"""What CLAUDE.md and the pages for people should say, as patches; none of them is ever written."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memdir.capture.pages import Page, patch, read_page, with_lines, with_section
from memdir.capture.route import CLAUDE_MD, KNOWLEDGE_FOLDER, Place, Routed, standing_line
from memdir.format.draft import Draft, Rules, complete, first_sentence
from memdir.hot import safe
from memdir.hot.safe import inert, inert_line

DECISIONS, NOTES = f"{KNOWLEDGE_FOLDER}/decisions.md", f"{KNOWLEDGE_FOLDER}/notes.md"
TITLES = {DECISIONS: "# Decisions", NOTES: "# Notes"}
MAX_ENTRY_CHARACTERS = 1_500  # more is no entry of a log


@dataclass(frozen=True)
class Patch:
    """A proposed change of one page of one project."""

    root: str
    path: str
    text: str

    @property
    def file(self) -> str:
        """What it is called where it is written down."""
        return f"{os.path.basename(self.root)}-{self.path.replace('/', '-')}.patch"


def page_for(place: Place, one: Routed) -> Page:
    """The page that it is meant for."""
    if one.to == CLAUDE_MD:
        return place.claude_md
    long = one.catch.draft is not None and len(one.catch.draft.body) > MAX_ENTRY_CHARACTERS
    return read_page(place.root, NOTES if long else DECISIONS)


def standing_on(place: Place, one: Routed) -> str:
    """The page that has this very line or heading already; empty where none has."""
    draft, page = one.catch.draft, page_for(place, one)
    if draft is None or not page.data:
        return ""
    line = f"- {_line(draft, place.rules)}"
    wanted = line if one.to == CLAUDE_MD else _entry(draft, place.rules)[0]
    lines = page.data.decode("utf-8", "surrogateescape").splitlines()
    return page.path if wanted in map(str.rstrip, lines) else ""


def propose(place: Place, routed: Sequence[Routed]) -> list[Patch]:
    """One patch for each page, so that they can be applied in any order."""
    standing = [one.catch.draft for one in routed if one.to == CLAUDE_MD and one.catch.draft]
    pages: dict[Page, bytes] = {}
    if standing:
        lines = [_line(draft, place.rules) for draft in standing]
        pages[place.claude_md] = with_lines(place.claude_md.data, list(dict.fromkeys(lines)))
    for one in routed:
        if one.to != CLAUDE_MD and one.catch.draft:
            page = page_for(place, one)
            old = pages.get(page, page.data)
            heading, body = _entry(one.catch.draft, place.rules)
            pages[page] = with_section(old, heading, body, TITLES.get(page.path, ""))
    return [
        Patch(place.root, page.path, patch(page.path, page.data, new))
        for page, new in pages.items()
    ]


def _line(draft: Draft, rules: Rules) -> str:
    whole, _ = complete(replace(draft, why="", how=""), rules)
    return inert_line(standing_line(whole))


def _entry(draft: Draft, rules: Rules) -> tuple[str, str]:
    """The heading with its day, and the text with its reasons."""
    whole, _ = complete(draft, rules)
    day = safe.iso_day(rules.now) if draft.day is None else draft.day.isoformat()
    title = inert_line(first_sentence(draft.description or draft.body)).rstrip(".")
    body = inert(whole.body)
    rest = body.removeprefix(title)
    # The heading has said it: below it stands what it does not say.
    body = rest.lstrip(".").lstrip() if rest != body and rest[:1] in ("", ".", "\n") else body
    return f"## {day}: {title}", body
