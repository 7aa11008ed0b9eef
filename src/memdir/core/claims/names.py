"""The names in a span: paths without line numbers and with their braces spread, identifiers."""

from __future__ import annotations

import re

from memdir.core.claims import asides, tables

MOST_NAMES = 16  # that one span may spread into
DEEPEST = 40  # segments of a path
IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]{0,120}")
_PARTED = re.compile(r"::|->|\?\.|[.#]")
_LINES = re.compile(r"L?\d[\d,:~+–-]{0,40}(?:L\d{1,6})?")
_PLACEHOLDER = re.compile(
    r"<[^<>]{0,60}>|\.\.\.|…|\$\{|\{\{|\{[^{},]{0,40}\}|\$[A-Z]"
    r"|(?<![A-Za-z0-9])(?:X{2,8}|N{2,8}|YYYY|foo|bar|baz|path/to|your[-_]|my[-_])(?![a-z])"
)
_SEGMENT = re.compile(r"[^\s\"'`<>|;:!\\^&?]{1,120}(?: [^\s\"'`<>|;:!\\^&?]{1,120}){0,6}")
_BRACES = re.compile(r"\{([^{}]{1,160})\}")


def placeholder(text: str) -> bool:
    """`src/<name>.ts`, `docs/…/x.md`, `YYYY-MM-DD.md`: to be filled in by the reader."""
    return _PLACEHOLDER.search(text) is not None


def file_ending(path: str) -> str:
    """The ending that makes a file of the last segment; empty for a folder or a word."""
    path = without_lines(path)[0]
    name = path.rstrip("*").rsplit("/", 1)[-1]
    if name in tables.WHOLE_NAMES:
        return name.lower()
    stem, dot, ending = name.rpartition(".")
    ending = ending.lower().rstrip("})")
    if not dot:
        return ""
    if not stem:
        return name[1:] if len(name) > 2 and name[1:].replace("-", "").isalnum() else ""
    if not re.fullmatch(r"[\w.@+*{},()\[\]$ -]{1,160}", stem):
        return ""
    if ending in tables.WEAK_ENDINGS:
        return ending if "/" in path or "." in stem or "-" in stem else ""
    return ending if ending in tables.ENDINGS else ""


def without_lines(text: str) -> tuple[str, str]:
    """A path without `:73-77`, `#L12`, `::test_name` or `:name`, and the name that followed."""
    path, mark, rest = text.partition("::")
    if mark and IDENTIFIER.match(rest):
        return path, rest.split("::")[-1].split("[")[0].rstrip("()")
    path, mark, rest = text.partition(":")
    if mark and _LINES.fullmatch(rest):
        return path, ""
    if mark and IDENTIFIER.fullmatch(rest.rstrip("()")) and "." in path:
        return path, rest.rstrip("()")
    path, mark, rest = text.partition("#")
    return (path, "") if mark and "." in path else (text, "")


def path_names(text: str) -> tuple[tuple[str, ...], tuple[str, ...], str] | None:
    """Names that must all be there, parts that may stand for them, an aside; None for no path."""
    text = text.strip("\"'")
    path, symbol = without_lines(text)
    if not path or path.count("/") > DEEPEST or "//" in path or "()" in path:
        return None
    segments = [one for one in path.split("/") if one]
    if not segments or ("/" not in path and not file_ending(path)):
        return None
    if placeholder(path):
        return (), (), asides.PLACEHOLDER
    if not all(_SEGMENT.fullmatch(one) for one in segments):
        return None
    if "/" in path and not any(any(map(str.isalnum, one)) for one in segments):
        return None
    names = [_plain(one) for one in spread(path)]
    if any("*" in name for name in names):
        folders = tuple(dict.fromkeys(filter(None, (_fixed(name) for name in names))))
        return tuple(names), folders, ""
    listed = segments if len(segments) > 1 and all(file_ending(one) for one in segments) else []
    return tuple(filter(None, names)), (*listed, *(["::" + symbol] if symbol else [])), ""


def spread(path: str) -> list[str]:
    """`a.{py,pyi}` -> `a.py`, `a.pyi`; not more than a few."""
    found = _BRACES.search(path)
    if found is None:
        return [path]
    before, after = path[: found.start()], path[found.end() :]
    spread_out: list[str] = []
    for choice in found[1].split(",")[:MOST_NAMES]:
        joined = f"{before}{choice.strip()}{after}"
        spread_out += spread(joined) if "{" in joined else [joined]
        if len(spread_out) >= MOST_NAMES:
            break
    return spread_out[:MOST_NAMES]


def _plain(path: str) -> str:
    """Without `./` before and `/` behind."""
    while path.startswith("./"):
        path = path[2:]
    return path.strip("/")


def _fixed(pattern: str) -> str:
    """The folder in which a pattern begins to vary."""
    head = pattern.split("*", 1)[0]
    return head.rpartition("/")[0]


def symbol_names(text: str) -> tuple[str, ...]:
    """The identifiers of `a.b::c(…)`, `Vec<T>`, `name!()`; none for what is no such thing."""
    head = text.split("(", 1)[0].split("<", 1)[0].split("[", 1)[0].rstrip("!?*&:")
    head = head.lstrip("@$&*.#") if head[:1] in "@$&*.#" else head
    parts = _PARTED.split(head)
    if not head or len(parts) > 8 or not all(IDENTIFIER.fullmatch(part) for part in parts):
        return ()
    return tuple(parts)


def stem(path: str) -> str:
    """A file without its ending: what it is called once it has become a folder."""
    return path[: -len(file_ending(path)) - 1]
