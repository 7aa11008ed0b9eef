"""What a sentence is about: an objection, trouble, a screen, what a program shall do."""

from __future__ import annotations

import re

from memdir.core.triage.forms import either

LOOK = 4_000  # characters of the agent's words before

_FIRST = r"^(?:(?:hm+|oh|ok|okay|well|sorry|hey|please|but|omg|wow|uh|um)[,.!]? ){0,2}(?:"
_OBJECTION = either(
    r"""
    (?:no+(?! [\w-]{3,20}s\b)|nope|nah|ugh|argh|stop|wait|whoa|hold on|wrong|nein|non|halt|
    +way (?:too|over)\w*|
    +overkill)\b
    why (?:did|do|are|would) you\b
    why \w+\?
    no need (?:for|to)\b
    you (?:changed|touched|added|removed|broke|missed|rewrote|forgot|ignored|skipped)\b
    i (?:only|never|didn'?t) (?:asked|said|wanted|ask|say|want)\b
    too (?:many|much|long|verbose|wordy|clever|complicated|complex)\b
    [\w' ]{0,50}(?:is|are|was|were|that's|it's) (?:way |far |much |a bit )?too \w+
    you(?:'re| are) (?:over\w+ing|\w+ing too)\b
    (?:that|this)(?:'s| is| was) (?:not|wrong|the wrong|unnecessary|overkill)\b
    不对
    違い?ます
    """,
    open=_FIRST,
)
_MILD = either(
    r"""
    (?:not|don'?t|do not|never|again|still|please don'?t)\b
    you (?:can'?t|cannot|mustn'?t|may not) \w
    (?:you|that) (?:shouldn'?t|weren'?t|didn'?t|aren'?t)\b
    不
    别
    """,
    open=_FIRST,
)
_ACTED = re.compile(
    r"(?i)\b(?:i|i've|i have|i'll|i will|i'm going to|let me)\b[^.\n]{0,20}\b\w{3,}|\b(?:done|added"
    r"|created|fixed"
    r"|updated|removed|running|committed|pushed|merged|renamed|refactored|switched|installed|wrote"
    r"|hecho|listo|he \w+[dt]o|erledigt|hab(?:e)? [^.\n]{2,80}|fait|j'ai \w+|ho \w+[taos]o"
    r"|adicionei"
    r"|criei|mudei|fiz|coloquei|usei|removi|alterei)\b|已|我把|了。|しました"
)
_TROUBLE = either(
    r"""
    (?:errors?|bugs?|fail\w*|exceptions?|null|undefined|crash\w*|broken|breaking|traceback|
    +stack trace|undefined)\b
    (?:doesn'?t work|not working|slow|timeouts?|times out|deadlock|race|flaky|500|404|429|
    +how come)\b
    (?:i (?:get|got|see|saw|think|suspect|changed|tried|added|noticed))\b
    """
)
# What a program shall do; that stands in the code afterwards.
_SPEC = re.compile(
    r"\b(?:the|a|an|each|every|this|it|its|all|users?|clients?|which|that)\b[\w ·'-]{0,40} (?:must"
    r"|should|needs? to"
    r"|has to|have to|shall|needs?|gets?|becomes?|shows?|returns?|accepts?|takes?|displays?|opens?"
    r"|closes?) "
)
_THINGS = either(
    r"""
    (?:endpoint|function|method|handler|button|page|field|form|class|component|query|response|modal|
    +dialog|sidebar)s?\b
    (?:dropdown|banner|toast|spinner|table|column|row|list|value|string|argument|param|parameter|
    +flag|option|input)s?\b
    (?:output|index|array|object|loop|variable|decorator|regex|parser|importer|exporter|route|
    +header|footer|icon)s?\b
    (?:token|cookie|cache|counter|widget|chart|menu|tab|link|label|
    +checkbox)\b
    """
)
_IT_SHALL = re.compile(r"(?:and |but |also |so )?it (?:must|should|shall|will|can)\b")


_OURS = either(r"(?:we|our|ours|us|the team)\b")
_SCREEN = either(
    r"""
    (?:button|page|field|form|modal|dialog|sidebar|dropdown|banner|toast|spinner|row|widget|chart|
    +menu|tab|label|checkbox|tooltip|icon|header|footer|screen|logo|font|headline)s?\b
    """
)


def is_ours(bare: str) -> bool:
    """It speaks of us."""
    return bool(_OURS.search(bare))


def on_screen(bare: str) -> bool:
    """It speaks of what a user of the program sees."""
    return bool(_SCREEN.search(bare))


def objects(bare: str, before: str) -> bool:
    """It begins as an objection; a mild one counts only where the agent has just acted."""
    if _OBJECTION.match(bare):
        return True
    return bool(_MILD.match(bare)) and acted(before)


def acted(before: str) -> bool:
    """The agent has just done or announced something."""
    return bool(_ACTED.search(before[:LOOK]))


def in_trouble(bare: str) -> bool:
    """It tells of a fault that somebody looks for."""
    return bool(_TROUBLE.search(bare))


def specifies(bare: str) -> bool:
    """It says what a program shall do."""
    if _IT_SHALL.match(bare):
        return True
    return bool(_SPEC.search(bare) and _THINGS.search(bare))
