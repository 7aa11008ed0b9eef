"""What a person tells of the project: its dates, its decisions, who decides."""

from __future__ import annotations

import re

from memdir.core.triage import hints
from memdir.core.triage.forms import either, one_of
from memdir.core.triage.passing import brief, is_chore

_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_SHORT = one_of(
    "mon tue tues wed thu thurs fri sat sun jan feb mar apr may jun jul aug sep oct nov dec"
)
_CUE = one_of(
    """
    by on until till before after from starting due in of through
    am bis bis_zum ab ab_dem vor_dem zum
    """
)
_MONTH = one_of(
    r"""
    january february march april june july august september october november december may(?=_\d)
    januar februar märz mai juni juli dezember
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    janvier février mars avril juin juillet août septembre octobre novembre décembre
    """
)
_COUNT = one_of(r"\d{1,2} two three four five six eight ten a_couple_of a_few")
_SPAN = "(?:days|weeks|months)"
_WHEN = one_of(
    rf"""
    {_DAY} tomorrow eow eom eoq eoy q[1-4] \d{{4}}-\d\d-\d\d
    next_(?:week|month|quarter|sprint|year|release|{_DAY}) this_(?:week|month|quarter|{_DAY})
    (?:the_)?end_of_(?:the_|this_|next_)?(?:week|month|quarter|year|sprint|q[1-4]|{_MONTH})
    in_{_COUNT}_{_SPAN} {_COUNT}_{_SPAN}_from_now
    {_CUE}_20[2-4]\d\b (?:in|over|this|next)_(?:the_)?(?:spring|summer|autumn|fall|winter)
    {_CUE}_\d{{1,2}}(?:/\d{{1,2}}\b|\.\d{{1,2}}\.) {_CUE}_{_SHORT}\b
    (?:{_MONTH}|{_SHORT})_\d{{1,2}}(?:st|nd|rd|th)?\b the_\d{{1,2}}(?:st|nd|rd|th)
    (?:the_)?\d{{1,2}}(?:st|nd|rd|th|\.|er)?(?:_of|_de)?_(?:{_MONTH}|may)\b
    (?:mid|early|late)[-_]?(?:{_MONTH}|{_SHORT})\b {_MONTH}
    montag dienstag mittwoch donnerstag freitag samstag sonntag morgen nächste[nr]?_(?:woche|monat)
    monatsende ende_(?:der_woche|des_monats)
    lunes martes miércoles jueves viernes sábado domingo mañana fin_de_mes
    la_(?:próxima_semana|semana_que_viene)
    lundi mardi mercredi jeudi vendredi samedi dimanche demain la_semaine_prochaine fin_du_mois
    """
)
_DENSE_WHEN = (
    r"(?:周|星期|礼拜)[一二三四五六日天]|下(?:周|个?月)|明天|月底|\d{1,2}月(?:\d{1,2}[日号])?"
    r"|[月火水木金土日]曜|来週|来月|明日|月末|今月末"
)
_DATE = re.compile(rf"\b{_WHEN}(?!\w)|{_DENSE_WHEN}")
_BY = re.compile(
    rf"\b(?:by|before|until|till|after|from|starting|as of|no later than|on|bis|ab|vor|nach|am"
    rf"|antes de(?:l)?"
    rf"|hasta|desde|el|avant|jusqu'(?:au|à)|à partir d[eu]|le) (?:the |this |next |coming |end of "
    rf"|el |le )?"
    rf"{_WHEN}(?!\w)|\bin {_COUNT} {_SPAN}\b|\b{_CUE} 20[2-4]\d\b"
)
# What has a day, whoever says so.
_EVENT = either(
    r"""
    (?:code |merge |feature |deploy |release )?(?:freez\w*|frozen|lock-?down)\b
    (?:deadline|due|cut-?off|launch|go-?live|kick-?off|milestone|submission|roll-?out|sunset)\w*\b
    (?:go(?:es|ing)? live|roll(?:s|ed|ing)? out|end of life|eol|end-of-life|shut(?:s|ting)? (?:down|
    +off))\b
    (?:deprecat|decommission|expir|retir|migrat|releas|ship|turned? off|switched? off|turn(?:s|
    +ing)? off|switch(?:es|ing)? off)\w*\b
    (?:demo|audit|presentation|pitch|board meeting|vacation|holidays?|on leave|out of office|ooo|
    +pto|off sick)\b
    (?:parental|maternity|paternity) leave\b
    (?:maintenance|downtime|window|beta|ga|review meeting|stakeholder|workshop|offsite|interview|
    +contract)\b
    (?:starts?|begins?|ends?|starting|ending|lands?|leaves|leaving|joins|joining|takes over|is out|
    +are out|is away|is off|away|cuts?|cutting)\b
    (?:must|needs?|has|have|got) to (?:be|ship|go|land|work|happen|look|support|migrate|move)\b
    (?:must|will) be\b
    (?:no|nothing) (?:merges|deploys|releases|risky|new|non-critical|gets? merged)\b
    (?:freigabe|abgabe|veröffentlich\w*|einfrier\w*|urlaub|frist|fertig|umstell\w*|abgeschaltet|
    +stichtag)\b
    (?:congela\w*|lanza\w*|entrega\w*|fecha límite|vacaciones|plazo|listo|livraison|sortie|gel|
    +congés|échéance|mise en prod\w*|date limite|prêt|démo)\b
    冻结
    上线
    发布
    截止
    之前
    リリース
    締め?切
    凍結
    まで
    休み
    """
)
_LOCKED = either(
    r"""
    (?:code |merge |feature |deploy )?freeze\w*\b
    (?:deadline|due date|cut-?off|launch|go-?live|demo|presentation|audit|pitch|vacation|eol|
    +end of life)\b
    """
)
_DONE = either(
    rf"""
    (?:was|were|broke|failed|crashed|happened|yesterday|ago|used to|since|stopped working)\b
    last (?:week|month|quarter|sprint|night|year|time|{_DAY})
    (?:merged|released|shipped|deployed|pushed|started failing) (?:on|it)\b
    """
)
_IDLE = either(
    r"(?:i'll|i will|let's|lets|continue|see you|every|each|(?:mon|tues|wednes|thurs|fri|satur"
    r"|sun)days)\b"
)
_PROGRAM = either(
    r"(?:returns?|function|regex|parse\w*|pars(?:er|ing)|field|column|input|timestamp|format\w*"
    r"|string|cron)\b"
)

