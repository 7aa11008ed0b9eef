"""How a person wants the work done: corrections, and how things are done here."""

from __future__ import annotations

import re

from memdir.core.patterns import pattern
from memdir.core.triage import hints
from memdir.core.triage.forms import VERB, either
from memdir.core.triage.passing import is_chore, momentary
from memdir.core.triage.rules import rules

# Said before, and still not done.
_TOLD = either(
    r"""
    i(?:'ve| have)? (?:already |just |literally )?(?:told|asked) you\b
    i(?:'ve| have) (?:already |just )?(?:said|asked|mentioned|explained)\b
    (?:like|as) i(?:'ve)? (?:said|told|mentioned|explained)\b
    how (?:many times|often do i)\b
    you keep \w{2,20}ing\b
    why (?:do|are|did|would) you (?:keep|always|still|again)\b
    why (?:do|are|did) you .{2,80}\bagain\b
    you (?:always|still|again) \w{2,20}.{0,60}\b(?:again|anyway|even though|although)\b
    you(?:'re| are) (?:still |again )\w{2,20}ing\b
    i (?:said|asked for|wanted) (?:no|not|only|never)\b
    you should(?:'ve| have)\b
    (?:stop|quit) (?!running|working|testing|debugging|waiting|going)\w{2,20}ing\b
    (?:can|could|would) you (?:please )?(?:stop|quit|not|avoid|never|always|please always)\b
    (?:you did it again|not again|same mistake|once again you)\b
    hör(?:t)? (?:bitte )?auf\b
    (?:ich habe? dir (?:doch |schon )?gesagt|wie oft|te (?:he dicho|dije)|je t'ai (?:déjà )?dit)\b
    (?:deja de|dejad de|arrête de|arrête d'|arrêtez de|smetti di|para de|hou op met)
    别再
    不要再
    我说过
    やめて
    と言った
    もう.{0,12}ないで
    """
)
# "no, we use pnpm", "actually it's Tuesday, not Monday".
_LEAD = (
    r"^(?:(?:no+|nope|nah|actually|wait|hm+|not quite|wrong|incorrect|well|sorry|ah|oh|hey|ugh"
    r"|please|nein"
    r"|non|stop|hold on|careful|that(?:'s| is) (?:wrong|not right|incorrect|not true"
    r"|not how[^,.:]{0,30}))"
    r"\b[,.!:]{0,3} ?(?:-+ |– |— )?){1,3}"
)
_ACTUALLY = either(
    rf"""
    we(?:'re|'ve)? (?!should|could|need|want|can\b|might|have to|are done|still|get|got|see|saw)\w
    it(?:'s| is|s) (?!fine|ok|good|not (?:working|there)|still|broken|failing|because the|just|
    +the same)\w
    (?:our|the|this|those|these|all|every\w*) [\w./-]+(?: [\w./-]+)? (?:is|are|lives?|runs?|uses?|
    +goes|gets?|must) (?!still|failing|broken|wrong)
    (?:don'?t|do not|never|always|only|avoid) {VERB}\b
    you (?:should|must|have to|need to|shouldn'?t|mustn'?t|can'?t) \w
    one \w+ (?:for|per) \w
    (?:wir|hier|man) \w
    (?:aquí|nosotros|usamos|usa |no us|no se) ?\w
    (?:on |nous |ici)\w
    """,
    open=_LEAD + "(?:but |and |bitte |please )?(?:",
)
_AFTERWARDS = re.compile(
    r"^(?:it|that|this|they|we|our|the)\b.{4,200}, actually[.!]?$|^it(?:'s| is) .{2,60},? not \w"
)
_OURS = either(
    r"""
    (?:that|this)(?:'s| is) not (?:(?:how|the way) (?:we|i|it|things|our)|what (?:we|our))\b
    we (?:don'?t|do not|never|always|only|usually|generally|normally|prefer|avoid|try (?:not )?to|
    +tend to|aim to) (?!saw|got|had|did|was|were|made|came|knew|see|know|get\b|have (?:any|a|
    +an)\b)(?!\w{1,20}ed\b)\w
    (?:we|you)(?:'re| are) not (?:allowed|supposed|meant) to\b
    (?:is|are) (?:forbidden|banned|off[- ]limits|not allowed|verboten|prohibited|a no-go|taboo)\b
    (?:is|are) (?:not|never) (?:ok|okay|allowed|acceptable|an option|wanted|cool|welcome)\b
    (?:on|in) (?:this|our) (?:team|project|company) (?:everybody|everyone|nobody|every|each|all)\b
    (?:as a (?:general )?rule|by convention|rule of thumb)\b
    our (?:convention|rule|policy|standard|style|guideline|practice|naming)s?\b
    the (?:convention|rule|policy|house style|standard) (?:is|here|in|for|says)\b
    (?:in|at) (?:this|our) (?:repo|project|codebase|team|company|org|shop|house|monorepo),? (?:we|
    +you|all|every|nobody|no one|use)\b
    (?:this|our) (?:repo|project|codebase|team|company|monorepo) (?:\w+ ){1,3}[^.]{1,60}(?:, not |
    +\bnot |instead of|rather than|no longer|never)\b
    we use [^.,]{1,60}(?:,| and)? (?:not|instead of|rather than|never|over) \w
    we use [^.,]{1,60} (?:here|around here|everywhere|for everything)\b
    (?:here|around here),? we (?!are|have a|get|see|go)\w
    (?:must|should|may|can|shall) (?:never|always|only) (?:be|have|go|show|contain|use|live|end|
    +come|{V})\b
    (?:commits?|prs?|branches|tests?|migrations?|releases?|endpoints?|secrets?|dependencies|
    +lockfiles?|comments?|imports?|deploys?|hotfixes) (?:must|should|need to|have to|has to|
    +needs to) (?:not |never |always |be |have |go |use |start |contain )
    wir (?:benutzen|nutzen|verwenden|machen|schreiben|haben|testen|committen|
    +mergen) [^.]{1,80}\b(?:kein|nicht|nie|immer|nur|statt|sondern)\w*
    (?:no |siempre |nunca |solo )(?:usamos|hacemos|escribimos|ponemos)\b
    on (?:n'utilise|ne \w+|utilise|fait|met) [^.]{1,60}\b(?:pas|jamais|toujours|plutôt)\b
    我们(?:不用|从不|都用|一律|只用|统一)
    (?:不是|不用).{1,20}(?:而是|要用|用)
    (?:では|じゃ)なく(?:て)?.{1,30}(?:を|に|で)(?:使|し)
    """.replace("{V}", VERB)
)


