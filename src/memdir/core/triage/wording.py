"""A person's words as a memory says them: the wish cut off, the reason and the use apart."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memdir.core.triage import wishes
from memdir.core.triage.day_words import tongues
from memdir.core.triage.forms import one_of
from memdir.core.triage.typed import sentence
from memdir.core.triage.rules import commands

LINE = 300  # characters of a reason
MOST_WISHES = 3  # "remember that for the future"
LEAST = 8  # characters of a rule before its reason
_TO_DO = re.compile(r"(?i)^to (?=\w)")  # "remember to always …" is a rule, not an intention
_NOT_TO_DO = re.compile(r"(?i)^(?:(?P<not>not)|never) to (?=\w)")

# These say nothing, whatever follows; the others only where a mark parts them from the rest:
# `No, use pnpm` is an answer, `No mocks in tests` is the rule itself.
_SAYS_NOTHING = (
    r"ok(?:ay)?|and|also|please|pls|plz|hey|oh|btw|by the way|so(?! (?:far|that|many|much|long)\b)"
    r"|but|fyi|actually|one more thing|quick note|side note|just so you know|heads[- ]up|honestly"
    r"|(?:just )?to be clear|for the record|for context|und|bitte"
    r"|that(?= (?:we|i|you|they|the|our|my|all|every|each|no|only|any|it)\b)"
)
_ANSWERS_FIRST = (
    r"well|hm+|ah|yeah|yes|yep|no+(?: no+){0,3}|nope|nah|wait|thanks|thx|great|cool|nice|right"
    r"|sorry|ugh|again|good|perfect|fine|then|not quite|omg"
    r"|that'?s (?:wrong|not right|not it|incorrect)|nein|ja"
    r"|non|oui|sí|that"
)
_AFTER_ANSWER = (  # `no we use pnpm`: so it is typed in haste
    r"(?=\s+(?:we|you|they|i|the|don'?t|do not|never|always|please|just|not|but|that'?s"
    r"|it(?:'s| is| was| should| must)|use(?! (?:of|in|for|cases?)\b))['\s])"
)
_FILLER = re.compile(
    rf"(?i)^(?:(?:(?:{_SAYS_NOTHING})(?:[,.:!;…]{{1,3}}|\s[–—-]+(?=\s)|(?=\s|$))"
    rf"|(?:{_ANSWERS_FIRST})(?:[,.:!;…–—]{{1,3}}|\s[–—-]+(?=\s)|\s*$|{_AFTER_ANSWER}))\s*){{1,5}}"
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
    r"|denn|porque|ya que|parce que|parce qu'|puisque"
    r"|car(?= (?:il|elle|on|nous|le|la|les|l'|ça|c'est|ce|cela|personne|je|tu|vous|ils)\b)"
    # Without a comma it compares: `the same names as the API`, `NULL as the empty list`.
    r"|(?<=, )as(?= (?:it|we|they|our|the)\b))\s+"
    r"|[，,]?因为"
)
# It points to what was said before: the reason stands there.
_OF_THAT = re.compile(
    r"(?i),?\s(?:because of|due to|thanks to|wegen|à cause de|por culpa de|por causa) ?"
    r"(?:that|this|it|dem|dessen|ça|cela|eso|esto|disso)(?=[.!\s]*$)"
)
_ELSE = re.compile(
    r"(?i)[,;]?\s(otherwise|or else|weil|damit|sonst|si no|sinon)[, ]+|[，,](否则|以免)"
)
_WHO = one_of(
    """
    it it's that that's the they they're we we've i i'm our nobody no_one reviewers users customers
    people ci mobile those these this last everyone he she ops mocks upstream prettier
    die das sie es wir der on ça elle ils ellos eso nos isso questo nadie nessuno personne niemand
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
_WORK = one_of(
    """
    tests? migrations? modules? scripts? pipelines? docs commits? commit_messages prs? reviews?
    releases services? reports?
    """
)
_ANSWERS = one_of("answers? replies reply responses?")
_USE = re.compile(
    rf"(?i)\b(?:in|for|during|within) (?:all |any |every |each )?((?:the |our |new )?"
    rf"(?:[\w/-]{{2,20}} ){{0,2}}(?:{_WORK}|{_ANSWERS}))"
    r"(?=[.,;:)!]|$| (?:because|since|so|and|but)\b)"
)
_TALK = re.compile(rf"(?i)(?:your |the )?{_ANSWERS}$")
# The verb of a clause with "dass" stands last, before a comma or what is set against it.
_CLAUSE = re.compile(
    r"(?i)(?P<who>wir|ich|man|es|er|sie|du|niemand|(?:keiner|jeder|alle)(?! (?-i:[A-ZÄÖÜ])))"
    r" (?P<middle>[^,;.!]{2,200}?) "
    r"(?P<verb>darf|kann|soll|will|muss|mag|bin|habe|[a-zäöüß]{2,20}[nt])"
    r"(?=[,;.!)]|$| (?:und nicht|aber|sondern|statt|weil|denn|oder|und zwar|und kein\w{0,2})\b)"
)
_PREFIXED = re.compile(
    r"(?i)(?:an|auf|aus|ein|ab|mit|vor|zu|um|los|fest|nach|her|hin|weg|bei|statt|durch|zurück)"
    r"(?!w?orten|wort)[a-zäöüß]{3,}"
)
# Behind these the verb comes first: "ab jetzt benutzen wir pnpm".
_FROM_NOW = re.compile(
    r"(?i)(?:ab (?:jetzt|sofort|heute)|von (?:jetzt|nun) an|in zukunft|künftig|zukünftig"
    r"|für die zukunft|vanaf nu|voortaan)\b"
)
_INVERTED = re.compile(
    r"(?i)(?P<verb>[a-zäöüß]{2,20}(?:n|t|e)|muss|soll|darf|kann|will) "
    r"(?P<who>wir|ich|man|es|er|niemand|we|wij|ik|je)\b"
)
_HOLDS = re.compile(r"(?i)(?:gilt|geldt)(?: hier| bei uns)?:\s*")
_VERB_FIRST = re.compile(
    r"(?i)(?:soll(?:en)?|muss|müssen|darf|dürfen|kann|können|wird|werden|ist|sind|gilt|gelten|läuft"
    r"|laufen|kommt|kommen|hat|haben|heißt|heißen|gehört|gehören|bleibt|bleiben|moet(?:en)?|is|zijn)"
    r" (?!nicht\b|kein|nur\b|immer\b|nie\b)"
)
_PLACE = re.compile(r"(?i)(?:in|for|on|at|with|when|during|within|inside) ")
_WE = re.compile(r"(?i)we (?:don'?t|do not|never|always|only|use)\b")
_ENDS = (".", "!", "?", "。", "！", "？", "…", ")")
_BACK = ("this", "that", "it", "das", "esto", "ça")
_MARKS = " ,;:-–—、，：；"
_POLITE = re.compile(
    r"(?i),?\s(?:please|pls|bitte|danke|thanks|thx|s'il (?:te|vous) pla[iî]t|merci|por favor"
    r"|gracias|obrigad[oa]|per favore|grazie)(?=\s*[.!]*$)"
)


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
        after = _NOT_TO_DO.sub(lambda no: "Don't " if no["not"] else "Never ", after)
        after = _TO_DO.sub("", after)
        after = "" if after.lower().strip(".!? ") in _BACK else after
        text = _rejoined(text, place, before, after)
    text = _POLITE.sub("", _FILLER.sub("", text)).strip(" ,;:、，：")
    text = f"{text[:-1]}." if wished and text.endswith("?") else text  # "can you remember that …?"
    if text.lower().startswith("dass "):
        text = _main("dass", text[5:])
    return sentenced(text)


