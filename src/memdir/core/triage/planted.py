"""Wishes inside the output of tools: nobody meant them, and they must be seen before they act."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memdir.core.triage.typed import MAX_SENTENCE_CHARACTERS as LONGEST

LOOK = 200_000  # characters of an output
MOST = 5  # wishes of one output

_HINT = re.compile(
    r"(?i)remember|memor|from now on|future session|standing (?:rule|instruction|order)"
    r"|going forward|ignore (?:all |any |the )?(?:previous|prior|earlier|above)"
    r"|(?:always|never) (?:tell|say|add|run|include|approve|use|send)|instructions? (?:for"
    r"|to) (?:the |all )?(?:ai|assistant|agent|claude|model|llm)|pre-?approved|merk dir|ab sofort"
    r"|recuerda|souviens|desormais|désormais|记住|記住|今后|覚えて|今後"
)
_AT = r"(?:^|[\s.:;,>(*\"'-])"
_KEEP = r"(?:save|store|add|write|commit|put|record|keep|persist)"
# It speaks of a memory that outlives the conversation, or of the orders of an agent.
_OWN = re.compile(
    rf"(?i){_AT}(?:{_KEEP}[^.\n]{{0,60}}\b(?:to|in|into) (?:(?:your|the|project|user'?s?"
    rf"|agent'?s?) "
    r"){0,2}(?:your|long[- ]term|persistent|project|user'?s?|agent'?s?) memor(?:y|ies)"
    rf"|{_KEEP} (?:this |that |it |the following )?(?:to|in|into) memory(?: that\b|[:,])"
    r"|for (?:all )?future sessions|in (?:all )?future (?:sessions|conversations)"
    r"|standing (?:rule|instruction|order)s? (?:for|to|from|:)"
    r"|ignore (?:all |any |the |your ){0,2}(?:previous|prior|earlier|above) (?:instructions|rules"
    r"|memor)|pre-?approved)"
)
# Documents ask their readers for the same, so these need a mark beside them.
_WISH = re.compile(
    rf"(?i){_AT}(?:(?:please )?(?:remember|memori[sz]e)(?: this| that|:| to\b| for all"
    r"| the following|,| for (?:future|later))"
    rf"|{_KEEP}[^.\n]{{0,60}}\b(?:to|in|into) memor(?:y|ies)\b"
    r"|from now on\b|going forward,? (?:you|always|never)"
    r"|merk(?:e)? dir|ab sofort|recuerda que|souviens-toi|désormais"
    r"|请?记住|記住|今后|覚えて|今後は)"
)
_MARK = re.compile(
    r"(?i)\b(?:ai|assistants?|(?:ai|coding) agents?|agents?:|claude|codex|copilot|gemini|chatgpt"
    r"|llms?|language models?|system (?:note|prompt|message))\b|@agent\b"
    r"|\b(?:the|this|your) user (?:has |have |is |was )?(?:already )?(?:approv|allow|agree|disabl"
    r"|likes?|wants?|prefers?|trust|grant|always|never|said|asked|needs no|given)|\b(?:der"
    r"|die) nutzer|el usuario"
    r"|l'utilisateur|<!--|(?:from now on|always)[^\n]{0,120}https?://"
    r"|\b(?:curl|wget|sudo|chmod|base64|rm -rf)\b|--(?:no-verify|force|insecure|dangerously)"
    r"|force[- ]push|without (?:asking|review|confirmation|approval|telling)"
    r"|(?:skip|disable|bypass|turn off) (?:the |all |code )?(?:reviews?|checks?|hooks?|verification"
    r"|confirmation|approval)|用户|助手|ユーザー|アシスタント"
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
        match = _OWN.search(said) or (_WISH.search(said) if _MARK.search(said) else None)
        if match is None:
            continue
        start = max(said.rfind(". ", 0, match.start() + 1) + 1, match.start() - LONGEST // 2, 0)
        found += 1
        yield said[start : match.end() + LONGEST // 2].strip()
