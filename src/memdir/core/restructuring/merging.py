"""Memories that say the same become one; every line that only one of them has is kept."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from memdir.core import frontmatter
from memdir.core.likeness import MERGE, SHOW, Alike, find_alike
from memdir.core.loading import TEXT, layers
from memdir.core.memory import UNKNOWN, stem
from memdir.core.pointer import item_start
from memdir.core.restructuring.bodies import level_of, trimmed
from memdir.core.restructuring.knowledge import bare, holds
from memdir.core.restructuring.work import MERGED, Proposal, Work

MOST_PAGES = 2_000  # every pair is compared
MERGE_INTO = "merge into "
MERGED_KEY = "metadata.merged_from"


def merge_alike(work: Work, chosen: Iterable[tuple[str, str]] = ()) -> None:
    """Merge what is surely the same, and the pairs that a model named among the likely ones."""
    if len(work.pages) > MOST_PAGES:
        work.remarks.append(
            f"more than {MOST_PAGES:,} memories: near-duplicates were not looked for"
        )
        return
    wanted = {frozenset(pair) for pair in chosen}
    work.proposals = [one for one in work.proposals if not one.what.startswith(MERGE_INTO)]
    for pair in _pairs(work):
        paths = (pair.first, pair.second)
        if not all(path in work.pages for path in paths):
            continue
        sure = pair.score >= MERGE or frozenset(paths) in wanted
        if not sure:
            continue
        reason = _objection(work, *paths)
        if reason:
            said = (f"{pair.score:.0%} alike, but {reason}",)
            what = MERGE_INTO + paths[0]
            work.proposals.append(Proposal(paths[1], what, said, retiring(paths[1])))
            continue
        _merge(work, *_order(work, *paths), pair.score)


def likely(work: Work, least: float = SHOW) -> list[tuple[str, str, float]]:
    """Pairs that may be the same; a person or a model may say so."""
    if len(work.pages) > MOST_PAGES:
        return []
    return [(one.first, one.second, one.score) for one in _pairs(work) if one.score >= least]


def propose_alike(work: Work) -> None:
    """Pairs that are alike and stay two: only a person knows whether one of them is right."""
    asked = {
        frozenset((one.path, one.what.removeprefix(MERGE_INTO)))
        for one in work.proposals
        if one.what.startswith(MERGE_INTO)
    }
    opposed = {frozenset((one.first, one.second)) for one in work.contradictions}
    for first, second, score in likely(work):
        pair = frozenset((first, second))
        if pair in asked:
            continue
        what = f"uses much the same words as {first}"
        told = "the same thing twice, or does one correct the other?"
        if pair in opposed:
            what, told = f"speaks of the same as {first}", "and seems to say otherwise, see above"
        said = (f"{score:.0%} alike", told)
        work.proposals.append(Proposal(second, what, said, retiring(second)))


def retiring(path: str) -> str:
    """The command that takes a memory out of the store."""
    return f"memdir retire {shlex.quote(path)}"


def _counted(blocks: list[list[str]]) -> str:
    lines = sum(map(len, blocks))
    return "1 line" if lines == 1 else f"{lines} lines"


def _pairs(work: Work) -> list[Alike]:
    """The pairs that a person may want to look at; compared once, as long as nothing changes."""
    texts = {path: page.text for path, page in work.pages.items()}
    if work.compared is None or work.compared[0] != texts:
        work.compared = texts, find_alike(texts, SHOW)
    return work.compared[1]


def _objection(work: Work, first: str, second: str) -> str:
    types = {work.memory(path).type for path in (first, second)} - {UNKNOWN}
    if len(types) > 1:
        return "their types differ"
    if len(_linked(work, (first, second))) > 1:
        return "other memories link to both"
    return ""


def _order(work: Work, first: str, second: str) -> tuple[str, str]:
    """The one that stays, then the one that goes: what others link to stays, else the longer."""
    linked = _linked(work, (first, second))
    size = {path: len(work.pages[path].document.body) for path in (first, second)}
    stays = max((first, second), key=lambda path: (path in linked, size[path], path == first))
    return stays, second if stays == first else first


def _linked(work: Work, paths: tuple[str, str]) -> set[str]:
    """Which of these two a third memory links to."""
    found = set()
    for path in paths:
        name = path.rpartition("/")[2]
        marks = (f"[[{stem(path)}", f"[[{work.memory(path).name}]]", f"({name})", f"/{name})")
        for other, page in work.pages.items():
            if other not in paths and any(mark in page.text for mark in marks):
                found.add(path)
    return found


def _merge(work: Work, stays: str, goes: str, score: float) -> None:
    page, other = work.pages[stays], work.pages[goes]
    mine, theirs = page.document, other.document
    text = page.text
    lines = [line.removesuffix("\r") for line in theirs.body.split("\n")]
    new = [block for block in blocks(lines) if not all(_there(text, line) for line in block)]
    description = theirs.get("description")
    if description and not holds(text, description):
        new.insert(0, [description])
    for key, value in theirs.values.items():
        if value and key not in ("description", frontmatter.NEST) and not holds(text, value):
            work.account(goes, f"{key}: {value}", f"header of {goes}, which is merged into {stays}")
    kept = [bare(line) for block in new for line in block]
    for line in lines:
        if bare(line) and bare(line) not in kept:
            work.account(goes, line, f"{stays} says the same")
    origin = ", ".join(filter(None, (mine.get(MERGED_KEY), theirs.get(MERGED_KEY), goes)))
    work.write(stays, frontmatter.edit(mine, MERGED_KEY, origin).text)
    for block in new:
        work.append(stays, "\n".join(block))
    del work.pages[goes]
    what = f"took in {goes} ({score:.0%} alike); {_counted(new)} of it new"
    work.say(MERGED, stays, what)
    work.say(MERGED, goes, f"says the same as {stays}; merged into it")


def _there(text: str, line: str) -> bool:
    said = bare(line)
    return not any(map(str.isalnum, said)) or holds(text, said)


def blocks(lines: list[str]) -> list[list[str]]:
    """Paragraphs and items, nested lines with them; code and tables whole."""
    found: list[list[str]] = []
    before, above = "", TEXT
    for (layer, _), line in zip(layers(lines), lines, strict=True):
        inside = layer != TEXT and layer == above
        starts = item_start(line) >= 0 and line[:1] not in (" ", "\t")
        # A paragraph that was broken into lines is one thing.
        flows = before.strip() and line.strip() and not starts and not level_of(line)
        if not found or not (inside or (flows and not level_of(before))):
            found.append([])
        found[-1].append(line)
        before, above = line, layer
    return [trimmed(block) for block in found if any(line.strip() for line in block)]
