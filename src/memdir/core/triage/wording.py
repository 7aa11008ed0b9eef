"""A person's words as a memory says them: the wish cut off, the reason and the use apart."""

from __future__ import annotations

import re

from memdir.core.triage import wishes
from memdir.core.triage.forms import one_of
from memdir.core.triage.prose import sentence
from memdir.core.triage.rules import commands

LINE = 300  # characters of a reason
MOST_WISHES = 3  # "remember that for the future"
LEAST = 8  # characters of a rule before its reason
_TO_DO = re.compile(r"(?i)^to (?=\w)")  # "remember to always …" is a rule, not an intention

_FILLER = re.compile(
    r"(?i)^(?:(?:ok(?:ay)?|and|also|please|pls|plz|hey|oh|btw|by the way|so|but|fyi|well|hm+|ah"
    r"|yeah|yes|yep|no+|nope|nah|wait|actually|one more thing|quick note|side note|thanks|thx|great"
    r"|cool|nice|right|sorry|ugh|again|then|honestly|just so you know|heads[- ]up|not quite|omg"
    r"|that'?s (?:wrong|not right|not it|incorrect)|und|bitte|nein|ja|non|oui|sí"
    r"|that(?!'))\b[,.:!;–—-]{0,3}\s*){1,5}"
)
_CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)
# `since Tuesday` gives no reason.
_SINCE = (
    r"since(?! (?:\d|v\d|then|last|yesterday|day|the (?:last|update|upgrade|start|release)"
    r"|\w{3,7}day\b))"
)
_BECAUSE = re.compile(
    rf"(?i)(?:,|;|:|\s[-–—])?\s(?:because|bc|cuz|due to|so that|{_SINCE}"
    r"|as(?= (?:it|we|they|our|the)\b)|denn|porque|ya que|parce que|parce qu'|car|puisque)\s+"
    r"|[，,]?因为"
)
_ELSE = re.compile(
    r"(?i)[,;]?\s(otherwise|or else|weil|damit|sonst|si no|sinon)[, ]+|[，,](否则|以免)"
)
_WHO = one_of(
    """
    it it's that that's the they they're we we've i i'm our nobody no_one reviewers users customers
    people ci mobile those these this last everyone he she ops mocks upstream prettier
    die das sie es wir der on ça elle ils ellos eso nos
    """
)
_SPLICE = re.compile(rf"(?i)(?:,|\s[-–—]|\s\()\s?({_WHO}\s[^;]{{3,300}})$")
_REASON = re.compile(
    r"(?i)(?:because|otherwise|reason|the reason|that'?s because|it(?:'s| is) because|we (?:got"
    r"|were|had|lost)|last (?:time|week|month|quarter|year)|(?:it|they|this) (?:broke|breaks?|burn"
    r"|caused|hid|hide|fail)|the (?:mocked|last|previous)|so that|weil|sonst|porque|parce que"
    r"|sinon)\b"
    r"|因为|なぜなら"
)
_LEAD = re.compile(
    r"(?i)^(?:because|(?:the )?reason(?: is|:)?|(?:that'?s|it'?s|it is) because)[,:]?\s+"
)
_WHERE = one_of(
    """
    tests? migrations? repo modules? scripts? pipelines? docs commits? commit_messages prs? reviews?
    releases services? reports? answers replies
    """
)
_USE = re.compile(
    r"(?i)(?<!even )\b((?:(?:when(?:ever)?|unless) \w|if (?:you|we|an?|any|the)\b"
    r"|(?:before|after) (?:you|we|every|each|any|\w{2,20}ing)\b)[^.,;:]{3,120})"
    r"|\b((?:in|for|during|within) (?:all |the |our |any |new )?(?:[\w/-]{2,20} ){0,2}"
    rf"{_WHERE})(?=[.,;:)!]|$| (?:because|since|so|and|but)\b)"
)
# The verb of a clause with "dass" stands last, before a comma or what is set against it.
_CLAUSE = re.compile(
    r"(?i)(?P<who>wir|ich|man|es|er|sie|du|niemand|keiner|jeder|alle) (?P<middle>[^,;.!]{2,200}?) "
    r"(?P<verb>darf|kann|soll|will|muss|mag|bin|habe|[a-zäöüß]{2,20}[nt])"
    r"(?=[,;.!)]|$| (?:und nicht|aber|sondern|statt|weil|denn|oder|und zwar|und kein\w{0,2})\b)"
)
_PREFIXED = re.compile(
    r"(?i)(?:an|auf|aus|ein|ab|mit|vor|zu|um|los|fest|nach|her|hin|weg|bei|statt|durch|zurück)"
    r"(?!w?orten|wort)[a-zäöüß]{3,}"
)
_WE = re.compile(r"(?i)we (?:don'?t|do not|never|always|only|use)\b")
_ENDS = (".", "!", "?", "。", "！", "？", "…", ")")
_BACK = ("this", "that", "it", "das", "esto", "ça")
_MARKS = " ,;:-–—"


