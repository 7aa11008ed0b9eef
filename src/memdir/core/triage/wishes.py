"""Wishes that are said aloud: keep this, drop that; in the languages where it costs nothing."""

from __future__ import annotations

import re

from memdir.core.triage import hints
from memdir.core.triage.forms import START, either
from memdir.core.triage.passing import momentary

_MEMORY = r"(?:(?:your|the|project|team|user|long[- ]term|persistent) ){0,2}(?:memory|memories)"
# Where the wish ends, the wished begins.
_COMMANDED = either(
    rf"""
    remember\b(?![- ]me\b)(?: (?:this|that|these|it|the following) ?:| that\b|:|,)?
    (?:keep|bear) (?:this |that |it )?in mind(?: that\b|:|,)?
    (?:(?:do not|don'?t|never) (?:ever )?|let'?s not |you (?:must|should) (?:not|never) )forget(?:
    + that\b|:|,|(?= we(?:'re| are| use| only| never| always)\b))
    (?:save|store|add|put|write|commit|record|persist) [^.:\n]{{0,60}}\b(?:to|
    +into) {_MEMORY}(?: that\b|:|,)?
    (?:save|store|keep|put) [^.:\n]{{0,60}}\bin your memor(?:y|ies)(?: that\b|:|,)?
    (?:save|store|add) (?:a |this |that )?memory(?: that\b| about|:|,)
    memori[sz]e(?: this| that| the following)?(?::|,)?
    (?:make|take) (?:a )?(?:mental )?note(?: that\b| of(?: this| that)?|:|,)?
    (?:for later|for posterity|lesson learn(?:ed|t)|mental note|psa)(?: \w+)?:
    note (?:for (?:the )?(?:future(?: sessions?| reference)?|next time|later|you)|to self)(?::|,)?
    (?:keep|save|store|note|hold on to) (?:this|that|it|these) for (?:later|future|next|the future|
    +other|
    +another|tomorrow)(?: \w{{1,12}})?(?::|,)?
    (?:learn|save|note) (?:this|that|these|the following):
    (?:note|write|jot) (?:this|that|it|these) down(?::|,)?
    """,
    open=START + "(?:",
)
_SPOKEN = either(
    r"""
    (?:can|could|will|would) you (?:please )?(?:remember|keep in mind|memori[sz]e)(?: that\b)?
    i(?:'d like| want| need| would like) you to (?:always )?remember(?: that\b)?
    you (?:should|must|need to|have to) (?:always )?(?:remember|keep in mind)(?: that\b)?
    (?:worth|important to) (?:remembering|remember)(?: that\b|:|,)?
    (?:one |an?other |two |some )?(?:thing|things|rule|fact|bit) (?:to (?:remember|keep in mind)|
    +worth remembering)(?: is)?(?: that\b|:|,)?
    for (?:future (?:reference|sessions?)|next time|the future|all future sessions?)\b(?::|,)?
    in (?:all )?future sessions(?::|,)?
    from (?:now|here|this point|today|this day) (?:on(?:wards?)?(?: out)?|forward)\b(?::|,)?
    (?<!'re )(?<!are )(?<!is )(?<!be )(?:going|moving) forward\b(?! with| on| to)(?::|,)?
    (?:henceforth|hereafter)\b,?
    merk(?:e|t|en sie)? (?:dir|euch|sich)(?: bitte)?(?:,? dass\b|:|,)?
    denk(?:e|t|en sie)? (?:bitte )?(?:dran|daran)(?:,? dass\b|:|,)?
    (?:vergiss|vergesst|vergessen sie) (?:bitte )?nicht(?:,? dass\b|:|,)?
    nicht vergessen(?:,? dass\b|:|,)
    behalte? (?:bitte )?im (?:kopf|hinterkopf)(?:,? dass\b|:|,)?
    (?:ab (?:jetzt|sofort|heute)|von (?:jetzt|nun) an|in zukunft|künftig|zukünftig)\b,?
    für die zukunft(?::|,)?
    recuerd[ae](?:n)?(?: que\b|:|,)
    acu[eé]rdate (?:de )?(?:que\b)?
    ten(?:ga)? en cuenta(?: que\b|:|,)
    no (?:te |se |os )?olvid(?:es?|en|éis|ar) (?:de )?que\b
    (?:a partir de ahora|de ahora en adelante|desde ahora|en adelante)\b,?
    (?:guarda|apunta|anota)(?: (?:esto )?en (?:la |tu )?memoria)?(?: que\b|:)
    souviens[- ]toi(?: que\b| qu'|:|,)?
    (?:rappelle[- ]toi|rappelez[- ]vous)(?: que\b| qu'|:|,)?
    (?:retiens|retenez)(?: bien)?(?: que\b| qu'|:|,)
    (?:n'oublie[zs]? (?:pas|jamais)|ne (?:pas|jamais) oublier)(?: que\b| qu'| ?:)
    garde(?:z)? (?:bien )?en (?:tête|mémoire)(?: que\b| qu'|:)?
    (?:à partir de maintenant|désormais|dorénavant|à l'avenir)\b,?
    lembr(?:e-se|a-te|a|e)(?:(?: de)? que\b|:)
    (?:tenha|tem) em mente(?: que\b|:)
    n[ãa]o (?:(?:se|te|vos) )?esque[çc]a[ms]?(?:-se|-te)?(?:(?: de)? que\b|:|,)
    (?:a partir de agora|de agora em diante|daqui em diante|daqui para a frente)\b,?
    (?:ricorda(?:ti)?|ricordate)(?: che\b|:)
    (?:d'ora in poi|da ora in poi)\b,?
    tieni (?:a mente|presente)(?: che\b|:)?
    non dimentic(?:are|arti|atevi|ate|hiamo)(?: che\b|:)
    onthoud(?: dat\b|:)?
    (?:vanaf nu|voortaan)\b,?
    vergeet niet dat\b
    запомни(?:те)?(?:,? что\b|:|,)?
    помни(?:те)?,? что\b
    не (?:забудь|забывай)(?:те)?(?:,? что\b|:)
    (?:отныне|впредь|с этого момента|на будущее)\b(?::|,)?
    zapamiętaj(?:,? że\b|:)?
    pamiętaj,? że\b
    nie (?:zapomnij|zapominaj)(?:cie)?(?:,? że\b|:)
    od teraz\b,?
    (?:bundan sonra|bundan böyle)\b,?
    (?:aklında tut|unutma|hatırla)\b(?::|,)?
    kom ihåg(?: att\b|:)
    från och med nu\b,?
    [请請]?帮?我?(?:记住|記住|牢记|记一下|記一下|记下来?|記下)了?[：:，,]?
    [请請]?(?:不要|别|別|勿)忘(?:记了?|記了?|了|掉)[：:，,]?
    从现在(?:起|开始)[，,]?
    從現在起[，,]?
    从今(?:天起|以后|往后)[，,]?
    今[后後](?!的)は?[，,、]?
    (?:^|(?<=[，。,！!\s]))以[后後](?=都|请|請|不要|别|別|要|用|一律|务必|必须|写|提交|的)
    (?:これから|次回?から|今度から)は[、,]?
    覚えて(?:おいて(?:ください|くれ|ね)?|ください|くれ|ね)
    覚えといて(?:ください|くれ|ね)?
    (?:記憶|メモ)して(?:おいて(?:ください)?|ください)
    忘れないで(?:ください|ね)?
    기억해(?:줘|주세요|둬|두세요)?[,:]?
    (?:앞으로는?|이제부터는?)[,:]?
    잊지 ?(?:마세요|마)[,:]?
    """
)
# "in future, ask first" is a wish; "in the future we could" is none.
_ORDERS = (
    r"(?:please|always|never|don'?t|do not|only|use|just|ask|make|keep|put|run|write|avoid|name"
    r"|check"
    r"|skip|start|prefer|stop|let|tell|show|you (?:should|must|can|need))\b"
)
_LATER = re.compile(
    rf"(?:^|, )in (?:the )?future,? (?={_ORDERS})"
    rf"|^{_ORDERS}.{{3,300}} in (?:the )?future\b"
)
_RECALL = either(
    r"""
    (?:when|how|why|what|where|who|if|whether|last time|the time|that time)\b
    that (?:bug|issue|time|pr|function|test|script|error|one|ticket|branch|conversation|problem)\b
    that (?:refactor|weird|crash|outage|discussion|thing|conversation|day|meeting)\b
    (?:the|our|my) [\w -]{1,40}? (?:we|you|i)(?:'d| had| have)? (?:\w{1,20}ed|did|made|saw|had|
    +wrote|built)\b
    (?:correctly|right)\b
    """,
    open=r"\s*(?:",
)
_TO = re.compile(r"\s*to\b")
_STANDING = either(
    r"(?:always|never|every|each|whenever|any ?time|from now|in future|future|not|instead of)\b"
)
_TASK = either(
    r"""
    (?:run|rerun|re-run|commit|push|check|update|add|fix|clean|delete|remove|revert|test|build)\b
    (?:deploy|close|save|restart|rebase|merge|format|lint|bump|tag|send|ping|tell|change|double)\b
    (?:include|handle|cover|export|import|call|return|set|pass|stop|kill|undo|do|look|come|go)\b
    """,
    open=r"\s*to (?:also )?(?:",
)
_MACHINE = either(
    r"(?:ram|buffer|cache|heap|bytes|struct|pointer|array|object|variable|leak|usage|allocat\w+)\b"
)
_SOMEBODY = re.compile(
    r"\b(?:you|i|i'll|we|they|he|she|it|can't|cannot|don'?t|doesn'?t|didn'?t|to|ich|wir|users?)\s$"
)
# What says of itself that it is to be kept; "from now on" may only tell what will be.
_NAMED = re.compile(r"remember|mind|forget|memor|note|merk|recuerd|souvien|记|記|覚|기억|запомни")
_PERHAPS = either(
    r"(?:could|might|maybe|perhaps|möglicherweise|vielleicht|könnt\w{1,4}|podr\w{1,6}"
    r"|pourr\w{1,6})\b"
)
_THIS_SESSION = either(
    r"""
    (?:for|in|during) (?:this|the (?:current|next)) (?:session|task|step|pr|conversation|chat)\b
    for this (?!project|repo|codebase|team|customer|client|reason|company|product)\w
    for (?:the next|a) (?:step|minute|moment)\b
    when (?:we|you) get (?:there|to it)\b
    later (?:today|in this|on)\b
    """
)

