"""Drafts made of signals without a model: a person's words as a statement, with their reason."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from memdir.core import dates, drafting, relative_dates, secrets
from memdir.core.capturing import CONFIRMATION, FORGET, REMEMBER, Catch, Origin, Signal
from memdir.core.draft import Draft
from memdir.core.transcript import AGENT, PERSON, Said
from memdir.core.triage import days, tastes, wishes, wording
from memdir.core.triage.prose import sentence, sentences

SOURCE = "capture"
LEAST = 3  # words that say something by themselves
LEFT_OUT = "[secret left out]"
NOT_ASKED = "nobody asked to keep this; it was only noticed"
FROM_TOOL = "it comes from the output of a tool, not from a person"
FROM_AGENT = "the words to keep are the agent's, not the person's"
APPROVED = "Approved by the user: "
_CLAUSE = re.compile(r"[,;]\s|\s[-–—]\s")
_ISO = re.compile(r"\d{4}-\d\d-\d\d")
# Values outlive facts, so they come first (seed 000).
ORDER = ("value", "preference", "feedback", "user", "decision", "project", "reference")


def catches(signals: Sequence[Signal], said: Sequence[Said], origin: Origin) -> list[Catch]:
    """What is to be forgotten, then drafts, values before facts; each body once."""
    found: dict[str, Catch] = {}
    for signal in signals:
        catch = _catch(signal, said, origin)
        key = (catch.forget or (catch.draft.body if catch.draft else "")).lower()
        known = found.get(key)
        if key and (known is None or (known.hold and not catch.hold)):
            found[key] = catch
    return sorted(found.values(), key=_rank)


def _rank(catch: Catch) -> int:
    if catch.draft is None:
        return -1
    return ORDER.index(catch.draft.type) if catch.draft.type in ORDER else len(ORDER)


def _catch(signal: Signal, said: Sequence[Said], origin: Origin) -> Catch:
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
    return Catch(origin, _draft(signal, text, bool(hold)), hold=hold)


def _draft(signal: Signal, text: str, held: bool) -> Draft | None:
    """What is held lies in the inbox, where no secret may lie; the writer refuses the others."""
    body, why = wording.parted(text)
    if not body.strip():
        return None
    day = _day(signal.said.time)
    body = _anchored(_safe(body) if held else body, day)
    return Draft(
        body=body,
        type=signal.type,
        description=drafting.first_sentence(body),
        why=_anchored(_safe(why or _reason_behind(signal)), day),
        how=_safe(wording.use(text)),
        source=SOURCE,
        day=day,
    )


def _hold(signal: Signal) -> str:
    """Why a person must agree first; nothing where a person has asked for it."""
    if signal.said.who != PERSON:
        return FROM_AGENT if signal.said.who == AGENT else FROM_TOOL
    return "" if signal.asked_for else NOT_ASKED


def _reason_behind(signal: Signal) -> str:
    """The sentence behind the signal's, where it says why."""
    if signal.said.who != PERSON:
        return ""
    own = sentences(signal.said.text)
    for one, follows in pairwise(own):
        if signal.quote.endswith(one.text) and wording.gives_reason(follows.text):
            return wording.reason(follows.text)
    return ""


def _dropped(text: str) -> str:
    """What is to be forgotten, in the person's words."""
    place = wishes.dropped(sentence(text).bare)
    rest = text[place[1] :] if place else text
    rest = rest.strip(" .,:!。") or (text[: place[0]].strip(" .,:!。、") if place else "")
    first = _CLAUSE.split(rest, maxsplit=1)[0]
    rest = first if len(first.split()) > 1 else rest
    return wording.one_line(
        re.sub(r"(?i)\s(?:from|out of) (?:(?:your|the) )?memor(?:y|ies)$", "", rest)
    )


def _confirmed(signal: Signal, said: Sequence[Said]) -> str:
    """What was agreed to: the choice in the agent's words."""
    own = sentences(_last_words(signal.said, said))
    chosen = next((one.text for one in own if tastes.choice(one.text)), "")
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


def _day(time: float) -> datetime.date | None:
    return datetime.date.fromisoformat(dates.iso_day(time)) if time > 0 else None


def _anchored(body: str, day: datetime.date | None) -> str:
    """With the day it was said on, where the writer will not make its dates absolute."""
    if day is None or not body:
        return body
    absolute, unsure = relative_dates.make_absolute(body, day)
    if not unsure and not days.has_date(_ISO.sub("", absolute).lower()):
        return body
    return f"{body.rstrip('.。')} (said on {day.isoformat()})."


def _safe(text: str) -> str:
    shown = secrets.before_secrets(text)
    return text if shown == text else shown + LEFT_OUT
