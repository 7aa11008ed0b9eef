"""The lines of a conversation that somebody said themselves: no code, and nothing of our own.

What we tell an agent stands in its transcript again, and the agent repeats it. Whoever scores that
finds his own words worth keeping, at every stop anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memdir.clients.conversation import AGENT, PERSON, Message
from memdir.records.fields import TYPES
from memdir.text import pattern

_FENCE = pattern(r"[ \t>]{0,20}(`{3,100}|~{3,100})")
_INLINE = pattern(r"`{1,3}[^`\n]{1,1000}`{1,3}")
_TAG = pattern(r"<(/?)([A-Za-z][A-Za-z0-9_-]{0,40})(?:\s[^<>]{0,1000})?>")
# Names with - for _. What stands between such tags is ours, or the client's.
_TAGS = frozenset(
    (
        *("triage-data", "transcript-data", "memory-context", "memory-content", "memory-record"),
        *("team-memory-content", "system-reminder", "task-notification", "skill", "hook-context"),
        *("user-prompt-submit-hook", "session-start-hook", "stop-hook", "local-command-stdout"),
        *("local-command-stderr", "command-name", "command-message", "command-contents"),
    )
)
_FRAME = "memdir-"
# A message that starts like this is a hook's or a skill's from its first to its last word.
_STARTS = ("Stop hook feedback:", "SubagentStop hook feedback:", "Base directory for this skill:")
# A line of a summary or an index, whoever repeats it.
_LISTED = pattern(
    rf"\s{{0,20}}(?:[-*]\s{{0,4}})?\*{{0,2}}\[(?:{'|'.join(TYPES)})\]", re.IGNORECASE | re.ASCII
)
# What an agent says while it saves: commands, paths, "Saved the decision record: ...".
_AT_WORK = pattern(
    r"\W{0,6}(?:create|update|delete|retire|draft|verifie)d?(?: [a-z_]{1,20}){0,3} "
    r"(?:records?|memor(?:y|ies)|drafts?)(?=\s{0,9}(?:$|[^\w\s])| (?:for|in|at|with|about|as|to)\b)"
    r"|\W{0,6}saved(?: [a-z_]{1,20}){0,3} (?:records?|memor(?:y|ies)|drafts?)\b",
    re.IGNORECASE | re.ASCII,
)
_THINGS = ("record", "memor", "draft")  # without one of them, nobody is at work
_PLACES = ("memdir records ", "memdir save ", ".claude/memory/", "#tags:")
_CODE = "\0"  # stands for a line of code


class Line(NamedTuple):
    """`bare` is what is scored, in small letters; None for code, which is only shown."""

    text: str
    bare: str | None
    who: str
    message: int  # its number among the messages


def last_messages(said: Sequence[Message], limit: int) -> list[Message]:
    """From the last `limit` messages of the person and the agent on, what tools gave included."""
    count, first = 0, len(said)
    while first and count < limit:
        first -= 1
        count += is_message(said[first])
    return list(said[first:])


def is_message(item: Message) -> bool:
    """Did a person or an agent say something with it?"""
    return item.who in (PERSON, AGENT) and bool(item.text.strip())


def lines_of(said: Sequence[Message]) -> Iterator[Line]:
    """Every line of the messages, in order."""
    for number, item in enumerate(said):
        if not is_message(item) or item.text.lstrip().startswith(_STARTS):
            continue
        plain = item.text.replace(_CODE, " ").split("\n")
        bare = _without_code(plain)
        outside = _outside_tags("\n".join(bare)).split("\n")
        for line, before, after in zip(plain, bare, outside, strict=True):
            if after == _CODE:
                yield Line(line, None, item.who, number)
            elif (after.strip() or not before.strip()) and not _is_own(line, item.who):
                low = after.lower().replace("’", "'")
                yield Line(line if before == after else after, low, item.who, number)


def _is_own(line: str, who: str) -> bool:
    if "[" in line and _LISTED.match(line):
        return True
    if who != AGENT:
        return False
    if any(map(line.__contains__, _PLACES)):
        return True
    return any(map(line.lower().__contains__, _THINGS)) and bool(_AT_WORK.match(line))


def _without_code(plain: list[str]) -> list[str]:
    """As many lines, with a mark for each one of a fence; an open fence ends with the message."""
    kept, fence = [], ""
    for line in plain:
        match = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if match and not fence:
            fence = match[1]
        elif match and match[1].startswith(fence) and not line[match.end() :].strip():
            fence = ""
        elif not fence:
            kept.append(_INLINE.sub(" ", line) if "`" in line else line)
            continue
        kept.append(_CODE)
    return kept


def _outside_tags(text: str) -> str:
    """The same lines without what stands between tags of ours; an open one takes the rest."""
    if "<" not in text:
        return text
    parts: list[str] = []
    cut, position, name, depth = 0, 0, "", 0
    for match in _TAG.finditer(text):
        tag = match[2].lower().replace("_", "-")
        if tag not in _TAGS and not tag.startswith(_FRAME):
            continue
        if not depth and match[1]:  # an end without a beginning: all before it was inside
            parts, cut, position = [], match.end(), match.end()
        elif not depth:
            parts.append(text[position : match.start()])
            position, name, depth = match.start(), tag, 1
        elif tag == name:
            depth += -1 if match[1] else 1
            if not depth:
                parts.append(_line_ends(text[position : match.end()]))
                position = match.end()
    rest = _line_ends(text[position:]) if depth else text[position:]
    return "".join((_line_ends(text[:cut]), *parts, rest))


def _line_ends(text: str) -> str:
    return "\n" * text.count("\n")
