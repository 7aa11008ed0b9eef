"""What a drafting agent is given of a conversation: the lines around the hits, marked as data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from memdir.core.inert import BRACKET, ELLIPSIS, clip, inert, inert_line
from memdir.core.patterns import pattern
from memdir.core.records.lines import Line
from memdir.core.records.scoring import Activity, Score, Scored
from memdir.core.records.settings import SESSION_SUMMARY, RecordSettings
from memdir.core.transcript import PERSON, Said

AROUND = 10  # lines of context before and behind a hit
LARGEST = 50 * 1024  # bytes of an excerpt, everything included
LONGEST_LINE = 4096  # bytes
LONGEST_NAMES = 1024  # bytes of the names of tools, and of the files that were written
OPENING, CLOSING = "<transcript_data>", "</transcript_data>"
LEFT_OUT = f"[{ELLIPSIS}]"  # stands where lines were left out
ROLES = ("[assistant]", "[user]")  # at the start of a line, where nothing that was said can stand
_INDENT = "  "
_OPENERS = "<＜﹤˂ᐸ⟨\u2329\u3008❬❮"
_FORGED = pattern(rf"[{_OPENERS}](?=[\s/\\／∕⁄]{{0,20}}transcript[\s_-]{{0,3}}data)", re.IGNORECASE)


def excerpt(scored: Scored, one: Score, settings: RecordSettings) -> str:
    """The text of a context file for one type that was triggered."""
    description = settings.types[one.type].description
    header = [f"Category: {one.type}", f"Score: {one.score:g}"]
    if description:
        header.append(f"Description: {inert_line(description)}")
    if one.type == SESSION_SUMMARY:
        header += _activity(scored.activity, scored.said)
        wanted: Iterable[int] = range(len(scored.lines) - 1, -1, -1)
    else:
        wanted = _around(one, len(scored.lines))
    head = "\n".join([*header, OPENING, ""])
    room = LARGEST - len(head.encode()) - len(CLOSING) - 1
    data = _within(_told(scored.lines, sorted(_chosen(scored.lines, wanted, room))), room)
    return f"{head}{data}{CLOSING}\n"


def _activity(activity: Activity, said: Sequence[Said]) -> Iterator[str]:
    yield f"Tool uses: {activity.tool_uses}"
    tools = inert_line(", ".join(activity.tools), LONGEST_NAMES)
    yield f"Distinct tools: {len(activity.tools)}" + (f" ({tools})" if tools else "")
    yield f"Exchanges: {activity.exchanges}"
    if files := inert_line(", ".join(dict.fromkeys(_wrote(said))), LONGEST_NAMES):
        yield f"Files written: {files}"


def _wrote(said: Sequence[Said]) -> Iterator[str]:
    for one in said:
        yield from one.wrote


def _around(one: Score, count: int) -> Iterator[int]:
    """The lines around each hit: the boosted ones say most, the newest of them first."""
    plain = sorted(set(one.hits) - set(one.boosted), reverse=True)
    for hit in (*sorted(one.boosted, reverse=True), *plain):
        yield hit
        for step in range(1, AROUND + 1):
            yield from (at for at in (hit - step, hit + step) if 0 <= at < count)


def _chosen(lines: Sequence[Line], wanted: Iterable[int], room: int) -> set[int]:
    """As many of the lines as fit, in the order in which they are wanted."""
    chosen: set[int] = set()
    for number in wanted:
        if number in chosen:
            continue
        room -= min(len(lines[number].text.encode("utf-8", "replace")), LONGEST_LINE) + len(_INDENT)
        if room < 0:
            break
        chosen.add(number)
    return chosen


def _told(lines: Sequence[Line], numbers: Sequence[int]) -> list[str]:
    """The lines in order, under the role of who said them, with a mark for each gap."""
    told: list[str] = []
    last = -1
    for message, group in groupby(numbers, key=lambda number: lines[number].message):
        some = list(group)
        if some[0] > last + 1:
            told.append(LEFT_OUT)
        told.append(ROLES[lines[some[0]].who == PERSON])
        for _, piece in groupby(enumerate(some), key=lambda pair: pair[1] - pair[0]):
            run = [number for _, number in piece]
            if last >= 0 and run[0] > last + 1 and lines[last].message == message:
                told.append(LEFT_OUT)
            # Made harmless before it is indented: what was one line may become several.
            text = inert("\n".join(lines[at].text for at in run))
            told += [_INDENT + clip(line, LONGEST_LINE) for line in text.split("\n")]
            last = run[-1]
    return told


def _within(told: list[str], room: int) -> str:
    """The newest lines that fit; no end of the data can stand among them."""
    text = "\n".join(told)
    if any(opener in text for opener in _OPENERS):
        text = _FORGED.sub(BRACKET, text)
    kept: list[str] = []
    for line in reversed(text.split("\n")):
        room -= len(line.encode("utf-8", "replace")) + 1
        if room < 0:
            break
        kept.append(line)
    return "".join(f"{line}\n" for line in reversed(kept))
