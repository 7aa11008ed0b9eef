"""The commands that only look, with the options that do no more than that.

What is not listed is denied: also short forms of long options, and options that follow links, wait,
run, write, or read a list of names from a file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

NUMBER, TEXT, PATH = "number", "text", "path"
_NUMBER = re.compile(r"[+-]?\d{1,9}[bkKMG]?", re.ASCII)
_NEWER = re.compile(r"-newer[aBcm][aBcmt]", re.ASCII)


@dataclass(frozen=True)
class Command:
    """`flags` are letters; `valued` and `long` say what stands behind an option, "" for nothing."""

    flags: str
    valued: dict[str, str] = field(default_factory=dict)
    long: dict[str, str] = field(default_factory=dict)
    counts: bool = False  # takes a bare -20
    needs: int = 0  # operands, at least
    pattern: bool = False  # its first operand is no path


@dataclass(frozen=True)
class Parsed:
    """Options as they are to be given, and the paths that are still to be looked into."""

    options: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()  # of find: they stand behind the paths
    inside: tuple[str, ...] = ()  # further paths, which stand in the tests
    reason: str = ""


def _all(names: str, kind: str = "") -> dict[str, str]:
    return dict.fromkeys(names.split(), kind)


def _long(plain: str, **valued: str) -> dict[str, str]:
    return _all(plain) | {name.replace("_", "-"): kind for name, kind in valued.items()}


# Whole lines alone: of a piece of a line nobody can tell that it is a secret's.
_LINES = Command("qv", {"n": NUMBER}, _long("", lines=NUMBER), True, 1)
COMMANDS = {
    "ls": Command(
        "1aAdFghiklnoprRsStuX",
        {},
        _long("all almost-all directory human-readable recursive reverse size", sort=TEXT),
    ),
    "cat": Command("AbeEnstTuv", {}, _long("number number-nonblank show-all"), needs=1),
    "stat": Command("t", {"c": TEXT}, _long("terse", format=TEXT, printf=TEXT), needs=1),
    "wc": Command("clmwL", {}, _long("lines words bytes chars max-line-length"), needs=1),
    "head": _LINES,
    "tail": _LINES,
    "grep": Command(
        "EFGHILchilnqrsvwx",
        {"A": NUMBER, "B": NUMBER, "C": NUMBER, "m": NUMBER, "e": TEXT},
        _long(
            "ignore-case invert-match word-regexp line-regexp count files-with-matches "
            "files-without-match quiet no-messages line-number with-filename "
            "no-filename recursive extended-regexp fixed-strings basic-regexp",
            regexp=TEXT, max_count=NUMBER, context=NUMBER, after_context=NUMBER,
            before_context=NUMBER, include=TEXT, exclude=TEXT, exclude_dir=TEXT,
        ),
        counts=True,
        pattern=True,
    ),
}  # fmt: skip
# What find may ask of a file, and what stands behind the question.
TESTS = _all(
    "-print -empty -o -or -a -and -not ! ( ) -prune -readable -true -false -depth -daystart",
) | {
    **_all("-name -iname -path -ipath -type -size -perm -user -group", TEXT),
    **_all("-maxdepth -mindepth -mtime -mmin -atime -ctime", NUMBER),
    **_all("-newer -samefile", PATH),
}
NAMES = (*COMMANDS, "find")


def parse(words: tuple[str, ...]) -> Parsed:
    """The parts of a command that only looks; a reason for any other."""
    name, *rest = words
    if name == "find":
        return _find(rest)
    if name not in COMMANDS:
        return Parsed(reason=f"only {' '.join(NAMES)} may be run")
    return _plain(name, COMMANDS[name], rest)


def _plain(name: str, command: Command, rest: list[str]) -> Parsed:
    options: list[str] = []
    operands: list[str] = []
    pattern = command.pattern
    while rest:
        word = rest.pop(0)
        if word == "--":
            operands += rest
            break
        if word[:1] != "-":
            operands.append(word)
            continue
        taken = _option(command, word, rest)
        if taken is None:
            return Parsed(reason=f"{name} {word[:40]} is not allowed")
        options += taken
        # Two texts in one option are the letter and the pattern itself.
        pattern = pattern and not (taken[0] == "-e" or taken[0].startswith("--regexp="))
    if pattern:
        if not operands:
            return Parsed(reason=f"{name} needs a pattern")
        options += ["-e", operands.pop(0)]
    if len(operands) < command.needs:
        return Parsed(reason=f"{name} needs a file")
    return Parsed(tuple(options), tuple(operands))


def _option(command: Command, word: str, rest: list[str]) -> list[str] | None:
    """The option as it is to be given, taking its value from the rest; None if it may not be."""
    if word.startswith("--"):
        return _long_option(command, word[2:], rest)
    if command.counts and word[1:].isdecimal() and _NUMBER.fullmatch(word[1:]):
        return ["-n" if command is _LINES else "-C", word[1:]]
    letters = word[1:]
    taken: list[str] = []
    for at, letter in enumerate(letters):
        if letter in command.flags:
            taken.append(f"-{letter}")
        elif letter in command.valued:
            value = letters[at + 1 :] or (rest.pop(0) if rest else "")
            # The value comes first, where the caller looks for a pattern.
            return [f"-{letter}", value, *taken] if _fits(value, command.valued[letter]) else None
        else:
            return None
    return taken or None


def _long_option(command: Command, text: str, rest: list[str]) -> list[str] | None:
    name, equals, value = text.partition("=")
    kind = command.long.get(name)
    if kind is None or (equals and not kind):
        return None
    if not kind:
        return [f"--{name}"]
    if not equals:
        value = rest.pop(0) if rest else ""
    return [f"--{name}={value}"] if _fits(value, kind) else None


def _fits(value: str, kind: str) -> bool:
    return bool(_NUMBER.fullmatch(value)) if kind == NUMBER else bool(value)


def _find(rest: list[str]) -> Parsed:
    paths: list[str] = []
    while rest and rest[0][:1] not in ("-", "(", "!"):
        paths.append(rest.pop(0))
    tests: list[str] = []
    inside: list[str] = []
    while rest:
        word = rest.pop(0)
        kind = TESTS.get(word)
        if kind is None and _NEWER.fullmatch(word):
            kind = TEXT if word.endswith("t") else PATH
        if kind is None:
            return Parsed(reason=f"find {word[:40]} is not allowed")
        tests.append(word)
        if not kind:
            continue
        value = rest.pop(0) if rest else ""
        if not _fits(value, kind):
            return Parsed(reason=f"find {word} needs a {kind}")
        inside += [value] if kind == PATH else []
        tests.append(value)
    return Parsed((), tuple(paths), tuple(tests), tuple(inside))
