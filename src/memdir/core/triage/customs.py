"""Two things set against each other, and sentences that speak of the one before."""

from __future__ import annotations

import re

from memdir.core.triage import hints

# `composition, not inheritance`: two words set against each other, and no more.
_VERSUS = re.compile(
    r"^(?:(?:please|pls|also|and|btw)[,:]? )?(?:(?:show|use|give me|write|prefer|think|want"
    r"|send)(?: me)? )?"
    r"(?!the\b|this\b|that\b|it\b|it's|i\b|no\b|line\b|in\b|on\b|at\b|to\b|from\b|for\b|yes\b)"
    r"(?:[\w/+#.·-]{2,20} ){0,3}[\w/+#.·-]{2,20}(?:, not|,? never|,? rather than| instead of| > |"
    r" over) (?!the (?:other|first|second|old|new)|this\b|that\b|working|sure|yet|now|here|in\b"
    r"|just)(?:[\w/+#.·-]{2,20} ?){1,4}[.!]*$"
)
_SUMS_UP = re.compile(
    r"(?:and )?(?:that'?s|this is|that is) (?:just |simply |basically )?(?:my|our|the|how"
    r"|what) (?:\w+ )?(?:motto|rule"
    r"|philosophy|style|approach|policy|convention|deal|law|principle|standard|i (?:like|want"
    r"|prefer"
    r"|work|do)|we (?:do|work|want|like))\b"
)
_EMPTY = re.compile(
    r"^(?:[\w',]{1,12} ){0,3}(?:this|that|it|them|those|these)(?: (?:here|again|like that|this way"
    r"|in (?:this|our) (?:team|project|repo|company|codebase)|any ?more|at all))?[.!]*$"
)


def sets_against(bare: str) -> bool:
    """A taste in two words: this, not that."""
    return bool(_VERSUS.match(bare)) and not hints.on_screen(bare)


def sums_up(bare: str) -> bool:
    """`that's my motto`: it speaks of the sentence before it."""
    return bool(_SUMS_UP.match(bare))


def points_back(bare: str) -> bool:
    """`we don't do that here`: what is meant stands in another sentence."""
    return len(bare) < 60 and bool(_EMPTY.match(bare))
