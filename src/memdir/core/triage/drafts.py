"""Drafts made of signals without a model: a person's words as a statement, with their reason."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from memdir.core import drafting, relative_dates, secrets, taking_back
from memdir.core.agent.run import day_of
from memdir.core.capturing import (
    CONFIRMATION,
    DEADLINE,
    DECISION,
    FORGET,
    REMEMBER,
    Catch,
    Origin,
    Signal,
)
from memdir.core.draft import Draft
from memdir.core.transcript import AGENT, PERSON, Said
from memdir.core.triage import days, said_days, tastes, wishes, wording
from memdir.core.triage.belonging import Part, parts
from memdir.core.triage.typed import sentence, sentences

SOURCE = "capture"
LEAST = 3  # words that say something by themselves
LEFT_OUT = "[secret left out]"
NOT_ASKED = "nobody asked to keep this; it was only noticed"
FROM_TOOL = "it comes from the output of a tool, not from a person"
FROM_AGENT = "the words to keep are the agent's, not the person's"
PASTED = "it stands in a text that looks pasted"
APPROVED = "Approved by the user: "
# `yes, exactly: small commits` says in the person's own words what was agreed to.
_AGREED = re.compile(
    r"(?i)(?:yes|yep|yeah|exactly|perfect|great|right|correct|good|nice|love|that'?s|this is"
    r"|spot on|genau|ja|perfekt|richtig|oui|exactement|parfait|sí|exacto|perfecto|sim|isso|perfeito"
    r"|esatto|perfetto)\b[^:\n]{0,40}(?::|\s[-–—])\s+(?P<own>\S.*)"
)
# `I like how you split that into two commits` says what was liked.
_PRAISED = re.compile(
    r"(?i)\b(?:like|love|appreciate)d? (?:how|that|the way|it when|the fact that) you (?:\S+ ){2}"
)
# How a rule begins, in the languages where it costs nothing.
_ORDER = re.compile(
    r"(?i)(?:(?:in|for|when|with|bei|dans|en|em|nei)\b[^,]{2,60}, )?(?:never|always|don'?t|do not"
    r"|avoid|stop|only|use|prefer|antworte|schreibe?|sprich|benutze?|verwende?|nutze?|nimm|frage?"
    r"|halte|prüfe?|vermeide|kein\w{0,2}|nie|niemals|immer|réponds|répondez|écris|écrivez|parle"
    r"|utilise[rz]?|évite[rz]?|demande|n'\w+ (?:pas|jamais|plus)|ne \w+ (?:pas|jamais|plus)"
    r"|responde|escribe|habla|usa|utiliza|evita|siempre|nunca|no [\wáéíóú]{2,14}s|responda|escreva"
    r"|fale|utilize|evite|sempre|não \w{3,14}|rispondi|scrivi|parla|non \w{3,14})\b"
)
# Values outlive facts, so they come first (seed 000).
ORDER = ("value", "preference", "feedback", "user", "decision", "project", "reference")


def catches(signals: Sequence[Signal], said: Sequence[Said], origin: Origin) -> list[Catch]:
    """What is to be forgotten, then drafts, values before facts; each body once.

    What is said again after something was to be forgotten was said then.
    """
    found: dict[str, tuple[Catch, int]] = {}
    wishes = 0
    for part in parts(signals):
        catch = _catch(part, said, origin)
        wishes += bool(catch.forget)
        key = (catch.forget or (catch.draft.body if catch.draft else "")).lower()
        known, since = found.get(key, (None, 0))
        if key and (known is None or (known.hold and not catch.hold) or wishes > since):
            found[key] = catch, wishes
    return sorted((catch for catch, _ in found.values()), key=_rank)


def refuse_secrets(catches: Iterable[Catch], said: Sequence[Said]) -> list[Catch]:
    """The catches; one that repeats a secret of the conversation is refused and loses its text.

    The conversation is searched as it was said: in a draft, the value may have other capitals or
    be part of a name, and no rule would know it.
    """
    caught = list(catches)
    used = {catch.origin.message for catch in caught}
    texts = [one.text for one in said if one.id in used or one.who == PERSON] if caught else []
    values = {value: rule for text in texts for rule, value in secrets.secret_values(text)}
    return [_refused(catch, values) for catch in caught] if values else caught


def _refused(catch: Catch, values: Mapping[str, str]) -> Catch:
    draft = catch.draft or Draft("")
    parts = (draft.body, draft.name, draft.description, draft.why, draft.how)
    text = secrets.letters_and_digits("".join((*parts, catch.forget, catch.origin.quote)))
    rules = sorted({rule for value, rule in values.items() if value in text})
    if not rules:
        return catch
    reason = f"it holds what looks like a secret ({', '.join(rules)})"
    return Catch(replace(catch.origin, quote=""), Draft("", draft.type), refuse=reason)


def _rank(catch: Catch) -> int:
    if catch.draft is None:
        return -1
    return ORDER.index(catch.draft.type) if catch.draft.type in ORDER else len(ORDER)


def _catch(part: Part, said: Sequence[Said], origin: Origin) -> Catch:
    signal = part.signal
    one, hold = signal.said, _hold(signal)
    quote = wording.one_line(secrets.before_secrets(signal.quote))
    origin = replace(origin, message=one.id, who=one.who, tool=one.tool, quote=quote)
    if signal.kind == FORGET:
        return Catch(origin, forget=_safe(_dropped(signal.quote)), hold=hold)
    text = wording.statement(signal.quote) if one.who == PERSON else quote
    if signal.kind == CONFIRMATION:
        text = _confirmed(signal, said)
    elif signal.kind == REMEMBER and not text and one.who == PERSON:
        text, hold = wording.statement(_last_words(one, said)), FROM_AGENT
    elif signal.kind == REMEMBER and one.who == PERSON and len(text.split()) < LEAST:
        text = f"{_question(_last_words(one, said))} {text}".strip()
    return Catch(origin, _draft(part, text, bool(hold)), hold=hold)


def _draft(part: Part, text: str, held: bool) -> Draft | None:
    """What is held lies in the inbox, where no secret may lie; the writer refuses the others."""
    body, why = wording.parted(text)
    if not body.strip():
        return None
    signal, day = part.signal, day_of(part.signal.said)
    body = wording.gone_on(body, part.more)
    body = _anchored(_safe(body) if held else body, day)
    return Draft(
        body=body,
        type=_type(signal, body, why or part.why),
        description=_description(body),
        why=_anchored(_safe(why or part.why), day),
        how=_safe(wording.use(text)),
        source=SOURCE,
        day=day,
    )


def _type(signal: Signal, body: str, why: str) -> str:
    """An order is guidance, also where a reason or a day made it look like a fact."""
    kind = signal.kind
    fact = kind == REMEMBER or (kind == DECISION and why)
    undated = said_days.is_habit(body) or not days.has_date(body.lower())
    fact = fact or (kind == DEADLINE and undated)
    return "feedback" if fact and signal.type == "project" and _ORDER.match(body) else signal.type


def _description(body: str) -> str:
    """All of it where that is one line; a rule and its other half are known by both."""
    whole = len(body) <= drafting.DESCRIPTION_AIM and "\n" not in body
    return body if whole and secrets.before_secrets(body) == body else drafting.first_sentence(body)


def _hold(signal: Signal) -> str:
    """Why a person must agree first; nothing where a person has asked for it."""
    if signal.said.who != PERSON:
        return FROM_AGENT if signal.said.who == AGENT else FROM_TOOL
    if signal.doubtful:
        return PASTED
    return "" if signal.asked_for else NOT_ASKED


def _dropped(text: str) -> str:
    """What is to be forgotten, in the person's words."""
    place = wishes.dropped(sentence(text).bare)
    rest = text[place[1] :] if place else text
    rest = rest.strip(" .,:!。") or (text[: place[0]].strip(" .,:!。、") if place else "")
    rest = re.sub(r"(?i)\s(?:from|out of) (?:(?:your|the) )?memor(?:y|ies)(?=[.,;!]|$)", "", rest)
    return wording.one_line(taking_back.meant(rest))


