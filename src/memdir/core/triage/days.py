"""Days to come: something will happen, or must have happened, by then."""

from __future__ import annotations

import re

from memdir.core.triage import hints
from memdir.core.triage.forms import either, one_of
from memdir.core.triage.passing import is_chore

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
    januar februar märz mai juni juli dezember oktober
    janeiro fevereiro março maio junho julho setembro outubro novembro dezembro
    gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    janvier février mars avril juin juillet août septembre octobre novembre décembre
    """
)
_COUNT = one_of(r"\d{1,2} two three four five six eight ten a_couple_of a_few")
_SPAN = "(?:days|weeks|months)"
_WHEN = one_of(
    rf"""
    {_DAY} tomorrow tmrw tmr tomorow eow eom eoq eoy q[1-4] \d{{4}}-\d\d-\d\d
    next_(?:week|month|quarter|sprint|year|release|{_DAY}) this_(?:week|month|quarter|{_DAY})
    (?:the_)?end_of_(?:the_|this_|next_)?(?:week|month|quarter|year|sprint|q[1-4]|{_MONTH})
    in_{_COUNT}_{_SPAN} {_COUNT}_{_SPAN}_from_now
    {_CUE}_20[2-4]\d\b (?:in|over|this|next)_(?:the_)?(?:spring|summer|autumn|fall|winter)
    {_CUE}_\d{{1,2}}(?:/\d{{1,2}}\b|\.\d{{1,2}}\.) {_CUE}_{_SHORT}\b
    (?:{_MONTH}|{_SHORT})_\d{{1,2}}(?:st|nd|rd|th)?\b the_\d{{1,2}}(?:st|nd|rd|th)
    (?:the_)?\d{{1,2}}(?:st|nd|rd|th|\.|er)?(?:_of|_de)?_(?:{_MONTH}|may|{_SHORT}|sept)\b
    (?:mid|early|late)[-_]?(?:{_MONTH}|{_SHORT})\b {_MONTH}
    montag dienstag mittwoch donnerstag freitag samstag sonntag morgen nächste[nr]?_(?:woche|monat)
    monatsende jahresende quartalsende ende_(?:der_woche|des_monats)
    lunes martes miércoles jueves viernes sábado domingo mañana fin_de_mes
    la_(?:próxima_semana|semana_que_viene)
    lundi mardi mercredi jeudi vendredi samedi dimanche demain la_semaine_prochaine fin_du_mois
    segunda-feira terça-feira quarta-feira quinta-feira sexta(?:-feira)? amanhã fim_do_mês
    semana_que_vem mês_que_vem
    lunedì martedì mercoledì giovedì venerdì domani fine_mese prossima_settimana
    settimana_prossima fin_(?:de_)?(?:semaine|semana) quincena trimestre quartal
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
    (?:last|first|final) (?:working )?day\b
    (?:runs? out|is over|are over|closes|opens|stops|moves|changes|arrives?|comes? out|drops)\b
    (?:alpha|beta|gold|rc|certification|cert|submission|tender|milestone)\b
    (?:läuft .{0,40} aus|endet|beginnt|startet|termina|empieza|vence|caduca|se termine|commence|
    +finit|
    +começa|acaba|scade|finisce|inizia|llega|arrive)\b
    (?:booked|scheduled|planned|set for|slipped|postponed|delayed|pushed (?:back|to)|moved to|
    +brought forward|present(?:s|ing)?|review|meeting|all-hands|replac(?:e|es|ed|ing)|delivery|
    +milestone|training|exam|thesis|defen[cs]e|conference|tender)\b
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
    r"(?:i'll|i will|i (?:work|start|go|continue|look|do|test|check|finish)|let's|lets|continue"
    r"|see you|every|each|(?:it'?s|today is|happy) (?:only |still )?"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|tues|wednes|thurs|fri|satur"
    r"|sun)days)\b"
)
_PROGRAM = either(
    r"(?:returns?|function|regex|parse\w*|pars(?:er|ing)|(?:date|text|input|form|the|a|this|json"
    r"|db) fields?|column|input|timestamp|format\w*"
    r"|string|cron)\b"
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
