"""What a span of text is by its form alone: a path, a symbol, a command, … and what to look up."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from memdir.core.claim import (
    BRANCH,
    COMMAND,
    COMMIT,
    EXTENSION,
    FLAG,
    NUMBER,
    PACKAGE,
    PATH,
    ROUTE,
    SYMBOL,
    TEXT,
    URL,
    VERSION,
)
from memdir.core.claims import asides, tables
from memdir.core.claims.names import (
    IDENTIFIER,
    file_ending,
    path_names,
    placeholder,
    symbol_names,
)

LONGEST = 200  # characters of a span that names something; what is longer is quoted code
MOST_WORDS = 40  # of a command or phrase that are looked at
_URL = re.compile(r"(?:https?|ftp|ssh|git|wss?|file|postgres(?:ql)?|redis|mongodb)://\S{1,190}")
_NUMBER = re.compile(r"(?:[\w.-]{1,60}/[\w.-]{1,60})?#\d{1,7}")
_VERSION = re.compile(r"[v^~=<>]{0,3}\d{1,5}(?:\.(?:\d{1,9}|x|\*)){1,3}(?:[-+][\w.]{1,30})?")
_HEX = re.compile(r"[0-9a-f]{7,40}")
_KEBAB = re.compile(r"[a-z0-9]{1,40}(?:-[a-z0-9]{1,40}){1,8}")
_ENDING_ONLY = re.compile(r"\*{0,2}\.[A-Za-z0-9]{1,10}")
_METHODS = frozenset(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
_ASSIGNED = re.compile(r"[A-Z][A-Z0-9_]{0,60}=\S{0,100}")
_IMPORTED = re.compile(
    r"from ([A-Za-z_]\w{0,40}(?:\.[A-Za-z_]\w{0,40}){0,5}) import ([A-Za-z_]\w{0,60})"
)
_OPTIONED = re.compile(r"--?[A-Za-z][\w-]{0,40}")


@dataclass(frozen=True)
class Form:
    """Kind, what to look up (all of it), what may stand for it one by one, and why not."""

    kind: str
    names: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    aside: str = ""


def code_form(text: str) -> Form:
    """What stands in backticks; everything there has a form, be it that of quoted code."""
    if not text or len(text) > LONGEST or not text.isprintable():
        return Form(TEXT, aside=asides.CODE)
    if _URL.fullmatch(text):
        return Form(URL)
    if _NUMBER.fullmatch(text):
        return Form(NUMBER, aside=asides.ELSEWHERE)
    if text[0] == "-":
        return Form(FLAG, aside=asides.OPTION)
    if " " in text:
        return _phrase(text)
    return _word(text)


def _word(text: str) -> Form:
    if text[0] in "~%" or text[:2] == "$H" or text[1:3] == ":\\":
        return Form(PATH, aside=asides.OUTSIDE)
    if text[0] == "/":
        return _absolute(text)
    if _ENDING_ONLY.fullmatch(text) and text.lstrip("*.").lower() in tables.ENDINGS:
        return Form(EXTENSION, aside=asides.ENDING)
    if _VERSION.fullmatch(text):
        return Form(VERSION, (text,), aside=asides.NUMBERED)
    if _HEX.fullmatch(text) and not text.isdigit() and not text.isalpha():
        return Form(COMMIT, (text,))
    if text[0] == "@" and "/" in text:
        holder = placeholder(text)
        return Form(PACKAGE, (text,), aside=asides.PLACEHOLDER if holder else "")
    path = path_form(text)
    if path is not None:
        return path
    if _KEBAB.fullmatch(text):
        return Form(PACKAGE, (text,))
    names = symbol_names(text)
    return Form(SYMBOL, names) if names else Form(TEXT, aside=asides.CODE)


def path_form(text: str) -> Form | None:
    """A path below the repository, however it is written; None for what is no path."""
    first, _, rest = text.partition("/")
    if first in tables.PREFIXES and rest and "/" not in rest and not file_ending(text):
        return Form(BRANCH, (text,), (text,))
    found = path_names(text)
    if found is None:
        return None
    names, parts, aside = found
    if names and names[0].lower() in tables.PRODUCTS:
        aside = asides.EXTERNAL
    return Form(PATH, names, parts, aside)


def _absolute(text: str) -> Form:
    """From the root of a machine, of a site, or of the repository."""
    first, _, rest = text[1:].partition("/")
    if not first or first in tables.MACHINE:
        return Form(PATH, aside=asides.OUTSIDE)
    if placeholder(text):
        return Form(ROUTE, aside=asides.PLACEHOLDER)
    if file_ending(text):
        found = path_names(text[1:])
        return Form(PATH, *found) if found else Form(ROUTE)
    # What a client of ours calls /name lies in one of these files.
    named = (f"commands/{first}.md", f"skills/{first}/SKILL.md") if not rest else ()
    return Form(ROUTE, (), named)


def _phrase(text: str) -> Form:
    words = text.split()[:MOST_WORDS]
    while words and (words[0] in ("$", "sudo", "%", ">") or _ASSIGNED.fullmatch(words[0])):
        words.pop(0)
    if not words:
        return Form(TEXT, aside=asides.CODE)
    first = words[0]
    imported = _IMPORTED.fullmatch(" ".join(words))
    if imported is not None:
        return Form(SYMBOL, (*imported[1].split("."), imported[2]))
    if first in _METHODS:
        return Form(ROUTE)
    if "/" in first and first[:2] != "./" and first not in tables.TOOLS and "(" not in text:
        spaced = path_names(text)
        if spaced and not spaced[2] and (text[-1] == "/" or file_ending(text)):
            return Form(PATH, *spaced)
    if first in tables.TOOLS or first[:2] == "./" or _runs(words):
        return _command(words)
    names = [name for word in words for name in symbol_names(word.strip("#[](){},;&*\"'!=<>"))]
    telling = tuple(dict.fromkeys(name for name in names if distinctive(name)))[:4]
    return Form(SYMBOL, (), telling) if telling else Form(TEXT, aside=asides.CODE)


def _runs(words: list[str]) -> bool:
    """`audit --digest`, `tools/x.sh all`: a command of the project's own."""
    if file_ending(words[0]) and words[0].endswith((".sh", ".py", ".mjs", ".js", ".ts", ".ps1")):
        return True
    return bool(IDENTIFIER.fullmatch(words[0].replace("-", "_"))) and any(
        _OPTIONED.fullmatch(word.partition("=")[0]) for word in words[1:]
    )


