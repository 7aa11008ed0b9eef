"""The lines of the index that stay: short, leading somewhere, below the right heading.

Headings and lines that somebody wrote stay in their order. New pointers go below the heading of
their section, at the end of a plain list, or, where most of an index is new, below one heading for
each type.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from memdir.format import index, outline
from memdir.format.names import memory_title, pointer_title_and_hook
from memdir.format.pointer import LINK, format_pointer, is_table_row
from memdir.hot import memory, types
from memdir.hot.memory import POINTER_AIM, stem
from memdir.store.save import pointer_worth
from memdir.upkeep.worksheet import Work, plain_title_line, text_holds, title_words

KEPT = "**In the index:** "  # in front of a hook that was too long for its line
TYPE_ORDER = ("feedback", "user", "value", "project", "reference")


def read_hooks_to_restructure(lines: Sequence[outline.Line]) -> dict[str, tuple[str, str]]:
    """What the index says of each memory, and below which heading."""
    result: dict[str, tuple[str, str]] = {}
    section = ""
    for i, line in enumerate(lines):
        if line.level:
            section = line.text.strip("# \t") if line.level > 1 else ""
        if line.kind == outline.POINTER and line.pointers and line.paths[0]:
            result.setdefault(line.paths[0], (plain_title_line(_read_hook(lines, i)), section))
    return result


def shorten_restructured_pointers(work: Work, lines: list[outline.Line], gone: set[int]) -> None:
    """Every entry in one line of the right length; what it said in full stands in its memory."""
    for i, line in enumerate(lines):
        more = _continued(lines, i)
        path = line.paths[0] if line.entry and len(line.pointers) == 1 else None
        fits = len(line.text) <= POINTER_AIM and not more
        if i in gone or fits or path is None or is_table_row(line.text):
            continue
        hook, pointer = _read_hook(lines, i), line.pointers[0]
        title = pointer.title if pointer.form == LINK else ""
        if not title or title.strip("`").removesuffix(".md") == stem(path):
            title = memory_title(work.memory(path))  # a file's name twice leaves no room for words
        gone.update(more)
        old = [lines[j].text for j in (i, *more)]
        line.text = line.text[: line.indent] + format_pointer(plain_title_line(title), path, hook)
        if not text_holds(line.text, hook):
            keep_restructured_hook(work, path, hook, old)
        work.note(work.given.index_path, f"the line of {path}; its words stand there")


def _continued(lines: Sequence[outline.Line], i: int) -> list[int]:
    """The lines below that are the rest of this one."""
    end = i + 1
    while end < len(lines) and lines[end].kind == outline.MORE:
        end += 1
    return list(range(i + 1, end))


def _read_hook(lines: Sequence[outline.Line], i: int) -> str:
    """The words behind a pointer, also those in the lines that continue it."""
    rest = [lines[j].text.strip() for j in _continued(lines, i)]
    return " ".join([lines[i].pointers[0].hook, *rest]).strip()


def keep_restructured_hook(work: Work, path: str, hook: str, lines: Sequence[str] = ()) -> None:
    """A hook that its memory does not say yet goes to the end of it; `lines` are where it stood."""
    page = work.pages[path]
    document = page.document
    description = document.get("description")
    if not hook or text_holds(page.text, hook) or text_holds(description, hook):
        return
    rest = iter(title_words(description))
    if all(word in rest for word in title_words(hook)):  # one after the other
        for text in lines:
            reason = f"the description of {path} has all its words"
            work.account(work.given.index_path, text, reason)
    elif not description and document.lines is not None:
        work.write(path, memory.edit_header(document, "description", plain_title_line(hook)).text)
    else:
        work.append(path, KEPT + plain_title_line(hook))
        work.note(path, "took the words of its line in the index, which was too long")


def close_index_gaps(lines: Sequence[outline.Line], gone: Collection[int]) -> list[outline.Line]:
    """The lines that stay: no rules or blank lines in a row where content was taken out."""
    kept: list[outline.Line] = []
    hole = False
    for i, line in enumerate(lines):
        if i in gone:
            hole = True
            continue
        hole = hole and line.kind in (outline.BLANK, outline.RULE)
        if not (hole and (not kept or kept[-1].kind in (outline.BLANK, outline.RULE))):
            kept.append(line)
    while kept and gone and kept[-1].kind in (outline.BLANK, outline.RULE):
        kept.pop()
    indent = 0
    for line in kept:
        if line.kind == outline.BLANK:
            continue
        # A pointer that hung below an item which is gone is an item of its own now.
        if line.kind == outline.POINTER and line.indent > indent and line.item:
            line.text = line.text[line.indent - indent :]
        indent = line.indent + 2 if line.item or line.kind == outline.POINTER else 0
    return kept


def place_restructured_pointers(work: Work, text: str, new: Mapping[str, str]) -> str:
    """The index with pointers to the new memories (path -> heading), and none to nothing."""
    bom, lines = work.outline(text)
    new = {path: section for path, section in new.items() if path in work.pages}
    entries = sum(line.kind == outline.POINTER for line in lines)
    is_list = entries >= len(new) and not any(line.level > 1 for line in lines)
    if not is_list or any(new.values()):
        typed = {
            path: section or types.get(work.memory(path).type).section
            for path, section in new.items()
        }
        order = [types.get(name).section for name in TYPE_ORDER]
        new = dict(sorted(typed.items(), key=lambda item: [*order, item[1]].index(item[1])))
    end = (lines[0].end if lines else "") or "\n"
    for section in dict.fromkeys(filter(None, new.values())):
        if index.find_index_heading(lines, section) < 0:
            blank = [outline.Line("", end)] if lines and lines[-1].text.strip() else []
            if lines:
                lines[-1].end = lines[-1].end or end
            _, lines = work.outline(
                outline.write_index_lines(
                    "", [*lines, *blank, outline.Line(f"## {section}", end), outline.Line("", end)]
                )
            )

    def describe(path: str) -> tuple[str, str, str]:
        memory = work.memory(path)
        return *pointer_title_and_hook(memory), new.get(path, "")

    text = outline.write_index_lines(bom, lines)
    order = [*new, *(path for path in sorted(work.pages) if path not in new)]
    healed = index.heal_pointers(text, order, describe, work.names(), work.is_dead, by_link=True)
    kept = {line.removesuffix("\r") for line in healed.text.split("\n")}
    for line in lines:
        if line.text not in kept:
            reason = "it leads to a file that is gone"
            for pointer, path in zip(line.pointers, line.paths, strict=True):
                if stays := path or work.merged.get(pointer.target):
                    keep_restructured_hook(work, stays, pointer.hook)
                    reason = f"another pointer leads to {stays}"
            work.account(work.given.index_path, line.text, reason)
    for path in healed.repeated:
        work.note(work.given.index_path, f"a second pointer to {path}")
    for target in healed.dropped:
        work.note(work.given.index_path, f"a pointer to {target}: no such file")
    for path in healed.added:
        work.note(work.given.index_path, f"a pointer to {path}")
    return healed.text


def restructure_pointers_by_worth(work: Work, text: str) -> str:
    """Over the limit: our own lines in the order of their worth, each section for itself."""
    lines, characters = index.index_excess(text)
    if not lines and not characters:
        return text
    memories = sorted(map(work.memory, work.pages), key=pointer_worth)
    ours = {
        memory.path: format_pointer(title, memory.path, hook)
        for memory in memories
        for title, hook in [pointer_title_and_hook(memory)]
    }
    work.remarks.append(
        f"too many memories for one index: agents do not see the last {lines} lines"
        f" ({characters:,} characters) of it; the most valuable come first. Retire what is old."
    )
    return index.arrange_index_pointers(text, [memory.path for memory in memories], ours)
