"""Slugs, titles, wildcards, "which memory is meant"."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from memdir.errors import BadInput, Finding, Missing, Unwritable
from memdir.hot import types
from memdir.hot.memory import Memory, stem
from memdir.text.patterns import pattern
from memdir.text.secrets import find_secrets

# Names with wildcards, for commands that take many memories at once.

WILD = "*?["


def spread(names: Sequence[str], paths: Iterable[str]) -> list[str]:
    """The names; one with a wildcard becomes every path that it matches, by path or by stem."""
    there = list(dict.fromkeys(paths))
    found: list[str] = []
    for name in names:
        if name in there or not any(mark in name for mark in WILD):
            found.append(name)
            continue
        matching = [path for path in there if _matches(path, name)]
        if not matching:
            raise Missing(f"nothing matches {name[:80]!r}", next="memdir list shows what there is")
        found += matching
    return list(dict.fromkeys(found))


def _matches(path: str, pattern: str) -> bool:
    return fnmatchcase(path, pattern) or fnmatchcase(stem(path), pattern.removesuffix(".md"))


# Names: slugs for files, labels for people, and which memory somebody means.

MAX_NAME = 80  # characters
_DEVICES = [f"{device}{number}" for device in ("com", "lpt") for number in range(10)]
RESERVED = frozenset(("memory", "readme", "index", "con", "prn", "aux", "nul", *_DEVICES))
_SLUG = pattern(r"[a-z0-9][a-z0-9_-]*\Z")
_OTHER = pattern(r"[^a-z0-9]+")
_APOSTROPHE = pattern(r"(?<=\w)['’`´](?=\w)")  # "don't" is one word
SUGGESTED_WORDS = 8
# A name that ends with one of these was cut in the middle of a phrase.
_UNFINISHED = frozenset(
    (
        *("a", "an", "the", "of", "to", "in", "on", "at", "by", "for", "from", "with", "and", "or"),
        *("but", "is", "are", "was", "be", "that", "this", "it", "as"),
    )
)


def slugify(title: str, separator: str = "-", longest: int = MAX_NAME) -> str:
    """A name from any text: ASCII letters and digits, words joined; may leave nothing."""
    whole = _APOSTROPHE.sub("", title)
    plain = unicodedata.normalize("NFKD", whole).encode("ascii", "ignore").decode().lower()
    slug = _OTHER.sub(separator, plain).strip(separator)
    if len(slug) > longest:
        slug = slug[:longest].rpartition(separator)[0] or slug[:longest]
    return slug


def name_for(title: str, type: str, separator: str = "-") -> str:
    """A name for a draft that has none; one without Latin letters or with a secret is hashed."""
    words = [word for word in title.split() if "://" not in word]
    first = words[:SUGGESTED_WORDS]
    while len(words) > len(first) > 1 and first[-1].lower() in _UNFINISHED:
        first.pop()
    slug = slugify(" ".join(first), separator, MAX_NAME - 20)
    if not slug or slug in RESERVED or find_secrets(title):
        slug = f"{type}-{hashlib.sha256(title.encode('utf-8', 'replace')).hexdigest()[:8]}"
    return slug


def check_name(name: str) -> str:
    """The name, if it can be a file on every system; else BadInput with a suggestion."""
    reason = ""
    if not name.strip():
        reason = "is empty"
    elif len(name) > MAX_NAME:
        reason = f"is longer than {MAX_NAME} characters"
    elif name.lower() in RESERVED:
        reason = "is reserved"
    elif not _SLUG.match(name):
        reason = "may hold only a-z, 0-9, - and _, and starts with a letter or digit"
    if not reason:
        return name
    for secret in find_secrets(name):
        raise BadInput(f"name looks like a secret ({secret.rule})", next="choose another --name")
    suggestion = slugify(name)
    fine = bool(suggestion) and suggestion not in RESERVED
    raise BadInput(
        f"name {name[:60]!r} {reason}",
        next=f"use --name {suggestion}" if fine else "choose another --name",
    )


def title_for(memory: Memory) -> str:
    """What a pointer calls a memory: its label, or its file's name in words."""
    label = memory.name
    if not _SLUG.match(label.lower()) or label != label.lower():
        return label.removesuffix(".md")
    words = _without_type(label).replace("_", " ").replace("-", " ").strip() or label
    return words[0].upper() + words[1:]


