"""Where a new pointer goes in an index, and the index with lines taken out and put in."""

from memdir.format.outline import (
    BLANK,
    CONTENT,
    HEAD,
    HEADING,
    POINTER,
    Line,
    block_end,
    write_outline,
)
from memdir.text.markdown import CODE, COMMENT, OPEN, REST

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
    for i in range(len(lines) + 1):
        if i in groups:
            (_, above, below), texts = groups[i]
            padded = [""] * above + texts + [""] * below
            out += [Line(text, line_end) for text in padded]
        if i < len(lines) and i not in gone:
            out.append(lines[i])
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
    heading = find_heading(lines, section)
    if heading >= 0:
        return _place_below(lines, heading)
    last = _last_pointer(lines, 0, len(lines))
    if last >= 0:
        return _below(lines, last), False, False
    # A code block that is never closed takes all that comes after it.
    closed = next((i for i, line in enumerate(lines) if line.layer == OPEN), len(lines))
    return _place_after(lines, -1, closed)


def _place_below(lines: list[Line], heading: int) -> "Place":
    """In the section of this heading."""
    end = _section_end(lines, heading)
    last = _last_pointer(lines, heading + 1, end)
    if last >= 0:
        return min(_below(lines, last), end), False, False
    if any(line.kind != BLANK for line in lines[heading + 1 : end]):
        return _place_after(lines, heading, end)
    i = min(heading + 2, end)
    return i, False, heading + 1 < i < len(lines) and lines[i].kind != BLANK


def _place_after(lines: list[Line], start: int, end: int) -> "Place":
    """After the last line before `end` that is not blank; a list needs no blank line above."""
    i = end - 1
    while i > start and lines[i].kind == BLANK:
        i -= 1
    above = i >= 0 and not lines[i].item and not lines[i].indent
    return i + 1, above, False


def _last_pointer(lines: list[Line], start: int, end: int) -> int:
    """The last item there is only for its pointer, else the last that has one, else -1."""
    items = [i for i in range(start, end) if lines[i].kind == POINTER and lines[i].item]
    entries = [i for i in items if lines[i].entry]
    return (entries or items or [-1])[-1]


def _below(lines: list[Line], i: int) -> int:
    """The place below an item and all that hangs on it, outside of code blocks and comments."""
    end = block_end(lines, i, 0)
    while end < len(lines):
        above, below = lines[end - 1], lines[end]
        # Taking two blocks for one does no harm.
        comment = above.layer == COMMENT and below.layer in (COMMENT, REST)
        if not (comment or above.layer == below.layer == CODE or above.kind == below.kind == HEAD):
            break
        end = block_end(lines, end, 0)
    return end


def _section_end(lines: list[Line], heading: int) -> int:
    end = heading + 1
    while end < len(lines) and lines[end].kind not in (HEADING, OPEN):
        end += 1
    return end


def find_heading(lines: list[Line], section: str) -> int:
    """The heading that fits a section best, the first among equals; -1 if none does."""
    best, result = _OTHER, -1
    headings = [i for i, line in enumerate(lines) if line.kind == HEADING]
    wanted = _words(section)
    for i in headings:
        fit = _fit(_words(lines[i].text), wanted)
        title = i == headings[0] and lines[i].level == 1
        # `# Project memory` names the whole index; `# Project` would be a section.
        if fit == _OTHER or (title and _words(lines[i].text, ()) != wanted):
            continue
        if fit < best and (fit == _EXACT or _may_hold(lines, i)):
            best, result = fit, i
    return result


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
    return _HOLDS if any(heading[i : i + len(wanted)] == wanted for i in spread) else _OTHER


def _words(text: str, fillers: tuple[str, ...] = _FILLERS) -> list[str]:
    """The words of a heading in lower case and singular: `## Feedback memories` is `feedback`."""
    spaced = "".join([char if char.isalnum() else " " for char in text.casefold()])
    singular = [
        word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s")
        for word in spaced.split()
    ]
    return [word for word in singular if word not in fillers]
