"""Claims of a memory: spans in backticks and words of its prose, and the sentences around them."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from memdir.claims import forms
from memdir.claims.claim import (
    BRANCH,
    CHANGED,
    COMMIT,
    DENIED,
    KNOWN,
    OLD,
    OUTSIDE,
    PACKAGE,
    PAST,
    PATH,
    PLANNED,
    SYMBOL,
    TEXT,
    Claim,
)
from memdir.text import markdown

MAX_CLAIMS = 2_000  # of one memory
BEGINNING_CHARACTERS = 1_500  # of a memory, searched for a note that it is no longer valid
NEAR_CHARACTERS = 120  # maximum distance of a symbol from its file
MAX_TICKED_CHARACTERS = 400  # a longer span is an unclosed backtick
_TOKEN = re.compile(r"[^\s\x01|]{2,240}")
_LINK = re.compile(r"\]\(")
_WIKI = re.compile(r"\[\[[^\[\]\n]{1,200}\]\]")
_NUMBERED = re.compile(r"\b(?:PR|MR|[Ii]ssue|GH) ?#\d{1,7}|(?<![\w.])v\d{1,4}(?:\.\d{1,6}){1,3}\b")
_TRIM = "\"'“”‘’*_()[]{}<>,;:!?、。，；：（）「」"
_BRANCH_WORD = re.compile(
    r"\bbranch(?:es)?\b|\bworktree|\brebase|\bmerge[ds]?\b|\bcheckout\b", re.I
)
_CALLED = re.compile(r"\bbranch [*_\"']{0,3}$", re.I)
# Bare names in a memory with such words may belong to the other repository.
_OTHER = re.compile(
    r"\b(?:(?:separate|another|other|sibling|different|upstream|external|private|companion) "
    r"(?:git )?(?:repo(?:sitory|s|sitories)?|project|codebase|checkout)\b"
    r"|outside (?:the|this|of the) repo|not (?:in|part of) (?:this|the) repo)",
    re.IGNORECASE,
)
_RETIRED = re.compile(r"\b(?:SUPERSEDED|OBSOLETE|DEPRECATED)\b|\b[Ss]uperseded by")

Span = tuple[int, int, str, forms.Form, bool]  # start, end, text, form, True outside backticks


def find_claims(text: str, place: str = "") -> list[Claim]:
    """Claims in order of the text; `place` is the memory's path below the repository, if any."""
    claims: list[Claim] = []
    elsewhere = _OTHER.search(text[: markdown.MAX_TEXT_CHARACTERS]) is not None
    otherwise = PAST if _RETIRED.search(text[:BEGINNING_CHARACTERS]) else ""
    for block in markdown.markdown_blocks(text):
        spans = list(islice(_spans(block), MAX_CLAIMS - len(claims)))
        around = Context(block, [span[:2] for span in spans if span[4]])
        files = [(span[0], span[3].names[0]) for span in spans if _is_code_file(span[3])]
        for start, end, span, form, bare in spans:
            line, column = block.place(start)
            kind, names = form.kind, form.names
            aside = form.aside or around.aside(start, end) or otherwise
            if kind == PATH and any(item in (".", "..") for n in names for item in n.split("/")):
                names = _resolve(names, place)
                aside = aside if names else OUTSIDE
            if kind in (SYMBOL, PACKAGE, PATH) and _is_branch(around, start, span):
                kind = BRANCH
            near = _near(around, start, end, files) if kind == SYMBOL else ()
            loose = elsewhere or block.kind == markdown.FENCED
            claims.append(
                Claim(kind, span, line, column, names, aside, form.parts, bare, loose, near)
            )
    # Once a memory says that something is gone, this holds for every mention.
    gone = {_last_name(claim) for claim in claims if claim.aside in (DENIED, OLD, PAST)}
    return [
        replace(claim, aside=KNOWN) if not claim.aside and _last_name(claim) in gone else claim
        for claim in claims
    ]


def _last_name(claim: Claim) -> str:
    return claim.names[-1].rsplit("/", 1)[-1] if claim.names else claim.text


def _is_code_file(form: forms.Form) -> bool:
    return (
        form.kind == PATH
        and bool(form.names)
        and forms.find_file_ending(form.names[0]) not in ("", "md")
    )


def _near(around: Context, start: int, end: int, files: list[tuple[int, str]]) -> tuple[str, ...]:
    first = bisect_left(files, (start - NEAR_CHARACTERS,))
    close = [item for item in files[first : first + 8] if item[0] <= end + NEAR_CHARACTERS]
    low, high = around.sentence(start) if close else (0, 0)
    return tuple(name for position, name in close if low <= position < high)


def _is_branch(around: Context, start: int, span: str) -> bool:
    if span in forms.BRANCHES or span.startswith("origin/"):
        return True
    if span.endswith("/") and span[:-1] in forms.PREFIXES:
        return _BRANCH_WORD.search(around.text, *around.sentence(start)) is not None
    before = around.text[max(0, start - 16) : start]
    return not forms.find_file_ending(span) and _CALLED.search(before) is not None


def _resolve(names: tuple[str, ...], place: str) -> tuple[str, ...]:
    """Resolves `..` to paths below the repository; empty if one leads out of it."""
    folder = posixpath.dirname(place)
    climbing = any(name.startswith("../") for name in names)
    paths = [
        posixpath.normpath(f"{folder}/{name}" if name.startswith("../") else name) for name in names
    ]
    leaves = (climbing and not place) or any(path.split("/")[0] == ".." for path in paths)
    return () if leaves else tuple(paths)