_DROP = either(
    r"""
    (?:you can |you should |you may |now |actually )?forget (?:about (?!it\b)|
    +everything (?:about )?|anything about )
    (?:you can |you should |you may |now |actually )?forget that (?=(?:we|i|you|the|our|my|it|
    +there)\b)
    (?:you can |you should |you may |now |actually )?forget (?:what (?=i|we|you)|(?:all )?my )
    (?:you can |actually )?forget (?:the|our|your|any|all) (?=[^.,;]{0,60}\b(?:rule|memory|
    +memories|preference|convention|policy)s?\b)
    (?:you can |actually )?forget (?:the|our|your|any|all) (?=[^.,;]{0,60}\b(?:deadline|freeze|
    +reminder|instruction|decision)s?\b)
    you can (?:safely )?forget (?:that|this|it|about (?:it|that|this))(?: one| rule| part| now)?\b
    (?:stop|quit) remembering (?:that |about )?
    (?:delete|remove|drop|erase|retire|clear|wipe) (?:the|that|your|any|all|
    +my) (?:\w{1,20} ){0,2}memor(?:y|ies) (?:about|of|that|on|for|saying) (?:that )?
    (?:delete|remove|drop|erase|take) (?=[^.;\n]{1,80} (?:from|out of) (?:(?:your|the) )?memor)
    """,
    open=START + "(?:",
)
_DROP_ELSEWHERE = either(
    r"""
    vergiss,? (?:bitte )?(?!nicht)(?:,? ?dass )?(?=das|die|den|dass|was|alles|meine|wir|ich|es)
    olv[ií]da(?:te|lo)? (?:de )?(?:que |lo de )?
    oublie[zr]? (?!pas)(?:que |qu'|ce que )?
    esque[cç]a (?:que )?
    dimentica(?:ti)? (?:che |di )?
    vergeet (?!niet)(?:dat )?
    забудь(?:те)? (?:про |о |что )?
    [请請]?(?:忘记|忘掉|忘記)(?!吗|嗎|了吗)(?:关于|關於|之前)?
    (?:を|は|のことは?)?忘れて(?:ください|くれ|いいよ?|ね|$)
    잊어(?:줘|버려|주세요)
    """
)
_DROP_THAT = re.compile(
    r"\b(?:saved|stored|remembered|noted|memori[sz]ed|memory|memories"
    r"|written down)\b[^.;]{2,100}[, ]"
    r"(?:get rid of|remove|drop|delete|forget|erase|bin|scrap) (?:that|it|this)\b"
)
_BACK = re.compile(r"\b(?:this|that|it) (?:down )?(?:in mind|(?:to|into|in) )[^:]*$")
_GIVE_UP = either(r"(?:just|let's|lets|instead|focus|move on|try|skip|not important|i'll)\b")
_TRIES = re.compile(r"\blet'?s (?:just )?(?:try|skip|move on|start over)\b")
# "não se esqueça", "ne pas oublier", "不要忘记": whoever says that wants it kept.
_NOT = re.compile(
    r"\b(?:don'?t|not|never|nicht|no|ne|n'|pas|jamais|não|nao|nunca|non|niet|не|nie)"
    r"(?: (?:se|te|me|os|vos|ti|vi|bitte))?\s*$|(?:不要|别|別|勿|不能|不会)$"
)