# What an agent does with the work, whatever the work is: no program is told so.
_HANDLED = pattern(
    r"(?:^|[,;:.!] ?|\b(?:please|and|but|so|ok|no) )(?:never|always|do(?:n'?t| not) ever) "
    r"(?:again )?(?:force-?)?(?:push|commit|merge|rebase|deploy|release|publish|amend|squash|tag"
    r"|install|upgrade|bump)\b"
)


def corrects(bare: str) -> bool:
    """A person sets right what was done, or says how things are done here."""
    if momentary(bare):
        return False
    if _TOLD.search(bare) or _ACTUALLY.match(bare) or _AFTERWARDS.search(bare):
        return True
    if hints.specifies(bare):
        return False
    return bool(_OURS.search(bare)) or rules(bare, led=_leads(bare))


def handles(bare: str) -> bool:
    """`never push to main`: how an agent goes about it."""
    return bool(_HANDLED.search(bare)) and not momentary(bare)


def _leads(bare: str) -> bool:
    """It begins as a correction, and goes on as more than a request."""
    return re.match(_LEAD, bare) is not None and not is_chore(bare)


def complains(bare: str) -> bool:
    """`why do you keep adding comments?`: a question only by its form."""
    return bool(_TOLD.search(bare)) and not momentary(bare)