def one_line(text: str, longest: int = LINE) -> str:
    """The text on one line, without control and hidden characters, cut at a word."""
    text = " ".join(_CONTROL.sub(" ", text[: 4 * longest]).split())
    if len(text) <= longest:
        return text
    cut = text[: longest - 1]
    return (cut.rpartition(" ")[0] or cut) + "…"


def statement(text: str) -> str:
    """`remember that we ship on Tuesdays` without the wish; empty when only the wish was there."""
    first, _, more = text.strip().partition("\n")
    if more:
        items = [f"- {one_line(line)}" for line in more.splitlines()]
        head = statement(first).rstrip(".")
        return "\n".join((f"{head}:", *items) if head else items)
    text, wished = one_line(text, 4 * LINE), False
    for _ in range(MOST_WISHES):
        place = wishes.kept(sentence(text).bare)
        if place is None:
            break
        wished = True
        before = _FILLER.sub("", text[: place[0]] + " ").strip(_MARKS + ".(")
        after = _main(text[place[0] : place[1]], text[place[1] :].strip(_MARKS))
        after = _TO_DO.sub("", after)
        after = "" if after.lower().strip(".!? ") in _BACK else after
        text = f"{before}, {after}" if len(before) > 1 and len(after) > 1 else before or after
    text = _FILLER.sub("", text).strip(" ,;:")
    text = f"{text[:-1]}." if wished and text.endswith("?") else text  # "can you remember that …?"
    if text.lower().startswith("dass "):
        text = _main("dass", text[5:])
    return sentenced(text)


def _main(wish: str, clause: str) -> str:
    """`wir pnpm benutzen`, cut off behind "dass", as a sentence: `wir benutzen pnpm`.

    Only a pronoun is sure to be the whole subject, and a verb without a prefix to move as one.
    """
    low = wish.lower().rstrip()
    if low.endswith("dat"):
        return f"Belangrijk is dat {clause}"
    if not low.endswith("dass"):
        return clause
    found = _CLAUSE.match(clause)
    if found is None or _PREFIXED.match(found["verb"]):
        return f"Es gilt, dass {clause}"
    return f"{found['who']} {found['verb']} {found['middle']}{clause[found.end() :]}"


def sentenced(text: str) -> str:
    """With a capital and a full stop."""
    text = text.strip()
    if not text.strip("。.,、!? "):
        return ""
    text = text[0].upper() + text[1:]
    end = "。" if "\u3040" <= text[-1] <= "\u9fff" else "."
    return text if text.endswith(_ENDS) else text.rstrip(_MARKS) + end


def parted(text: str) -> tuple[str, str]:
    """A rule and its reason, where the sentence gives both; a list is taken as it is."""
    if "\n" in text:
        return text, ""
    for form in (_BECAUSE, _ELSE):
        found = form.search(text)
        if found and found.start() > LEAST:
            word = f"{found[1] or found[2]} " if form is _ELSE else ""
            return sentenced(text[: found.start()].rstrip(_MARKS)), reason(
                word + text[found.end() :]
            )
    found = _SPLICE.search(text)
    rule = text[: found.start()] if found else ""
    if found and len(rule) > LEAST and (commands(rule.lower()) or _WE.match(rule)):
        return sentenced(rule.rstrip(_MARKS)), reason(found[1].rstrip(")"))
    return text, ""


def gives_reason(text: str) -> bool:
    """A sentence that says why, of the one before it."""
    return bool(_REASON.match(text))


def reason(text: str) -> str:
    """What stands behind `Why`; "because of that" says nothing."""
    told = re.sub(r"(?i)^of\s+", "", _LEAD.sub("", text.strip(), count=1))
    return "" if told.lower().strip(".! ") in _BACK else sentenced(one_line(told))


def use(text: str) -> str:
    """When and where a rule applies, where the words say so."""
    found = None if "\n" in text else _USE.search(text)
    return sentenced(one_line(found[1] or found[2])) if found else ""
