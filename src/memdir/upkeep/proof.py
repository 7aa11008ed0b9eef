"""The result, checked point by point, and the figures of before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memdir.format import index
from memdir.format.outline import Lookup, read_outline
from memdir.hot.memory import MAX_CHARACTERS, MAX_LINES
from memdir.models.model import tokens_of
from memdir.text.similar import MERGE
from memdir.upkeep.pieces import in_view, is_placeholder
from memdir.upkeep.split import MERGE_INTO, is_overlong, likely
from memdir.upkeep.topics import lacking
from memdir.upkeep.worksheet import Check, Lost, Work


@dataclass(frozen=True)
class Figures:
    """A store in numbers; `tokens` is what the index costs each session."""

    index_lines: int
    index_characters: int
    tokens: int
    files: int
    inline: int
    long_pointers: int
    overlong: int
    duplicates: int
    orphans: int
    dangling: int
    headless: int


def count(work: Work) -> Figures:
    """The figures of the store as it is now."""
    found = _survey(work)
    texts = [page.text for page in work.pages.values()]
    intro = found.intro if not found.pointers else []
    return Figures(
        index_lines=found.lines,
        index_characters=found.characters,
        tokens=tokens_of(work.index),
        files=len(work.pages),
        inline=len(found.inline) + len(intro),
        long_pointers=len(found.overlong),
        overlong=sum(map(is_overlong, texts)),
        duplicates=len(likely(work, MERGE)),
        orphans=len(found.orphans),
        dangling=len(found.dangling),
        headless=sum(1 for page in work.pages.values() if lacking(page.document)),
    )


def check(work: Work, figures: Figures, lost: Sequence[Lost]) -> list[Check]:
    """The questions of the verification list, each with its answer."""
    found = _survey(work)
    size = f"{figures.index_lines} of {MAX_LINES} lines, "
    size += f"{figures.index_characters:,} of {MAX_CHARACTERS:,} characters"
    fits = figures.index_lines <= MAX_LINES and figures.index_characters <= MAX_CHARACTERS
    fix = "retire or archive what is old: memdir list"
    headless = [path for path, page in work.pages.items() if lacking(page.document)]
    twins = _unsettled(work)
    return [
        Check("limit", fits, f"the index has {size}", "" if fits else fix),
        _none("pointers", [one.target for one in found.dangling], "every pointer leads to a file"),
        _none("orphans", found.orphans, "every memory has a pointer"),
        _none("headers", headless, "every memory has a name, a description and a type"),
        _none("content", *_content(work, found.inline)),
        _none("duplicates", twins, "no two memories say the same" + _alike(work)),
        _none("knowledge", [one.text for one in lost], "no line of knowledge is lost"),
    ]


def _unsettled(work: Work) -> list[str]:
    """Pairs that say the same and were neither merged nor put before a person."""
    asked = {one.path for one in work.proposals if one.what.startswith(MERGE_INTO)}
    pairs = likely(work, MERGE)
    return [f"{one} and {other}" for one, other, _ in pairs if not asked & {one, other}]


def _alike(work: Work) -> str:
    """The pairs below that, which a person may want to look at."""
    count = sum(1 for _, _, score in likely(work) if score < MERGE)
    if not count:
        return ""
    return f"; {count} pair{'s are' if count > 1 else ' is'} alike, for you to decide"


def _content(work: Work, numbers: Sequence[int]) -> tuple[list[str], str]:
    """Content that should not be there, and what to say where there is none."""
    _, lines = read_outline(work.index, Lookup(work.pages, work.names()))
    fits = not any(index.over_limit(work.index))
    kept = {lines[at].number for at in in_view(lines)} if fits else set()
    said = [lines[number - 1].text.strip() for number in numbers if number not in kept]
    stays = len(kept.intersection(numbers))
    fine = "the index holds pointers only"
    fine += f", and {stays} line{'s' * (stays > 1)} that must stay in view" if stays else ""
    return [text for text in said if text and not is_placeholder(text)], fine


def _survey(work: Work) -> index.Survey:
    names: Mapping[str, str] = work.names()
    return index.survey(work.index, sorted(work.pages), names, work.given.gone)


def _none(name: str, wrong: Sequence[str], fine: str) -> Check:
    if not wrong:
        return Check(name, True, fine)
    more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
    said = ", ".join(text[:60] for text in wrong[:3]) + more
    return Check(name, False, f"not so: {said}", "see the report, or edit by hand")