def _spans(block: markdown.Block) -> Iterator[Span]:
    if block.kind == markdown.FENCED:
        yield from _words(block.text)
        return
    spans: list[Span] = []
    for start, end in block.spans:
        if end - start <= MAX_TICKED_CHARACTERS:
            code = " ".join(block.text[start:end].strip("`").split())
            spans += [(start, end, code, forms.read_code_claim(code), False)] if code else []
    hidden = []
    for match in _LINK.finditer(block.masked):
        start = match.end()
        target, end = markdown.markdown_link_target(block.text, start)
        if end <= 0 or not target or markdown.HIDDEN in block.masked[start:end]:
            continue
        hidden.append((start, end))
        form = forms.read_bare_claim(target) or (
            forms.read_code_claim(target) if "/" in target else None
        )
        if form is not None:
            spans.append((start, end, target, form, True))
    prose = hide_claim_spans(block.masked, hidden)
    prose = hide_claim_spans(prose, [match.span() for match in _WIKI.finditer(prose)])
    for match in _NUMBERED.finditer(prose):
        spans.append((*match.span(), match[0], forms.QUOTED, True))
    yield from sorted([*spans, *_words(prose)], key=lambda span: span[:2])


def _words(text: str) -> Iterator[Span]:
    for match in _TOKEN.finditer(text):
        word = match[0].strip("~")
        start = match.start() + match[0].index(word) if word else match.end()
        start += len(word) - len(word.lstrip(_TRIM + "."))
        if start > match.start() and text[start - 1] == ".":
            start -= 1  # `.github/x.yml`
        if text.startswith("/", start) and text[start - 1 : start] == markdown.HIDDEN:
            start += 1  # `a`/b/c: a list, not a path from the root
        word = _trimmed(text[start : match.end()].rstrip("~"))
        form = forms.read_bare_claim(word) if len(word) > 1 else None
        if form is not None:
            yield start, start + len(word), word, form, True
        elif "/" in word:  # `Process()/URLSession/daemon.js`: separate names
            for part in word.split("/"):
                form = forms.read_bare_claim(part) if len(part) > 1 else None
                if form is not None and form.kind not in (COMMIT, TEXT):
                    yield start, start + len(part), part, form, True
                start += len(part) + 1


def _trimmed(word: str) -> str:
    """Removes trailing punctuation; `name()` keeps its parentheses, `docs/.` loses its dot."""
    while word and (word[-1] in _TRIM or word[-1] == "."):
        if word.endswith("()") or (word[-1] in ")]}" and word.count("([{"[")]}".index(word[-1])])):
            break
        word = word[:-1]
    return word.removesuffix("'s").removesuffix("’s")


# Words around a span that say it is gone, denied, planned or an old name.

MAX_SENTENCE_CHARACTERS = 2_400  # a longer one is cut
NOT_CHARACTERS = 40  # before a span, where `not` refers to it
_END = re.compile(r"[.!?。！？](?=[\s\"')\]*_]|$)|\n\s{0,20}(?=[-*+] )")
_LINE = re.compile(r"\n")
_GONE = re.compile(
    r"\b(?:remov(?:ed?|ing|al|es)|delet(?:ed?|ing|ion|es)|dropp(?:ed|ing)|renam(?:ed?|es|ing)"
    r"|replac(?:ed|es|ing)|supersed(?:ed|es)|rewr(?:ote|itten)|moved|migrated|reverted|fixed"
    r"|deprecated|retired|obsolete|stale|outdated|gone|formerly|previously|used to|no longer"
    r"|had (?:been|used|become))\b",
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
    r"\b(?:TODO|planned|proposed|roadmap|not yet|to be (?:added|created|built|written)|will be"
    r"|would (?:be|live|need))\b|^\s{0,20}[-*+] \[ \]",
    re.IGNORECASE,
)
_ARROW = re.compile(r"\s{0,3}[*_)\]]{0,3}\s{0,3}(?:→|➜|⇒|->|=>|-->)\s{0,3}[*_(\[]{0,3}")
_HEAD_GONE = re.compile(
    r"\b(?:removed|deleted|retired|deprecated|superseded|obsolete|legacy|history|historical)\b",
    re.IGNORECASE,
)


class Context:
    """Sentences of a block; each is analysed once for all of its spans."""

    def __init__(self, block: markdown.Block, bare: Iterable[tuple[int, int]]) -> None:
        """`bare` are spans in prose: their own words say nothing about them."""
        self.block = block
        self.text = hide_claim_spans(block.masked, bare)
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
        if arrow is not None and self.text[arrow.end() : arrow.end() + 1] == markdown.HIDDEN:
            return OLD
        low, high = self.sentence(start)
        before = self.text[max(low, start - NOT_CHARACTERS) : start]
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
        return PLANNED if _PLANNED.search(above) else ""


def hide_claim_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Keeps the length of the text, so that positions stay valid."""
    parts, position = [], 0
    for start, end in sorted(spans):
        if start >= position:
            parts += [text[position:start], markdown.HIDDEN * (end - start)]
            position = end
    return "".join([*parts, text[position:]])


def _starts(text: str, kind: str) -> Iterator[int]:
    last = 0
    yield 0
    for end in (_LINE if kind in (markdown.ROW, markdown.FENCED) else _END).finditer(text):
        yield from range(last + MAX_SENTENCE_CHARACTERS, end.end(), MAX_SENTENCE_CHARACTERS)
        last = end.end()
        yield last
    yield from range(last + MAX_SENTENCE_CHARACTERS, len(text), MAX_SENTENCE_CHARACTERS)
