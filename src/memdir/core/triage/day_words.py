"""How other languages name days by the day somebody speaks on: one entry a language."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memdir.core.triage.forms import words
from memdir.core.triage.languages import (
    chinese,
    french,
    german,
    italian,
    japanese,
    portuguese,
    spanish,
    spoken,
)
from memdir.core.triage.languages.language import Language

MOST = 400  # characters that tell a language
# Small words that are English, too: "on vacation", "I am", "the die is cast".
_ALSO_ENGLISH = words("on a am an as at be come die do in is me no so y")
_NUMBER = re.compile(r"\d{1,3}")
_WORD = re.compile(r"[^\W\d_]{1,20}")


@dataclass(frozen=True)
class Tongue:
    """`form` has a group for each way to name a day; `said` is how its day is put behind a text.

    `fixed`, `counts` and `shifts` give the numbers of words; `either`: the next Friday may be the
    one of the next week. `habit` and `past` are signs that no one day to come is meant.
    """

    language: Language
    weekdays: tuple[str, ...]
    form: re.Pattern[str]
    fixed: dict[str, int]
    counts: dict[str, int]
    weeks: str  # how the words for weeks begin
    back: tuple[str, ...]  # words that look back
    ahead: tuple[str, ...]  # words that look ahead
    habit: re.Pattern[str]
    past: re.Pattern[str]
    said: str
    either: bool = False
    beside: tuple[str, str] = (" (", ")")

    def weekday(self, phrase: str) -> int:
        """Monday is 0; -1 where it names none."""
        named = (at for at, form in enumerate(self.weekdays) if re.search(form, phrase))
        return next(named, -1)

    def days(self, phrase: str) -> int | None:
        """How many days from the day somebody speaks on."""
        if phrase in self.fixed:
            return self.fixed[phrase]
        digits = _NUMBER.search(phrase)
        words = phrase.replace("'", " ").split()
        count = int(digits[0]) if digits else next(
            (self.counts[word] for word in words if word in self.counts), None
        )  # fmt: skip
        if count is None:
            return None
        days = count * (7 if any(word.startswith(self.weeks) for word in words) else 1)
        return -days if self.looks_back(phrase) else days

    def shift(self, phrase: str) -> int:
        """Last, this or next."""
        if self.looks_back(phrase):
            return -1
        return int(any(word in phrase for word in self.ahead))

    def looks_back(self, phrase: str) -> bool:
        return any(word in phrase for word in self.back)


def _groups(forms: str) -> str:
    """`name: pattern` a line, the longest reading first."""
    lines = [line.strip().partition(": ") for line in forms.strip().splitlines()]
    return "(?:" + "|".join(f"(?P<{name}>{pattern})" for name, _, pattern in lines) + ")"


def _form(forms: str) -> re.Pattern[str]:
    """Whole words, with no date behind them already."""
    behind = r"(?![\w-])(?!,? ?[(（]?(?:\d|le \d|el \d))"
    return re.compile(rf"(?<![\w-]){_groups(forms)}{behind}", re.IGNORECASE)


def _dense(forms: str) -> re.Pattern[str]:
    """The same where no space stands between words."""
    return re.compile(rf"{_groups(forms)}(?![（(]?\d)")


_DE = "(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag)"
_FR = "(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)"
_ES = "(?:lunes|martes|miércoles|jueves|viernes|sábado|domingo)"
_PT_BARE = "(?:segunda|terça|quarta|quinta|sexta)"
_PT = f"(?:{_PT_BARE}(?:-feira)?|sábado|domingo)"
_PT_FULL = f"(?:{_PT_BARE}-feira|sábado|domingo)"
_IT = "(?:lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica)"
_ZH = "(?:周|星期|礼拜)[一二三四五六日天]"
_JA = "[月火水木金土日]曜日?"

GERMAN = Tongue(
    german.LANGUAGE,
    ("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag|sonnabend", "sonntag"),
    _form(
        rf"""
        next: nächste[nrms]? {_DE}
        last: (?:letzte|vorige|vergangene)[nrms]? {_DE}
        coming: (?:(?:kommende|diese)[nrms]?|am|ab|bis(?: zum)?|vor(?: dem)?|zum) {_DE}
        week: (?:nächste|kommende|diese|letzte|vorige)[nrms]? woche
        month: (?:nächste|kommende|diese|letzte|vorige)[nrms]? monats?
        quarter: (?:nächste|diese|letzte|vorige)s quartal
        year: (?:nächste|diese|letzte|vorige)s jahr
        end: monatsende|ende (?:des|dieses|nächsten) monats
        ahead: in (?:\d{{1,3}}|eine[mr]|zwei|drei|vier|fünf|sechs) (?:tage?n?|wochen?)
        ago: vor (?:\d{{1,3}}|eine[mr]|zwei|drei|vier|fünf|sechs) (?:tage?n?|wochen?)
        fixed: übermorgen|(?:vor)?gestern|(?<!heute )(?<!am )(?<!guten )(?-i:morgen)|^morgen(?= \w)
        """
    ),
    {"morgen": 1, "übermorgen": 2, "gestern": -1, "vorgestern": -2},
    {"einem": 1, "einer": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6},
    "woche",
    ("letzte", "vorige", "vor "),
    ("nächst", "kommend"),
    re.compile(rf"(?i)\b(?:immer|nie(mals)?|jede\w?|stets|grunds\w+|falls|wenn|nur am {_DE})\b"),
    re.compile(r"(?i)\b(?:war|waren|wurde|wurden|hatte|hatten|ging|gingen|kam|lief|fiel)\b"),
    " (gesagt am {})",
    either=True,
)
FRENCH = Tongue(
    french.LANGUAGE,
    ("lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"),
    _form(
        rf"""
        next: {_FR} prochain
        last: {_FR} dernier
        coming: (?<!le )(?<!les )(?<!au )(?:ce )?{_FR}
        week: (?:cette semaine|la semaine (?:prochaine|dernière))
        month: (?:ce mois(?:-ci)?|le mois (?:prochain|dernier))
        quarter: le trimestre (?:prochain|dernier)
        year: l'an(?:née)? (?:prochaine?|derni(?:er|ère))
        end: (?:la )?fin du mois
        ahead: dans (?:\d{{1,3}}|une?|deux|trois|quatre|cinq|six) (?:jours?|semaines?)
        ago: il y a (?:\d{{1,3}}|une?|deux|trois|quatre|cinq|six) (?:jours?|semaines?)
        fixed: après-demain|avant-hier|demain|hier
        """
    ),
    {"demain": 1, "après-demain": 2, "hier": -1, "avant-hier": -2},
    {"un": 1, "une": 1, "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "six": 6},
    "semaine",
    ("derni", "il y a"),
    ("prochain",),
    re.compile(rf"(?i)\b(?:toujours|jamais|chaque|tous les|si|quand|que le {_FR}|uniquement)\b"),
    re.compile(r"(?i)\b(?:était|étaient|a été|avait|ont été|a \w{2,12}é)\b"),
    " (dit le {})",
)
SPANISH = Tongue(
    spanish.LANGUAGE,
    ("lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"),
    _form(
        rf"""
        next: próximo {_ES}|{_ES} (?:próximo|que viene)
        last: pasado {_ES}|{_ES} pasado
        coming: (?:este|el|del|al) {_ES}
        week: (?:esta semana|la (?:próxima semana|semana (?:próxima|que viene|pasada)))
        month: (?:este mes|el (?:próximo mes|mes (?:próximo|que viene|pasado)))
        quarter: el (?:próximo trimestre|trimestre (?:pasado|que viene))
        year: el (?:próximo año|año (?:pasado|que viene))|este año
        end: (?:fin|final|finales) de mes
        ahead: (?:en|dentro de) (?:\d{{1,3}}|una?|dos|tres|cuatro|cinco|seis) (?:días?|semanas?)
        ago: hace (?:\d{{1,3}}|una?|dos|tres|cuatro|cinco|seis) (?:días?|semanas?)
        fixed: pasado mañana|anteayer|(?<!la )(?<!esta )mañana|ayer
        """
    ),
    {"mañana": 1, "pasado mañana": 2, "ayer": -1, "anteayer": -2},
    {"un": 1, "una": 1, "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "seis": 6},
    "semana",
    ("pasad", "hace"),
    ("próxim", "que viene"),
    re.compile(rf"(?i)\b(?:siempre|nunca|cada|todos los|si|cuando|s[oó]lo [^.;,]{{0,40}}{_ES})\b"),
    re.compile(r"(?i)\b(?:fue|fueron|era|estuvo|había|hubo|\w{3,14}ó)\b"),
    " (dicho el {})",
)
PORTUGUESE = Tongue(
    portuguese.LANGUAGE,
    ("segunda", "terça", "quarta", "quinta", "sexta", "sábado", "domingo"),
    _form(
        rf"""
        next: próxim[ao] {_PT}|{_PT} (?:que vem|próxim[ao])
        last: {_PT} passad[ao]
        coming: (?:est[ae]|nest[ae]|na|no|até|até a|antes de|a partir de|desde) {_PT}|{_PT_FULL}
        week: (?:(?:n?esta semana)|(?:a |na )?(?:próxima semana|semana (?:que vem|passada)))
        month: (?:n?este mês|(?:o |no )?(?:próximo mês|mês (?:que vem|passado)))
        quarter: (?:próximo trimestre|trimestre (?:passado|que vem))
        year: (?:próximo ano|ano (?:passado|que vem))
        end: (?:o |no )?fi(?:m|nal) do mês
        ahead: (?:em|daqui a) (?:\d{{1,3}}|uma?|dois|duas|três|quatro|cinco|seis) (?:dias?|semanas?)
        ago: há (?:\d{{1,3}}|uma?|dois|duas|três|quatro|cinco|seis) (?:dias?|semanas?)
        fixed: depois de amanhã|anteontem|amanhã|ontem
        """
    ),
    {"amanhã": 1, "depois de amanhã": 2, "ontem": -1, "anteontem": -2},
    {"um": 1, "uma": 1, "dois": 2, "duas": 2, "três": 3, "quatro": 4, "cinco": 5, "seis": 6},
    "semana",
    ("passad", "há "),
    ("próxim", "que vem"),
    re.compile(rf"(?i)\b(?:sempre|nunca|cada|todas?|todos|se|quando|só [^.;,]{{0,40}}{_PT})\b"),
    re.compile(r"(?i)\b(?:foi|foram|era|estava|havia|houve|\w{3,14}ou)\b"),
    " (dito em {})",
)
ITALIAN = Tongue(
    italian.LANGUAGE,
    ("lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato", "domenica"),
    _form(
        rf"""
        next: prossim[oa] {_IT}|{_IT} prossim[oa]
        last: {_IT} scors[oa]
        coming: (?<!il )(?<!la )(?<!di )(?:quest[oa] )?{_IT}
        week: (?:questa settimana|la (?:prossima settimana|settimana (?:prossima|scorsa)))
        month: (?:questo mese|il (?:prossimo mese|mese (?:prossimo|scorso)))
        quarter: (?:prossimo trimestre|trimestre (?:prossimo|scorso))
        year: l'anno (?:prossimo|scorso)
        end: fine (?:del )?mese
        ahead: (?:tra|fra) (?:\d{{1,3}}|una?|due|tre|quattro|cinque|sei) (?:giorn[oi]|settiman[ae])
        ago: (?:\d{{1,3}}|una?|due|tre|quattro|cinque|sei) (?:giorn[oi]|settiman[ae]) fa
        fixed: dopodomani|domani|ieri
        """
    ),
    {"domani": 1, "dopodomani": 2, "ieri": -1},
    {"un": 1, "una": 1, "due": 2, "tre": 3, "quattro": 4, "cinque": 5, "sei": 6},
    "settiman",
    ("scors", " fa"),
    ("prossim",),
    re.compile(rf"(?i)\b(?:sempre|mai|ogni|tutti i|se|quando|solo [^.;,]{{0,40}}{_IT})\b"),
    re.compile(r"(?i)\b(?:era|erano|è stat[oa]|aveva|ha \w{2,12}to)\b"),
    " (detto il {})",
)
CHINESE = Tongue(
    chinese.LANGUAGE,
    ("一", "二", "三", "四", "五", "六", "[日天]"),
    _dense(
        rf"""
        following: 下个?{_ZH}
        coming: [这本]?{_ZH}
        week: [下这本上]个?(?:周|星期|礼拜)(?![一二三四五六日天末])
        month: [下这本上]个?月(?!底)
        end: [这本]?月底|月末
        ahead: \d{{1,3}}(?:天|个?星期|周)[后後]
        fixed: 明天|后天|後天|昨天|前天
        """
    ),
    {"明天": 1, "后天": 2, "後天": 2, "昨天": -1, "前天": -2},
    {},
    "周",
    ("上",),
    ("下",),
    re.compile(f"每|总是|從不|从不|如果|的时候|[只仅][^，。]{{0,8}}{_ZH}"),
    re.compile("(?:了|过)(?:。|$)"),
    "（说于 {}）",
    beside=("（", "）"),
)
JAPANESE = Tongue(
    japanese.LANGUAGE,
    ("月曜", "火曜", "水曜", "木曜", "金曜", "土曜", "日曜"),
    _dense(
        rf"""
        following: 来週の?{_JA}
        coming: (?:今週の?|次の)?{_JA}
        week: 来週|今週|先週
        month: 来月(?!末)|今月(?!末)|先月
        end: (?:今)?月末
        ahead: \d{{1,3}}日後
        fixed: 明後日|明日|昨日|一昨日
        """
    ),
    {"明日": 1, "明後日": 2, "昨日": -1, "一昨日": -2},
    {},
    "週",
    ("先",),
    ("来",),
    re.compile(f"毎|いつも|必ず|場合|なら|{_JA}(?:だけ|のみ)"),
    re.compile("(?:した|だった|でした)(?:。|$)"),
    "（{} の発言）",
    beside=("（", "）"),
)
TONGUES = (GERMAN, FRENCH, SPANISH, PORTUGUESE, ITALIAN, CHINESE, JAPANESE)


def tongues(text: str) -> list[Tongue]:
    """The languages that a text is surely in, of those that are known here; none for English."""
    low = text.lower()
    said = {word for word in _WORD.findall(low[:MOST]) if len(word) > 1 or not word.isascii()}
    said -= _ALSO_ENGLISH
    known = [one for one in TONGUES if one.language in spoken(low)]
    return [one for one in known if not one.language.small or said & one.language.small]
