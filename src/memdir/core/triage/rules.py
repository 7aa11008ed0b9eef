"""Rules to go by: what is always or never done, and how answers shall look."""

from __future__ import annotations

import re

from memdir.core.triage import hints
from memdir.core.triage.forms import START, VERB, either
from memdir.core.triage.passing import is_chore

_ANSWERS = (
    r"(?:summar(?:y|ies)|recaps?|preambles?|apolog(?:y|ies)|emojis?|explanations?|fluff"
    r"|pleasantries|bullet"
    r" points|headings|comments|docstrings|todos?|jargon|filler|disclaimers|caveats|placeholders)"
)
# A rule to go by, not a step of this task.
_RULE = either(
    rf"""
    (?:you (?:should|must|can) |make sure (?:to |you )|be sure to |try to )?always (?:{VERB})\b
    (?:you (?:should|must) )?never (?!mind|in |the |got |been |seen |had |heard |knew |used to|
    +\w+ly\b|\w+ed\b)(?:ever )?(?:{VERB})\b
    (?:ask|check with|tell|show) me (?:first|before)\b
    (?:ask|check|confirm|clear|discuss) (?:it |that |this |everything )?with me (?:first|before)\b
    let me know before\b
    only (?:\w+ ){{1,6}}(?:when|if|after) (?:i|you|we|it's)\b
    no (?!errors?|changes?|idea|luck|diff|problem|worries|output|results?|tests?|need|way|one|more)
    +(?:\w+ ){{1,4}}(?:in|without|unless|please|ever|anymore|whatsoever|here)\b
    don'?t (?:sugar-?coat|hedge|overthink|over-?complicate|over-?engineer|baby|patroni[sz]e|lecture|
    +rush)\b
    if you(?:'re| are) (?:not sure|unsure|stuck|in doubt|uncertain|missing|not certain)
    +[^.]{{0,60}},? (?:say|ask|tell|stop|check|don'?t|look|leave)\b
    (?:treat|consider|regard) [\w -]{{2,40}} as\b
    be (?:more|less) \w+
    (?:spell (?:things|it|everything) out|think (?:first|before)|go (?:slow|step by step))\b
    one (?:step|thing|question|change) at a time\b
    (?:double|cross)-?check (?:\w+ ){{1,4}}before\b
    default to \w
    prefer \w
    for (?!the|this|that|a|an|now|example|some|me)[\w -]{{3,30}}s,? (?:please )?(?:use|prefer|
    +write) \w
    (?:shorter|briefer|terser|fewer|less) (?:answers|replies|responses|{_ANSWERS})\b
    (?:no more|no|skip|drop|leave out|lose|cut|ditch|spare me|enough with|without) (?:the |these |
    +those |all the |any )?(?:\w{{1,20}} ){{0,2}}{_ANSWERS}\b
    keep (?:your |the |all )?(?:answers?|replies|responses?|explanations?|summaries|messages|
    +functions|prs|commits|diffs|files|modules|tests) (?:\w{{1,20}} )?(?:short|brief|concise|terse|
    +shorter|small|under|below|to|simple|focused)\b
    keep (?:it|\w+ |(?:\w+ ){{2,3}})(?:short|brief|concise|terse|minimal|small|clean|tight|lean|
    +consistent|separate|flat|readable|tidy|boring|focused)\b
    """,
    open=START + "(?:",
)
_ANYWHERE = either(
    rf"""
    next time,? (?:please|you|don'?t|do not|just|ask|use|run|check|try|make|start|look|read|give|
    +show|tell|before|when)\b
    (?:each|every) time you\b
    whenever you (?!want|like|can|have time)
    when you (?!'re|are done|finish|see this|get)\w+ (?!it\b|this|that\b)[^.,]{{3,80}}, (?:please |
    +also |always |don'?t |do not |never )?(?:give|show|use|make|keep|add|tell|ask|start|explain|
    +prefer|include|write|put|list|run|check|do|mention|leave)\b
    never (?:stays?|goes|gets?|belongs?|leaves|lands?|ends|touches|appears|ships) \w
    before (?:every|each|any) (?:commit|push|merge|release|deploy|pr|migration)\w*\b
    (?:ask|check with me|check in|show me[^.,]{{0,40}}|run [^.,]{{1,40}}|
    +tell me[^.,]{{0,30}}) before (?:you )?(?:commit|push|merg|edit|delet|add|chang|deploy|install|
    +creat|touch|open|mak|refactor|rewrit|runn)\w*
    you (?:do not|don'?t) (?:need|have) to (?:explain|summar|apolog|repeat|ask|tell|show|list|
    +describe|mention|add)
    (?:answer|reply|respond|write|speak|talk|comment|explain)(?: to me| back)? in (?:english|german|
    +french|spanish|italian|dutch|portuguese|japanese|chinese|korean|polish|russian)\b
    (?:antworte\w*|schreib\w*|sprich) (?:mir )?(?:bitte )?(?:immer )?auf \w+
    (?:responde|escribe|contesta) (?:siempre )?en (?:español|inglés)\b
    (?:réponds|écris|répondez) (?:toujours )?en (?:français|anglais)\b
    (?:benutze?|verwende?|nutze?|schreibe?|mache?|nimm|teste?|committe?) (?:bitte )?(?:immer|nie|
    +niemals|nur|stets|kein\w*)\b
    (?:usa|utiliza|escribe|haz) (?:siempre|solo|nunca)\b
    (?:utilise|écris|fais|mets) (?:toujours|jamais|seulement)\b
    no need (?:to (?:explain|summar|apolog|repeat|recap|list|describe|mention)|
    +for (?:\w+ ){{0,2}}{_ANSWERS})
    your (?:answers|explanations|commits|code|comments|messages|summaries|replies|prs|plans|
    +responses|suggestions|tests|diffs|descriptions) (?:are|is|assume|lack|need|have|contain|always|
    +keep|should|don'?t|must|never|could)\b
    (?:you (?:can|may)|feel free to) [^.]{{3,80}} without asking\b
    you (?:do not|don'?t) have to ask\b
    is how we (?:do|work|handle|name|write|test|ship)\b
    (?:our|the) (?:default|go-to|standard) (?:is|for)\b
    too (?:verbose|wordy|chatty|long-winded|much (?:text|explanation|detail))\b
    i can (?:read|see) (?:the )?(?:diff|code|output|it)s? (?:myself|on my own)\b
    (?:pas besoin|bitte (?:keine|nie|immer|kürzer|nur)|sin resumen|antworte (?:kürzer|kurz|immer)|
    +siempre \w+|nunca \w+|n'\w+ jamais|ne \w+ jamais|toujours \w+er)\b
    (?:immer|nie(?:mals)?) (?:\w+ ){{0,3}}(?:benutzen|verwenden|nutzen|schreiben|committen|pushen|
    +mergen)\b
    (?:no uses|no pongas|no hagas|no añadas|no escribas|no toques nunca|n'utilise(?:z)? pas|
    +n'ajoute(?:z)? pas|ne mets pas|benutze? (?:bitte )?(?:nie|kein)|verwende (?:bitte )?(?:nie|
    +kein)|schreib (?:bitte )?(?:nie|kein))
    不要(?:用|写|加|提交|使用|添加)
    别(?:用|写|加|提交)
    请?(?:一律|务必|始终|总是|必须)(?:用|使用|写|先)?
    (?:使わ|書か|追加し|コミットし|し)ないで(?:ください)?
    (?:必ず|常に|いつも)
    """
)
_DONT = re.compile(
    rf"{START}(?:please |you )?(?:don'?t|do not|shouldn'?t|should not|must not|mustn'?t|avoid"
    rf"|no longer)"
    r" (?:ever |just |go |be )?(?P<verb>[\w-]{2,20})(?P<rest>[^.;]{0,300})"
)
_HABITS = frozenset(
    (
        *("use", "using", "add", "adding", "write", "writing", "create", "creating"),
        *("mock", "mocking", "stub", "stubbing", "put", "summarize", "summarise"),
        *("explain", "apologize", "apologise", "include", "amend", "push", "force"),
        *("force-push", "squash", "hardcode", "hard", "repeat", "suggest", "mention"),
        *("wrap", "catch", "swallow", "install", "commit", "name", "rely", "assume"),
        *("invent", "guess", "abbreviate", "nest", "import", "log", "print", "generate"),
        *("reformat", "overengineer", "over-engineer", "auto-format", "bother", "copy"),
        *("duplicate", "inline", "introduce", "default", "sugarcoat", "hedge", "ping"),
        *("batch", "stack", "chain"),
    )
)
_NOTHING = frozenset(
    (
        *("worry", "know", "think", "see", "get", "understand", "care", "mind", "forget"),
        *("have", "need", "want", "feel", "remember", "believe", "panic", "wait"),
        *("hesitate", "recall", "even", "really", "necessarily", "be", "let", "do"),
    )
)
_SPECIFIC = re.compile(
    r"^\s*(?:that|this|it|them|those|these|anything|everything)\b(?! (?:kind|sort|style|pattern))"
    r"|^\s*the (?:above|whole|rest|other|code|file|tests?|function|changes?|formatting)\b"
    r"|\b(?:this|that) (?:one|file|function|test|line|part|change|method|class|branch|commit"
    r"|button)\b"
    r"|\b(?:first|second|other|current) (?:one|pr|commit|step|version|draft|part)\b"
    r"|[\w/-]{1,60}\.(?:py|[jt]sx?|go|rs|rb|java|md|ya?ml|json|toml|sql|css|html|lock)\b"
    r"|·{2,}\s*$"
)
_AGAIN = either(
    r"(?:ever|again|anymore|any more|every time|each time|in general|unless|everywhere|at all"
    r"|period)\b"
)
_CONTRAST = either(
    r"(?:use|using|want|need|run|pick|go with) [^.,;]{2,60},? (?:not|instead of|rather than"
    r"|and not) \w"
)
_REASON = either(
    r"""
    (?:because|bc|cuz|since (?:it|we|they|the|that|i|you|our)|so that|otherwise|due to|reason)\b
    (?:weil|denn|sonst|porque|ya que|parce qu|puisque|sinon)
    because
    因为
    ので
    """
)
_INSTEAD = either(r"(?:instead|rather)\b")
_POLICY = re.compile(
    r"^(?:(?:please|pls|and|also|ok)[,]? ){0,2}(?:use|put|keep|leave|prefer|name"
    r"|call)\b"
)
_SPLICE = re.compile(
    r".{12,}[,-] (?:it|they|we|that|this|nobody|customers|users|reviewers|there|ci|ops|our \w+"
    r"|the \w+)(?:'s|'re)? (?!is"
    r"|are)\w"
)
_IMPERATIVE = either(
    r"""
    (?:don'?t|do not|never|always|avoid|keep|ask|name|prefer|skip|stop|call|show|answer|reply|speak|
    +no)\b
    (?:only|just|please|be|have|leave|treat|stick|default|assume|respect|follow|limit|let) \w
    (?:benutz|verwend|schreib|nutz|immer|nie|keine|alle|usa|no |escrib|siempre|nunca|utilis|n'|
    +toujours)
    """,
    open="(?:",
)
_ORDER = either(
    r"""
    (?:never|always|must|should) \w
    (?:bitte|nie|immer|jamais|toujours|nunca|siempre)\b
    不要
    必须
    都用
    别
    請
    请
    一律
    ください
    ないで
    """
)


