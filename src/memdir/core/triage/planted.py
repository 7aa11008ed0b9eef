"""Wishes inside the output of tools: nobody meant them, and they must be seen before they act."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memdir.core.triage.prose import LONGEST

LOOK = 200_000  # characters of an output
MOST = 5  # wishes of one output

_HINT = re.compile(
    r"(?i)remember|memor|from now on|future session|standing (?:rule|instruction|order)"
    r"|going forward|ignore (?:all |any |the )?(?:previous|prior|earlier|above)"
    r"|(?:always|never) (?:tell|say|add|run|include|approve|use|send)|instructions? (?:for"
    r"|to) (?:the |all )?(?:ai|assistant|agent|claude|model|llm)|pre-?approved|merk dir|ab sofort"
    r"|recuerda|souviens|desormais|désormais|记住|記住|今后|覚えて|今後"
)
_ADDRESS = re.compile(
    r"(?i)\b(?:ai|assistants?|agents?|claude|copilot|llms?|language models?"
    r"|chatbots?|you)\b"
)
_WISH = re.compile(
    r"(?i)(?:^|[\s.:;,>(*\"'-])(?:(?:please )?(?:remember|note|memori[sz]e)(?: this| that|:"
    r"| for all| the following|,| for (?:future|later))"
    r"|(?:save|store|add|write|commit|put|record)[^.\n]{0,60}\b(?:to|in|into) (?:your |the "
    r"|long[- ]term |persistent |project |user'?s? ){0,3}memor(?:y|ies)"
    r"|from now on\b|for (?:all )?future sessions|in (?:all )?future (?:sessions|conversations)"
    r"|going forward,? (?:you|always|never)|standing (?:rule|instruction|order)s?"
    r"|ignore (?:all |any |the )?(?:previous|prior|earlier|above) (?:instructions|rules|memor)"
    r"|pre-?approved|merk(?:e)? dir|ab sofort|recuerda que|souviens-toi|désormais"
    r"|请?记住|記住|今后|覚えて|今後は)"
)
_COMMENT = re.compile(
    r"\s*(?://|/\*|\*|--\s|;|%|\"\"\"|'''|(?:\d{1,6}(?:→|\t|:|-)\s*)?(?:#|//"
    r"|\*)\s)"
)
_STRONG = re.compile(
    r"(?i)memory|memories|future sessions?|standing|ignore|pre-?approved|\b(?:ai|assistants?"
    r"|agents?|claude|the user|llms?)\b"
)


def planted(text: str) -> Iterator[str]:
    """The sentences that try to tell an agent what to keep."""
    found = 0
    for line in text[:LOOK].splitlines():
        if found >= MOST:
            return
        if not _HINT.search(line[: LONGEST * 4]):
            continue
        said = line[: LONGEST * 4]
        match = _WISH.search(said)
        if match is None or (_COMMENT.match(said) and not _STRONG.search(said)):
            continue
        start = max(said.rfind(". ", 0, match.start() + 1) + 1, match.start() - LONGEST // 2, 0)
        found += 1
        yield said[start : match.end() + LONGEST // 2].strip()
