"""Find the claims of a memory: every span in backticks, and what looks like one in its prose."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from memdir.claims import context, forms
from memdir.claims.claim import BRANCH, COMMIT, NUMBER, PACKAGE, PATH, SYMBOL, TEXT, VERSION, Claim
from memdir.claims.context import Context, other_repository
from memdir.claims.context import retired as is_retired
from memdir.claims.forms import Form, bare_form, code_form, file_ending
from memdir.text.markdown import (
    FENCED,
    HIDDEN,
    MAX_TEXT_CHARACTERS,
    Block,
    blocks,
    destination,
)

GONE = (context.DENIED, context.OLD, context.PAST)
MAX_CLAIMS = 2_000  # claims of one memory
BEGINNING_CHARACTERS = 1_500  # in which a memory says that it is not valid any more
NEAR_CHARACTERS = 120  # within which a file and a symbol belong together
PROSE_ENDINGS = frozenset(("", "md", "mdx", "txt", "rst", "markdown", "pdf"))
MAX_TITLE_CHARACTERS = 200
MAX_SPAN_CHARACTERS = 400  # between two backticks; more is a backtick that was left open
_TOKEN = re.compile(r"[^\s\x01|]{2,240}")
_NUMBERED = re.compile(r"\b(?:PR|MR|[Ii]ssue|[Pp]ull request|GH) ?#\d{1,7}")
_RELEASE = re.compile(
    r"(?<![\w./-])([A-Za-z][\w.+-]{2,40}) (\d{1,4}(?:\.(?:\d{1,6}|x)){1,3})(?![\w/-])"
)
_LINK = re.compile(r"\]\(")
_WIKI = re.compile(r"\[\[[^\[\]\n]{1,200}\]\]")
_TRIM = "\"'“”‘’*_()[]{}<>,;:!?、。，；：（）「」"
_BRANCH_WORD = re.compile(
    r"\bbranch(?:es)?\b|\bworktree|\brebase|\bmerge[ds]?\b|\bcheckout\b", re.I
)
_CALLED = re.compile(r"\b(?:branch|branche|rama) [*_\"']{0,3}$", re.I)
# Words that stand before numbers in every text.
_NO_NAME = """
about above after approx around below chapter figure from least level line most over page part
phase score section step table than under until version
"""
NO_NAME = frozenset(_NO_NAME.split())


def find_claims(text: str, place: str = "") -> list[Claim]:
    """The claims of a memory in their order; `place` is its path below the repository, if any."""
    found: list[Claim] = []
    elsewhere = other_repository(text[:MAX_TEXT_CHARACTERS])
    retired = is_retired(text[:BEGINNING_CHARACTERS])
    for block in blocks(text):
        loose = elsewhere or block.kind == FENCED
        spans = list(islice(_spans(block), MAX_CLAIMS))
        around = Context(block, [item[:2] for item in spans if item[4]])
        files = [(item[0], item[3].names[0]) for item in spans if _is_code(item[3])]
        for start, end, span, form, bare in spans:
            if len(found) >= MAX_CLAIMS:
                return _consistent(found)
            near = _near(around, start, end, files) if form.kind == SYMBOL else ()
            claim = _claim(around, start, end, span, form, place)
            aside = claim.aside or (context.PAST if retired else "")
            found.append(replace(claim, aside=aside, bare=bare, loose=loose, near=near))
    return _consistent(found)


def _consistent(claims: list[Claim]) -> list[Claim]:
    """A memory that says once that something is gone knows it where it names it again."""
    gone = {_last(claim) for claim in claims if claim.aside in GONE}
    return [
        replace(claim, aside=context.KNOWN) if not claim.aside and _last(claim) in gone else claim
        for claim in claims
    ]


def _last(claim: Claim) -> str:
    """The name by which two mentions of one thing are known."""
    return claim.names[-1].rsplit("/", 1)[-1] if claim.names else claim.text


def _claim(around: Context, start: int, end: int, span: str, form: Form, place: str) -> Claim:
    line, column = around.block.place(start)
    aside, kind = form.aside, form.kind
    if not aside:
        aside = around.aside(start, end)
    names = form.names
    if kind == PATH and any(part in (".", "..") for name in names for part in name.split("/")):
        names, leaves = _resolved(names, place)
        aside = context.OUTSIDE if leaves else aside
    if kind in (SYMBOL, PACKAGE, PATH) and _is_branch(around, start, span):
        kind = BRANCH
    return Claim(kind, span, line, column, names, aside, form.parts)


def _is_code(form: Form) -> bool:
    """A file of code, not of prose."""
    return (
        form.kind == PATH and bool(form.names) and file_ending(form.names[0]) not in PROSE_ENDINGS
    )


def _near(around: Context, start: int, end: int, files: list[tuple[int, str]]) -> tuple[str, ...]:
    """The code files of the same sentence that stand close by."""
    low = bisect_left(files, (start - NEAR_CHARACTERS,))
    close = [item for item in files[low : low + 8] if item[0] <= end + NEAR_CHARACTERS]
    if not close:
        return ()
    low, high = around.sentence(start)
    return tuple(name for where, name in close if low <= where < high)


def _is_branch(around: Context, start: int, span: str) -> bool:
    if span in forms.BRANCHES or span.startswith("origin/"):
        return True
    if span.rstrip("/") in forms.PREFIXES and span.endswith("/"):
        return _BRANCH_WORD.search(around.text, *around.sentence(start)) is not None
    before = around.text[max(0, start - 16) : start]
    return not file_ending(span) and _CALLED.search(before) is not None


def _resolved(names: tuple[str, ...], place: str) -> tuple[tuple[str, ...], bool]:
    """Paths that climb, as paths below the repository; True if one leads out of it."""
    folder = posixpath.dirname(place)
    from_here = [name for name in names if name.startswith("../")]
    joined = [
        posixpath.normpath(f"{folder}/{item}" if item in from_here else item) for item in names
    ]
    leaves = (bool(from_here) and not place) or any(item.split("/")[0] == ".." for item in joined)
    return (() if leaves else tuple(joined)), leaves


Span = tuple[int, int, str, Form, bool]


def _spans(block: Block) -> Iterator[Span]:
    """Start, end, text, form and whether it stood bare, in the order of the text."""
    if block.kind == FENCED:
        yield from _words(block, block.text)
        return
    rest = list(block.masked)
    found = list(_code(block))
    titles: list[tuple[int, int]] = []
    for start, end, target in _links(block):
        if target.endswith(".md") and "/" not in target:
            titles.append(
                (block.masked.rfind("[", max(0, start - MAX_TITLE_CHARACTERS), start), start)
            )
        form = bare_form(target) or (code_form(target) if "/" in target else None)
        if form is not None and not target.startswith("#"):
            found.append((start, end, target, form, True))
        rest[start:end] = HIDDEN * (end - start)
    for pattern in (_WIKI, _NUMBERED, _RELEASE):
        for match in pattern.finditer("".join(rest)):
            form = _special(pattern, match)
            if form is not None:
                found.append((match.start(), match.end(), match[0], form, True))
                rest[match.start() : match.end()] = HIDDEN * len(match[0])
            elif pattern is _WIKI:
                rest[match.start() : match.end()] = HIDDEN * len(match[0])
    found += (item for item in _words(block, "".join(rest)) if not _is_title(item, titles))
    yield from sorted(found, key=lambda item: (item[0], item[1]))


def _is_title(span: Span, titles: list[tuple[int, int]]) -> bool:
    """A link to a memory whose title is one word: that is its name, not one of the code."""
    position = bisect_left(titles, span[0], key=lambda title: title[1])
    whole = position < len(titles) and titles[position] == (span[0] - 1, span[1] + 2)
    return whole and span[3].kind == SYMBOL


def _special(pattern: re.Pattern[str], match: re.Match[str]) -> Form | None:
    if pattern is _NUMBERED:
        return Form(NUMBER, aside=context.ELSEWHERE)
    if pattern is _RELEASE and match[1].lower() not in NO_NAME:
        return Form(VERSION, (match[1],), aside=context.NUMBERED)
    return None


def _code(block: Block) -> Iterator[Span]:
    for start, end in block.spans:
        if end - start > MAX_SPAN_CHARACTERS:
            continue
        ticks = len(block.text[start:end]) - len(block.text[start:end].lstrip("`"))
        text = " ".join(block.text[start + ticks : end - ticks].split())
        if text:
            yield start, end, text, code_form(text), False


def _links(block: Block) -> Iterator[tuple[int, int, str]]:
    """The targets of Markdown links."""
    for match in _LINK.finditer(block.masked):
        target, end = destination(block.text, match.end())
        if end > 0 and target and HIDDEN not in block.masked[match.end() : end]:
            yield match.end(), end, target


def _words(block: Block, text: str) -> Iterator[Span]:
    """Bare words with a form of their own."""
    for match in _TOKEN.finditer(text):
        start, word = match.start(), match[0]
        struck = 2 * word.startswith("~~")
        start += struck + len(word[struck:]) - len(word[struck:].lstrip(_TRIM + "."))
        if start > match.start() and text[start - 1] == ".":
            start -= 1  # `.github/x.yml`
        if text.startswith("/", start) and text[start - 1 : start] == HIDDEN:
            start += 1  # `a`/b/c: a list, not a path from the root
        word = _trimmed(text[start : match.end()])
        if len(word) < 2:
            continue
        form = bare_form(word)
        if form is not None:
            yield start, start + len(word), word, form, True
        elif "/" in word:
            yield from _listed(start, word)


def _trimmed(word: str) -> str:
    """Without the marks around it; `name()` keeps its parentheses, `docs/.` loses its stop."""
    while word and (word[-1] in _TRIM or word[-1] == "."):
        if word.endswith("()") or (word[-1] in ")]}" and word.count("([{"[")]}".index(word[-1])])):
            break
        word = word[:-1]
    if word.endswith("~~"):
        return _trimmed(word.rstrip("~"))
    return word.removesuffix("'s").removesuffix("’s")


def _listed(start: int, word: str) -> Iterator[Span]:
    """`Process()/URLSession/daemon.js`: each on its own."""
    for part in word.split("/"):
        form = bare_form(part) if len(part) > 1 else None
        if form is not None and form.kind not in (COMMIT, TEXT):
            yield start, start + len(part), part, form, True
        start += len(part) + 1
