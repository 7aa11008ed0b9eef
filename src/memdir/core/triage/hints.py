"""Signs that are not enough alone: two of them in one sentence make it worth a look."""

from __future__ import annotations

import re

from memdir.core.triage.forms import either

ENOUGH = 2  # signs
LOOK = 4_000  # characters of the agent's words before

_REASON = either(
    r"""
    (?:because|bc|cuz|otherwise|due to|so that|that'?s why|which is why|for a reason|the reason|
    +thanks to)\b
    since (?:it|we|they|the|that|i|you|our|users|customers|partners|nobody|everyone|most|every)\b
    (?:depends?|rely|relies|relying) on\b
    (?:got |been |was |were |have been )?(?:burn(?:ed|t)|bitten)\b
    (?:bit|hurt|cost|killed|burned|burnt) us\b
    (?<!you )(?:broke|blew up|took down|went down|hid|masked|leaked|lost|ruined|corrupted)\b
    (?<=\w )(?:chokes?|breaks|hates?|skips?|ignores?|can'?t (?:read|parse|see|handle|follow|review|
    +consume)) (?:on|anything|the|it|those|them)\b
    (?:nobody|no one|reviewers|customers|users|ops|auditors|they|the team) (?:reads?|looks?|wants?|
    +needs?|hates?|likes?|skips?|complains?|cares?|expects?|can'?t|won'?t|never)\b
    (?:i|we) (?:lose|lost|keep losing|can'?t (?:follow|review|tell|see)|end up|get lost)\b
    (?:weil|denn|sonst|damit|porque|ya que|si no|parce qu|puisque|sinon|car)\b
    因为
    否则
    ので
    ため
    """
)
_CONTRAST = either(
    r"""
    (?:not the|as opposed to|in favou?r of|no longer|any ?more)\b
    (?:not|never) \w+ but\b
    (?:only|max(?:imum)?|at most|first|separately|by hand|at least)\b
    (?:statt|sondern|en lugar de|en vez de|sino|au lieu de|plutôt que)\b
    """
)
_AGAINST = either(
    r"""
    (?:instead of|rather than)\b
    , not (?:a |an |the |in |on |by |via )?\w
    而不是
    代わりに
    ではなく
    """
)
_GENERIC = either(
    r"""
    (?:always|never|ever|every ?time|each time|every|each|any|anywhere|everywhere|nowhere|whenever|
    +unless)\b
    (?:in|across|for|on) (?:this|our|the whole|the entire) (?:repo|project|codebase|team|company|
    +org|monorepo|product|code base)\b
    (?:around here|in general|generally|as a rule|rule of thumb|by default|no exceptions|period|
    +full stop|that's the deal|no-go|a no no|off limits|taboo)\b
    (?:for (?:anything|any|all|everything)|same goes for|when(?:ever)? you|if you|
    +if it'?s worth)\b
    (?:if|when) in doubt\b
    (?:rule|convention|standard|default|policy|what we use)\b
    we(?:'re on| are on| write| use| name| test| deploy| keep| store| log| run| put| format| ship|
    + pin) \w
    \w here(?! is|'s)\b
    (?:this|the|our) (?:project|repo|codebase|team|company) \w
    (?:stays?|remains?) (?!the same|empty|open|blank|null|there|visible|hidden|red|black)\w
    (?:whatever|by hand|manually|sacred|holy|untouchable|non-negotiable|mandatory|forbidden)\b
    (?:belongs?|goes (?:in|into|to|through|next)|go (?:in|into|
    +to|through|next)|lives? (?:in|next)|follows?) \w
    (?:stick (?:to|with)|stay away|leave .{1,30} alone|steer clear|get rid of)\b
    (?:immer|nie|niemals|grundsätzlich|generell|siempre|nunca|jamás|toujours|jamais|bei uns|wir|
    +chez nous|aquí)\b
    总是
    从不
    我们
    必ず
    絶対
    """
)
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
_FAULT = either(
    r"""
    (?:traceback|stack ?trace|segfault|undefined|npe|exception:|error:)\b
    (?:doesn'?t|does not|not|won'?t|stopped|isn'?t) (?:work|build|compile|start|load|run)\w*\b
    (?:still|keeps?|is|are|it'?s|now|suddenly) (?:\w+ )?(?:fail|crash|throw|break|broken|red\b|
    +stuck|hang|time out|timing out|flak)\w*
    (?:is|are|looks?|seems?|feels?|it'?s|was) (?:\w+ )?(?:wrong|weird|odd|strange|red|empty|missing|
    +blank|
    +broken|ugly|buggy|incorrect|undefined|null|off)(?! limits| the table)\b
    \w+ failing\b
    \d+ (?:tests?|errors?|failures?|warnings?)\b
    (?:is|are|gets?) never (?:used|called|reached|set|hit|executed|null)\b
    (?:doesn'?t|does not) (?:look|seem|feel|make sense|add up|match)\b
    still (?!uses|runs|has|is|needs|supports|on\b)\w+s\b
    i(?:'m| am)? (?:get|got|getting|seeing|saw|tried|suspect)\b
    """
)
# What a program shall do; that stands in the code afterwards.
_SPEC = re.compile(
    r"\b(?:the|a|an|each|every|this|it|its|all|users?|clients?|which|that)\b[\w ·'-]{0,40} (?:must"
    r"|should|needs? to"
    r"|has to|have to|shall|needs?|gets?|becomes?|shows?|returns?|accepts?|takes?|displays?|opens?"
    r"|closes?) "
)
_IT_SHALL = re.compile(r"(?:and |but |also |so )?it (?:must|should|shall|will|can)\b")
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


