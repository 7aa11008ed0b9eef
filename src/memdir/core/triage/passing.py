"""What a person says that will not matter in the next session: questions, tasks, ephemera."""

from __future__ import annotations

import re

from memdir.core.triage.forms import either
from memdir.core.triage.typed import Sentence

_LEAD = (
    r"(?:(?:and|so|but|ok|okay|hey|hm+|wait|also|btw|well|um+|oh|please|pls|now|then|first|next"
    r"|just"
    r"|great|thanks|thx|cool|nice|perfect|good|yes|yeah|yep|lgtm|alright|no|nope"
    r"|nah)[,.!:]{0,2} ){0,4}"
)
_QUESTION = either(
    r"""
    (?:what|why|how|where|who|which|whose|wonder|any idea|warum|wieso|wie|wo|wer|pourquoi|comment)\b
    (?:is|was) (?:it|there|this|that|the|my|our)\b
    (?:are|were) (?:there|we|you|the|these|those)\b
    do(?:es)? (?:you|it|this|that|the|we|i|they)\b
    did (?:you|it|we|the|i|they)\b
    ha(?:ve|s) (?:you|the|it|anyone)\b
    (?:should|can|could|shall|may) (?:i|we|it|this)\b
    would (?:it|that|this)\b
    (?:i wonder|i'm wondering|not sure (?:if|why|how|what|whether)|no idea (?:if|why|how|what))\b
    (?:est-ce|où|por qué|qué|cómo|puedes|peux-tu|pouvez|kannst du|können)\b
    """,
    open=_LEAD + "(?:",
)
# A request for one piece of work.
_CHORE = either(
    r"""
    (?:fix|add|write|implement|update|change|rename|refactor|move|create|make|run|rerun|check|
    +look)\b
    (?:find|show|open|read|fetch|debug|parse|format|print|generate|convert|remove|delete|build)\b
    (?:test|deploy|summari[sz]e|explain|review|grep|search|help|give|tell|set up|install|bump)\b
    (?:revert|rebase|merge|push|try|continue|go ahead|investigate|figure|use|pull|take)\b
    commit(?! messages?\b)
    (?:draft|schedule|finish|get|tag|send|close|let's|lets|post|comment|reply|link|attach|upload)\b
    (?:download|copy|paste|replace|rewrite|extract|split|wrap|sort|filter|trace|profile|prepare)\b
    (?:start|restart|kill|clean|drop|insert|apply|extend|increase|reduce|double|work on|do|go)\b
    (?:tighten|loosen|hide|group|highlight|collapse|expand|store|truncate|round|align|center|centre|
    +validate|handle|catch|return|render|animate|emit|parse|load|allow|detect)\b
    (?:translate|port|migrate|configure|enable|disable|list|describe|compare|verify|restore|put)\b
    (?:(?:can|could|will|would) you|i need(?: you to)?|i want(?: you to)?|i'd like(?: you to)?)\b
    """,
    open=_LEAD + "(?:",
)
_STATED = re.compile(r"s? (?:is|are|was|were|has|have|stays?|goes|must|should)\b")
# A text, a setting or a program is asked for; what it shall say is nobody's rule yet.
_WRITES = re.compile(
    rf"{_LEAD}(?:write|draft|generate|update|add|create|configure|document|describe|explain|post"
    r"|reply|prepare|translate|rephrase|reword|set up|implement|build|make|change|replace|show)\b"
    r"(?![^:]{0,300}(?:, (?:we|our|they|it|that|the|i|so|and (?:never|always|don'?t|please))\b"
    r"|\s[-–—(]\s?|\bbecause\b|\bsince (?:we|our|the|it|they)\b|\bas (?:we|our|per)\b"
    r"|\balways\b|\bnever\b.{0,80}\b(?:again|ever|please)|\bfrom now\b|\bhere\b))"
)
# It holds for this moment, or for this piece of work.
_MOMENT = either(
    r"""
    for (?:now|the moment|the time being|today|tonight|a (?:sec|second|minute|moment|bit))\b
    for this (?:one|once|time|run|pr|mr|commit|task|session|branch|file|test|change|step|ticket|
    +fix)\b
    for this (?!project|repo|codebase|team|customer|client|reason|company|product|year|month|
    +quarter|
    +sprint|release|kind|sort|type of|market|season|hardware|board|platform|device|game|app)\w
    in this (?:pr|mr|commit|file|function|test|branch|session|class|method|component|diff|patch)\b
    in this (?:script|step|loop|case|round|pass|task|change)\b
    (?:this time|this once|just once|only this|right now|at the moment|in the meantime)\b
    (?:temporar(?:y|ily)|quick and dirty|later today|first things first)\b
    just (?:this|that|the) \w
    yet\b
    (?:un)?til (?:i|you|we) (?:say|tell|know|have|can|fix|finish|test|check|confirm|get|see)\b
    before (?:you|we|i) (?:start|begin|go|continue|move|proceed)\b
    while (?:i|we|you)(?:'re|'m| are| am)? (?:debug|test|wait|fix|work|look)\w{0,3}\b
    when (?:you'?re|you are|that'?s|it'?s|you) (?:done|finished|finish|ready)\b
    once (?:you'?re|that'?s|it'?s|this is) (?:done|finished|merged|green)\b
    after (?:this|that)[.!]?$
    (?:fürs erste|erstmal|diesmal|gerade|por ahora|esta vez|pour l'instant|cette fois)\b
    暂时
    先(?:别|不要|不)
    这次
    とりあえず
    今回
    """
)
_BRIEF = either(
    r"""
    (?:for (?:now|the moment|the time being|today|tonight)|right now|at the moment|temporarily)\b
    (?:this time|this once|just once)\b
    """
)
_JOKE = either(
    r"""
    yeah,? right\b
    thanks a lot\b
    oh,? (?:great|sure|wonderful|brilliant|fantastic|yes|of course)\b
    (?:sure|yeah),? (?:because|let's just|why not|just (?:delete|drop|break|push|nuke))\b
    (?:as if|rofl|jk|just kidding|kidding|sarcasm)\b
    what could (?:possibly )?go wrong\b
    """
)
_MARKS = re.compile(r"(?:^|\s)/s\b|🙄|🤡|😂|😜")
_PRIVATE = either(
    r"""
    (?:off the record|between (?:you and me|us))(?=[,:.]|$)
    (?:no need to|you (?:don't|do not) (?:need|have) to) (?:remember|memori[sz]e) (?:this|that|it)\b
    (?:don't|do not) (?:remember|memori[sz]e) (?:this|that|it|any of this)(?=[,:.]|$)
    (?:don't|do not) (?:save|store|put) (?:this|that|it) (?:to|in|into) (?:your |the )?memory\b
    """
)
_SUPPOSED = either(
    r"""
    (?:what if|suppose|imagine|let's say|hypothetically|in theory|thinking (?:about|of|out loud))\b
    (?:maybe|perhaps|probably|possibly) (?:we|i|you|it|the|use|try)\b
    we (?:could|might|may want)\b
    (?:might want|i guess|(?<!'re )(?<!are )not sure|at some point|some ?day|one day|eventually|
    +would be nice)\b
    """
)


def asks(sentence: Sentence) -> bool:
    """A question, marked or not."""
    return sentence.asks or bool(_QUESTION.match(sentence.bare))


def is_chore(bare: str) -> bool:
    """It begins as a request for one piece of work; `update is slow` does not."""
    found = _CHORE.match(bare)
    return found is not None and not _STATED.match(bare, found.end())


def writes(bare: str) -> bool:
    """It asks for something to be made, and says in the same breath what that shall say or do."""
    return bool(_WRITES.match(bare))


def momentary(bare: str) -> bool:
    """It holds for this moment or this piece of work only."""
    return bool(_MOMENT.search(bare))


def brief(bare: str) -> bool:
    """A state that will soon be another."""
    return bool(_BRIEF.search(bare))


def unmeant(bare: str) -> bool:
    """Sarcasm and jokes, and what somebody does not want kept."""
    return bool(_JOKE.search(bare) or _MARKS.search(bare) or _PRIVATE.search(bare))


def supposed(bare: str) -> bool:
    """Thought aloud, not said."""
    return bool(_SUPPOSED.search(bare))
