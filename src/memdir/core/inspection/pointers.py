"""The index against its limits and against the files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized

from memdir.core.finding import Finding
from memdir.core.index import Survey
from memdir.core.loading import MAX_CHARACTERS, MAX_LINES, POINTER_AIM
from memdir.core.pointer import Pointer

SAYS_NOTHING = 20  # characters
TITLE_WORDS = 3  # of a pointer's hook; more of them are knowledge
REBUILD = "memdir index --rebuild"
RESTRUCTURE = "memdir restructure --dry-run"


def inspect_index(
    survey: Survey, path: str, lines: Sequence[str], indexed: bool
) -> Iterator[Finding]:
    """Everything about an index that a person should know; `indexed` where there is one."""
    if survey.lines > MAX_LINES or survey.characters > MAX_CHARACTERS:
        size = f"{survey.lines:,} lines, {survey.characters:,} characters"
        limit = f"an agent sees {MAX_LINES} lines, {MAX_CHARACTERS:,} characters"
        yield Finding("index-too-long", path, f"the index has {size}; {limit}", RESTRUCTURE)
    for first, last in _runs(survey.inline):
        if last == first and _only_leads(lines[first - 1 : first]):
            continue
        where = f"line {first} is" if first == last else f"lines {first} to {last} are"
        message = f"{where} content; every session pays for it, a memory would be read when needed"
        yield Finding("inline-content", path, message, RESTRUCTURE, first)
    for number in survey.overlong:
        message = f"the pointer has more than {POINTER_AIM} characters"
        yield Finding("long-pointer", path, message, RESTRUCTURE, number)
    for pointer in survey.dangling:
        message = f"it points at {pointer.target}, which is not there"
        # A rebuild drops the line; what it says would go with it.
        fix = RESTRUCTURE if _says_more(pointer, lines) else REBUILD
        yield Finding("dangling-pointer", path, message, fix, pointer.line)
    for pointer in survey.no_memories:
        message = f"it points at {pointer.target}, which is no memory"
        yield Finding("no-memory", path, message, "memdir index --check", pointer.line)
    for pointer in survey.duplicates:
        message = f"{pointer.target} has an entry above already"
        yield Finding("repeated-pointer", path, message, RESTRUCTURE, pointer.line)
    for orphan in survey.orphans if indexed else ():
        message = "no pointer of the index leads here, so an agent may never open it"
        yield Finding("orphan", orphan, message, REBUILD)


def inspect_no_index(path: str, memories: Sized) -> Iterator[Finding]:
    """Memories, and nothing that leads to them."""
    if memories:
        many = "1 memory" if len(memories) == 1 else f"{len(memories):,} memories"
        message = f"there is no {path}, so nothing tells an agent of the {many} here"
        yield Finding("no-index", path, message, REBUILD)


def _says_more(pointer: Pointer, lines: Sequence[str]) -> bool:
    """Does the line hold more than a title?"""
    line = lines[pointer.line - 1] if pointer.line <= len(lines) else ""
    said = [word for word in (pointer.hook or line[pointer.end :]).split() if word.strip("-–—|:*")]
    return len(said) > TITLE_WORDS


def _only_leads(lines: Sequence[str]) -> bool:
    """Does a single line lead to the list below it, and say nothing itself?"""
    return all(len(line) < SAYS_NOTHING or line.rstrip(" *_").endswith(":") for line in lines)


def _runs(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Neighbouring numbers as first and last."""
    first = last = 0
    for number in numbers:
        if first and number != last + 1:
            yield first, last
            first = 0
        first, last = first or number, number
    if first:
        yield first, last
