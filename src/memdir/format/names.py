"""Names: slugs for files, labels for people, and lookup by name."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from memdir.errors import BadInput, Finding, Missing, Unwritable
from memdir.format.outline import title_without_type
from memdir.hot.memory import Memory, read_memory, stem
from memdir.hot.safe import make_visible
from memdir.text import FILLERS, pattern
from memdir.text.secrets import find_secrets, hide_secrets

WILD = "*?["


def expand_names(names: Sequence[str], paths: Iterable[str]) -> list[str]:
    there = list(dict.fromkeys(paths))
    chosen: list[str] = []
    for name in names:
        if name in there or not any(mark in name for mark in WILD):
            chosen.append(name)
            continue
        label = name.removesuffix(".md")
        matching = [p for p in there if fnmatchcase(p, name) or fnmatchcase(stem(p), label)]
        if not matching:
            raise Missing(f"nothing matches {name[:80]!r}", next="memdir list shows what there is")
        chosen += matching
    return list(dict.fromkeys(chosen))


MAX_NAME = 80  # characters
_NUMBERED = [f"{device}{number}" for device in ("com", "lpt") for number in range(10)]
_DEVICES = frozenset(("con", "prn", "aux", "nul", *_NUMBERED))
RESERVED = _DEVICES | {"memory", "readme", "index"}
MAX_PATH_BYTES = 400  # below a store; what is in folders without end is reached by no program
_SPECIAL = frozenset('<>:"|?*$\\\n\t')  # to Windows, a shell or a line of text
_SLUG = pattern(r"[a-z0-9][a-z0-9_-]*\Z")
_OTHER = pattern(r"[^a-z0-9]+")
_APOSTROPHE = pattern(r"(?<=\w)['’`´](?=\w)")  # "don't" is one word
NAME_WORDS = 5
_CLAUSE_ENDS = ",;:.!?"
_NEW_CLAUSE = frozenset(
    ("although", "because", "but", "if", "instead", "since", "so", "unless", "when", "which")
)
_EDGES = ' \t.,;:!?"()[]{}<>*_`“”…。，'


def slugify(title: str, separator: str = "-", longest: int = MAX_NAME) -> str:
    whole = _APOSTROPHE.sub("", title)
    plain = unicodedata.normalize("NFKD", whole).encode("ascii", "ignore").decode().lower()
    slug = _OTHER.sub(separator, plain).strip(separator)
    if len(slug) > longest:
        slug = slug[:longest].rpartition(separator)[0] or slug[:longest]
    return slug


def memory_name(title: str, type: str, separator: str = "-") -> str:
    """At most five words of the first clause; those that tell little go first, folders too."""
    words = [word.rpartition("/")[2] or word for word in title.split() if "://" not in word]
    if len(words) > NAME_WORDS:
        telling: list[str] = []
        for word in words:
            plain = word.strip(_EDGES).replace("’", "'").lower()
            if len(telling) > 2 and plain in _NEW_CLAUSE:
                break
            telling += [] if plain in FILLERS else [word]
            if len(telling) > 2 and word[-1] in _CLAUSE_ENDS:
                break
        words = (telling if len(telling) > 2 else words)[:NAME_WORDS]
    return _or_hash(slugify(" ".join(words), separator, MAX_NAME - 20), title, type)


def memory_slug(title: str, type: str) -> str:
    return _or_hash(slugify(title), title, type.replace("_", "-"))


def _or_hash(slug: str, title: str, type: str) -> str:
    """A hash replaces a slug that is empty or contains a secret."""
    if slug and slug not in RESERVED and not find_secrets(title):
        return slug
    return f"{type}-{hashlib.sha256(title.encode('utf-8', 'replace')).hexdigest()[:8]}"


def check_memory_name(name: str) -> str:
    """Raises BadInput with a suggestion if the name is not a valid file name on every system."""
    for secret in find_secrets(name):
        raise BadInput(f"name looks like a secret ({secret.rule})", next="choose another --name")
    if not name.strip():
        reason = "is empty"
    elif len(name) > MAX_NAME:
        reason = f"is longer than {MAX_NAME} characters"
    elif name.lower() in RESERVED:
        reason = "is reserved"
    elif not _SLUG.match(name):
        reason = "may hold only a-z, 0-9, - and _, and starts with a letter or digit"
    else:
        return name
    slug = slugify(name)
    fine = slug and slug not in RESERVED
    raise BadInput(
        f"name {name[:60]!r} {reason}",
        next=f"use --name {slug}" if fine else "choose another --name",
    )


def fold_paths(paths: Iterable[str]) -> dict[str, str]:
    """Every path and folder by what a system makes of it that knows no case or joins accents."""
    whole: dict[str, str] = {}
    for path in paths:
        parts = path.split("/")
        for size in range(1, len(parts) + 1):
            part = "/".join(parts[:size])
            whole.setdefault(_fold(part), part)
    return whole


def why_not_portable(path: str, standing: Mapping[str, str]) -> str:
    """Why a new file may not have this path, given `fold_paths` of the others; empty if it may."""
    if len(path.encode("utf-8", "replace")) > MAX_PATH_BYTES:
        return f"its path has more than {MAX_PATH_BYTES} bytes; choose a shorter one"
    for part in path.split("/"):
        if part.split(".")[0].rstrip().lower() in _DEVICES:
            return f"{part!r} is a device on some systems; choose another name"
        if not _SPECIAL.isdisjoint(part) or part != part.strip() or part[-1:] == ".":
            return f"{part[:60]!r} is no file name on some systems; use letters, digits, - and _"
        if part[:1] == "-":
            return f"programs take {part[:60]!r} for an option; choose another name"
        if make_visible(part) != part:
            return "its name holds hidden characters; choose another name"
    for mine in fold_paths([path]).values():
        if (other := standing.get(_fold(mine), mine)) != mine:
            return f"some systems take {mine!r} for {other!r}; choose another name"
    return ""


def _fold(path: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", path).casefold())


def memory_title(memory: Memory, *, plain: bool = False) -> str:
    """A slug as words, each as the description writes it: `dont` is "Don't"; `plain`: as 0.1.0."""
    label = memory.name
    if not _SLUG.match(label.lower()) or label != label.lower():
        return label.removesuffix(".md")
    parts = title_without_type(label).replace("_", "-").strip("-").split("-")
    said = [] if plain else [word.strip(_EDGES) for word in memory.description.split()]
    written = {slugify(word): word for word in reversed(said)}
    words = []
    while parts:
        sizes = [size for size in (3, 2, 1) if "-".join(parts[:size]) in written]
        size = sizes[0] if sizes else 1
        words.append(written.get("-".join(parts[:size]), parts[0]))
        parts = parts[size:]
    title = " ".join(words) or label
    return title[0].upper() + title[1:]


def pointer_title_and_hook(memory: Memory) -> tuple[str, str]:
    """Title and hook of a pointer; a title that is the whole description needs no hook."""
    title, hook = memory_title(memory), memory.description
    if slugify(title) == slugify(hook) and len(slugify(hook)) >= len(hook) // 2:
        return hook.rstrip(_EDGES), ""
    return title, hook


def find_named_memory(
    wanted: str,
    memories: Iterable[Memory],
    skipped: Iterable[Finding] = (),
    hint: str = "memdir list shows them",
) -> Memory:
    """Matches path, stem, label, stem without its type; `-` equals `_`.

    If a scan skipped the memory, the error gives that reason.
    """
    everything = list(memories)
    given = wanted.strip().removeprefix("./")
    label = given.removesuffix(".md")
    for key in (
        lambda memory: memory.path in (given, given + ".md", given + ".json"),
        lambda memory: stem(memory.path) == label,
        lambda memory: memory.name == given,
        lambda memory: _same(stem(memory.path), label) or _same(memory.name, given),
        lambda memory: _same(title_without_type(stem(memory.path)), label),
    ):
        meant = [memory for memory in everything if key(memory)]
        if len(meant) == 1:
            return meant[0]
        if meant:
            several = ", ".join(memory.path for memory in meant[:5])
            raise BadInput(f"{wanted!r} means several memories: {several}", next="give the path")
    for finding in skipped:
        if memory_name_means(wanted, finding.path):
            raise Unwritable(finding.message, path=finding.path, next=finding.fix)
    near = [memory.path for memory in everything if _same(given, memory.path[: len(given)])]
    if not near:
        from difflib import get_close_matches  # only needed after a typo

        paths = {stem(memory.path): memory.path for memory in everything}
        near = [paths[name] for name in get_close_matches(label[:80], list(paths), 1, 0.75)]
    hint = f"did you mean {near[0]}?" if given and near else hint
    raise Missing(f"there is no memory {hide_secrets(wanted)[:80]!r}", next=hint)


def find_named_path(wanted: str, paths: Iterable[str]) -> str:
    everything = [read_memory(path, b"", 0) for path in dict.fromkeys(paths)]
    return find_named_memory(wanted, everything, hint="memdir log, or memdir restore --list").path


def memory_name_means(wanted: str, path: str) -> bool:
    given = wanted.strip().removeprefix("./").removesuffix(".md")
    file = stem(path)
    whole = path.removesuffix(".md").removesuffix(".json") == given.removesuffix(".json")
    return whole or _same(file, given) or _same(title_without_type(file), given)


def _same(left: str, right: str) -> bool:
    return left.replace("-", "_").lower() == right.replace("-", "_").lower()
