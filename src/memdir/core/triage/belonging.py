"""What belongs to a signal beyond its own words: how the sentence goes on, and why it is so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from memdir.core.capturing import CORRECTION, FORGET, REMEMBER, Signal
from memdir.core.transcript import PERSON
from memdir.core.triage import hints, passing, rules, wishes, wording
from memdir.core.triage.typed import Sentence, joined, sentence, sentences

MOST = 3  # sentences that go on with one signal
LONGEST = 240  # characters of one of them
LEAST = 2  # words of one of them
_FORBIDS = re.compile(
    r"(?:^|[,;:.] |\b(?:please|bitte|also|and|but|no|nope) )(?:don'?t|do not|never|no more|avoid"
    r"|stop|quit|no|kein\w{0,2}|nie|niemals|nicht|vermeide|jamais|ne|n'\w|évite|pas de|no|nunca"
    r"|evita|deja de|não|nunca|non|mai|別|别|不要)\b"
)
# What is to be done instead; "run it again" is a piece of work.
_ORDERS = re.compile(
    r"(?:please |just |always |only |bitte |immer |so |and )?(?:use|prefer|stick (?:to|with)"
    r"|go with|take|pick|choose|write|put|keep|name|call|make (?:it|them|sure)|leave|do|ask"
    r"|benutze?|verwende?|nutze?|nimm|schreibe?|utilise[rz]?|prends|écris|préfère|usa|utiliza"
    r"|escribe|prefiere|use|utilize|escreva|prefira|scrivi|preferisci|用|请用|使用)\b"
)
_INSTEAD = re.compile(
    r"\b(?:instead|rather|stattdessen|lieber|à la place|plutôt|en su lugar|mejor|em vez disso"
    r"|invece|piuttosto)\b"
)
_TURNED = re.compile(r"\b(?:use|using|used|usa|usar|utilis|utiliz|benutz|verwend|nutz)")
_SPEAKS_ON = re.compile(
    r"(?:thanks|thx|thank you|great|nice|cool|ok|okay|lgtm|looks?|works?|sounds?|now|next|then"
    r"|let'?s|anyway|good|perfect|done|danke|merci|gracias|obrigad|grazie|jetzt|also|by the way"
    r"|btw)\b"
)
_SUBJECT = re.compile(
    r"(?:it|it's|that|this|they|we|we've|i|the|our|nobody|no one|reviewers|users|customers|people"
    r"|ci|mobile|those|these|last|everyone|otherwise|das|die|der|es|wir|sonst|uns|ça|cela|on|nous"
    r"|la|le|les|sinon|eso|esto|se|nos|si no|el|los|isso|isto|o|a|os|ci|questo|quello|il|altrimenti"
    r")\b"
)
_TROUBLE = re.compile(
    r"\b(?:brok(?:e|en)|breaks?|hid(?:es|den)?|lost|loses?|burn(?:ed|t|s)?|fail(?:s|ed|ures?)?"
    r"|crash\w{0,4}|leak\w{0,3}|slow\w{0,4}|cost(?:s|ed)?|outages?|incidents?|confus\w{1,4}"
    r"|annoy\w{0,4}|noisy|noise|unreadable|flaky|corrupt\w{0,4}|overwr\w{3,6}|wiped|deleted|blew"
    r"|bit(?:ten)?|hurts?|hangs?|time(?:s|d)? out|wrong|bugs?|nobody|can'?t|cannot|forget"
    r"|too (?:long|slow|big)|conflicts?|took (?:\w+ ){1,3}(?:hours|days|weeks)|rollback|rolled back"
    r"|downtime|complain\w{0,4}|rejects?|gekostet|kaputt|verloren|schief|ärger|dauert|versteht"
    r"|niemand|stürzt|cassé|perdu|planté|coûté|personne|roto|rompió|perdimos|costó|nadie|quebrou"
    r"|perdemos|custou|ninguém|rotto|perso|nessuno)\b"
)
_OURS = re.compile(
    r"(?:no,? |actually,? |nein,? |non,? )?(?:we|our|wir|on|nous|nosotros|nós|noi)\b"
)
_OF_NOW = re.compile(r"\b(?:again|still|just|now|currently|right now|gerade|jetzt|noch|encore)\b")


@dataclass(frozen=True)
class Part:
    """A signal with the sentences that go on with it, each behind the mark before it."""

    signal: Signal
    more: tuple[tuple[str, str], ...] = ()
    why: str = ""


def parts(signals: Iterable[Signal]) -> list[Part]:
    """Each signal with what belongs to it; one that only goes on with another is no longer one."""
    found: list[Part] = []
    by_message: dict[int, list[Signal]] = {}
    for signal in signals:
        by_message.setdefault(id(signal.said), []).append(signal)
    for some in by_message.values():
        found += _of_message(some) if some[0].said.who == PERSON else map(Part, some)
    return found


def _of_message(some: Sequence[Signal]) -> list[Part]:
    own = sentences(some[0].said.text)
    some = _apart(some, own)
    places = _places(some, own)
    found: list[Part] = []
    end = -1
    for at, signal in enumerate(some):
        place = places[at]
        if place is None:
            found.append(Part(signal))
        elif place[0] > end:
            part, end = _grown(signal, place, own, _starting(some, places))
            found.append(part)
    return found


def _apart(some: Sequence[Signal], own: Sequence[Sentence]) -> list[Signal]:
    """Two rules that were taken for one are two; a sentence that says something needs no other."""
    found: list[Signal] = []
    for signal, place in zip(some, _places(some, own), strict=True):
        if place is None or place[1] != place[0] + 1 or signal.kind != CORRECTION:
            found.append(signal)
            continue
        first, second = own[place[0]], own[place[1]]
        if passing.asks(first) or not (rules.commands(first.bare) or _OURS.match(first.bare)):
            found.append(signal)
            continue
        found.append(replace(signal, quote=first.text))
        if rules.commands(second.bare) and not _is_work(second):
            found.append(replace(signal, quote=second.text))
    return found


def _starting(
    some: Sequence[Signal], places: Sequence[tuple[int, int] | None]
) -> dict[int, Signal]:
    return {place[0]: signal for signal, place in zip(some, places, strict=True) if place}


def _places(some: Sequence[Signal], own: Sequence[Sentence]) -> list[tuple[int, int] | None]:
    """The first and the last sentence of each signal, in their order."""
    found: list[tuple[int, int] | None] = []
    at = 0
    for signal in some:
        place = _place(signal.quote, own, at)
        at = place[0] + 1 if place else at
        found.append(place)
    return found


def _place(quote: str, own: Sequence[Sentence], at: int) -> tuple[int, int] | None:
    for first in range(at, len(own)):
        if not quote.startswith(own[first].text):
            continue
        last = first
        while last + 1 < len(own) and len(joined(own[first : last + 1])) < len(quote):
            last += 1
        if joined(own[first : last + 1]) == quote:
            return first, last
    return None


def _grown(
    signal: Signal, place: tuple[int, int], own: Sequence[Sentence], others: dict[int, Signal]
) -> tuple[Part, int]:
    """The signal with all that goes on with it, and the last sentence that was taken."""
    more: tuple[tuple[str, str], ...] = ()
    end = place[1]
    if signal.kind == FORGET:
        return Part(signal), end
    for at in range(place[1] + 1, min(place[1] + 1 + MOST, len(own))):
        said, other = own[at], others.get(at)
        if said.block != own[at - 1].block or _stands_alone(said, other):
            break
        mark = ";" if f"{own[at - 1].text};" in signal.said.text else "."
        if mark == "." and _explains(own[place[0]], said, other):
            return Part(signal, more, wording.reason(said.text)), at
        if not _goes_on(signal, own[at - 1], said, other, mark):
            break
        more, end = (*more, (mark, said.text)), at
    return Part(signal, more), end


def _stands_alone(said: Sentence, other: Signal | None) -> bool:
    """It is a wish or a question of its own, a piece of work, or talk."""
    if other is not None and other.asked_for:
        return True
    bare = said.bare
    if passing.asks(said) or passing.momentary(bare) or passing.supposed(bare):
        return True
    if wishes.kept(bare) or wishes.dropped(bare) or len(said.text) > LONGEST:
        return True
    return bool(_SPEAKS_ON.match(bare))


def _explains(rule: Sentence, said: Sentence, other: Signal | None) -> bool:
    """It says why: by its first words, or as a trouble that somebody had."""
    if wording.gives_reason(said.text):
        return True
    if other is not None or rules.commands(said.bare) or _OF_NOW.search(said.bare):
        return False
    known = said.bare.partition(" ")[0] in rule.bare.rstrip(".!").split()  # `black is too slow`
    return bool((known or _SUBJECT.match(said.bare)) and _TROUBLE.search(said.bare))


def _goes_on(
    signal: Signal, before: Sentence, said: Sentence, other: Signal | None, mark: str
) -> bool:
    if _is_work(said):
        return False
    if mark == ";":
        return True
    if rules.is_specific(said.bare) or len(said.text.split()) < LEAST:
        return False
    if _FORBIDS.search(before.bare) and _ORDERS.match(said.bare):
        turned = _TURNED.search(before.bare) and _TURNED.search(said.bare)
        return other is None or bool(turned or _INSTEAD.search(said.bare))
    if _INSTEAD.search(said.bare) and rules.commands(said.bare):
        return True
    return _announced(signal) and not hints.in_trouble(said.bare)


def _is_work(said: Sentence) -> bool:
    """A piece of work, not a rule."""
    bare = said.bare
    return passing.is_chore(bare) and not (rules.is_policy(bare) or _INSTEAD.search(bare))


def _announced(signal: Signal) -> bool:
    """`remember: …`: the colon opens all of the paragraph."""
    bare = sentence(signal.quote).bare
    place = wishes.kept(bare) if signal.kind == REMEMBER else None
    return place is not None and bare[place[0] : place[1]].rstrip().endswith((":", "："))
