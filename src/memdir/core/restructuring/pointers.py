"""The lines of the index that stay: short, leading somewhere, each thought kept in its memory."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memdir.core import dates, frontmatter
from memdir.core.loading import POINTER_AIM
from memdir.core.memory import MODIFIED_KEYS, SOURCE_KEYS, is_memory, stem
from memdir.core.naming import title_for
from memdir.core.outline import MORE, POINTER, Line, Lookup, block_end, read_outline
from memdir.core.pointer import LINK, WIKILINK, Pointer, is_row, item_start, write_pointer
from memdir.core.restructuring.guessing import guess
from memdir.core.restructuring.headers import plain_line
from memdir.core.restructuring.knowledge import holds
from memdir.core.restructuring.titles import cased, free_path, plain
from memdir.core.restructuring.work import DROPPED, MOVED, SHORTENED, Page, Work

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
        work.write(path, frontmatter.edit(document, "description", plain_line(hook)).text)
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
    fields += [(MODIFIED_KEYS[0], dates.iso_time(index.clock))] if index.dated else []
    fields += [(SOURCE_KEYS[0], "restructure"), ("metadata.from", work.given.index_path)]
    work.pages[path] = Page(frontmatter.write(fields, said), index.clock, index.dated)
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