_PARTIES = one_of(
    """
    legal security compliance management leadership product ops infra finance marketing auditors?
    the_(?:team|client|customer|board|cto|ceo|boss|platform_team|pm|vendor|business|designers?)
    the_(?:auditors?|lawyers?|works_council|dba|architects?|(?:data|mobile|backend|frontend)_team)
    my_(?:boss|manager|lead|team) our_(?:cto|ceo|client|customers?|lead|lawyers?|(?:security_)?team)
    """
)
_DECIDED = either(
    rf"""
    (?:we|they|{_PARTIES})(?:'ve| have| has)? (?:just |already |finally |all |now |
    +recently )?(?:decided|chose|chosen|agreed|settled|went with|picked|opted|committed to|
    +ruled out|rejected|standardi[sz]ed|landed on|dropped|moved (?:to|off|away|from)|switched (?:to|
    +from|away|off)|migrated|gave up|abandoned|signed off|approved|adopted|deprecated|banned|wants?|
    +requires?|insists?|mandated|vetoed|forbids?|asked (?:us|for)|flagged|won'?t (?:let|allow|
    +accept|approve|support))\b
    we(?:'re| are) (?:now |all |also |finally |slowly |officially )?(?:going with|moving (?!on|
    +forward)\w+|migrating|
    +switching|dropping|sticking (?:with|to)|staying (?:on|with)|replacing|phasing out|
    +standardi[sz]ing|sunsetting|deprecating|retiring|consolidating|ripping out|getting rid of|
    +killing|abandoning|betting on|freezing|not (?:going to )?(?:support|us|build|migrat|mov|do|
    +ship)\w*)\b
    (?:the )?decision (?:is|was|to)\b
    we(?:'re| are) an? (?:\w+ ){{0,3}}(?:team|company|startup|agency|shop|org|university|bank)\b
    (?:prod|production|staging|qa|the (?:servers?|cluster|devices?|runners?)) (?:runs?|is|are|has|
    +have|uses?|gets?|lives?|can'?t|only) (?!down|red|broken|failing|slow|stuck|up\b|green|dead|
    +back|still|not|throwing|returning|giving|now)\w
    decision:
    (?:it was|it's been|has been|was) (?:decided|agreed)\b
    the (?:plan|idea|goal|strategy|long[- ]term plan|intent) is (?:to|that)\b
    (?:are|is|being) (?:driven|mandated|required|motivated|requested|dictated) by\b
    (?:gdpr|hipaa|pci(?:[- ]dss)?|sox|soc ?2|iso ?27001|dsgvo|contractual(?:ly)?|regulat(?:or|ory|
    +ion)|licen[cs]ing|gpl|export control|data residency|audit requirement|compliance (?:reasons?|
    +requirement))\b
    in (?:our|the) (?:contract|sla|agreement)\b
    (?:the reason|reason (?:is|being|we)|that'?s why|this is why|which is why) (?:we|for|why|that|
    +is|behind|the|it)\b
    (?:intentional(?:ly)?|deliberate(?:ly)?|on purpose|by design)\b
    we (?:\w+ ){1, 8}(?:ruled|decided|chose|rejected|discarded|dismissed|settled|turned) (?:it|them|
    +that|on|against|out|to)\b
    we (?:tried|evaluated|considered|looked (?:at|into)|explored|discussed|
    +tested) [^.]{{3,120}}\b(?:but|and (?:it|that|the|we)|so|because|didn'?t|never|too|killed|not)\b
    (?:won'?t|doesn'?t|will not|refuses? to) (?:sign off|approve|accept|allow|let us)\b
    (?:pii|personal data|customer data|patient data) (?:must|should|may|can|never|has|cannot|
    +can'?t)\b
    we had to (?:pin|fork|vendor|patch|drop|disable|move|switch|stay|keep|roll)\b
    we (?:can'?t|cannot|may not|mustn'?t|must not|must|have to|need to) (?:use|support|keep|store|
    +ship|run|depend|add|upgrade|stay|share|log|send|break|drop|rely) [^.]{{2,120}}\b(?:because|
    +since|due|until|contract|legal|customers?|clients?|licen[cs]e|policy|still|anymore)\b
    (?:was|were|got) (?:considered|rejected|ruled out|dropped|discarded|vetoed|evaluated)\b
    (?:is|are) (?:rate[- ]?)?(?:limited|capped|restricted|throttled) to\b
    we have (?:a|an) (?:hard|strict|upper|fixed) \w
    (?:need|needs|require|requires) (?:her|his|their|my) (?:ok|okay|approval|sign-?off|blessing)\b
    our (?:\w+ )?(?:users|customers?|clients?|team|servers|partners?|vendor) (?:is|runs|uses|has|
    +needs|
    +wants|are (?:mostly|all|on|in|based|still|
    +mainly)|use|run|have|don'?t|can'?t|only|mostly|still|live|need|read)\b
    (?:is|are) (?:deprecated|legacy|end-of-life|being (?:replaced|retired|phased out|sunset)|
    +going away|on (?:its|the) way out|frozen)\b
    wir haben (?:uns )?.{{0,60}}(?:entschieden|beschlossen|geeinigt)
    (?:haben|hat|wurde) .{{0,40}}(?:beschlossen|entschieden)
    (?:hemos decidido|decidimos|se decidió|acordamos|hemos elegido|on a (?:décidé|choisi|opté)|
    +nous avons (?:décidé|choisi|opté)|decidiu|decidiram|abbiamo deciso|we hebben besloten|
    +мы решили)\b
    我们(?:已经|最终)?(?:决定|选择|采用|选了|商定)
    决定(?:用|采用|不|把|改)
    (?:こと|よう)に(?:した|しました|決め|なりました|なった)
    決(?:まりました|定しました|めました)
    採用(?:した|します|しました)
    """
)
_WHY = one_of(
    """
    because bc so_that otherwise due_to as_(?:the|we|our|it)
    since_(?:the|we|it|our|they|users|partners|customers) -_(?:the|we|it|they)
    """
)
_REASONED = re.compile(
    rf"\b(?:let'?s|we'?ll|we will|we should|i'?ll) (?:go|stick|stay) (?:with"
    rf"|on) [^.]{{2,120}}\b{_WHY}\b"
    rf"|\b(?:we|our team|they)(?:'re| are)? (?!need|should|could|want|can\b|might"
    rf"|have)\w{{2,20}} [^.]{{2,160}}\b{_WHY}\b"
    rf"|\b\w{{2,30}} (?:stays?|remains?) [^.]{{2,120}}\b{_WHY}\b"
)
_TROUBLE = either(
    r"(?:error|errors|bug|bugs|fail\w*|exception|null|undefined|crash\w*|broken|breaks?|wrong|get"
    r"|getting|see)\b"
)
_OWNS = re.compile(
    r"\b[A-Z][a-z]{2,20} (?:owns|maintains|runs|handles|reviews|approves|manages|leads|decides)\b"
    r"|\b(?:[Aa]sk|[Tt]alk to|[Pp]ing|[Cc]heck with"
    r"|[Ll]oop in) [A-Z][a-z]{2,20} (?:\w+ ){0,3}(?:about|for"
    r"|before|when|if|first)\b"
    r"|\b(?:owned|maintained|run|managed|reviewed) by [A-Z][a-z]{2,20}\b"
    r"|\b[A-Z][a-z]{2,20}(?:'s| is) (?:the |our )?(?:\w+ )?(?:owner|maintainer|lead|contact"
    r"|reviewer|responsible"
    r"|in charge|on call|tech lead|expert|go-to)\b"
)
_NOBODY = re.compile(
    r"^(?:It|This|That|There|The|What|He|She|We|They|You|Redis|React|Docker"
    r"|Postgres|Git)\b"
)


def has_date(bare: str) -> bool:
    """It names a day, a week, a month."""
    return bool(_DATE.search(bare))


def dated(bare: str) -> bool:
    """Something will happen, or must have happened, by a day."""
    if _DONE.search(bare) or not _DATE.search(bare) or _PROGRAM.search(bare):
        return False
    if is_chore(bare):
        return bool(_LOCKED.search(bare))
    if hints.in_trouble(bare) or _IDLE.search(bare):
        return bool(_LOCKED.search(bare))
    return bool(_EVENT.search(bare) or _BY.search(bare) or hints.is_ours(bare))


def decides(bare: str) -> bool:
    """A choice of the project, or the reason for one."""
    if brief(bare):
        return False
    if _DECIDED.search(bare):
        return True
    return bool(_REASONED.search(bare)) and not _TROUBLE.search(bare)


def names_owner(text: str) -> bool:
    """Who is in charge of what; asked of the text as it stands, for names have capitals."""
    found = _OWNS.search(text)
    return bool(found) and not _NOBODY.match(found[0] if found else "")
