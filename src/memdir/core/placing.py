"""Where a new pointer goes in an index, and the index with lines taken out and put in."""

from memdir.core.loading import CODE, COMMENT, OPEN, REST
from memdir.core.outline import (
    BLANK,
    CONTENT,
    HEAD,
    HEADING,
    POINTER,
    Line,
    block_end,
    write_outline,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    # The line it goes before, and whether a blank line belongs above and below it.
    Place = tuple[int, bool, bool]

# Words that say nothing about which memories stand below a heading.
_FILLERS = ("memory", "entry", "pointer", "file")
_EXACT, _STARTS, _HOLDS, _OTHER = range(4)  # how well a heading fits a section


def rewrite(bom: str, lines: list[Line], gone: set[int], fresh: "Iterable[tuple[str, str]]") -> str:
    """The index without the lines in `gone` and with fresh ones, each below its section."""
    ended = not lines or bool(lines[-1].end)
    line_end = (lines[0].end if lines else "") or "\n"
    groups: dict[int, tuple[Place, list[str]]] = {}
    places: dict[str, Place] = {}
    for section, text in fresh:
        if section not in places:
            places[section] = _place(lines, section)
        place = places[section]
        groups.setdefault(place[0], (place, []))[1].append(text)
    out: list[Line] = []
    for at in range(len(lines) + 1):
        if at in groups:
            (_, above, below), texts = groups[at]
            padded = [""] * above + texts + [""] * below
            out += [Line(text, line_end) for text in padded]
        if at < len(lines) and at not in gone:
            out.append(lines[at])
    if 0 in gone and out and out[0].text.strip() == "---":
        # On top it would open a header, and the lines below would be taken for one.
        out.insert(0, Line("", line_end))
    for line in out[:-1]:
        line.end = line.end or line_end
    for line in out[-1:]:
        line.end = (line.end or line_end) if ended else ""
    return write_outline(bom, out)


def _place(lines: list[Line], section: str) -> "Place":
    """At the end of the section's list, else of the last list of pointers, else of the text."""
    heading = _heading(lines, section)
    if heading >= 0:
        return _place_below(lines, heading)
    last = _last_pointer(lines, 0, len(lines))
    if last >= 0:
        return _below(lines, last), False, False
    return _place_after(lines, -1, _closed(lines))


def _place_below(lines: list[Line], heading: int) -> "Place":
    """In the section of this heading."""
    end = _section_end(lines, heading)
    last = _last_pointer(lines, heading + 1, end)
    if last >= 0:
        return min(_below(lines, last), end), False, False
    if any(line.kind != BLANK for line in lines[heading + 1 : end]):
        return _place_after(lines, heading, end)
    at = min(heading + 2, end)
    return at, False, heading + 1 < at < len(lines) and lines[at].kind != BLANK


def _place_after(lines: list[Line], start: int, end: int) -> "Place":
    """After the last line before `end` that is not blank; a list needs no blank line above."""
    at = end - 1
    while at > start and lines[at].kind == BLANK:
        at -= 1
    above = at >= 0 and not lines[at].item and not lines[at].indent
    return at + 1, above, False


def _last_pointer(lines: list[Line], start: int, end: int) -> int:
    """The last item there is only for its pointer, else the last that has one, else -1."""
    items = [at for at in range(start, end) if lines[at].kind == POINTER and lines[at].item]
    entries = [at for at in items if lines[at].entry]
    return (entries or items or [-1])[-1]


def _below(lines: list[Line], at: int) -> int:
    """The place below an item and all that hangs on it, outside of code blocks and comments."""
    end = block_end(lines, at, 0)
    while end < len(lines) and _one_block(lines[end - 1], lines[end]):
        end = block_end(lines, end, 0)
    return end


def _one_block(above: Line, below: Line) -> bool:
    """Can these two lines be parts of one block? Taking two blocks for one does no harm."""
    if above.layer == COMMENT:
        return below.layer in (COMMENT, REST)
    return above.layer == below.layer == CODE or above.kind == below.kind == HEAD


def _closed(lines: list[Line]) -> int:
    """How many lines come before a code block that is never closed."""
    for at, line in enumerate(lines):
        if line.layer == OPEN:
            return at
    return len(lines)


def _section_end(lines: list[Line], heading: int) -> int:
    end = heading + 1
    while end < len(lines) and lines[end].kind not in (HEADING, OPEN):
        end += 1
    return end


def _heading(lines: list[Line], section: str) -> int:
    """The heading that fits a section best, the first among equals; -1 if none does."""
    best, found = _OTHER, -1
    headings = [at for at, line in enumerate(lines) if line.kind == HEADING]
    wanted = _words(section)
    for at in headings:
        fit = _fit(_words(lines[at].text), wanted)
        title = at == headings[0] and lines[at].level == 1
        # `# Project memory` names the whole index; `# Project` would be a section.
        if fit == _OTHER or (title and _words(lines[at].text, ()) != wanted):
            continue
        if fit < best and (fit == _EXACT or _may_hold(lines, at)):
            best, found = fit, at
    return found


def _may_hold(lines: list[Line], heading: int) -> bool:
    """A section of pointers, or an empty one; above prose the word stands by chance."""
    body = lines[heading + 1 : _section_end(lines, heading)]
    return any(line.kind == POINTER for line in body) or all(line.kind != CONTENT for line in body)


def _fit(heading: list[str], wanted: list[str]) -> int:
    if not wanted or heading == wanted:
        return _EXACT if wanted else _OTHER
    if heading[: len(wanted)] == wanted:
        return _STARTS
    spread = range(1, len(heading) - len(wanted) + 1)
    return _HOLDS if any(heading[at : at + len(wanted)] == wanted for at in spread) else _OTHER


def _words(text: str, fillers: tuple[str, ...] = _FILLERS) -> list[str]:
    """The words of a heading in lower case and singular: `## Feedback memories` is `feedback`."""
    spaced = "".join([char if char.isalnum() else " " for char in text.casefold()])
    singular = [
        word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s")
        for word in spaced.split()
    ]
    return [word for word in singular if word not in fillers]
