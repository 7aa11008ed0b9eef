"""Gone, denied, planned, old name."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from memdir.text.markdown import FENCED, HIDDEN, ROW, Block

# Why a span does not say that something is in this repository now.

# By its form.
PLACEHOLDER = "placeholder"
OUTSIDE = "outside the repository"
ENDING = "file ending"
OPTION = "option of a command"
GENERIC = "general command"
NUMBERED = "version"
CODE = "quoted code"
ELSEWHERE = "number on a server"
EXTERNAL = "name of an outside project"
# By its sentence.
DENIED = "denied"
OLD = "old name"
PAST = "past"
KNOWN = "said to be gone elsewhere in this memory"
CHANGED = "its sentence speaks of a change"
PLANNED = "planned"

# These say nothing that could be true or false here; the others are just not to be decided.
NO_CLAIM = frozenset({DENIED, OLD, PAST, ENDING, OPTION, GENERIC, NUMBERED, CODE, ELSEWHERE})
# Even if the name is found, that does not bear the sentence out.
NEVER_TRUE = frozenset({DENIED, PLACEHOLDER, ENDING, OPTION, CODE, ELSEWHERE, OUTSIDE})


# What the words around a span say of it: that it is gone, or planned.

LONGEST_SENTENCE = 2_400  # characters; what is longer is cut into sentences of that length
NEAR = 40  # characters before a span in which `not` and `e.g.` speak of it
_END = re.compile(r"[.!?。！？](?=[\s\"')\]*_]|$)|\n\s{0,20}(?=[-*+] )")
_LINE = re.compile(r"\n")
# A word such as `e.g.` ends no sentence.
_ABBREVIATED = re.compile(r"(?:\be\.g|\bi\.e|\bvs|\betc|\bcf|\bapprox|\bNo|\b[A-Z])$")

_GONE = re.compile(
    r"\b(?:removed?|removing|removal|removes|deleted?|deleting|deletion|deletes|dropped|dropping"
    r"|renam(?:ed?|es|ing)|supersed(?:ed|es)|deprecated|retired|reverted|obsolete|stale|outdated"
    r"|gone|former(?:ly)?|previously|used to|no longer|historical(?:ly)?|historic|dead|defunct"
    r"|replac(?:ed|es|ing)|migrated|moved|folded|consolidated|absorbed|abandoned|ripped out"
    r"|stop(?:s|ped)? being|(?:does|do|did|is|are|was|were)(?: not|n't) (?:exist|present|there)"
    r"|never existed|nonexistent|non-existent|not exist"
    r"|old(?:er)? (?:name|path|file|location|layout|version)"
    r"|eliminated|purged|nuked|killed|orphaned|unused|rolled back|backed out|inlined|discarded"
    r"|originally|initially|until (?:v?\d|commit|PR)|(?:split|extracted|ported|copied|converted"
    r"|migrated|switched|derived) (?:from|into|out)|rewr(?:ote|itten)|archived|merged into"
    r"|eliminad[oa]s?|renombrad[oa]|no existe|ya no|supprimée?s?|renommée?s?|n'existe|entfernt"
    r"|gelöscht|umbenannt|ersetzt|existiert nicht|gibt es nicht|removid[oa]|renomead[oa]"
    r"|não existe|törölve|törlésre|eltávolít\w{0,6}|usunięt\w)\b"
    r"|不存在|删除|移除|重命名|改名|废弃|不再|而不是|削除|存在しない|廃止|삭제|제거|더 이상"
    r"|удал[её]н|переименован|не существует|больше нет",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"(?:\b(?:no|not|instead of|rather than|without|unlike|old|former|ex)"
    r"(?: (?:a|an|the|in|at|under|from|via|to|with|as|any|its|our|your|this|that|by|on|of)){0,3}"
    r"|而不是|不是|não|nicht|kein(?:e|en)?)\s{0,3}[*_(\[\"']{0,4}$",
    re.IGNORECASE,
)
_ABSENT = re.compile(
    r"(?:['’]s )?[\s*_)\]\"',]{0,4}(?:[\w\"“”-]{1,24} ){0,4}(?:\([^()]{0,120}\) )?"
    r"(?:(?:does|do|did)(?: not|n't| never) exist\b|never existed\b|no longer\b"
    r"|(?:is|are|has been|have been|got)(?: (?:now|since|long|fully|all|also))?"
    r" (?:removed|deleted|gone|dropped|retired|renamed|no longer)\b"
    r"|(?:was|were)(?: (?:now|since|long|fully|all|also))? (?:removed|deleted|dropped|retired)\b"
    r"|不存在|已删除|已移除)",
    re.IGNORECASE,
)
_WAS = re.compile(
    r"(?:['’]s )?[\s*_)\]\"',]{0,4}(?:[\w\"“”-]{1,24} ){0,4}(?:\([^()]{0,120}\) )?"
    r"(?:was|were|used to|had been)\b",
    re.IGNORECASE,
)
# What is dated to a commit tells what happened, not what is.
_TOLD = re.compile(
    r"\b(?:fixed|patched|refactored|reworked|had (?:been|used|become))\b"
    r"|\bcommits? [(\x01]|\b(?:landed|merged|shipped|introduced|added|caught|broke) "
    r"(?:in|by|with|via) (?:commit|PR|\x01|#)",
    re.IGNORECASE,
)
_STRUCK = re.compile(r"~~[^~]{1,400}~~")
_COMMIT_ITEM = re.compile(r"\s{0,40}(?:[-*+]|\d{1,4}[.)])\s{1,3}[*`(\[]{0,4}[0-9a-f]{7,40}\b")
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
_COLUMN_OLD = re.compile(
    r"\b(?:old|before|from|was|were|previous(?:ly)?|former(?:ly)?|legacy|removed|deleted|deprecated"
    r"|original(?:ly)?)\b",
    re.IGNORECASE,
)
_TAKEN_AWAY = re.compile(
    r"^\W{0,4}(?:git )?(?:mv|rm|git-rm|rmdir|unlink)\s|^[-+] ?\S|^[DR]\d{0,3}\s"
)
_HEAD_GONE = re.compile(
    r"\b(?:removed|deleted|retired|deprecated|superseded|obsolete|archived?|legacy|history"
    r"|changelog|rejected|abandoned|reverted|historical)\b",
    re.IGNORECASE,
)
_HEAD_PLANNED = re.compile(
    r"\b(?:planned|proposed|proposal|roadmap|future work|todo)\b|\bplan\s{0,3}$", re.IGNORECASE
)


def other_repository(text: str) -> bool:
    """True where a memory speaks of another repository, which bare names may belong to."""
    return _OTHER.search(text) is not None


def retired(text: str) -> bool:
    """True where a memory begins by saying that it is not valid any more."""
    return _RETIRED.search(text) is not None


class Context:
    """The sentences of a block; what one says is worked out once for all of its spans."""

    def __init__(self, block: Block, bare: Iterable[tuple[int, int]]) -> None:
        """`bare` are spans of the prose: their own words say nothing about them."""
        self.block = block
        self.text = hide(block.masked, bare)
        self.starts = list(_starts(self.text, block.kind))
        self._said: dict[int, str] = {}
        self._around: str | None = None
        self._struck: list[tuple[int, int]] | None = None

    def sentence(self, position: int) -> tuple[int, int]:
        """Where the sentence begins and ends that has this character."""
        after = bisect_right(self.starts, position)
        end = self.starts[after] if after < len(self.starts) else len(self.text)
        return self.starts[after - 1], end

    def aside(self, start: int, end: int) -> str:
        """Why the words around a span keep it from being a claim; empty if nothing does."""
        low, high = self.sentence(start)
        before = self.text[max(low, start - NEAR) : start]
        if self.left_of_arrow(end) or _under_old(self.block, start):
            return OLD
        linked = before.endswith("](")  # then the words before it are the name of a link
        denied = _NOT.search(before) and not linked
        if denied or _ABSENT.match(self.text, end, high) or self._is_struck(start, end):
            return DENIED
        if _WAS.match(self.text, end, high):
            return PAST
        if low not in self._said:
            self._said[low] = self._words(low, high)
        return self._said[low] or self._above()

    def left_of_arrow(self, end: int) -> bool:
        """`old.py` → `new.py`: an arrow to another name, not to what the file is about."""
        found = _ARROW.match(self.text, end)
        return found is not None and self.text[found.end() : found.end() + 1] == HIDDEN

    def _is_struck(self, start: int, end: int) -> bool:
        if self._struck is None:
            self._struck = [found.span() for found in _STRUCK.finditer(self.text)]
        position = bisect_right(self._struck, (start, len(self.text))) - 1
        return position >= 0 and end <= self._struck[position][1]

    def _words(self, low: int, high: int) -> str:
        """What the words of a sentence say of everything in it."""
        text = self.text[low:high]
        away = self.block.kind == FENCED and _TAKEN_AWAY.search(text)
        told = _TOLD.search(text) or _COMMIT_ITEM.match(self.block.text, low)
        if away or told or _GONE.search(text):
            return CHANGED
        return PLANNED if _PLANNED.search(text) else ""

    def _above(self) -> str:
        """What the block, its headings and the line that leads to it say."""
        if self._around is None:
            block = self.block
            above = " ".join((*block.heads, block.lead))
            self._around = ""
            if _HEAD_GONE.search(above) or _GONE.search(block.lead):
                self._around = PAST
            elif _HEAD_PLANNED.search(above):
                self._around = PLANNED
        return self._around


def hide(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """A text of the same length in which the spans cannot be read."""
    parts, position = [], 0
    for start, end in sorted(spans):
        if start >= position:
            parts += [text[position:start], HIDDEN * (end - start)]
            position = end
    return "".join([*parts, text[position:]])


def _starts(text: str, kind: str) -> Iterator[int]:
    """Where sentences begin; rows and code have one in each line."""
    last = 0
    yield 0
    for found in (_LINE if kind in (ROW, FENCED) else _END).finditer(text):
        if _ABBREVIATED.search(text, max(last, found.start() - 6), found.start()):
            continue
        while found.end() - last > LONGEST_SENTENCE:
            last += LONGEST_SENTENCE
            yield last
        last = found.end()
        yield last
    yield from range(last + LONGEST_SENTENCE, len(text), LONGEST_SENTENCE)


def _under_old(block: Block, start: int) -> bool:
    """A cell below `Old`, `Before`, `From`: the table tells what became of it."""
    if block.kind != ROW or len(block.columns) < 2:
        return False
    position = block.masked.count("|", 0, start) - 1
    return (
        0 <= position < len(block.columns)
        and _COLUMN_OLD.search(block.columns[position]) is not None
    )
