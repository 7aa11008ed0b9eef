"""Words around a span that say it is gone, denied, planned or an old name."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from memdir.text.markdown import FENCED, HIDDEN, ROW, Block

# Why a span is no claim about the present repository: by its form …
PLACEHOLDER = "placeholder"
OUTSIDE = "outside the repository"
CODE = "quoted code"
# … or by its sentence.
DENIED = "denied"
OLD = "old name"
PAST = "past"
KNOWN = "said to be gone elsewhere in this memory"
CHANGED = "its sentence speaks of a change"
PLANNED = "planned"

# These cannot be true or false here; the others cannot be decided.
NO_CLAIM = frozenset({DENIED, OLD, PAST, CODE})
# With these, finding the name does not support the sentence.
NEVER_TRUE = frozenset({DENIED, PLACEHOLDER, CODE, OUTSIDE})

MAX_SENTENCE_CHARACTERS = 2_400  # a longer one is cut
NEAR_CHARACTERS = 40  # before a span, where `not` refers to it
_END = re.compile(r"[.!?。！？](?=[\s\"')\]*_]|$)|\n\s{0,20}(?=[-*+] )")
_LINE = re.compile(r"\n")

_GONE = re.compile(
    r"\b(?:remov(?:ed?|ing|al|es)|delet(?:ed?|ing|ion|es)|dropp(?:ed|ing)|renam(?:ed?|es|ing)"
    r"|supersed(?:ed|es)|deprecated|retired|reverted|obsolete|stale|outdated|gone|former(?:ly)?"
    r"|previously|used to|no longer|historical(?:ly)?|historic|dead|defunct|replac(?:ed|es|ing)"
    r"|migrated|moved|folded|consolidated|absorbed|abandoned|never existed|non-?existent"
    r"|(?:does|do|did|is|are|was|were)(?: not|n't) (?:exist|present|there)|orphaned|unused"
    r"|old(?:er)? (?:name|path|file|location|layout|version)|originally|initially"
    r"|(?:split|extracted|ported|copied|converted|switched|derived) (?:from|into|out)"
    r"|rewr(?:ote|itten)|archived|merged into"
    # A sentence with a commit tells history, not the present state.
    r"|fixed|patched|refactored|reworked|had (?:been|used|become))\b|\bcommits? [(\x01]"
    r"|\b(?:landed|merged|shipped|introduced|added|caught|broke) "
    r"(?:in|by|with|via) (?:commit|PR|\x01|#)|不存在|删除|移除",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"(?:\b(?:no|not|instead of|rather than|without|unlike|old|former|ex)"
    r"(?: (?:a|an|the|in|at|under|from|via|to|with|as|any|its|our|your|this|that|by|on|of)){0,3}"
    r"|不是)\s{0,3}[*_(\[\"']{0,4}$",
    re.IGNORECASE,
)
_BEHIND = (
    r"(?:['’]s )?[\s*_)\]\"',]{0,4}(?:[\w\"“”-]{1,24} ){0,4}(?:\([^()]{0,120}\) )?"  # its verb
)
_ABSENT = re.compile(
    _BEHIND + r"(?:(?:does|do|did)(?: not|n't| never) exist\b|never existed\b|no longer\b"
    r"|(?:is|are|was|were|has been|have been|got)(?: (?:now|since|long|fully|all|also))?"
    r" (?:removed|deleted|gone|dropped|retired|renamed|no longer)\b)",
    re.IGNORECASE,
)
_WAS = re.compile(_BEHIND + r"(?:was|were|used to|had been)\b", re.IGNORECASE)
_PLANNED = re.compile(
    r"\b(?:TODO|planned|proposed|proposal|not yet|to be (?:added|created|built|written|made)"
    r"|will (?:be )?(?:add|creat|writ|introduc|becom|mov|replac|remov)\w{0,6}"
    r"|would (?:be|live|need)|future work|someday|hypothetical(?:ly)?)\b|^\s{0,20}[-*+] \[ \]",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"\b(?:(?:separate|another|other|sibling|different|upstream|external|private|companion) "
    r"(?:git )?(?:repo(?:sitory|s|sitories)?|project|codebase|checkout)\b"
    r"|outside (?:the|this|of the) repo|not (?:in|part of) (?:this|the) repo)",
    re.IGNORECASE,
)
_ARROW = re.compile(r"\s{0,3}[*_)\]]{0,3}\s{0,3}(?:→|➜|⇒|->|=>|-->)\s{0,3}[*_(\[]{0,3}")
_RETIRED = re.compile(
    r"\b(?:SUPERSEDED|OBSOLETE|DEPRECATED|ARCHIVED|OUTDATED|HISTORICAL)\b"
    r"|\b(?:[Ss]uperseded by|[Ss]tatus:\W{0,4}(?:superseded|obsolete|archived|deprecated))"
)
_HEAD_GONE = re.compile(
    r"\b(?:removed|deleted|retired|deprecated|superseded|obsolete|archived?|legacy|history"
    r"|changelog|rejected|abandoned|reverted|historical)\b",
    re.IGNORECASE,
)
_HEAD_PLANNED = re.compile(
    r"\b(?:planned|proposed|proposal|roadmap|future work|todo)\b|\bplan\s{0,3}$", re.IGNORECASE
)


def mentions_other_repository(text: str) -> bool:
    """Bare names in such a memory may belong to the other repository."""
    return _OTHER.search(text) is not None


def says_retired(text: str) -> bool:
    return _RETIRED.search(text) is not None


class Context:
    """Sentences of a block; each is analysed once for all of its spans."""

    def __init__(self, block: Block, bare: Iterable[tuple[int, int]]) -> None:
        """`bare` are spans in prose: their own words say nothing about them."""
        self.block = block
        self.text = hide_spans(block.masked, bare)
        self.starts = list(_starts(self.text, block.kind))
        self._by_sentence: dict[int, str] = {}

    def sentence(self, position: int) -> tuple[int, int]:
        after = bisect_right(self.starts, position)
        end = self.starts[after] if after < len(self.starts) else len(self.text)
        return self.starts[after - 1], end

    def aside(self, start: int, end: int) -> str:
        """Why the words around a span keep it from being a claim; empty if nothing does."""
        arrow = _ARROW.match(self.text, end)
        # `old.py` → `new.py`: an arrow to another name, not to a description.
        if arrow is not None and self.text[arrow.end() : arrow.end() + 1] == HIDDEN:
            return OLD
        low, high = self.sentence(start)
        before = self.text[max(low, start - NEAR_CHARACTERS) : start]
        linked = before.endswith("](")  # the words before it are the title of a link
        if (_NOT.search(before) and not linked) or _ABSENT.match(self.text, end, high):
            return DENIED
        if _WAS.match(self.text, end, high):
            return PAST
        if low not in self._by_sentence:
            self._by_sentence[low] = self._by_words(self.text[low:high])
        return self._by_sentence[low]

    def _by_words(self, sentence: str) -> str:
        lead = self.block.lead
        above = " ".join((*self.block.heads, lead))
        if _GONE.search(sentence):
            return CHANGED
        if _PLANNED.search(sentence):
            return PLANNED
        if _HEAD_GONE.search(above) or _GONE.search(lead):
            return PAST
        return PLANNED if _HEAD_PLANNED.search(above) else ""


def hide_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Keeps the length of the text, so that positions stay valid."""
    parts, position = [], 0
    for start, end in sorted(spans):
        if start >= position:
            parts += [text[position:start], HIDDEN * (end - start)]
            position = end
    return "".join([*parts, text[position:]])


def _starts(text: str, kind: str) -> Iterator[int]:
    last = 0
    yield 0
    for end in (_LINE if kind in (ROW, FENCED) else _END).finditer(text):
        yield from range(last + MAX_SENTENCE_CHARACTERS, end.end(), MAX_SENTENCE_CHARACTERS)
        last = end.end()
        yield last
    yield from range(last + MAX_SENTENCE_CHARACTERS, len(text), MAX_SENTENCE_CHARACTERS)