# "fyi", "for context": what follows is told, not asked for.
_INFORMS = re.compile(
    r"^(?:(?:ok|so|and|oh|also|quick|hey|one more thing|just)[,:]? ){0,2}(?:fyi|background|context"
    r"|for (?:context"
    r"|background|your information)|(?:as )?(?:some |a bit of )?(?:background|context)|heads[- ]up"
    r"|(?:just )?(?:a |one )?(?:quick )?tip|protip|hint|(?:just )?so you"
    r" know|for the record|psa|reminder|worth knowing|be aware(?: that)?|good to know|important"
    r"|careful|note"
    r"|btw|by the way|zur info|nur zur info|para que sepas|pour info|顺便说一下"
    r"|ちなみに)\b[,:;.–-]{0,2} (?=\S+ \S+ \S+)"
)
_WARNS = re.compile(
    r"(?:(?:but|and|also|oh|be)[,:]? )?(?:careful|beware|watch out|warning|caution|from experience"
    r"|in my experience|learned the hard way|gotcha|pitfall|caveat|known (?:issue|quirk|trap))\b"
    r"[,:;.–-]{0,2} (?!with (?:that|this|it)\b|that (?:you|it|the)\b)(?=\S+ \S+ \S+)"
)
_OWN_WORK = either(
    r"""
    i(?:'ve| have|'m| am|'ll|'d)? (?:just |already |also )?(?:push|chang|fix|updat|merg|start|renam|
    +mov|delet|add|wrote|work|look|go|run|ran|did|open|creat|remov|commit|rebas|tri|need|want|can|
    +think|get|got|see|saw)\w*\b
    (?:it|this|that|the (?:build|test|tests|ci|server|page|script|branch|pr))(?:'s| is| are|
    + was)? \w
    """
)


def informs(bare: str) -> bool:
    """It says of itself that it is for information, and tells of more than this piece of work."""
    if _WARNS.match(bare):
        return not in_fault(bare)
    found = _INFORMS.match(bare)
    if found is None or in_trouble(bare):
        return False
    return not _OWN_WORK.match(bare, found.end())


_PLURAL = re.compile(
    r"^(?:(?:and|also|please|no|hm+|but|so)[,.]? ){0,2}(?!this|the |these|those|my |your |it's"
    r"|that's|let's|is|was|does|has|as"
    r"|yes"
    r"|thanks|its)(?:[a-z/-]{2,20} ){0,2}[a-z]{2,20}s (?:should|must|get|go|live|need|have to|are"
    r"|use"
    r"|start|follow|never|always|stay|belong|target|don'?t|can'?t|run|say)\b"
)
_OBLIGES = re.compile(
    r"\byou (?:must|have to|need to|should|ought to|may not|can'?t|cannot|mustn'?t|shouldn'?t|are "
    r"supposed to|aren'?t supposed to) (?:\w+ly |just |always |never |only )?"
    r"(?!pull|see|be able|also|add|fix|import|run|check|find|know)\w+"
    r"(?! (?:it|this|that|the|these|those|them|line|my|your)\b)"
)
_OURS = either(r"(?:we|our|ours|us|the team)\b")
_SCREEN = either(
    r"""
    (?:button|page|field|form|modal|dialog|sidebar|dropdown|banner|toast|spinner|row|widget|chart|
    +menu|tab|label|checkbox|tooltip|icon|header|footer|screen|logo|font|headline)s?\b
    """
)


def reasons(bare: str) -> bool:
    """It says why."""
    return bool(_REASON.search(bare))


def contrasts(bare: str) -> bool:
    """This, not that."""
    return bool(_CONTRAST.search(bare)) or sets_against(bare)


def sets_against(bare: str) -> bool:
    """This, not that, in so many words."""
    return bool(_AGAINST.search(bare))


def is_general(bare: str) -> bool:
    """It speaks of more than one case."""
    return bool(_GENERIC.search(bare))


def is_plural(bare: str) -> bool:
    """It speaks of things of one sort: `migrations have to …`, `hotfix branches start …`."""
    return bool(_PLURAL.match(bare)) and not _SCREEN.search(bare)


def is_ours(bare: str) -> bool:
    """It speaks of us."""
    return bool(_OURS.search(bare))


def on_screen(bare: str) -> bool:
    """It speaks of what a user of the program sees."""
    return bool(_SCREEN.search(bare))


def obliges(bare: str) -> bool:
    """It tells the agent what it must or may not do, and not with the thing at hand."""
    return bool(_OBLIGES.search(bare))


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


def in_fault(bare: str) -> bool:
    """It tells of a fault that somebody has at hand, and of nothing that lasts."""
    return bool(_FAULT.search(bare))


def specifies(bare: str) -> bool:
    """It says what a program shall do."""
    if _IT_SHALL.match(bare):
        return True
    return bool(_SPEC.search(bare) and _THINGS.search(bare))
