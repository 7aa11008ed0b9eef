"""The families of signs in other languages, one file a language; a new file joins the list below.

Each form is a shape with any words in its places: a habit of "we", an order with a word for always
or never, what follows from a fact, a verb of deciding, a state of production, who somebody is.
"""

from __future__ import annotations

import re

from memdir.core.capturing import CORRECTION, DECISION, PERSONAL, PREFERENCE
from memdir.core.triage.forms import words
from memdir.core.triage.languages import (
    chinese,
    french,
    german,
    italian,
    japanese,
    portuguese,
    spanish,
)
from memdir.core.triage.languages.language import Language
from memdir.core.triage.passing import momentary

LANGUAGES = (
    *(german.LANGUAGE, spanish.LANGUAGE, french.LANGUAGE, portuguese.LANGUAGE),
    *(italian.LANGUAGE, chinese.LANGUAGE, japanese.LANGUAGE),
)
LOOK = 400  # characters that tell a language
_KANA, _HAN = re.compile("[\u3040-\u30ff]"), re.compile("[\u3400-\u9fff]")
_WORD = re.compile(r"[^\W\d_]{1,20}")
_ENGLISH = words(
    """
    the and is are we you it to of for with this that not be have has from use our your what when
    don can if they its my was so
    """
)


def kind_abroad(bare: str, answers: bool) -> str:
    """What a sentence of another language is a sign of, or nothing.

    `answers`: to something that the agent did; then a word for always or never is enough.
    """
    if momentary(bare):
        return ""
    for language in spoken(bare):
        kind = _kind(bare, language, answers)
        if kind:
            return kind
    return ""


def spoken(bare: str) -> tuple[Language, ...]:
    """The languages with most small words in it; none where English has as many."""
    if _KANA.search(bare):
        return (japanese.LANGUAGE,)
    if _HAN.search(bare):
        return (chinese.LANGUAGE,)
    words = _WORD.findall(bare[:LOOK])
    counts = [sum(word in one.small for word in words) for one in LANGUAGES]
    most = max(counts)
    if most <= sum(word in _ENGLISH for word in words):
        return ()
    return tuple(one for one, count in zip(LANGUAGES, counts, strict=True) if count == most)


def passing_abroad(bare: str) -> bool:
    """In its language it is a request for one piece of work, a fault, or a thought."""
    return any(one.passing.search(bare) for one in spoken(bare))


def _kind(bare: str, language: Language, answers: bool) -> str:
    if language.passing.search(bare):
        return ""
    for kind, form in (
        (DECISION, language.decided),
        (PREFERENCE, language.liked),
        (PERSONAL, language.told_of_self),
        (CORRECTION, language.custom),
    ):
        if form.search(bare):
            return kind
    return CORRECTION if answers and language.always.search(bare) else ""
