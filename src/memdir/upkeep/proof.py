"""No line lost; the result checked point by point; the figures of before and after."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memdir.format import index
from memdir.format.pointer import read_pointers
from memdir.hot import memory
from memdir.hot.memory import MAX_CHARACTERS, MAX_LINES
from memdir.models.model import tokens_of
from memdir.text.markdown import item_start
from memdir.text.markdown import plain as unescaped
from memdir.text.similar import MERGE
from memdir.text.terminal import count
from memdir.upkeep.pieces import find_kept, find_missing, is_placeholder
from memdir.upkeep.split import MERGE_INTO, find_pairs, is_overlong
from memdir.upkeep.worksheet import Accounted, Check, Work, bare, has_words, some

_SEE = re.compile(r"[\s(—–-]*\bsee\s*:?\s*$", re.IGNORECASE)  # in front of a link only


@dataclass(frozen=True)
class Lost:
    """A line that would disappear: never allowed to happen."""

    path: str
    line: int
    text: str


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


def find_lost(
    before: Mapping[str, str], after: Mapping[str, str], accounted: Iterable[Accounted]
) -> list[Lost]:
    """The lines of before that are nowhere afterwards and that nobody accounted for."""
    known = {bare(line) for text in after.values() for line in text.split("\n")}
    known |= {bare(item.text) for item in accounted}
    flat = [" ".join(text.split()) for text in after.values()]
    whole = "\n".join([*flat, *map(unescaped, flat)])
    result = []
    for path, text in before.items():
        for number, line in enumerate(text.split("\n"), 1):
            words = bare(line)
            if has_words(words) and words not in known and not _is_said(line, words, whole):
                result.append(Lost(path, number, line))
    return result


def _is_said(line: str, words: str, whole: str) -> bool:
    """Does the whole text say a line: in its flow, as a pointer with its words, or as a value?"""
    if words in whole:
        return True
    if pointers := read_pointers(line.strip(), 1):
        front = line.strip()[max(item_start(line.strip()), 0) : pointers[0].start]
        parts = [_SEE.sub("", front)]
        parts += [part for item in pointers for part in (item.title.strip("`"), item.hook)]
        if all(bare(part) in whole for part in parts if has_words(part)):
            return True
    # In a header the value counts, however it is quoted there.
    _, colon, value = words.partition(": ")
    return bool(colon) and bare(memory.unquote(value.strip())) in whole


def count_figures(work: Work) -> Figures:
    survey = _survey(work)
    return Figures(
        index_lines=survey.lines,
        index_characters=survey.characters,
        tokens=tokens_of(work.index),
        files=len(work.pages),
        inline=len(survey.inline) + (0 if survey.pointers else len(survey.intro)),
        long_pointers=len(survey.overlong),
        overlong=sum(map(is_overlong, work.texts.values())),
        duplicates=len(find_pairs(work, MERGE)),
        orphans=len(survey.orphans),
        dangling=len(survey.dangling),
        headless=len(_headless(work)),
    )


def check_result(work: Work, figures: Figures, lost: Sequence[Lost]) -> list[Check]:
    """The questions of the verification list, each with its answer."""
    survey = _survey(work)
    size = f"{figures.index_lines} of {MAX_LINES} lines, "
    size += f"{figures.index_characters:,} of {MAX_CHARACTERS:,} characters"
    fits = figures.index_lines <= MAX_LINES and figures.index_characters <= MAX_CHARACTERS
    fix = "retire or archive what is old: memdir list"
    asked = {item.path for item in work.proposals if item.what.startswith(MERGE_INTO)}
    pairs = find_pairs(work)
    twins = [
        f"{pair.first} and {pair.second}"
        for pair in pairs
        if pair.score >= MERGE and not asked & {pair.first, pair.second}
    ]
    alike = sum(pair.score < MERGE for pair in pairs)
    pairs_left = f"; {count(alike, 'pair')} alike, for you to decide" if alike else ""
    return [
        Check("limit", fits, f"the index has {size}", "" if fits else fix),
        _none(
            "pointers", [item.target for item in survey.dangling], "every pointer leads to a file"
        ),
        _none("orphans", survey.orphans, "every memory has a pointer"),
        _none("headers", _headless(work), "every memory has a name, a description and a type"),
        _check_content(work, survey.inline),
        _none("duplicates", twins, "no two memories say the same" + pairs_left),
        _none("knowledge", [item.text for item in lost], "no line of knowledge is lost"),
    ]


def _check_content(work: Work, numbers: Sequence[int]) -> Check:
    """Content stays in the index only where it asks to stay in view, and the index fits."""
    _, lines = work.outline(work.index)
    fits = not any(index.over_limit(work.index))
    kept = {lines[i].number for i in find_kept(lines)} if fits else set()
    texts = [lines[number - 1].text.strip() for number in numbers if number not in kept]
    stay = len(kept.intersection(numbers))
    fine = "the index holds pointers only"
    fine += f", and {count(stay, 'line')} that must stay in view" if stay else ""
    return _none("content", [text for text in texts if text and not is_placeholder(text)], fine)


def _headless(work: Work) -> list[str]:
    return [path for path, page in work.pages.items() if find_missing(page.document)]


def _survey(work: Work) -> index.Survey:
    return index.survey(work.index, sorted(work.pages), work.names(), work.given.gone)


def _none(name: str, wrong: Sequence[str], fine: str) -> Check:
    if not wrong:
        return Check(name, True, fine)
    message = f"not so: {some([text[:60] for text in wrong])}"
    return Check(name, False, message, "see the report, or edit by hand")
