"""What a person likes: preferences, comparisons, and choices of the agent they agree with."""

from __future__ import annotations

import re

from memdir.core.triage.forms import either, words
from memdir.core.triage.passing import momentary

# An answer to a choice that the agent has offered.
_OFFERED = (
    r"(?! (?:option|the (?:first|second|third|latter|former|other|last)|#?\d|[abc]\b|that"
    r"|this|it\b))"
)
_PREFER = either(
    rf"""
    i(?:'d| would)?(?: really| much| strongly| generally| usually| always| also| personally|
    + kinda)? (?:prefer|favou?r|value)\b{_OFFERED}
    i(?:'d| would)(?: much)? (?:rather|sooner) (?:you|we|have|see|not|keep|be|read|use|get|wait|
    +write|deal|
    +take)\b
    i(?:'d| would) (?:always |much )?(?:take|choose|pick) .{{2,60}} over\b
    i (?:really |generally |always |personally |usually )?(?:like|love|enjoy) (?!this\b|that\b|it\b|
    +the idea|where|how|what|to (?:go|start|use|try|add|change|know))[\w'-]+
    i (?:really |absolutely )?(?:hate|dislike|can'?t stand|loathe|despise)\b(?! (?:this (?:bug|
    +error)|that (?:bug|error)|mondays))
    i (?:really )?(?:don'?t|do not) (?:really )?(?:like|want|enjoy|care for) (?!to (?:wait|break|
    +touch|go|lose|spend)|this (?:one|change)|that (?:one|change)|(?:that|it|this)[.!]*$)\w
    i (?:never|always|usually|generally|only|typically|tend to|mostly) (?:want|like|use|write|work|
    +review|read|commit|merge|test|run|keep|put|prefer|do|name|deploy|start)\b
    i want (?:to (?:see|review|approve|decide|be asked|be told|sign off)|you to (?:always|never|
    +ask)|every|all|only|no) .{{2,80}}
    i (?:find|consider) [^.]{{3,80}} (?:easier|harder|hard|noisy|annoying|confusing|ugly|unreadable|
    +cleaner|distracting)\b
    i care (?:more |most |a lot )?about\b
    i(?:'m| am) (?:allergic to|picky about|strict about|fine with [^.]{{3,60}} as long as|
    +ok(?:ay)? with [^.]{{3,60}} as long as|not a (?:big |huge )?fan|a (?:big |huge )?fan|a (?:big |
    +firm )?believer)\b
    my (?:\w+ )?(?:stance|view|philosophy|principle|motto|opinion|rule|attitude|credo) (?:is|:|on)
    my (?:\w+ )?(?:stance|view|philosophy|principle|motto|opinion|attitude|credo):
    (?:my (?:personal )?(?:preference|rule of thumb|style|taste|pet peeve)|pet peeve|personally,? i|
    +what matters (?:most )?to me)\b
    (?:big |huge |not a )fan of\b
    (?:bothers?|annoys?|irritates?|bugs|disturbs?|stresses|helps|slows|confuses) me\b(?! (?:find|
    +out))
    i(?:'d| would)(?: really)? (?:appreciate|welcome|love(?: to see)?) (?!it\b|if\b|a hand|
    +your (?:help|input|opinion)|some help|to\b|a\b)\w
    i(?:'d| would) like to see [^.]{{3,80}}\b(?:before|first|always|every)\b
    i(?:'d| would) like to (?:approve|review|see|sign off|decide|be asked|
    +be told) (?:\w+ ){{0,2}}(?:every|all|any|each|before)\b
    i want (?:\w+ ){{1,4}}(?:on|for|in|before) (?:every|each|all|any)\b
    (?:is|are) worth [^.]{{2,60}}\b(?:to|for) me\b
    my prefer\w+ (?:style|way|format|approach|setup)\b
    that'?s (?:just |simply )?how i (?:\w+)
    (?:drives me (?:nuts|crazy|mad)|works best for me|easier for me|for me,? .{{3,60}} (?:beats?|
    +over|than))\b
    prefer(?:red|ably)? {_OFFERED}[\w`·'-]{{2,40}}[^.;]{{0,60}} (?:over|to|instead of|
    +rather than) \w
    leave (?:the )?\w+ (?:\w+ )?to me\b
    let me (?:do|handle|run|review) (?:the )?\w+ (?:\w+ )?(?:myself|always)\b
    ich (?:bevorzuge|mag (?:lieber|keine|es)|hätte (?:gern|lieber)|will (?:keine|immer|lieber)|
    +finde .{{3,60}} besser)\b
    mir ist .{{1,60}} lieber\b
    (?:lieber .{{2,60}} als|bevorzug\w{{0,3}} ich)\b
    (?:yo )?(?:prefiero|me gusta(?:n|ría)?|no me gusta(?:n)?|odio)\b
    (?:je préfère|j'aime (?:mieux|pas|bien)|je n'aime pas|je déteste|je préférerais)\b
    (?:prefiro|não gosto|preferisco|non mi piace|ik heb liever|ik houd niet)\b
    (?:я )?предпочита\w+
    我(?:更|比较)?(?:喜欢|偏好|习惯|希望|不喜欢|讨厌|倾向)
    宁愿
    (?:の|ほう|方)が(?:好き|いい|良い|好み)
    (?:好みです|好きです|嫌いです|苦手です)
    선호
    """
)
_WORDS = r"(?:[\w'·-]{2,30} ){1,5}"
_ADJECTIVE = "(?:short|small|few|fewer|no|plain|simple|explicit|flat|less|more|early)"
_OVER = re.compile(
    rf"(?:^|[,:;.(]\s?|\b(?:value|choose|pick|take|so|and|but|please) ){_WORDS}(?:over\b|beats?\b"
    rf"|trumps\b|wins? over\b|> )"
    r"\s?(?:[\w'·-]{2,30}[ .,;)]{0,2}){1,6}(?=$|because|any ?day|every time|always|since|even"
    r"|[-—–(])"
    r"|\b(?:is|are|'s) (?:always |usually |way |much |almost always )?(?:better|nicer"
    r"|more important"
    r"|worth more|more valuable|preferable|safer|cleaner) (?:than|to) \w"
    r"|\bmatters? (?:far |much |a lot )?(?:more|less|most)\b|\b(?:comes?|goes) (?:before|first)\b"
    r"|\b(?:rather|better) (?:[\w'-]{1,20} ){1,6}than (?:[\w'-]{1,20} ?){1,6}"
    r"|\b\w{3,20} first, \w{3,20} (?:second|later|last)\b"
    rf"|^{_ADJECTIVE} \w{{3,20}}(?: \w{{3,20}})?, {_ADJECTIVE} \w{{3,20}}"
)
_MEASURED = re.compile(
    r"\b(?:iterat\w+|loop\w*|over (?:the|all|each|every|\d|http|tcp|ssh|and over|here|there|it|time"
    r"|a|an|again)"
    r"|took|takes|slow\w*|faster|than (?:before|expected|\d|the (?:limit|old|last|previous)))\b"
)
_COMPARED = either(
    r"""
    (?:over|than|instead of|rather than|beats?|lieber|als|más|mieux|plutôt|trumps)\b
    (?:a (?:las|los|clases)|à des)\b
    宁愿
    より
    而不是
    """
)
_LIKED = either(
    r"""
    (?:exactly|precisely|just) (?:like (?:that|this)|right|so|what i|how i|as i)\b
    (?:that|this|it)(?:'s| is| was)? (?:exactly |precisely |just |really )?(?:how|what|
    +the way) (?:i|we) (?:like|want|wanted|prefer|meant|need|had in mind|do)\b
    the (?:kind|sort|type) of [\w -]{2,30} (?:i|we) (?:like|want|love|need|prefer)\b
    (?<!you )keep (?:\w+ like (?:this|that)|doing|going|using|writing|it (?:that|this|like)|this|
    +that|up|working)\b
    (?:good|great|right|nice|smart|excellent|solid|wise) (?:call|choice|thinking|instinct|move|idea|
    +decision|approach|catch not)\b
    more (?:of|like) (?:this|that)\b
    (?:i (?:really )?)?(?:like|love|appreciate)d? (?:how|that you|the way|the fact|this|it when|
    +that approach|that style|your)\b
    (?:do|write|handle|structure|format|name) (?:it|them|these|all|everything|
    +the rest)[^.]{0,20} (?:like (?:this|that)|this way|that way|the same way)\b
    (?:was|is|were) (?:(?:absolutely|exactly|definitely|totally) )?(?:the )?(?:right|correct|
    +perfect|a good|a great|a smart) (?:call|choice|move|approach|way|decision|thing)\b
    (?:spot on|nailed it|glad you (?:did|didn'?t|asked|kept|left)|thanks for (?:not )?(?!letting|
    +telling|sharing|catching|finding|helping|fixing)\w+ing)\b
    (?:asking|keeping|leaving|splitting|waiting|doing|going|using|not) .{2,60} (?:was|
    +were) (?:right|good|correct|smart)\b
    (?:much|way|so much) (?:better|nicer|cleaner|clearer) (?:this way|like this|than)\b
    (?:genau so|so ist es (?:gut|richtig|perfekt)|so mag ich|so soll es|genau richtig)\b
    (?:exactamente así|así es como|así me gusta|justo así|exactement comme|c'est exactement|
    +comme ça,? c'est|très bien comme ça)
    就是这样
    正是
    就这样
    その通り
    まさに
    この調子
    そのまま
    """
)
_EXACTLY = re.compile(
    r"^(?:(?:yes+|yep|yeah|ja|sí|si|oui|perfect)[,.! ]{1,3}){0,2}(?:exactly"
    r"|perfect|genau|exacto)[.! ]*$"
)
_CHOICE = re.compile(
    r"(?i)\b(?:instead of|rather than|i (?:went|decided|chose|opted|kept|put|left|picked|bundled"
    r"|used|split"
    r"|skipped|avoided|grouped|wrote|made|did|only|added|moved|ran|started|asked|gave|limited"
    r"|wrapped|named|didn't|did not)"
    r"|i've (?:gone|kept|put|left|used|split|chosen|bundled|skipped|made|written|only|grouped"
    r"|limited)"
    r"|i'll|i would|over|not .{2,40} but|without|one .{2,30} per|single|in one|deliberately"
    r"|on purpose"
    r"|statt|zuerst|ohne|en lugar de|en vez de|sin|primero|au lieu|plutôt|d'abord|sans|invece"
    r"|prima|senza|em vez|primeiro|sem)\b|而不是|没有|代わりに|ではなく"
)
LOOK = 4_000  # characters of the agent's words
STEM = 5  # letters by which two words are the same
_LONG = re.compile(r"[^\W\d_]{4,30}|[\u3400-\u9fff]{2}")
_COMMON = words(
    """
    yeah exactly perfect great nice right that this like keep always every time each with good love
    call approach version please your what when from have done just them they want than then will
    genau immer jedes parfait perfetto perfeito perfecto siempre toujours sempre
    """
)
_AGREES = either(
    r"""
    (?:yes+|yep|yup|yeah|yea|perfect|exactly|nice|great|good|lovely|love|right|agreed|brilliant|
    +spot on|oh (?:nice|great|good|wow)|ah (?:nice|great|good)|cheers|excellent|fine|cool|ooh|wow|
    +i like|i love|much better|way better)\b
    (?:ja|genau|super|perfekt|passt|prima|sehr gut|sí|si|perfecto|genial|muy bien|me gusta|oui|
    +parfait|nickel|très bien|super|sim|perfeito|ótimo|boa|isso|sì|perfetto|ottimo|bene|esatto)\b
    对
    很好
    好的
    不错
    はい
    いいです
    完璧
    """,
    open="(?:",
)
_LASTS = either(
    r"""
    keep (?:it|them|this|that|doing|the|these|using|\w+ing)\b
    (?:that|this|the same|the right) way\b
    (?:always|every time|each time|whenever|from now|in general|going forward|each|every|
    +by default)\b
    (?:right|good|best|correct|smart|better) (?:call|choice|move|approach|way|decision|default|
    +pattern|idea|level|size|format|style|tone|length)\b
    (?:is|was|are|were|feels?|looks?) (?:exactly |just |the |much )?(?:right|better|what (?:i|we)|
    +how (?:i|we)|the way)\b
    (?:exactly|just|precisely) (?:how|what|the way|like)\b
    (?:more|stick (?:with|to)|same) (?:of |like )?(?:this|that|it|those|these|for)\b
    (?:genau so|so (?:ist|soll|hätte|will|mag)|immer|jedes mal|weiter so|bitte so|beibehalten|
    +künftig|auch künftig)\b
    (?:siempre|así|sigue|mantén|mantenlo|cada vez|toujours|comme ça|garde|chaque fois|continue)\b
    (?:sempre|assim|mantém|mantenha|così|continua|ogni volta|toda vez)\b
    以后
    保持
    就这样
    都这样
    毎回
    今後
    この(?:形|まま|やり方)
    """
)
_NEXT = re.compile(
    r"^(?:perfect|great|nice|cool|thanks?|ok|okay|good|awesome)[,.!]{0,2} (?:now|next|then|can you"
    r"|could you|let's)\b"
)


def prefers(bare: str) -> bool:
    """A taste, or what is better than what."""
    if momentary(bare):
        return False
    return bool(_PREFER.search(bare)) or bool(_OVER.search(bare) and not _MEASURED.search(bare))


def compares(bare: str) -> bool:
    """It weighs one against another."""
    return bool(_COMPARED.search(bare))


def confirms(bare: str, before: str) -> bool:
    """Agreement with a choice that somebody else might not have made."""
    if not before or _NEXT.match(bare) or momentary(bare):
        return False
    if _EXACTLY.match(bare):
        return bool(
            re.search(r"(?i)\b(?:instead of|rather than|statt|en vez de|au lieu)\b", before)
        )
    if _LIKED.search(bare) and choice(before):
        return True
    return bool(_AGREES.match(bare) and _LASTS.search(bare)) and _shares(bare, before)


def _shares(bare: str, before: str) -> bool:
    """It speaks of the same thing as the agent has."""
    told = before[:LOOK].lower()
    return any(word[:STEM] in told for word in _LONG.findall(bare) if word not in _COMMON)


def choice(text: str) -> bool:
    """Words of the agent that say what it chose."""
    return bool(_CHOICE.search(text))
