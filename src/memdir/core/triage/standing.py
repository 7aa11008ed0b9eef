"""Statements of what is so and stays so: of us, of those we work for, of things of a sort.

They carry no word like "always"; what tells them from the work at hand is whom they speak of.
"""

from __future__ import annotations

import re

from memdir.core.triage import hints
from memdir.core.triage.forms import either
from memdir.core.triage.passing import is_chore, momentary, supposed
from memdir.core.triage.rules import is_specific

LEAST = 5  # words
_STATE = (
    r"(?:is|are|has|have|runs?|uses?|gets?|goes|go|only|don'?t|doesn'?t|can'?t|cannot|won'?t"
    r"|never|always"
    r"|expects?|rely|relies|supports?|requires?|allows?|bills?|pays?|sells?|ships?|serves?|hosts?"
    r"|owns?"
    r"|maintains?|shares?|consumes?|reads?|calls?|wants?|needs?|lives?|works?|comes?|behaves?"
    r"|means?"
    r"|counts?|takes?|stays?|belongs?|must|should)"
)
_WHOSE = (
    r"(?:our|we|us|ours|my team|everyone|everybody|nobody|the (?:\w+ )?(?:team|company|client"
    r"|customers?"
    r"|vendor|business|users|publisher|regulator|supplier|provider|hospital|factory|lab"
    r"|department))"
)
_OF_US = re.compile(
    rf"\b{_WHOSE}\b.{{0,60}}\b{_STATE}\b"
    r"|\b(?:is|are|has|goes|runs?|used|needed|required|owned|driven|imposed"
    r"|forced)\b.{0,40}\b(?:our|us"
    r"|ours)\b"
)
_WORK = either(
    r"""
    we (?:need|should|want|can\b|could|have (?:an?|two|three|\d)|get|got|see|had|are (?:getting|
    +seeing))\b
    (?:customer|user|client)s? (?:with|number|id|#)
    (?:can'?t|cannot) (?:log|check|open|click|see|find|reproduce|connect|start)\b
    let us\b
    """
)
# In answer to the agent, a thing without an article is one of its sort: `money is never a float`.
_BARE = re.compile(
    r"^(?:(?:but|and|well|hm+|no|nope|nah|ah|careful|actually|sorry|please|argh|ugh|omg|wow|oh"
    r"|lol)[,.!]? ){0,2}"
    r"(?!you|we|i\b|i'|it|he\b|she\b|they|this|that|the\b|there|here|what|which|who|how|why|where"
    r"|when"
    r"|if\b|all\b|both|my\b|your|these|those|yes|ok|now|still|next|then|looks?|works?"
    r"|tests? (?:are|is)"
    r"|ci (?:is|was)|build is|everything (?:is|works)|nothing (?:is|works)|something|one (?:is"
    r"|of)|only"
    r"|not\b|never|just|same|some|a\b|an\b|most of|\d|colou?rs?\b)"
    rf"(?:[\w/+.#'-]{{2,25}} ){{1,3}}{_STATE}\b"
)
_RESULT = either(
    r"""
    (?:green|approved|done|ready|fine|ok|okay|slow|too|wrong|broken|down|up|better|worse|right|
    +correct)\b
    (?:says?|said|reports?|complains?|shows?|throws?|returns?|prints?|gives|fails?|died?|dies)\b
    """
)


def of_us(bare: str) -> bool:
    """A fact of the project that the code does not tell."""
    return bool(_OF_US.search(bare)) and not _WORK.search(bare) and _lasts(bare)


def of_a_sort(bare: str) -> bool:
    """How all things of one sort are; asked of answers to what the agent did."""
    return bool(_BARE.match(bare)) and not _RESULT.search(bare) and _lasts(bare)


def _lasts(bare: str) -> bool:
    if is_chore(bare) or momentary(bare) or supposed(bare) or len(bare.split()) < LEAST:
        return False
    if hints.in_fault(bare) or hints.in_trouble(bare) or hints.on_screen(bare):
        return False
    return not hints.specifies(bare) and not is_specific(bare)
