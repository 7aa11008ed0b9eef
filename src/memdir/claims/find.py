"""Claims of a memory: spans in backticks and words of its prose."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from memdir.claims import claim as kinds
from memdir.claims import forms
from memdir.claims.claim import Claim
from memdir.claims.context import (
    Context,
    compare_repo_name,
    find_version_claims,
    hide_claim_spans,
    names_other_repo,
)
from memdir.claims.manifests import claimed_version_key
from memdir.text import markdown

MAX_CLAIMS = 2_000  # of one memory
NEAR_CHARACTERS = 120  # maximum distance of a symbol from its file
MAX_NEAR = 8  # names of one sentence
MAX_TICKED_CHARACTERS = 400  # a longer span is an unclosed backtick
_TOKEN = re.compile(r"[^\s\x01|→➜⇒]{2,240}")
_LINK = re.compile(r"\]\(")
_WIKI = re.compile(r"\[\[[^\[\]\n]{1,200}\]\]")
_NUMBERED = re.compile(r"\b(?:PR|MR|[Ii]ssue|GH) ?#\d{1,7}|(?<![\w.])v\d{1,4}(?:\.\d{1,6}){1,3}\b")
_TRIM = "\"'“”‘’*_()[]{}<>,;:!?、。，；：（）「」"
_BRANCH_WORD = re.compile(
    r"\bbranch(?:es)?\b|\bworktree|\brebase|\bmerge[ds]?\b|\bcheckout\b", re.I
)
_CALLED = re.compile(r"\bbranch (?:called |named )?[*_\"']{0,3}$", re.I)
# `on branch exp`, and after `branch` alone only what no ordinary word looks like.
_BARE_BRANCH = re.compile(
    r"\b(?:on branch|branch (?:called|named)) [*_\"']{0,3}([A-Za-z0-9][\w./-]{1,80})"
    r"|\bbranch [*_\"']{0,3}([A-Za-z][\w.]{0,40}[-/][\w./-]{1,80})",
    re.IGNORECASE,
)
_BRANCH_ENDED = re.compile(r"\b(?:merged|landed|closed|deleted|squashed|shipped)\b", re.IGNORECASE)
# A sentence about dependencies, and one that may be.
_DECLARED = re.compile(
    r"\b(?:depend(?:s|ed|ency|encies)?|packages?|requirements?|install(?:s|ed)?|pip|npm|pinned)\b",
    re.IGNORECASE,
)
_USED = re.compile(r"\b(?:librar(?:y|ies)|requires?|imports?|uses?|using)\b", re.IGNORECASE)

Span = tuple[int, int, str, forms.Form, bool]  # start, end, text, form, True outside backticks


def find_claims(text: str, place: str = "", own: frozenset[str] = frozenset()) -> list[Claim]:
    """Claims in order of the text.

    `place` is the memory's path below the repository, if any; `own` are the repository's names.
    """
    claims: list[Claim] = []
    own = frozenset(map(compare_repo_name, own))
    blocks = list(markdown.markdown_blocks(text))
    elsewhere = {block.heads for block in blocks if names_other_repo(block.text, own)}
    for block in blocks:
        spans = list(islice(_spans(block), max(MAX_CLAIMS - len(claims), 0)))
        around = Context(block, [span[:2] for span in spans if span[4]], own)
        loose = block.heads in elsewhere or block.kind == markdown.FENCED
        located = [span for span in spans if span[3].kind == kinds.PATH]
        named = [(span[0], n) for span in located for n in span[3].names if ".." not in n]
        for start, end, span, form, bare in spans:
            aside = form.aside or around.aside(start, end)
            claim = Claim(
                *(form.kind, span, *block.place(start), form.names, aside, form.parts),
                *(bare, loose, _near(around, start, end, named)),
                rooted=around.is_rooted(start, end),
            )
            claims.append(_read_sentence(_resolve(claim, place), around, start))
        for start, span, name, version in find_version_claims(around):
            names = (claimed_version_key(name), version)
            claims.append(Claim(kinds.VERSION, span, *block.place(start), names))
    # Once a memory says that something is gone, this holds for every mention.
    gone = {_last_name(claim) for claim in claims if claim.aside in (kinds.DENIED, kinds.OLD)}
    return [
        replace(claim, aside=kinds.KNOWN)
        if not claim.aside and _last_name(claim) in gone
        else claim
        for claim in claims[:MAX_CLAIMS]
    ]


def _last_name(claim: Claim) -> str:
    return claim.names[-1].rsplit("/", 1)[-1] if claim.names else claim.text


def _near(around: Context, start: int, end: int, named: list[tuple[int, str]]) -> tuple[str, ...]:
    first = bisect_left(named, (start - NEAR_CHARACTERS,))
    close = [item for item in named[first : first + MAX_NEAR] if item[0] <= end + NEAR_CHARACTERS]
    low, high = around.sentence(start) if close else (0, 0)
    return tuple(name for position, name in close if low <= position < high and position != start)


def _read_sentence(claim: Claim, around: Context, start: int) -> Claim:
    """The claim as a branch or package, if its sentence speaks of such."""
    said = around.sentence(start)
    if claim.kind == kinds.URL and claim.aside == kinds.OTHER:
        return replace(claim, aside="")  # it names the repository itself
    if claim.kind in (kinds.SYMBOL, kinds.PACKAGE, kinds.PATH) and _is_branch(around, start, claim):
        claim = replace(claim, kind=kinds.BRANCH)
    if claim.kind == kinds.BRANCH and _BRANCH_ENDED.search(around.text, *said):
        claim = replace(claim, aside=claim.aside or kinds.PAST)
    declared = bool(_DECLARED.search(around.text, *said))
    if claim.kind == kinds.SYMBOL and (claim.text,) == claim.names and "_" not in claim.text:
        used = claim.text.islower() and _USED.search(around.text, *said)
        if (declared or used) and not claim.bare:
            claim = replace(claim, kind=kinds.PACKAGE)
    return replace(claim, declared=True) if declared and claim.kind == kinds.PACKAGE else claim


def _is_branch(around: Context, start: int, claim: Claim) -> bool:
    span = claim.text
    if span in forms.BRANCHES or span.startswith("origin/"):
        return True
    if span.endswith("/") and span[:-1] in forms.PREFIXES:
        return _BRANCH_WORD.search(around.text, *around.sentence(start)) is not None
    before = around.text[max(0, start - 24) : start]
    return not forms.find_file_ending(span) and _CALLED.search(before) is not None


def _resolve(claim: Claim, place: str) -> Claim:
    """Resolves `..` to a path below the repository; outside if it leads out of it."""
    dotted = [name for name in claim.names if not {".", ".."}.isdisjoint(name.split("/"))]
    if claim.kind != kinds.PATH or not dotted:
        return claim
    folder = posixpath.dirname(place)
    climbing = any(name.startswith("../") for name in claim.names)
    paths = [
        posixpath.normpath(f"{folder}/{name}" if name.startswith("../") else name)
        for name in claim.names
    ]
    if (climbing and not place) or any(path.split("/")[0] == ".." for path in paths):
        return replace(claim, names=(), aside=kinds.OUTSIDE)
    return replace(claim, names=tuple(paths))


def _spans(block: markdown.Block) -> Iterator[Span]:
    if block.kind == markdown.FENCED:
        yield from _words(block.text)
        start = 0
        for line in block.text.split("\n"):
            form = forms.read_code_claim(" ".join(line.split())) if " --" in line else None
            yield from _flags(block.text, start, form) if form else ()
            start += len(line) + 1
        return
    spans: list[Span] = []
    for start, end in block.spans:
        if end - start <= MAX_TICKED_CHARACTERS:
            code = " ".join(block.text[start:end].strip("`").split())
            form = forms.read_code_claim(code)
            spans += [(start, end, code, form, False)] if code else []
            spans += _flags(block.text, start, form)
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
    for match in _BARE_BRANCH.finditer(prose):
        word = _trimmed(match[1] or match[2])
        if forms.read_bare_claim(word) is None and word.lower() not in forms.NO_BRANCHES:
            start = match.start(match.lastindex or 0)
            spans.append((start, start + len(word), word, forms.Form(kinds.BRANCH, (word,)), True))
    yield from sorted([*spans, *_words(prose)], key=lambda span: span[:2])


def _flags(text: str, start: int, form: forms.Form) -> list[Span]:
    """Flags of a command as claims of their own."""
    spans: list[Span] = []
    for flag in form.flags if form.kind == kinds.COMMAND else ():
        start = text.find(flag, start)
        spans.append((start, start + len(flag), flag, forms.Form(kinds.FLAG, (flag,)), False))
    return spans


def _words(text: str) -> Iterator[Span]:
    for match in _TOKEN.finditer(text):
        if forms.is_ordinary_word(match[0]):
            continue
        word = match[0].strip("~")
        start = match.start() + match[0].index(word) if word else match.end()
        start += len(word) - len(word.lstrip(_TRIM + "."))
        if start > match.start() and text[start - 1] == ".":
            start -= 1  # `.github/x.yml`
        word = _trimmed(text[start : match.end()].rstrip("~"))
        form = forms.read_bare_claim(word) if len(word) > 1 else None
        if form is not None:
            yield start, start + len(word), word, form, True
        elif "/" in word:  # `Process()/URLSession/daemon.js`: separate names
            for part in word.split("/"):
                form = forms.read_bare_claim(part) if len(part) > 1 else None
                if form is not None and form.kind not in (kinds.COMMIT, kinds.TEXT):
                    yield start, start + len(part), part, form, True
                start += len(part) + 1


def _trimmed(word: str) -> str:
    """Removes trailing punctuation; `name()` keeps its parentheses, `docs/.` loses its dot."""
    while word and (word[-1] in _TRIM or word[-1] == "."):
        if word.endswith("()") or (word[-1] in ")]}" and word.count("([{"[")]}".index(word[-1])])):
            break
        word = word[:-1]
    return word.removesuffix("'s").removesuffix("’s")
