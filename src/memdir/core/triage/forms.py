"""Patterns as lists: one form a line, so that a language or a form is added as a line."""

from __future__ import annotations

import re

from memdir.core.patterns import pattern

# Where a clause may begin: its first word is what somebody is told to do.
START = (
    r"(?:^|[,;:(!?.–—]\s{0,3}|\s-\s|\b(?:and|but|so|also|please|pls|plz|ok|okay|then|btw|hey|just"
    r"|oh|yes|no|nope|nah|well|actually|again|ugh|wait|always|do|fyi|und|bitte|y|et|e|por favor)\s)"
)
VERB = r"(?:[a-z-]{1,18}[^s\W]|[a-z]{1,16}ss)(?<!ed)"  # `use`, not `uses`, not `used`
GOES_ON = "+"  # a line that continues the form above
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def unspaced(text: str) -> bool:
    """Is there a script in it that puts no space between words?"""
    return bool(_UNSPACED.search(text))


def one_of(words: str) -> str:
    """A group of words; `_` stands for a space inside one of them."""
    return "(?:" + "|".join(words.split()).replace("_", r"\s") + ")"


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


def either(forms: str, open: str = r"\b(?:", close: str = ")") -> re.Pattern[str]:
    """Any of these forms; `open` does not go before languages that put no space between words."""
    lines = "\n".join(line.strip() for line in forms.strip().splitlines())
    every = [form for form in lines.replace(f"\n{GOES_ON}", "").split("\n") if form]
    spaced = "|".join(form for form in every if not _UNSPACED.search(form))
    dense = "|".join(form for form in every if _UNSPACED.search(form))
    return pattern("|".join(filter(None, (f"{open}{spaced}{close}" if spaced else "", dense))))
