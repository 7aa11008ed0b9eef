"""How things are done here: families of expressions, each with any words in its places.

Some families say it all; others count only in answer to something that the agent did, where the
same words said out of the blue would be a step of a task.
"""

from __future__ import annotations

import re

from memdir.core.triage import hints
from memdir.core.triage.forms import START, VERB, either
from memdir.core.triage.passing import is_chore, momentary

LEAD = 8  # characters in which "so" only opens the sentence
_OLD = (
    r"(?:old|legacy|previous|former|deprecated|outdated|obsolete|dead|stale|retired|unmaintained)"
)
_OFTEN = (
    r"(?:always|ever|every ?time|each time|everywhere|without exception|no exceptions|period"
    r"|across the board|full stop)"
)
_NOW = r"(?:now|these days|nowadays|by now|since|meanwhile|already|instead|new)"
_DOING = r"(?:push|merg|deploy|releas|tagg|publish|review|commit|rebas|approv|ship|migrat|delet)ing"
# No answer of an agent has to come before these.
_ALONE = either(
    rf"""
    you (?:only |just |never )?{VERB},? (?:and |but )?i(?:'ll| will)? (?!think|guess|mean|know|see|
    +want|need|get|got|have|can|am|say|ask){VERB}\b
    (?:{_DOING}|deploys|releases|merges|pushes|rebases|migrations) (?:\w+ ){{0,3}}(?:is|are|
    +stays?|remains?) (?:my (?:job|call|thing|decision|business)|mine|with me|on me|up to me)\b
    (?:we|everyone|everybody|nobody|people|devs) (?:here|(?:in|on|at) (?:this|our|the) (?:team|
    +company|project|repo|shop|office|org)) \w
    we (?:write|speak|spell|name|version|tag|squash|rebase|pin|vendor|encode|round|bill|charge|
    +measure|log|prefix|suffix|namespace|localize|localise|translate|document|lint|format|type|
    +annotate|sign|encrypt|hash|mask|cache|batch|shard|paginate|feature-flag|review|pair|ship|
    +deploy|release|store|keep|put|call|treat|target|support|avoid|ban|expect|require|standardi[sz]e
    +) (?!it\b|this\b|that\b|them\b)[^.;?]{{2,160}}\b(?:all|every\w*|each|any|always|never|only|
    +no|not|rather|instead|both|whole|per|by default|on purpose|so)\b
    (?:is|are|stays?|remains?) (?:strictly |always |never |only )(?!a\b|the\b|in the|on the|
    +returning|failing|getting|showing)\w[\w-]{{1,20}}\b(?=.{{0,80}}\b(?:here|(?:this|our) (?:repo|
    +project|team|codebase|company)|with us)\b)
    (?:only|and only) (?:if|when|after|once) i (?:explicitly |really )?(?:ask|say|tell|approve|
    +request)\b
    , {_OFTEN}[.!]*$
    (?:when|if) in doubt,? \w
    (?:i|we) trust you (?:with|to|on)\b
    no need to (?:check|ask|confirm|wait|tell|notify|run|test|document|support|handle) \w
    +[^.;?]{{2,120}}
    matters? (?:here|a lot|for us|to us|most)\b
    keep (?:it|things|everything|the code|[a-z]{{3,15}}s) (?!in\b|on\b|at\b|as\b|up\b|for\b|until|
    +there|open|staged|around|here|that\b|this\b|the\b|and\b|where|like|going|from\b|to\b|with|
    +\w+ing\b)(?:\w+ and )?[a-z]{{4,15}}(?:,? (?:please|pls|always|everywhere|at all times))?[.!]*$
    (?:that'?s|this is) (?:just |simply )?(?:my|our) (?:\w+ )?(?:motto|rule|philosophy|style|
    +approach|policy|
    +convention|principle|standard)\b
    unless i (?:explicitly |specifically )?(?:ask|say|tell|request)\b
    not (?:\w+ ){{1,4}}unless\b
    (?:hands off|stay away from|stay out of|keep (?:your |the )?hands off|keep away from|
    +don'?t (?:ever )?touch) (?:the |our |my |any |
    +anything )?[\w/.-]{{2,40}}\b(?=.{{0,120}}(?:\b(?:it'?s|
    +they'?re|belongs?|owned|generated|that'?s|because|ever|unless|without)\b|$))
    (?:i|we) (?:don'?t|do not|never) (?:want|need|like) (?:to (?:see|have|find) )?(?:any |more |
    +your |these |those )?[\w -]{{2,40}}s (?:in|on|at|inside|near|anywhere|for|with|without)\b
    (?:house|team|company|repo|our|project) (?:style|rule|convention|policy|standard|guideline)s?
    + (?:is|are|says?|here|for|:)
    (?:is|are|gets?|being) (?:auto-?|all |always )?(?:generated|overwritten|vendored|mirrored|
    +synced|managed by|written by|maintained by)\b(?=.{{0,120}}\b(?:don'?t|never|edits?|not|by hand|
    +manually|overwritten|next|every|from|upstream|the (?:build|ci|vendor|other team))\b)
    one (?:[\w-]{{2,20}} ){{1,3}}(?:per|for each|for every) \w
    (?:everything|nothing|anything|all of it) (?:has to|have to|must|needs to|goes|gets|ships?|
    +should)
    + (?!be (?:centered|aligned|visible|green|fine))\w
    (?:anything|everything|whatever|any \w+|nothing|nobody) (?:you (?!think|want|like|prefer)|
    +touching|related|under|in|on|that|
    +with|around|involving|for|we|customer|user|public|outside|inside|about|going|\w+ing)\b
    +[^.;?]{{1,80}}\b(?:needs?|requires?|has to|must|goes|gets?|should|is|are|may|can|stays?|
    +belongs?)\b
    before (?:you )?\w{{3,15}}(?:ing)? (?:something|anything|any|bigger|major|larger|new)\b
    (?:don'?t|stop|no need to) be(?:ing)? (?:so |too |that |overly )?[a-z]{{3,15}}\b
    (?:i|we) (?:don'?t|do not) need (?:you to|any|your|these|those|a) \w
    you (?:can|may) (?:stop|skip|just|always|freely|safely) \w[^.;?]{{3,120}}
    (?:per|as per|according to) (?:our|the|company|team) (?:\w+ )?(?:policy|guidelines?|convention|
    +style ?guide|standards?|agreement|sla|contract)\b
    """,
)
# In answer to what the agent did, or where it objects.
_ANSWER = either(
    rf"""
    (?:that|this|it|those|these|they)(?:'?s| is|'re| are| was| were) (?:actually |all )?(?:the |
    +an? |our )?(?:\w+ )?{_OLD}\b(?! (?:version|commit|branch|build|screenshot|log|output))
    [\w/.-]{{2,40}} (?:is|are) (?:{_OLD}|gone|history|dead|not (?:a thing|used|supported|
    +maintained))\b
    it'?s (?:called |named |\S{{1,20}} )?\S{{2,40}} {_NOW}[.,!]?(?:\s|$)
    (?:is|are|was|were|got|has been|have been|been) (?:renamed|replaced|superseded|moved|merged|
    +split|folded|migrated|taken over|deprecated)\b
    (?:doesn'?t|does not|don'?t|do not) exist (?:any ?more|any longer|since)\b
    we(?:'ve| have)?(?: got)?(?: already)?(?: have)? (?:an? |our own |the )?[\w().·/-]{{2,40}}
    +(?: \w+){{0,3}} for (?:that|this|it|those|these|exactly|such)\b
    it'?s (?:spelled|spelt|called|named|pronounced|written|abbreviated) \S
    (?:like|as)(?: with| for)? (?:everything|anything|every|any|all)\b
    (?:run|use|call|import|go|do|put|write|say|pick|take|return|throw|raise|log|store|send)
    + (?!it\b|this\b|that\b|them\b)[^.,;?]{{1,40}}(?:,|\s-)? (?:not|never|and not|instead of|
    +rather than) \w
    ^not (?:with|in|on|via|by|using|as|through|from|to|for) \w
    ^(?:but )?(?:that|this|which) (?:needs?|requires?|takes) (?:an? |two |approval|sign|review)
    (?:don'?t|do not|never|avoid) (?!worry|think|see|know|need|want|have|get\b|understand|mind)\w+
    + (?!it\b|this\b|that\b|them\b|the\b)[^,;.?]{{3,80}}(?:[,;]| -| –) \w+ \w+ \w
    ^(?:[\w-]{{2,20}} ){{1,4}}only[.!]*$
    (?:^|, |way )too (?:many|much) \w
    you (?:should|must|have to|need to|ought to) (?:always |never |first )?\w[^.;?]{{2,120}}
    +\b(?:before|whenever|when|every|each|any|anything|if|first|unless|after)\b
    there(?:'s| is| are) (?:already |actually )?(?:an? |the )?[^.,;]{{2,60}} for (?:that|this|it|
    +those|these|exactly|such)\b
    (?:that|this)(?:'s| is) what [^.,;]{{2,40}} (?:is|are|was) (?:there )?for\b
    (?:like|as|same as|consistent with|matching|the way)(?: we do| it is| it'?s done)?(?: in)?
    + (?:everywhere|all|(?:the )?(?:rest|others?)|every other|everyone|the existing|our other|
    +the surrounding)\b
    \b{_OFTEN}[.!]*$
    (?<!\bit )(?:has|have|needs?|must|ought|got|gotta|supposed|meant)(?: to)? (?:be|go|have|use|
    +come|live|
    +stay|land|pass|run|keep|follow) [^.;?]{{0,120}}\b(?:under|behind|through|via|its own|their own|
    +separate(?:ly)?|per|before|first|always)\b
    (?:raises?|throws?|returns?|goes|go|lives?|belongs?|stays?|uses?|follows?|starts?|ends?|
    +needs?|wants?|expects?|relies|rely)\b[^.;?]{{1,100}}(?:, not\b|\bnot\b|doesn'?t|never|
    +instead|rather|only)\b
    (?:in|across|for|on) (?:this|our|the) (?:codebase|repo|project|team|code base|monorepo|app|
    +service|org|company|product)\b
    (?:you|we) (?:can'?t|cannot|may not|mustn'?t) (?:just |simply |ever )?\w
    can'?t (?:just |simply )?(?:use|do|have|put|rely|assume|import|call|depend|trust)\b
    (?:the |our |most |all )?(?:ops|support|they|people|[a-z]{{3,15}}(?:ers|ists|ors|eds|ents|sts|
    +folks|team|
    +guys)) (?:never|always|only|still|don'?t|can'?t|won'?t|expect|rely|hate|read|see|use|work|open|
    +need|run|prefer)\b
    (?:\w+[ -](?:style|case|casing|notation|convention|syntax|naming|spelling|quotes|dialect))
    + (?:pls|please|for|in|everywhere|throughout|not)\b
    """,
)
_BAN = re.compile(
    rf"{START}no (?!luck|change|changes|idea|error|errors|output|result|diff|difference|effect|need"
    r"|way|one|problem|reason|worries|more\b)(?:[\w-]{2,20} ){1,3}(?:after|before|in|on|inside"
    r"|outside|during|at|between|until"
    r"|unless|without|for|from|to) \w|"
    rf"{START}(?:absolutely |really |strictly )?(?:no|zero|not a single|enough with(?: the| these"
    rf"| those)?|less|fewer"
    r"|never any|avoid|skip|drop|lose) (?!the\b|these\b|those\b|errors?\b|changes?\b|worries\b"
    r"|thanks\b|results?\b|tests? (?:fail|pass|ran|run"
    r"|left)|problems?\b|issues?\b|doubts?\b|hard feelings|success\b|rush\b|difference\b|idea\b"
    r"|ideas\b|offen[cs]e\b|progress\b|access\b|logs?\b|matter\b|this\b|that\b|it\b|the (?:last"
    r"|first|second|other))(?:any |your |more |such |new )?"
    r"(?:[\w`·/.-]{1,20} ){0,2}[\w-]{3,20}(?:s|ing)\b(?![ '-](?:is|are|was|were|left|found|yet"
    r"|so far"
    r"|there|failing))"
)
# What is so, and what follows: `customers host it, so no cloud services`.
_HENCE = either(
    r"""
    (?:,|;| -| –)? ?(?:so|hence|therefore|thus|which means|meaning) (?:please |pls |let's |also |
    +just )?(?:no|nothing|nobody|avoid|don'?t|do not|never|only|keep (?:it|the|things|your|it|
    +everything|\w+ \w+)|skip|be|always|everything|anything|all|any|no one|stick|stay|treat|
    +we (?:have to|can'?t|cannot|must|need to (?:support|stay|keep|avoid|stick)|stick|stay|keep|
    +avoid|never|only|always|don'?t|won'?t|are stuck|ship|support))\b
    """,
    open="(?:",
)
# `…, so big buttons`: what follows is no step of the work and not about what lies before us.
_SO = re.compile(
    r", (?:so|hence|therefore) (?!i\b|i'|it\b|it's|the\b|that\b|this\b|these\b|can\b|could\b|what"
    r"|how|why|you can|maybe|far\b|much\b|let|please\b|now\b|then\b|my\b|there"
    r"|we (?:can\b|could|need|should|get|might|want)|he\b|she\b|they\b|is\b|are\b|do\b)(?=\w+ \w)"
)
_OF_WORK = either(
    r"""
    (?:i (?:just |already )?(?:changed|fixed|added|renamed|tried|moved|removed|ran|need|want|get|
    +got|see|think))\b
    ^(?:but |and |so |also )?(?:the|this|that) (?:function|button|page|test|tests|loop|query|
    +variable|field|form|endpoint|
    +error|bug|list|array|string|response|column|parser)\b
    (?:fails?|failing|crash\w*|error|exception|null|none|empty|typo)\b
    """
)
# `composition, not inheritance`: two words set against each other, and no more.
_VERSUS = re.compile(
    r"^(?:(?:please|pls|also|and|btw)[,:]? )?(?:(?:show|use|give me|write|prefer|think|want"
    r"|send)(?: me)? )?"
    r"(?!the\b|this\b|that\b|it\b|it's|i\b|no\b|line\b|in\b|on\b|at\b|to\b|from\b|for\b|yes\b)"
    r"(?:[\w/+#.·-]{2,20} ){0,3}[\w/+#.·-]{2,20}(?:, not|,? never|,? rather than| instead of| > |"
    r" over) (?!the (?:other|first|second|old|new)|this\b|that\b|working|sure|yet|now|here|in\b"
    r"|just)(?:[\w/+#.·-]{2,20} ?){1,4}[.!]*$"
)
# `tests first, code after`, without a verb that asks for it now.
_ORDERING = re.compile(
    r"\b[\w-]{3,20} first\b[, ]{1,2}(?:and |then |the )?(?:[\w-]{2,20} ){0,3}"
    r"(?:after(?:wards)?|later|second|last|next|then)\b"
    r"|\bfirst (?:the |an? )?[\w -]{3,30}, (?:and )?(?:only )?then (?:the |an? )?\w"
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


def told(bare: str, answers: bool) -> bool:
    """It says how things are done; `answers`: to something that the agent did or that it minds."""
    if momentary(bare) or hints.in_fault(bare) or hints.specifies(bare):
        return False
    if _ALONE.search(bare):
        return True
    if (_ORDERING.search(bare) or _hence(bare)) and not is_chore(bare):
        return True
    if not answers:
        return False
    if hints.on_screen(bare):
        return False
    return bool(_BAN.search(bare)) or (bool(_ANSWER.search(bare)) and not is_chore(bare))


def _hence(bare: str) -> bool:
    follows = _SO.search(bare, LEAD)
    rule = bool(_HENCE.search(bare, LEAD)) or (follows and not is_chore(bare[follows.end() :]))
    return bool(rule) and not _OF_WORK.search(bare) and not hints.on_screen(bare)


def sets_against(bare: str) -> bool:
    """A taste in two words: this, not that."""
    return bool(_VERSUS.match(bare)) and not hints.on_screen(bare)


def sums_up(bare: str) -> bool:
    """`that's my motto`: it speaks of the sentence before it."""
    return bool(_SUMS_UP.match(bare))


def points_back(bare: str) -> bool:
    """`we don't do that here`: what is meant stands in another sentence."""
    return len(bare) < 60 and bool(_EMPTY.match(bare))
