"""The phrases of `phrases.toml` as patterns: how people ask to have something kept or forgotten."""

from __future__ import annotations

import functools
import re
import tomllib
from pathlib import Path
from typing import Any

REMEMBER, FORGET, RULE, FROM_NOW = "remember", "forget", "rule", "from_now"
REQUESTS = (REMEMBER, FORGET, RULE, FROM_NOW)
_MARKS = r"[,;:.!?()–—…，。：；、！？]\s*|\s-+\s+"
_ENDS = r"(?=[\s.!。！)]*$)"
_SPACED = re.compile(r"[^\W\d_\u3040-\u9fff\uac00-\ud7af]")  # letters of scripts with spaces
MAX_LEADS = 4


def find(kind: str, bare: str) -> re.Match[str] | None:
    """Where a sentence makes such a request: group `words` without the words before it."""
    if not mentions(kind, bare):  # cheaper: most sentences ask for nothing
        return None
    return _requests(kind).search(bare)


def follows(bare: str, start: int) -> int:
    """Where the thing to be kept begins if a request ends at `start` and joins it; else 0."""
    joined = _joint().match(bare, start)
    return joined.end() if joined else 0


def begins(kind: str, bare: str) -> bool:
    """True if a statement begins with one of the words of that kind."""
    return bool(_anywhere(kind, r"^\W*").search(bare))


def mentions(kind: str, bare: str) -> bool:
    """True if one of the words of that kind stands in it."""
    return bool(_anywhere(kind, "").search(bare))


def without(kind: str, bare: str) -> str:
    """The text without the words of that kind."""
    return _anywhere(kind, "").sub("", bare)


@functools.cache
def announcement() -> re.Pattern[str]:
    """`the log says:`, group `colon`; or `this page`, group `points`."""
    texts, pointing = _bounded("texts"), _bounded("pointing")
    return re.compile(
        rf"(?:{texts}|{pointing})[^:：\n]{{0,40}}(?P<colon>[:：])(?!//)"
        rf"|(?P<points>{pointing}(?:\s?[\w-]{{1,20}}){{0,2}}\s?{texts}|{texts} {pointing}"
        rf"|{pointing}[\s?.!。！？]*$)"
    )


@functools.cache
def _languages() -> dict[str, dict[str, Any]]:
    with Path(__file__).with_name("phrases.toml").open("rb") as file:
        return tomllib.load(file)


@functools.cache
def _requests(kind: str) -> re.Pattern[str]:
    lead = _bounded("lead")
    leads = rf"(?:{lead}[\s,:，、!.-]*){{0,{MAX_LEADS}}}"
    # A rule in the middle of a sentence mostly describes something: "it works but never returns".
    start = {RULE: rf"^{leads}", FROM_NOW: ""}.get(kind, rf"(?:^|{_MARKS}|{lead}\s*){leads}")
    verbs_first = [one for one in _languages().values() if not one.get("verb_last")]
    verbs_last = [one for one in _languages().values() if one.get("verb_last")]
    first = _either(_entries(kind, verbs_first))
    last = "|".join(_entries(kind, verbs_last)) or r"(?!)"
    return re.compile(rf"(?P<lead>{start})(?P<words>{first})|(?P<last>(?:{last}){_ENDS})")


@functools.cache
def _joint() -> re.Pattern[str]:
    that, back = _bounded("that"), _bounded("back")
    return re.compile(rf"(?:\s*{back})?\s*[:：]\s*|\s*,?\s*{that}\s*")


@functools.cache
def _anywhere(kind: str, start: str) -> re.Pattern[str]:
    return re.compile(start + _bounded(kind))


def _bounded(kind: str) -> str:
    return _either(_entries(kind))


def _entries(kind: str, languages: list[dict[str, Any]] | None = None) -> list[str]:
    some = [*_languages().values()] if languages is None else languages
    return [phrase for language in some for phrase in language.get(kind, ())]


def _either(phrases: list[str]) -> str:
    """Any of the phrases, as whole words in scripts that put spaces between them."""
    spaced = [
        f"(?:{phrase})" if phrase.endswith(("'", "\\b")) else rf"(?:{phrase})(?!\w)"
        for phrase in phrases
        if _SPACED.search(phrase)
    ]
    dense = [phrase for phrase in phrases if not _SPACED.search(phrase)]
    # One look behind for all of them: inside a word, nothing else is tried.
    whole = [rf"(?<!\w)(?:{'|'.join(spaced)})"] if spaced else []
    return f"(?:{'|'.join([*whole, *dense])})"