def _command(words: list[str]) -> Form:
    """Scripts and targets that must be declared, and files that it is given."""
    first, rest = words[0], [word for word in words[1:] if word[0] != "-"]
    script = ""
    if first in tables.RUNNERS and rest:
        script = rest[1] if rest[0] in ("run", "run-script") and len(rest) > 1 else rest[0]
        if rest[0] != "run" and first not in ("make", "just", "task", "yarn", "pnpm", "bun"):
            script = rest[0] if rest[0] in ("test", "start") else ""
    files: list[str] = []
    away = first in ("rm", "mv", "rmdir") or (first == "git" and words[1:2] != ["add"])
    for word in [] if away else words:
        word = word.strip("\"'`,;()")
        if "/" in word and file_ending(word) and word[0] not in "-/~$" and "=" not in word:
            found = path_names(word)
            if found and not found[2]:
                files += [*found[0][:1], *(one for one in found[1] if one[:2] == "::")]
    names = (script,) if script and not placeholder(script) else ()
    aside = "" if names or files else asides.GENERIC
    return Form(COMMAND, names, tuple(files[:4]), aside)


def distinctive(name: str) -> bool:
    """True for a name that somebody made up: it has a hump, an underscore or a digit inside."""
    bare = name.strip("_$")
    if len(bare) < 4:
        return False
    humps = any(a.islower() and b.isupper() for a, b in pairwise(bare))
    return humps or "_" in bare or (any(map(str.isdigit, bare)) and not bare.isdigit())


def bare_form(text: str) -> Form | None:
    """A word of the prose that nobody put in backticks; None for a word like any other."""
    if len(text) > LONGEST or not text.isprintable():
        return None
    if _URL.fullmatch(text):
        return Form(URL)
    if _NUMBER.fullmatch(text):
        return Form(NUMBER, aside=asides.ELSEWHERE)
    if text[0] in "~$" or text[1:3] == ":\\":
        return Form(PATH, aside=asides.OUTSIDE) if "/" in text[:40] or "\\" in text[:40] else None
    if text[0] == "/":
        form = _absolute(text) if text.count("/") > 1 or file_ending(text) else None
        return form if form and (form.kind == PATH or text.isascii()) else None
    if text[0] in "-@#":
        return None
    if _VERSION.fullmatch(text) and (text[0] == "v" or text.count(".") > 1):
        return Form(VERSION, (text,), aside=asides.NUMBERED)
    if _HEX.fullmatch(text) and not text.isdigit() and not text.isalpha():
        return Form(COMMIT, (text,))
    ends = file_ending(text) or (text[-1] == "/" and text.isascii() and len(text) > 2)
    if ends:
        return path_form(text)
    names = symbol_names(text)
    if names and (distinctive(names[-1]) or text.endswith("()")):
        return Form(SYMBOL, names)
    return None
