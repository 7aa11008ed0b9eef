"""Requests made into drafts without a model, in the person's own words."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from memdir.capture import forget, phrases
from memdir.capture.origin import quote
from memdir.capture.signals import (
    FORGET,
    REMEMBER,
    Catch,
    Origin,
    Signal,
    day_of,
    names_something,
    request,
    statement,
)
from memdir.capture.typed import sentence, sentences
from memdir.clients.conversation import AGENT, PERSON, Message
from memdir.format import draft
from memdir.format.draft import Draft
from memdir.text import dates, secrets

SOURCE = "capture"
MAX_AGENT_SENTENCES = 3  # of what "remember that" may mean where the person said no more
STANDING = "it is a rule for later; nobody asked to save it"
PASTED = "it stands in a text that looks pasted"
AT_HAND = "it may be about the work at hand only"
FROM_AGENT = "the words to keep are the agent's, not the person's"
_FROM_MEMORY = re.compile(r"(?i)\s(?:from|out of) (?:(?:your|the) )?memor(?:y|ies)(?=[.,;!]|$)")


def catches(signals: Sequence[Signal], said: Sequence[Message], origin: Origin) -> list[Catch]:
    """What is to be forgotten, then the drafts; each body once.

    What is said again after something was to be forgotten was said then.
    """
    result: dict[str, tuple[Catch, int]] = {}
    forgotten = 0
    for signal in signals:
        catch = _catch(signal, said, origin)
        forgotten += bool(catch.forget)
        key = (catch.forget or (catch.draft.body if catch.draft else "")).lower()
        known, since = result.get(key, (None, 0))
        if key and (known is None or (known.hold and not catch.hold) or forgotten > since):
            result[key] = catch, forgotten
    return sorted((catch for catch, _ in result.values()), key=lambda catch: bool(catch.draft))


def refuse_secrets(catches: Iterable[Catch], said: Sequence[Message]) -> list[Catch]:
    """The catches; one that repeats a secret of the conversation is refused and loses its text.

    The conversation is searched as it was said: in a draft, the value may have other capitals or
    be part of a name, and no rule would know it.
    """
    caught = list(catches)
    used = {catch.origin.message for catch in caught}
    texts = [item.text for item in said if item.id in used or item.who == PERSON] if caught else []
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


def _catch(signal: Signal, said: Sequence[Message], origin: Origin) -> Catch:
    message = signal.said
    origin = replace(origin, message=message.id, who=message.who, quote=quote(signal.quote))
    hold = _hold(signal)
    if signal.kind == FORGET:
        return Catch(origin, forget=_unwanted(signal.quote), hold=hold)
    text = statement(signal.quote)
    if signal.kind == REMEMBER and not names_something(signal.quote):
        text, hold = _last_words(message, said), hold or FROM_AGENT
    return Catch(origin, _draft(text, signal), hold=hold)


def _hold(signal: Signal) -> str:
    """Why a person must agree first; empty where one has asked for it."""
    if signal.doubtful:
        return PASTED
    if signal.kind == REMEMBER and phrases.mentions("work", sentence(signal.quote).bare):
        return AT_HAND
    return "" if signal.kind in (REMEMBER, FORGET) else STANDING


def _draft(text: str, signal: Signal) -> Draft | None:
    if not text.strip():
        return None
    day = day_of(signal.said)
    whole = len(text) <= draft.DESCRIPTION_AIM and "\n" not in text
    return Draft(
        body=_anchored(text, day),
        type=signal.type,
        description=text if whole else draft.first_sentence(text),
        source=SOURCE,
        day=day,
    )


def _anchored(text: str, day: datetime.date | None) -> str:
    """With the day it was said on where it speaks of days that no rule resolves."""
    if day is None:
        return text
    unsure = dates.make_absolute(text, day)[1]
    if not unsure and not phrases.mentions("days", text.lower()):
        return text
    return f"{text} (said on {day.isoformat()})"


def _unwanted(text: str) -> str:
    """What is to be forgotten, in the person's words, up to the first secret."""
    text = secrets.before_secrets(text)
    _, start, end = request(sentence(text))
    rest = text[end:].strip(" .,:!。") or text[:start].strip(" .,:!。、")
    return " ".join(forget.meant(_FROM_MEMORY.sub("", rest)).split())


def _last_words(message: Message, said: Sequence[Message]) -> str:
    """The end of what the agent said before a message."""
    last = ""
    for other in said:
        if other is message or other == message:
            break
        if other.who == AGENT and other.text.strip():
            last = other.text
    return " ".join(item.text for item in sentences(last)[-MAX_AGENT_SENTENCES:])
