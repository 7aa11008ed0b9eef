"""The index in the end: which pointer stands below which heading.

Headings that somebody wrote stay, with their pointers in their order. A plain list stays one;
where most of it is new, it gets one heading for each type, what an agent must not miss first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from memdir.core import index as index_text
from memdir.core import types
from memdir.core.loading import COMMENT, FRONT
from memdir.core.memory import Memory
from memdir.core.naming import title_for
from memdir.core.outline import (
    BLANK,
    HEADING,
    INTRO,
    POINTER,
    RULE,
    Line,
    Lookup,
    block_end,
    read_outline,
    write_outline,
)
from memdir.core.pointer import write_pointer
from memdir.core.restructuring.titles import cased
from memdir.core.restructuring.topics import Placed
from memdir.core.restructuring.work import ARRANGED, POINTED, Work

ORDER = ("feedback", "user", "value", "project", "reference")


def line_for(memory: Memory) -> str:
    """The pointer that we write for a memory."""
    title = cased(title_for(memory), memory.head)
    return write_pointer(title, memory.path, memory.description)


def close_gaps(lines: Sequence[Line], gone: set[int]) -> list[Line]:
    """The lines that stay: no rules or blank lines in a row where content was taken out."""
    kept: list[Line] = []
    hole = False
    for at, line in enumerate(lines):
        if at in gone:
            hole = True
            continue
        spare = line.kind in (BLANK, RULE) and hole
        if spare and (not kept or kept[-1].kind in (BLANK, RULE)):
            continue
        hole = hole and line.kind in (BLANK, RULE)
        kept.append(line)
    while kept and gone and kept[-1].kind in (BLANK, RULE):
        kept.pop()
    _move_out(kept)
    return kept


def _move_out(lines: list[Line]) -> None:
    """A pointer that hung below an item which is gone is an item of its own now."""
    indent = 0
    for line in lines:
        if line.kind == BLANK:
            continue
        if line.kind == POINTER and line.indent > indent and line.item:
            line.text = line.text[line.indent - indent :]
        indent = line.indent + 2 if line.item or line.kind == POINTER else 0


def place(work: Work, lines: list[Line], bom: str, new: Sequence[Placed], end: str) -> str:
    """The index with pointers to the new memories, below the headings where they belong."""
    fresh = {one.path: one for one in new if one.path in work.pages}
    for one in fresh.values():
        work.say(POINTED, work.given.index_path, f"a pointer to {one.path}")
    own = any(line.kind == HEADING and line.level > 1 for line in lines)
    own = own or any(one.section for one in fresh.values())
    entries = [line for line in lines if line.kind == POINTER]
    if not own and entries and len(fresh) <= len(entries) and not lines[-1].indent:
        # A plain list is somebody's order: what is new goes to its end.
        return _at_end(work, lines, bom, list(fresh), end)
    if not own and fresh and all(_simple(lines, at) for at in range(len(lines))):
        return _by_type(work, lines, bom, list(fresh), end)
    by_heading: dict[str, list[str]] = {}
    for path, one in fresh.items():
        section = one.section or types.get(work.memory(path).type).section
        by_heading.setdefault(section, []).append(line_for(work.memory(path)))
    for section in sorted(by_heading, key=_rank):
        _put_below(lines, section, by_heading[section], end)
    return write_outline(bom, lines)


def orphans(work: Work, text: str) -> list[Placed]:
    """The memories that no line of the index leads to."""
    found = index_text.survey(text, sorted(work.pages), work.names())
    return [Placed(path, "", 0) for path in found.orphans]


def first_things_first(work: Work, text: str) -> str:
    """Over the limit: our own lines in the order of their worth, each section for itself."""
    if not any(index_text.over_limit(text)):
        return text
    memories = sorted(map(work.memory, work.pages), key=_worth)
    ours = {memory.path: line_for(memory) for memory in memories}
    lines, characters = index_text.over_limit(text)
    work.remarks.append(
        f"too many memories for one index: agents do not see the last {lines} lines"
        f" ({characters:,} characters) of it; the most valuable come first. Retire what is old."
    )
    return index_text.arrange(text, [memory.path for memory in memories], ours)


def _simple(lines: list[Line], at: int) -> bool:
    """A title, an introduction, or an entry that nothing hangs on: can be grouped by type."""
    line = lines[at]
    if line.kind == POINTER:
        alone = block_end(lines, at, line.indent) == at + 1
        return line.entry and line.item and alone and not line.indent and bool(line.paths[0])
    return line.kind in (BLANK, HEADING, INTRO, RULE, COMMENT, FRONT)


def _at_end(work: Work, lines: list[Line], bom: str, new: list[str], end: str) -> str:
    """The list with these pointers behind its last one."""
    last = max(at for at, line in enumerate(lines) if line.kind == POINTER)
    last = block_end(lines, last, lines[last].indent) - 1
    if new and not lines[last].end:
        lines[last].end = end
    fresh = [_pointer_line(line_for(work.memory(path)), end) for path in new]
    lines[last + 1 : last + 1] = fresh
    return write_outline(bom, lines)


def _by_type(work: Work, lines: list[Line], bom: str, new: list[str], end: str) -> str:
    """Title and introduction, then a section for each type."""
    entries = [line for line in lines if line.kind == POINTER]
    groups: dict[str, list[str]] = {}
    for line in entries:
        groups.setdefault(_section(work, str(line.paths[0])), []).append(line.text)
    for path in sorted(new, key=lambda path: not work.memory(path).pinned):
        groups.setdefault(_section(work, path), []).append(line_for(work.memory(path)))
    if len(groups) < 2 and not new:
        return write_outline(bom, lines)
    if entries and (len(groups) > 1 or new):
        work.say(ARRANGED, work.given.index_path, "sections by type")
    head = [line for line in lines if line.kind != POINTER]
    while head and head[-1].kind in (BLANK, RULE):
        head.pop()
    texts = [line.text for line in head]
    for section in sorted(groups, key=_rank):
        texts += [""] * bool(texts) + [f"## {section}", "", *groups[section]]
    return bom + end.join(texts) + end


def _section(work: Work, path: str) -> str:
    return types.get(work.memory(path).type).section


def _rank(section: str) -> tuple[int, str]:
    names = [types.get(name).section for name in ORDER]
    return names.index(section) if section in names else len(names), section


def _worth(memory: Memory) -> tuple[bool, int, float, str]:
    rank = ORDER.index(memory.type) if memory.type in ORDER else len(ORDER)
    return not memory.pinned, rank, -memory.clock, memory.path


def _put_below(lines: list[Line], section: str, texts: Iterable[str], end: str) -> None:
    """At the end of the section's list; a heading that is not there yet comes at the end."""
    new = [_pointer_line(text, end) for text in texts]
    at = _heading(lines, section)
    if lines and not lines[-1].end:
        lines[-1].end = end
    if at < 0:
        gap = [Line("", end)] if lines and lines[-1].text.strip() else []
        title = Line(f"## {section}", end)
        title.kind, title.level = HEADING, 2
        for blank in gap:
            blank.kind = BLANK
        lines += [*gap, title, _blank(end), *new]
        return
    stop = at + 1
    while stop < len(lines) and lines[stop].kind != HEADING:
        stop += 1
    last = stop - 1
    while last > at and lines[last].kind in (BLANK, RULE, COMMENT):
        last -= 1
    tail = [_blank(end)] if stop < len(lines) and last + 1 == stop else []
    lead = (
        [_blank(end)]
        if last == at and not (at + 1 < len(lines) and lines[at + 1].kind == BLANK)
        else []
    )
    where = last + 1
    if last == at and at + 1 < stop and lines[at + 1].kind == BLANK:
        where, lead = at + 2, []
        tail = [_blank(end)] if where < len(lines) and lines[where].kind != BLANK else []
    lines[where:where] = [*lead, *new, *tail]


def _pointer_line(text: str, end: str) -> Line:
    line = Line(text, end)
    line.kind = POINTER
    return line


def _blank(end: str) -> Line:
    line = Line("", end)
    line.kind = BLANK
    return line


def _heading(lines: list[Line], section: str) -> int:
    """The heading of that section: the same words, else one that begins with them."""
    wanted = _words(section)
    found = [(at, _words(line.text)) for at, line in enumerate(lines) if line.kind == HEADING]
    titled = [at for at, line in enumerate(lines) if line.kind == HEADING and line.level == 1]
    title = titled[0] if len(titled) == 1 else -1
    for at, words in found:
        if words == wanted:
            return at
    for at, words in found:
        if words[: len(wanted)] == wanted and at != title:
            return at
    return -1


def _words(text: str) -> list[str]:
    spaced = "".join(char if char.isalnum() else " " for char in text.casefold())
    return [word.removesuffix("s") for word in spaced.split()]


def lookup(pages: Mapping[str, object], names: Mapping[str, str]) -> Lookup:
    """Which memory a pointer means."""
    return Lookup(pages, names)


def reread(work: Work, text: str) -> tuple[str, list[Line]]:
    """The outline of a text as the store is now."""
    return read_outline(text, Lookup(work.pages, work.names()))
