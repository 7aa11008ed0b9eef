"""The lines that stay, under their headings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from memdir.format import index
from memdir.format.names import title_for
from memdir.format.outline import (
    BLANK,
    HEADING,
    INTRO,
    MORE,
    POINTER,
    RULE,
    Line,
    Lookup,
    block_end,
    read_outline,
    write_outline,
)
from memdir.format.pointer import LINK, WIKILINK, Pointer, is_row, write_pointer
from memdir.hot import memory, safe, types
from memdir.hot.memory import MODIFIED_KEYS, POINTER_AIM, SOURCE_KEYS, Memory, is_memory, stem
from memdir.text.markdown import COMMENT, FRONT, item_start
from memdir.upkeep.titles import cased, free_path, guess, plain
from memdir.upkeep.topics import Placed, plain_line
from memdir.upkeep.worksheet import ARRANGED, DROPPED, MOVED, POINTED, SHORTENED, Page, Work, holds

# The lines of the index that stay: short, leading somewhere, each thought kept in its memory.

FEWEST_WORDS = 5  # of a hook that is worth a memory where the file it speaks of is gone
KEPT = "**In the index:** "  # in front of a hook that was too long for its line
_SEE = re.compile(r"[\s(—–-]*\b(?:see|details|details in|more in)\s*:?\s*[).]*$", re.IGNORECASE)

_BOLD = re.compile(r"\*\*([^*]{2,80}?):?\*\*\s*(?:—|–|-|:)?\s*(.*)", re.DOTALL)


def hooks_of(work: Work, *texts: str) -> dict[str, tuple[str, str]]:
    """What the index says of each memory, and below which heading."""
    found: dict[str, tuple[str, str]] = {}
    lookup = Lookup(work.pages, work.names())
    for text in texts:
        section = ""
        _, lines = read_outline(text, lookup)
        for at, line in enumerate(lines):
            if line.level:
                section = line.text.strip("# \t") if line.level > 1 else ""
            if line.kind == POINTER and line.pointers and line.paths[0]:
                hook = _whole_hook(lines, at)
                found.setdefault(line.paths[0], (plain_line(hook), section))
    return found


def shorten(work: Work, lines: list[Line], gone: set[int]) -> None:
    """Every pointer in one line of the right length; what it said in full stands in its memory."""
    for at, line in enumerate(lines):
        if at in gone or line.kind != POINTER:
            continue
        more = _continued(lines, at)
        if len(line.text) <= POINTER_AIM and not more:
            continue
        path = line.paths[0] if len(line.pointers) == 1 else None
        if path is None or is_row(line.text) or item_start(line.text) < 0:
            _remark(work, line)
            continue
        hook, pointer = _whole_hook(lines, at), line.pointers[0]
        title = pointer.title if pointer.form == LINK and line.entry else ""
        if not title or title.strip("`").removesuffix(".md") == stem(path):
            title = title_for(work.memory(path))  # a file's name twice leaves no room for words
            title = cased(title, f"{hook}\n{work.pages[path].text}")
        gone.update(more)
        old = [lines[each].text for each in (at, *more)]
        lead = _BOLD.match(hook) if not line.entry else None
        title, short = (lead[1], lead[2]) if lead else (title, hook)
        line.text = line.text[: line.indent] + write_pointer(plain_line(title), path, short)
        if lead and holds(line.text, short) and holds(line.text, lead[1]):
            for text in old:
                work.account(work.given.index_path, text, "all its words stand in the new line")
        elif not holds(line.text, hook):
            keep_hook(work, path, hook, old)
        work.say(SHORTENED, work.given.index_path, f"the line of {path}; its words stand there")


def mend(work: Work, lines: list[Line], gone: set[int]) -> None:
    """Pointers to nothing: words worth keeping become that memory, the rest of the line goes."""
    lost = work.given.gone
    for at, line in enumerate(lines):
        if at in gone or line.kind != POINTER:
            continue
        missing = [
            pointer
            for pointer, path in zip(line.pointers, line.paths, strict=True)
            if path is None and (lost is None or lost(pointer))
        ]
        if not missing:
            continue
        if len(line.pointers) > 1 or not line.entry or is_row(line.text):
            _unlink(work, line, missing)
            continue
        hook = _whole_hook(lines, at)
        more = _continued(lines, at)
        if len(plain(hook).split()) >= FEWEST_WORDS:
            line.paths[0] = _made_of(work, line, hook)
            continue
        gone.update((at, *more))
        for each in (at, *more):
            reason = f"leads to {missing[0].target}, which is gone"
            work.account(work.given.index_path, lines[each].text, reason)
        work.say(DROPPED, work.given.index_path, f"a pointer to {missing[0].target}: no such file")


def once(work: Work, lines: list[Line], gone: set[int]) -> None:
    """A pointer that stands above already, word for word, goes."""
    seen: set[tuple[str, str, str]] = set()
    for at, line in enumerate(lines):
        if at in gone or line.kind != POINTER or not line.entry or len(line.pointers) != 1:
            continue
        if line.paths[0] is None or is_row(line.text):
            continue
        told = line.paths[0], plain(line.pointers[0].title), plain(_whole_hook(lines, at))
        more = _continued(lines, at)
        if told in seen and block_end(lines, at, line.indent) == at + 1 + len(more):
            for each in (at, *more):
                reason = "the same pointer stands above"
                work.account(work.given.index_path, lines[each].text, reason)
            gone.update((at, *more))
            work.say(DROPPED, work.given.index_path, f"a second pointer to {told[0]}")
        seen.add(told)


def _continued(lines: list[Line], at: int) -> list[int]:
    end = at + 1
    while end < len(lines) and lines[end].kind == MORE:
        end += 1
    return list(range(at + 1, end))


def _whole_hook(lines: list[Line], at: int) -> str:
    """The words beside a pointer: behind it, and where it does not lead the line, in front."""
    line = lines[at]
    pointer = line.pointers[0]
    rest = " ".join(lines[each].text.strip() for each in _continued(lines, at))
    if line.entry or len(line.pointers) > 1:
        return f"{pointer.hook} {rest}".strip()
    front = line.text[max(item_start(line.text), 0) : pointer.start].strip()
    behind = f"{line.text[pointer.end :].strip()} {rest}".strip(" .|")
    return f"{_SEE.sub('', front).strip()} {behind}".strip()


def keep_hook(work: Work, path: str, hook: str, lines: Sequence[str] = ()) -> None:
    """A hook that its memory does not say yet goes to the end of it; `lines` are where it stood."""
    page = work.pages[path]
    document = page.document
    if not hook or holds(page.text, hook) or holds(document.get("description"), hook):
        return
    if _in_order(hook, document.get("description")):
        for text in lines:
            reason = f"the description of {path} has all its words"
            work.account(work.given.index_path, text, reason)
        return
    if not document.get("description") and document.lines is not None:
        work.write(path, memory.edit(document, "description", plain_line(hook)).text)
        return
    work.append(path, KEPT + plain_line(hook))
    work.say(MOVED, path, "took the words of its line in the index, which was too long")


def _in_order(hook: str, description: str) -> bool:
    """Does a description have all words of a hook, one after the other?"""
    wanted, there = (
        "".join(char if char.isalnum() else " " for char in text.casefold()).split()
        for text in (hook, description)
    )
    rest = iter(there)
    return all(word in rest for word in wanted)


def _made_of(work: Work, line: Line, hook: str) -> str:
    """A memory that says what the pointer to a missing one said."""
    pointer = line.pointers[0]
    type, reason = guess(pointer.target, pointer.title, "", [hook])
    taken = {*work.given.taken, *work.pages}
    names = {stem(each).casefold().replace("-", "_") for each in taken}
    path = pointer.target
    if not _may_stand(path) or stem(path).casefold().replace("-", "_") in names:
        path = free_path(pointer.title.removesuffix(".md"), type, taken, work.given.style)
    said = plain_line(hook)
    title = pointer.title.removesuffix(".md")
    fields = [("name", plain_line(title)), ("description", said[:1024])]
    fields.append((work.given.style.type_key, type))
    index = work.given.index
    fields += [(MODIFIED_KEYS[0], safe.iso_time(index.clock))] if index.dated else []
    fields += [(SOURCE_KEYS[0], "restructure"), ("metadata.from", work.given.index_path)]
    work.pages[path] = Page(memory.write(fields, said), index.clock, index.dated)
    if path != pointer.target:
        start, end = pointer.start, pointer.end
        link = f"[{title}]({path})"
        line.text = line.text[:start] + link + line.text[end:]
        reason += f"; {pointer.target} cannot be its name"
    what = f"made of its line in the index, the file was gone; type {type}: {reason}"
    work.say(MOVED, path, what)
    return path


def _may_stand(path: str) -> bool:
    plain_name = path.isascii() and path.isprintable() and "\\" not in path and len(path) <= 120
    return plain_name and is_memory(path) and "/" not in path


def _unlink(work: Work, line: Line, missing: list[Pointer]) -> None:
    """Keep the words of a link that leads nowhere; the line has other reasons to stay."""
    old = line.text
    for pointer in reversed(missing):
        words = pointer.title if pointer.form in (LINK, WIKILINK) else pointer.target
        line.text = line.text[: pointer.start] + words + line.text[pointer.end :]
    targets = ", ".join(pointer.target for pointer in missing)
    work.account(work.given.index_path, old, f"{targets} is gone; its words stay without the link")
    work.say(DROPPED, work.given.index_path, f"the link to {targets}: no such file")


def _remark(work: Work, line: Line) -> None:
    if len(line.text) > POINTER_AIM:
        said = plain(line.text)[:60]
        work.remarks.append(f'a line with several links stays longer than it should: "{said}…"')


# The index in the end: which pointer stands below which heading.
#
# Headings that somebody wrote stay, with their pointers in their order. A plain list stays one;
# where most of it is new, it gets one heading for each type, what an agent must not miss first.

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
    found = index.survey(text, sorted(work.pages), work.names())
    return [Placed(path, "", 0) for path in found.orphans]


def first_things_first(work: Work, text: str) -> str:
    """Over the limit: our own lines in the order of their worth, each section for itself."""
    if not any(index.over_limit(text)):
        return text
    memories = sorted(map(work.memory, work.pages), key=_worth)
    ours = {memory.path: line_for(memory) for memory in memories}
    lines, characters = index.over_limit(text)
    work.remarks.append(
        f"too many memories for one index: agents do not see the last {lines} lines"
        f" ({characters:,} characters) of it; the most valuable come first. Retire what is old."
    )
    return index.arrange(text, [memory.path for memory in memories], ours)


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