def rules(bare: str, led: bool) -> bool:
    """It gives a rule; `led`: it begins as the correction of something."""
    return bool(_ANYWHERE.search(bare)) or _orders(bare) or _forbids(bare, led)


def is_policy(bare: str) -> bool:
    """`use the client of the project`: what may be a step may as well be a rule."""
    return bool(_POLICY.match(bare))


def gives_reason(bare: str) -> bool:
    """`…, it adds the headers`: a second clause that says why."""
    return bool(_SPLICE.search(bare))


def is_specific(bare: str) -> bool:
    """It speaks of one thing at hand."""
    return bool(_SPECIFIC.search(bare))


def commands(bare: str) -> bool:
    """It tells somebody to do or not to do something."""
    return bool(_IMPERATIVE.match(bare)) or is_chore(bare) or bool(_ORDER.search(bare))


def _orders(bare: str) -> bool:
    """`always run the linter`; in a request for work, only where the rule is put beside it."""
    found = None if hints.on_screen(bare) else _RULE.search(bare)
    return found is not None and (not is_chore(bare) or not found[0].startswith(","))


def _forbids(bare: str, led: bool) -> bool:
    """`don't mock the database`: a habit forbidden, not one step of this task."""
    for match in _DONT.finditer(bare):
        verb, rest = match["verb"], match["rest"]
        if verb in _NOTHING:
            continue
        if _AGAIN.search(match[0]) or _REASON.search(rest) or _INSTEAD.search(rest):
            return True
        if _SPECIFIC.search(rest) or not (led or verb in _HABITS):
            continue
        return True
    narrow = _SPECIFIC.search(bare) or not _CONTRAST.search(bare)
    return not narrow and (led or bool(_REASON.search(bare)))
