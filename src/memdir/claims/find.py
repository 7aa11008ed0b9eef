"""Claims of a memory: spans in backticks, and words in its prose with the same forms."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from memdir.claims import context
from memdir.claims.claim import BRANCH, COMMIT, PACKAGE, PATH, SYMBOL, TEXT, Claim
from memdir.claims.context import Context, hide_spans
from memdir.claims.forms import (
    BRANCHES,
    PREFIXES,
    QUOTED,
    Form,
    find_file_ending,
    read_bare_form,
    read_code_form,
)
from memdir.text.markdown import FENCED, HIDDEN, MAX_TEXT_CHARACTERS, Block, blocks, destination

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

Span = tuple[int, int, str, Form, bool]  # start, end, text, form, True outside backticks


def find_claims(text: str, place: str = "") -> list[Claim]:
    """Claims in order of the text; `place` is the memory's path below the repository, if any."""
    claims: list[Claim] = []
    elsewhere = context.mentions_other_repository(text[:MAX_TEXT_CHARACTERS])
    otherwise = context.PAST if context.says_retired(text[:BEGINNING_CHARACTERS]) else ""
    for block in blocks(text):
        spans = list(islice(_spans(block), MAX_CLAIMS - len(claims)))
        around = Context(block, [span[:2] for span in spans if span[4]])
        files = [(span[0], span[3].names[0]) for span in spans if _is_code_file(span[3])]
        for start, end, span, form, bare in spans:
            line, column = block.place(start)
            kind, names, aside = form.kind, form.names, form.aside
            aside = aside or around.aside(start, end) or otherwise
            if kind == PATH and any(item in (".", "..") for n in names for item in n.split("/")):
                names = _resolve(names, place)
                aside = aside if names else context.OUTSIDE
            if kind in (SYMBOL, PACKAGE, PATH) and _is_branch(around, start, span):
                kind = BRANCH
            near = _near(around, start, end, files) if kind == SYMBOL else ()
            loose = elsewhere or block.kind == FENCED
            claims.append(
                Claim(kind, span, line, column, names, aside, form.parts, bare, loose, near)
            )
    # Once a memory says that something is gone, this holds for every mention.
    gone = {_last_name(c) for c in claims if c.aside in (context.DENIED, context.OLD, context.PAST)}
    return [
        replace(claim, aside=context.KNOWN)
        if not claim.aside and _last_name(claim) in gone
        else claim
        for claim in claims
    ]


def _last_name(claim: Claim) -> str:
    return claim.names[-1].rsplit("/", 1)[-1] if claim.names else claim.text


def _is_code_file(form: Form) -> bool:
    return (
        form.kind == PATH and bool(form.names) and find_file_ending(form.names[0]) not in ("", "md")
    )


def _near(around: Context, start: int, end: int, files: list[tuple[int, str]]) -> tuple[str, ...]:
    first = bisect_left(files, (start - NEAR_CHARACTERS,))
    close = [item for item in files[first : first + 8] if item[0] <= end + NEAR_CHARACTERS]
    low, high = around.sentence(start) if close else (0, 0)
    return tuple(name for position, name in close if low <= position < high)


def _is_branch(around: Context, start: int, span: str) -> bool:
    if span in BRANCHES or span.startswith("origin/"):
        return True
    if span.endswith("/") and span[:-1] in PREFIXES:
        return _BRANCH_WORD.search(around.text, *around.sentence(start)) is not None
    before = around.text[max(0, start - 16) : start]
    return not find_file_ending(span) and _CALLED.search(before) is not None


def _resolve(names: tuple[str, ...], place: str) -> tuple[str, ...]:
    """Resolves `..` to paths below the repository; empty if one leads out of it."""
    folder = posixpath.dirname(place)
    climbing = any(name.startswith("../") for name in names)
    paths = [
        posixpath.normpath(f"{folder}/{name}" if name.startswith("../") else name) for name in names
    ]
    leaves = (climbing and not place) or any(path.split("/")[0] == ".." for path in paths)
    return () if leaves else tuple(paths)


def _spans(block: Block) -> Iterator[Span]:
    if block.kind == FENCED:
        yield from _words(block.text)
        return
    spans: list[Span] = []
    for start, end in block.spans:
        if end - start <= MAX_TICKED_CHARACTERS:
            code = " ".join(block.text[start:end].strip("`").split())
            spans += [(start, end, code, read_code_form(code), False)] if code else []
    hidden = []
    for match in _LINK.finditer(block.masked):
        start = match.end()
        target, end = destination(block.text, start)
        if end <= 0 or not target or HIDDEN in block.masked[start:end]:
            continue
        hidden.append((start, end))
        form = read_bare_form(target) or (read_code_form(target) if "/" in target else None)
        if form is not None:
            spans.append((start, end, target, form, True))
    prose = hide_spans(block.masked, hidden)
    prose = hide_spans(prose, [match.span() for match in _WIKI.finditer(prose)])
    for match in _NUMBERED.finditer(prose):
        spans.append((*match.span(), match[0], QUOTED, True))
    yield from sorted([*spans, *_words(prose)], key=lambda span: span[:2])


def _words(text: str) -> Iterator[Span]:
    for match in _TOKEN.finditer(text):
        word = match[0].strip("~")
        start = match.start() + match[0].index(word) if word else match.end()
        start += len(word) - len(word.lstrip(_TRIM + "."))
        if start > match.start() and text[start - 1] == ".":
            start -= 1  # `.github/x.yml`
        if text.startswith("/", start) and text[start - 1 : start] == HIDDEN:
            start += 1  # `a`/b/c: a list, not a path from the root
        word = _trimmed(text[start : match.end()].rstrip("~"))
        form = read_bare_form(word) if len(word) > 1 else None
        if form is not None:
            yield start, start + len(word), word, form, True
        elif "/" in word:  # `Process()/URLSession/daemon.js`: separate names
            for part in word.split("/"):
                form = read_bare_form(part) if len(part) > 1 else None
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
