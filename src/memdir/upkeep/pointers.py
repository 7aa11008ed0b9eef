"""The lines of the index that stay: short, leading somewhere, below the right heading.

Headings that somebody wrote stay, with their pointers in their order. A plain list stays one;
where most of it is new, it gets one heading for each type, what an agent must not miss first.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

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
from memdir.hot import memory, types
from memdir.hot.memory import POINTER_AIM, Memory, is_memory, stem
from memdir.text.markdown import COMMENT, FRONT, item_start
from memdir.upkeep.titles import (
    free_path,
    guess_type,
    plain,
    plain_line,
    restore_acronyms,
    words_of,
)
from memdir.upkeep.topics import new_page
from memdir.upkeep.worksheet import ARRANGED, DROPPED, MOVED, POINTED, SHORTENED, Work, holds

MIN_HOOK_WORDS = 5  # of a hook that is worth a memory where the file it speaks of is gone
MAX_DESCRIPTION_CHARACTERS = 1024
MAX_PATH_CHARACTERS = 120
KEPT = "**In the index:** "  # in front of a hook that was too long for its line
TYPE_ORDER = ("feedback", "user", "value", "project", "reference")
_SEE = re.compile(r"[\s(—–-]*\b(?:see|details|details in|more in)\s*:?\s*[).]*$", re.IGNORECASE)
_BOLD = re.compile(r"\*\*([^*]{2,80}?):?\*\*\s*(?:—|–|-|:)?\s*(.*)", re.DOTALL)


def read_hooks(work: Work, *texts: str) -> dict[str, tuple[str, str]]:
    """What the index says of each memory, and below which heading."""
    result: dict[str, tuple[str, str]] = {}
    for text in texts:
        section = ""
        _, lines = work.outline(text)
        for i, line in enumerate(lines):
            if line.level:
                section = line.text.strip("# \t") if line.level > 1 else ""
            if line.kind == POINTER and line.pointers and line.paths[0]:
                result.setdefault(line.paths[0], (plain_line(_read_hook(lines, i)), section))
    return result


def shorten(work: Work, lines: list[Line], gone: set[int]) -> None:
    """Every pointer in one line of the right length; what it said in full stands in its memory."""
    for i, line in enumerate(lines):
        if i in gone or line.kind != POINTER:
            continue
        more = _continued(lines, i)
        if len(line.text) <= POINTER_AIM and not more:
            continue
        path = line.paths[0] if len(line.pointers) == 1 else None
        if path is None or is_row(line.text) or not line.item:
            if len(line.text) > POINTER_AIM:
                start = plain(line.text)[:60]
                remark = f'a line with several links stays longer than it should: "{start}…"'
                work.remarks.append(remark)
            continue
        hook, pointer = _read_hook(lines, i), line.pointers[0]
        title = pointer.title if pointer.form == LINK and line.entry else ""
        if not title or title.strip("`").removesuffix(".md") == stem(path):
            # A file's name twice leaves no room for words.
            title = title_for(work.memory(path))
            title = restore_acronyms(title, f"{hook}\n{work.pages[path].text}")
        gone.update(more)
        old = [lines[j].text for j in (i, *more)]
        lead = _BOLD.match(hook) if not line.entry else None
        title, short = (lead[1], lead[2]) if lead else (title, hook)
        line.text = line.text[: line.indent] + write_pointer(plain_line(title), path, short)
        if lead and holds(line.text, short) and holds(line.text, lead[1]):
            for text in old:
                work.account(work.given.index_path, text, "all its words stand in the new line")
        elif not holds(line.text, hook):
            keep_hook(work, path, hook, old)
        work.note(SHORTENED, work.given.index_path, f"the line of {path}; its words stand there")


def mend(work: Work, lines: list[Line], gone: set[int]) -> None:
    """Pointers to nothing: words worth keeping become that memory, the rest of the line goes."""
    is_gone = work.given.gone
    for i, line in enumerate(lines):
        if i in gone or line.kind != POINTER:
            continue
        missing = [
            pointer
            for pointer, path in zip(line.pointers, line.paths, strict=True)
            if path is None and (is_gone is None or is_gone(pointer))
        ]
        if not missing:
            continue
        if len(line.pointers) > 1 or not line.entry or is_row(line.text):
            _unlink(work, line, missing)
            continue
        hook = _read_hook(lines, i)
        if len(plain(hook).split()) >= MIN_HOOK_WORDS:
            line.paths[0] = _make_memory(work, line, plain_line(hook))
            continue
        target = missing[0].target
        _drop(work, lines, [i, *_continued(lines, i)], f"leads to {target}, which is gone", gone)
        work.note(DROPPED, work.given.index_path, f"a pointer to {target}: no such file")


def drop_repeated(work: Work, lines: list[Line], gone: set[int]) -> None:
    """A pointer that stands above already, word for word, goes."""
    seen: set[tuple[str, str, str]] = set()
    for i, line in enumerate(lines):
        if i in gone or line.kind != POINTER or not line.entry or len(line.pointers) != 1:
            continue
        path = line.paths[0]
        if path is None or is_row(line.text):
            continue
        key = path, plain(line.pointers[0].title), plain(_read_hook(lines, i))
        more = _continued(lines, i)
        if key in seen and block_end(lines, i, line.indent) == i + 1 + len(more):
            _drop(work, lines, [i, *more], "the same pointer stands above", gone)
            work.note(DROPPED, work.given.index_path, f"a second pointer to {path}")
        seen.add(key)


def drop_merged(work: Work, text: str) -> str:
    """The index without the lines of memories that were merged into others."""
    merged = work.given.pages.keys() - work.pages.keys()
    if not merged:
        return text
    bom, lines = read_outline(text, Lookup({**work.given.pages, **work.pages}, {}))
    gone: set[int] = set()
    for i, line in enumerate(lines):
        path = line.paths[0] if line.entry and len(line.paths) == 1 else None
        if path not in merged:
            continue
        stays = next((step.path for step in work.steps if f"took in {path} " in step.message), "")
        if stays in work.pages:
            keep_hook(work, stays, line.pointers[0].hook)
            _drop(work, lines, [i], f"{path} is part of {stays} now", gone)
    return write_outline(bom, close_gaps(lines, gone)) if gone else text


def _drop(
    work: Work, lines: Sequence[Line], numbers: Sequence[int], reason: str, gone: set[int]
) -> None:
    gone.update(numbers)
    for i in numbers:
        work.account(work.given.index_path, lines[i].text, reason)


def _continued(lines: Sequence[Line], i: int) -> list[int]:
    """The lines below that are the rest of this one."""
    end = i + 1
    while end < len(lines) and lines[end].kind == MORE:
        end += 1
    return list(range(i + 1, end))


def _read_hook(lines: Sequence[Line], i: int) -> str:
    """The words beside a pointer: behind it, and where it does not lead the line, in front."""
    line, pointer = lines[i], lines[i].pointers[0]
    rest = " ".join(lines[j].text.strip() for j in _continued(lines, i))
    if line.entry or len(line.pointers) > 1:
        return f"{pointer.hook} {rest}".strip()
    front = line.text[max(item_start(line.text), 0) : pointer.start].strip()
    behind = f"{line.text[pointer.end :].strip()} {rest}".strip(" .|")
    return f"{_SEE.sub('', front).strip()} {behind}".strip()


def keep_hook(work: Work, path: str, hook: str, lines: Sequence[str] = ()) -> None:
    """A hook that its memory does not say yet goes to the end of it; `lines` are where it stood."""
    page = work.pages[path]
    document = page.document
    description = document.get("description")
    if not hook or holds(page.text, hook) or holds(description, hook):
        return
    rest = iter(words_of(description))
    if all(word in rest for word in words_of(hook)):  # one after the other
        for text in lines:
            reason = f"the description of {path} has all its words"
            work.account(work.given.index_path, text, reason)
    elif not description and document.lines is not None:
        work.write(path, memory.edit(document, "description", plain_line(hook)).text)
    else:
        work.append(path, KEPT + plain_line(hook))
        work.note(MOVED, path, "took the words of its line in the index, which was too long")


def _make_memory(work: Work, line: Line, hook: str) -> str:
    """A memory that says what the pointer to a missing one said."""
    pointer = line.pointers[0]
    title, path = pointer.title.removesuffix(".md"), pointer.target
    type, reason = guess_type(path, pointer.title, "", [hook])
    names = {stem(other).casefold().replace("-", "_") for other in work.taken}
    fit = path.isascii() and path.isprintable() and len(path) <= MAX_PATH_CHARACTERS
    fit = fit and "\\" not in path and "/" not in path and is_memory(path)
    if not fit or stem(path).casefold().replace("-", "_") in names:
        path = free_path(title, type, work.taken, work.given.style)
        line.text = f"{line.text[: pointer.start]}[{title}]({path}){line.text[pointer.end :]}"
        reason += f"; {pointer.target} cannot be its name"
    work.pages[path] = new_page(work, title, hook[:MAX_DESCRIPTION_CHARACTERS], type, hook)
    message = f"made of its line in the index, the file was gone; type {type}: {reason}"
    work.note(MOVED, path, message)
    return path


def _unlink(work: Work, line: Line, missing: list[Pointer]) -> None:
    """Keep the words of a link that leads nowhere; the line has other reasons to stay."""
    old = line.text
    for pointer in reversed(missing):
        words = pointer.title if pointer.form in (LINK, WIKILINK) else pointer.target
        line.text = line.text[: pointer.start] + words + line.text[pointer.end :]
    targets = ", ".join(pointer.target for pointer in missing)
    work.account(work.given.index_path, old, f"{targets} is gone; its words stay without the link")
    work.note(DROPPED, work.given.index_path, f"the link to {targets}: no such file")


def close_gaps(lines: Sequence[Line], gone: Collection[int]) -> list[Line]:
    """The lines that stay: no rules or blank lines in a row where content was taken out."""
    kept: list[Line] = []
    hole = False
    for i, line in enumerate(lines):
        if i in gone:
            hole = True
            continue
        hole = hole and line.kind in (BLANK, RULE)
        if not (hole and (not kept or kept[-1].kind in (BLANK, RULE))):
            kept.append(line)
    while kept and gone and kept[-1].kind in (BLANK, RULE):
        kept.pop()
    indent = 0
    for line in kept:
        if line.kind == BLANK:
            continue
        # A pointer that hung below an item which is gone is an item of its own now.
        if line.kind == POINTER and line.indent > indent and line.item:
            line.text = line.text[line.indent - indent :]
        indent = line.indent + 2 if line.item or line.kind == POINTER else 0
    return kept


def place(work: Work, text: str, new: Mapping[str, str], end: str) -> str:
    """The index with pointers to the new memories (path -> heading) where they belong."""
    bom, lines = work.outline(text)
    new = {path: section for path, section in new.items() if path in work.pages}
    for path in new:
        work.note(POINTED, work.given.index_path, f"a pointer to {path}")
    entries = [i for i, line in enumerate(lines) if line.kind == POINTER]
    sectioned = any(line.kind == HEADING and line.level > 1 for line in lines)
    sectioned = sectioned or any(new.values())
    if not sectioned and entries and len(new) <= len(entries) and not lines[-1].indent:
        # A plain list is somebody's order: what is new goes to its end.
        last = block_end(lines, entries[-1], lines[entries[-1]].indent)
        if new:
            lines[last - 1].end = lines[last - 1].end or end
        lines[last:last] = [_new_line(_line_for(work.memory(path)), end, POINTER) for path in new]
    elif not sectioned and new and all(_is_simple(lines, i) for i in range(len(lines))):
        return _arrange_by_type(work, lines, bom, new, end)
    else:
        groups: dict[str, list[str]] = {}
        for path, section in new.items():
            section = section or _section_of(work, path)
            groups.setdefault(section, []).append(_line_for(work.memory(path)))
        for section in sorted(groups, key=_rank):
            _put_below(lines, section, groups[section], end)
    return write_outline(bom, lines)


def arrange_by_worth(work: Work, text: str) -> str:
    """Over the limit: our own lines in the order of their worth, each section for itself."""
    lines, characters = index.over_limit(text)
    if not lines and not characters:
        return text
    memories = sorted(map(work.memory, work.pages), key=_worth)
    ours = {memory.path: _line_for(memory) for memory in memories}
    work.remarks.append(
        f"too many memories for one index: agents do not see the last {lines} lines"
        f" ({characters:,} characters) of it; the most valuable come first. Retire what is old."
    )
    return index.arrange(text, [memory.path for memory in memories], ours)


def _line_for(memory: Memory) -> str:
    title = restore_acronyms(title_for(memory), memory.head)
    return write_pointer(title, memory.path, memory.description)


def _is_simple(lines: list[Line], i: int) -> bool:
    """A title, an introduction, or an entry that nothing hangs on: can be grouped by type."""
    line = lines[i]
    if line.kind == POINTER:
        alone = block_end(lines, i, line.indent) == i + 1
        return line.entry and line.item and alone and not line.indent and bool(line.paths[0])
    return line.kind in (BLANK, HEADING, INTRO, RULE, COMMENT, FRONT)


def _arrange_by_type(
    work: Work, lines: list[Line], bom: str, new: Collection[str], end: str
) -> str:
    """Title and introduction, then a section for each type."""
    groups: dict[str, list[str]] = {}
    for line in lines:
        if line.kind == POINTER:
            groups.setdefault(_section_of(work, str(line.paths[0])), []).append(line.text)
    if groups:
        work.note(ARRANGED, work.given.index_path, "sections by type")
    for path in sorted(new, key=lambda path: not work.memory(path).pinned):
        groups.setdefault(_section_of(work, path), []).append(_line_for(work.memory(path)))
    head = [line for line in lines if line.kind != POINTER]
    while head and head[-1].kind in (BLANK, RULE):
        head.pop()
    texts = [line.text for line in head]
    for section in sorted(groups, key=_rank):
        texts += [""] * bool(texts) + [f"## {section}", "", *groups[section]]
    return bom + end.join(texts) + end


def _section_of(work: Work, path: str) -> str:
    return types.get(work.memory(path).type).section


def _rank(section: str) -> tuple[int, str]:
    names = [types.get(name).section for name in TYPE_ORDER]
    return names.index(section) if section in names else len(names), section


def _worth(memory: Memory) -> tuple[bool, int, float, str]:
    rank = TYPE_ORDER.index(memory.type) if memory.type in TYPE_ORDER else len(TYPE_ORDER)
    return not memory.pinned, rank, -memory.clock, memory.path


def _put_below(lines: list[Line], section: str, texts: Iterable[str], end: str) -> None:
    """At the end of the section's list; a heading that is not there yet comes at the end."""
    new = [_new_line(text, end, POINTER) for text in texts]
    blank = _new_line("", end, BLANK)
    if lines:
        lines[-1].end = lines[-1].end or end
    heading = _find_heading(lines, section)
    if heading < 0:
        lines += [blank] if lines and lines[-1].text.strip() else []
        lines += [_new_line(f"## {section}", end, HEADING), blank, *new]
        return
    stop = heading + 1
    while stop < len(lines) and lines[stop].kind != HEADING:
        stop += 1
    last = stop - 1
    while last > heading and lines[last].kind in (BLANK, RULE, COMMENT):
        last -= 1
    start = last + 1
    if last > heading:
        tail = [blank] if start == stop < len(lines) else []
    elif start < stop and lines[start].kind == BLANK:  # an empty section
        start += 1
        tail = [blank] if start < len(lines) and lines[start].kind != BLANK else []
    else:
        new = new if start < len(lines) and lines[start].kind == BLANK else [blank, *new]
        tail = [blank] if start == stop < len(lines) else []
    lines[start:start] = [*new, *tail]


def _new_line(text: str, end: str, kind: str) -> Line:
    line = Line(text, end)
    line.kind, line.level = kind, 2 if kind == HEADING else 0
    return line


def _find_heading(lines: list[Line], section: str) -> int:
    """The heading of that section: the same words, else one that begins with them; else -1."""
    wanted = _singular_words(section)
    heads = {i: _singular_words(line.text) for i, line in enumerate(lines) if line.kind == HEADING}
    tops = [i for i in heads if lines[i].level == 1]
    title = tops[0] if len(tops) == 1 else -1
    same = [i for i, words in heads.items() if words == wanted]
    begins = [i for i, words in heads.items() if words[: len(wanted)] == wanted and i != title]
    return [*same, *begins, -1][0]


def _singular_words(text: str) -> list[str]:
    return [word.removesuffix("s") for word in words_of(text)]
