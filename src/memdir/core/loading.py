"""What an agent sees of an index when a session starts, and what it misses.

The limits and the order of the steps are the client's (seed 004); the words of the warning are
ours. Lines are those between "\\n": other line separators are ordinary characters there too.
"""

from memdir.core.frontmatter import utf16_units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_LINES = 200
MAX_CHARACTERS = 25_000  # UTF-16 units, as JavaScript counts a string
POINTER_AIM = 150  # characters of one pointer line; an aim, not a limit
KILOBYTE = 1024

# What a line belongs to. REST is text behind a comment that ends on its line; OPEN is a code block
# that nobody closed: it runs to the end.
FRONT, COMMENT, REST, CODE, OPEN, TEXT = "front", "comment", "rest", "code", "open", "text"

BOM = "\ufeff"
_DASHES = "---"
_FENCES = ("```", "~~~")
# What JavaScript's trim() takes away; Python's strip() would also take U+001C to U+001F and U+0085.
_BLANK = (
    "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000" + BOM
)


class Loaded:
    """The text an agent gets, the size of the whole, and what is missing from the text."""

    __slots__ = ("characters", "cut_characters", "cut_lines", "lines", "text", "warning")

    def __init__(
        self,
        text: str,
        lines: int,
        characters: int,
        cut_lines: int = 0,
        cut_characters: int = 0,
        warning: str = "",
    ) -> None:
        self.text = text
        self.lines = lines
        self.characters = characters
        self.cut_lines = cut_lines
        self.cut_characters = cut_characters
        self.warning = warning


def load(text: str) -> Loaded:
    """The index as an agent gets it: trimmed, cut to the limits, with a warning if it was cut."""
    whole, numbers = _view(text)
    lines = whole.count("\n") + 1 if whole else 0
    characters = utf16_units(whole)
    if lines <= MAX_LINES and characters <= MAX_CHARACTERS:
        return Loaded(whole, lines, characters)
    kept = _first_units("\n".join(whole.split("\n", MAX_LINES)[:MAX_LINES]))
    shown = kept.count("\n") + 1
    if whole[len(kept)] == "\n":
        lost = f"everything from line {numbers[shown]} on"
    else:
        lost = f"the rest of line {numbers[shown - 1]} and everything below it"
    warning = (
        f"> MEMORY.md is too long: {_excess(lines, characters)}. Left out: {lost}. "
        f"Repair: one line per memory under ~{POINTER_AIM} characters, "
        "detail moved into topic files; `memdir index --check` lists the lines."
    )
    cut = characters - utf16_units(kept)
    return Loaded(f"{kept}\n\n{warning}", lines, characters, lines - shown, cut, warning)


def layers(lines: "Sequence[str]") -> list[tuple[str, str]]:
    """For each line what it belongs to and what a reader sees of it; given without line ends."""
    found: list[tuple[str, str]] = [(FRONT, "")] * _header_lines(lines)
    fence, fenced_from, closable = "", 0, True
    while len(found) < len(lines):
        at = len(found)
        line = lines[at]
        if fence:
            found.append((CODE, line))
            fence = "" if _closes(line, fence) else fence
        elif fence := _opened_fence(line):
            fenced_from = at
            found.append((CODE, line))
        elif closable and _starts_comment(line):
            comment = _comment(lines, at)
            # Nothing closes below this line, so nothing closes below a later one either.
            closable = bool(comment)
            found += comment or [(TEXT, line)]
        else:
            found.append((TEXT, line))
    if fence:
        found[fenced_from:] = [(OPEN, line) for line in lines[fenced_from:]]
    return found


def _view(text: str) -> tuple[str, list[int]]:
    """What is left after header and comments, trimmed, and each line's number in the file."""
    lines = text.removeprefix(BOM).replace("\r\n", "\n").split("\n")
    visible, numbers, after_comment = [], [], False
    for number, (layer, shown) in enumerate(layers(lines), 1):
        # A comment takes the blank lines below it along, as it does in the client.
        if layer in (FRONT, COMMENT) or (after_comment and not shown.strip(_BLANK)):
            after_comment = layer != FRONT
            continue
        after_comment = False
        visible.append(shown)
        numbers.append(number)
    joined = "\n".join(visible)
    trimmed = joined.lstrip(_BLANK)
    above = joined.count("\n", 0, len(joined) - len(trimmed))
    return trimmed.rstrip(_BLANK), numbers[above:]


def _first_units(text: str) -> str:
    """A text cut to MAX_CHARACTERS at the last line end; a single longer line is cut hard."""
    end = MAX_CHARACTERS
    # Each round takes off at most one unit too many, and only in front of a pair: never half of it.
    while (over := utf16_units(text[:end]) - MAX_CHARACTERS) > 0:
        end -= (over + 1) // 2
    if end >= len(text):
        return text
    line_end = text.rfind("\n", 0, end + 1)
    return text[: line_end if line_end > 0 else end]


def _excess(lines: int, characters: int) -> str:
    """Which limits are exceeded, and by how much."""
    found = []
    if lines > MAX_LINES:
        found.append(f"{lines} lines (limit: {MAX_LINES})")
    if characters > MAX_CHARACTERS:
        size, limit = characters / KILOBYTE, MAX_CHARACTERS / KILOBYTE
        found.append(f"{size:.1f}KB (limit: {limit:.1f}KB)")
    return " and ".join(found)


def _header_lines(lines: "Sequence[str]") -> int:
    """How many lines at the top are a header; a header that is never closed is text."""
    if not lines or lines[0].removeprefix(BOM).strip() != _DASHES:
        return 0
    for at in range(1, len(lines)):
        if lines[at].strip() == _DASHES:
            return at + 1
    return 0


def _opened_fence(line: str) -> str:
    """The fence that starts a code block on this line, else the empty string."""
    body = line.lstrip()
    if not body.startswith(_FENCES):
        return ""
    rest = body.lstrip(body[0])
    # ```x``` on one line is inline code.
    return "" if body[0] in rest and body[0] == "`" else body[: len(body) - len(rest)]


def _closes(line: str, fence: str) -> bool:
    body = line.strip()
    return len(body) >= len(fence) and not body.strip(fence[0])


def _starts_comment(line: str) -> bool:
    body = line.lstrip(" ")
    return body.startswith("<!--") and len(line) - len(body) <= 3  # four spaces would be code


def _comment(lines: "Sequence[str]", at: int) -> list[tuple[str, str]]:
    """The lines of the comment that starts at this one; none if it is never closed."""
    start = lines[at].index("<!--") + 4
    for end in range(at, len(lines)):
        close = lines[end].find("-->", start)
        if close >= 0:
            rest = _without_comments(lines[end][close + 3 :])
            last = (REST, rest) if rest.strip() else (COMMENT, "")
            return [(COMMENT, "")] * (end - at) + [last]
        start = 0
    return []


def _without_comments(text: str) -> str:
    """A line's rest after a comment, without further whole comments."""
    parts, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        parts.append(text[at:start])
        at = end + 3
    return "".join(parts) + text[at:]