def _confirmed(signal: Signal, said: Sequence[Said]) -> str:
    """What was agreed to: the choice in the agent's words."""
    agreed = _AGREED.match(signal.quote)
    if agreed and len(agreed["own"].split()) >= LEAST:
        return wording.statement(agreed["own"])
    own, named = sentences(_last_words(signal.said, said)), taking_back.terms(signal.quote)
    chosen = max(
        (one.text for one in own if tastes.choice(one.text)),
        key=lambda text: len(named & taking_back.terms(text)),
        default="",
    )
    if _PRAISED.search(signal.quote) and not named & taking_back.terms(chosen):
        chosen = ""
    return APPROVED + chosen if chosen else wording.statement(signal.quote)


def _last_words(one: Said, said: Sequence[Said]) -> str:
    """What the agent said last before a message."""
    last = ""
    for other in said:
        if other is one or other == one:
            break
        if other.who == AGENT and other.text.strip():
            last = other.text
    return last


def _question(text: str) -> str:
    """The last question in what the agent said; a word or two of answer mean nothing without it."""
    asked = [one.text for one in sentences(text) if one.asks]
    return asked[-1] if asked else ""


def _anchored(body: str, day: datetime.date | None) -> str:
    """With its days as dates; with the day it was said on where one of them stays open."""
    if day is None or not body:
        return body
    body, rest = said_days.written_out(body, day)
    absolute, unsure = relative_dates.make_absolute(rest, day)
    left = days.has_date(said_days.without_dates(absolute).lower())
    if not unsure and (not left or said_days.is_habit(body)):
        return body
    return said_days.anchor(body, day)


def _safe(text: str) -> str:
    shown = secrets.before_secrets(text)
    return text if shown == text else shown + LEFT_OUT