def _rejoined(text: str, place: tuple[int, int], before: str, after: str) -> str:
    """What stood on both sides of a wish; a comma only where the sentence had one, or needs it."""
    if len(before) < 2 or len(after) < 2:
        return before or after
    marks = text[: place[0]].rstrip()[-1:] + text[place[0] : place[1]].rstrip()[-1:]
    marks += text[place[1] :].lstrip()[:1]
    apart = any(mark in ",;:.!-–—" for mark in marks) or _PLACE.match(before)
    return f"{before}, {after}" if apart else f"{before} {after}"


def _main(wish: str, clause: str) -> str:
    """`wir pnpm benutzen`, cut off behind "dass", as a sentence: `wir benutzen pnpm`.

    Only a pronoun is sure to be the whole subject, and a verb without a prefix to move as one.
    """
    low = wish.lower().rstrip()
    if low.endswith("dat"):
        return f"Belangrijk is dat {clause}"
    if not low.endswith("dass"):
        return _turned(wish, clause)
    found = _CLAUSE.match(clause)
    if found is None or _PREFIXED.match(found["verb"]):
        return f"Es gilt, dass {clause}"
    return f"{found['who']} {found['verb']} {found['middle']}{clause[found.end() :]}"


def _turned(wish: str, clause: str) -> str:
    """`benutzen wir pnpm`, cut off behind "ab jetzt": a subject that was put behind its verb."""
    if not _FROM_NOW.match(wish.strip()):
        return clause
    found = _INVERTED.match(clause)
    if found:
        return f"{found['who']} {found['verb']}{clause[found.end() :]}"
    if holds := _HOLDS.match(clause):
        return clause[holds.end() :]
    # Without its first word a clause that begins with its verb would be a question.
    return f"{wish.strip(_MARKS)} {clause}" if _VERB_FIRST.match(clause) else clause


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
    text = _OF_THAT.sub("", text)
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


def gone_on(body: str, more: Sequence[tuple[str, str]]) -> str:
    """A sentence and those that go on with it, each behind the mark that it was said with."""
    for mark, text in more:
        said = one_line(text.strip(), LINE)
        closed = body.rstrip(" .。") + "; " if mark == ";" else f"{sentenced(body)} "
        body = sentenced(closed + (said if mark == ";" else sentenced(said)))
    return body


def gives_reason(text: str) -> bool:
    """A sentence that says why, of the one before it."""
    return bool(_REASON.match(text))


def reason(text: str) -> str:
    """What stands behind `Why`; "because of that" says nothing."""
    told = _OF_THAT.sub("", re.sub(r"(?i)^of\s+", "", _LEAD.sub("", text.strip(), count=1)))
    return "" if told.lower().strip(".! ") in _BACK else sentenced(one_line(told))


def use(text: str) -> str:
    """When a rule applies, where it names the work; its own words again would say nothing."""
    found = None if "\n" in text or tongues(text) else _USE.search(text)
    if found is None:
        return ""
    if _TALK.match(found[1]):
        return "Whenever you answer."
    return sentenced(one_line(f"Whenever you work on {found[1]}"))