def find(wanted: str, memories: Iterable[Memory], skipped: Iterable[Finding] = ()) -> Memory:
    """The memory somebody means: by path, stem, label, stem without its type; `-` is `_`.

    One that a scan has skipped is not missing: then the reason is said.
    """
    everything = list(memories)
    given = wanted.strip().removeprefix("./")
    label = given.removesuffix(".md")
    for key in (
        lambda memory: memory.path in (given, given + ".md", given + ".json"),
        lambda memory: stem(memory.path) == label,
        lambda memory: memory.name == given,
        lambda memory: _same(stem(memory.path), label) or _same(memory.name, given),
        lambda memory: _same(_without_type(stem(memory.path)), label),
    ):
        found = [memory for memory in everything if key(memory)]
        if len(found) == 1:
            return found[0]
        if found:
            several = ", ".join(memory.path for memory in found[:5])
            raise BadInput(f"{wanted!r} means several memories: {several}", next="give the path")
    for finding in skipped:
        if means(wanted, finding.path):
            raise Unwritable(finding.message, path=finding.path, next=finding.fix)
    near = [memory.path for memory in everything if _same(given, memory.path[: len(given)])]
    near = near or _close(label, everything)
    hint = f"did you mean {near[0]}?" if given and near else "memdir list shows them"
    raise Missing(f"there is no memory {wanted[:80]!r}", next=hint)


def _close(label: str, memories: Iterable[Memory]) -> list[str]:
    """The path of the memory whose name is a slip of the pen away."""
    from difflib import get_close_matches  # only a mistake needs it

    paths = {stem(memory.path): memory.path for memory in memories}
    return [paths[one] for one in get_close_matches(label[:80], list(paths), 1, 0.75)]


def find_path(wanted: str, paths: Iterable[str]) -> str:
    """The path somebody means among these; the first of several equal ones."""
    everything = list(dict.fromkeys(paths))
    given = wanted.strip().removeprefix("./")
    for path in everything:
        if path in (given, given + ".md", given + ".json"):
            return path
    found = [path for path in everything if means(wanted, path)]
    if not found:
        raise Missing(
            f"there is no {wanted[:80]!r} there", next="memdir log, or memdir restore --list"
        )
    if len(found) > 1:
        several = ", ".join(found[:5])
        raise BadInput(f"{wanted!r} means several files: {several}", next="give the whole path")
    return found[0]


def means(wanted: str, path: str) -> bool:
    """Is this the file somebody calls so: by path, stem, or stem without its type?"""
    given = wanted.strip().removeprefix("./").removesuffix(".md")
    file = stem(path)
    whole = path.removesuffix(".md").removesuffix(".json") == given.removesuffix(".json")
    return whole or _same(file, given) or _same(_without_type(file), given)


def _same(left: str, right: str) -> bool:
    return left.replace("-", "_").lower() == right.replace("-", "_").lower()


def _without_type(name: str) -> str:
    for type in types.names():
        for mark in ("_", "-"):
            if name.startswith(type + mark) and len(name) > len(type) + 1:
                return name[len(type) + 1 :]
    return name


# The name of a record's file, from its title.

MAX_SLUG = MAX_NAME
_DIGITS = 8  # of the hash that stands for a title without Latin letters


def slug_for(title: str, type: str) -> str:
    """ASCII, small letters, joined by `-`, at most 80; a title that leaves nothing is hashed."""
    slug = slugify(title, "-", MAX_SLUG)
    if slug and slug not in RESERVED and not find_secrets(title):
        return slug
    digest = hashlib.sha256(title.encode("utf-8", "replace")).hexdigest()[:_DIGITS]
    return f"{type.replace('_', '-')}-{digest}"