def kept(bare: str) -> tuple[int, int] | None:
    """Where a wish to keep something stands, or None."""
    for form in (_COMMANDED, _SPOKEN):
        for match in form.finditer(bare):
            if _is_kept(bare, match):
                return match.start(), match.end()
    later = _LATER.search(bare)
    if later is None or momentary(bare):
        return None
    return (later.start(), later.end()) if "future" in later[0][:20] else (len(bare), len(bare))


def refers_back(bare: str) -> bool:
    """`keep that in mind`: what is to be kept was said before."""
    place = kept(bare)
    return place is not None and bool(_BACK.search(bare[place[0] : place[1]]))


def dropped(bare: str) -> tuple[int, int] | None:
    """Where a wish to have something forgotten stands; not "forget it, let's try another way"."""
    match = _DROP.search(bare) or _DROP_THAT.search(bare) or _DROP_ELSEWHERE.search(bare)
    if match is None or momentary(bare) or _GIVE_UP.search(bare, match.end()):
        return None
    before = bare[: match.start()]
    if _NOT.search(before) or _TRIES.search(before):
        return None
    return match.start(), match.end()


def _is_kept(bare: str, match: re.Match[str]) -> bool:
    words, rest = match[0].strip(), bare[match.end() :]
    if words.endswith(("remember", "that", "memorize")) and not words.endswith(":"):
        that = " that" if words.endswith("that") else ""
        if _RECALL.match(that + rest) or rest.lstrip().startswith("?"):
            return False
    if _TO.match(rest) and (momentary(bare) or (_TASK.match(rest) and not _STANDING.search(rest))):
        return False
    if "memor" in words and _MACHINE.search(bare):
        return False
    if not _NAMED.search(words) and (_PERHAPS.search(bare) or hints.specifies(bare)):
        return False
    if ("forget" in words or "mind" in words) and momentary(bare):
        return False
    return not _SOMEBODY.search(bare[: match.start()]) and not _THIS_SESSION.search(bare)
