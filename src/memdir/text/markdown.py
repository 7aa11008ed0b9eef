"""The one reader of fences, comments, list items, code spans and links; light enough for hooks.

Every function costs no more than its text is long, whatever it holds: an index may come from
anybody's repository.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")  # what a backslash can escape
_LONGEST_TARGET = 4096  # characters; the longest path that Linux takes
_DEEPEST = 8  # parentheses inside a target; no name has more


def structure(line: str) -> tuple[dict[int, int], dict[int, int]]:
    """Code spans (start to end) and brackets outside them (opening to closing), in one pass."""
    ticks = _tick_runs(line) if "`" in line else {}
    spans: dict[int, int] = {}
    pairs: dict[int, int] = {}
    opened: list[int] = []
    # From mark to mark, not from character to character: most of a line is words.
    marks = {mark: place for mark in "\\[]`" if (place := line.find(mark)) >= 0}
    while marks:
        char = min(marks, key=marks.__getitem__)
        at = marks[char]
        step = 1
        if char == "\\":
            step = 2
        elif char == "[":
            opened.append(at)
        elif char == "]" and opened:
            pairs[opened.pop()] = at
        elif char == "`":
            step = _run(line, at)
            same = ticks.get(step, [])
            while same and same[-1] <= at:
                same.pop()
            if same:
                spans[at] = same[-1] + step
                step = spans[at] - at
        for mark in [mark for mark, place in marks.items() if place < at + step]:
            marks[mark] = line.find(mark, at + step)
            if marks[mark] < 0:
                del marks[mark]
    return spans, pairs


def plain(text: str) -> str:
    """A text without its escapes; code spans stay as they are."""
    if "\\" not in text:
        return text
    spans, _ = structure(text)
    out = []
    at = 0
    while at < len(text):
        end = spans.get(at, at + 1)
        if text[at] == "\\" and text[at + 1 : at + 2] in _PUNCTUATION:
            at += 1
            end = at + 1
        out.append(text[at:end])
        at = end
    return "".join(out)


def escape(text: str, marks: str) -> str:
    """A text in which `marks` mean themselves; `plain` is the inverse. Code spans stay readable."""
    if "\\" not in text and "-->" not in text and not any(mark in text for mark in marks):
        return text
    spans = {} if "`" in marks or "-->" in text else structure(text)[0]
    out = []
    at = 0
    while at < len(text):
        end = spans.get(at, at + 1)
        char = text[at]
        if (
            end == at + 1
            and (
                char in marks
                or (char == "\\" and (at + 1 == len(text) or text[at + 1] in _PUNCTUATION))
                # A comment that is left open further up in the index must not end in here.
                or (char == ">" and text[max(at - 2, 0) : at] == "--")
            )
        ):
            out.append("\\")
        out.append(text[at:end])
        at = end
    return "".join(out)


def destination(line: str, at: int) -> tuple[str, int]:
    """The target that starts after `](` and where the link ends; the end is -1 if there is none."""
    while line.startswith((" ", "\t"), at):
        at += 1
    end = _angled(line, at) if line.startswith("<", at) else _unbroken(line, at)
    close = _link_close(line, end)
    if close >= 0:
        target = line[at + 1 : end - 1] if line.startswith("<", at) else line[at:end]
        return plain(target), close
    # `[x](my file.md)` is no link to a strict reader, but people and models write it.
    close = line.find(")", at, at + _LONGEST_TARGET)
    if close < 0 or not line.endswith(".md", at, close):
        return "", -1
    return plain(line[at:close]), close + 1


def _angled(line: str, at: int) -> int:
    """One past the `>` of a target in angle brackets; -1 if it is not closed."""
    at += 1
    while at < len(line) and line[at] not in "<>":
        at += 2 if line[at] == "\\" else 1
    return at + 1 if line.startswith(">", at) else -1


def _unbroken(line: str, at: int) -> int:
    """The end of a target without spaces, parentheses balanced; -1 if it nests too deep."""
    depth = 0
    while at < len(line) and line[at] not in " \t":
        char = line[at]
        if char == "(":
            depth += 1
            # Also what keeps `[a]([a]([a](…` from costing its length squared.
            if depth > _DEEPEST:
                return -1
        elif char == ")":
            if not depth:
                break
            depth -= 1
        at += 2 if char == "\\" else 1
    return min(at, len(line))


def _link_close(line: str, at: int) -> int:
    """One past the `)` that ends a link after its target and an optional quoted title, else -1."""
    if at < 0:
        return -1
    start = at
    while line.startswith((" ", "\t"), at):
        at += 1
    if at > start and line.startswith(('"', "'"), at):
        at = line.find(line[at], at + 1) + 1
        if not at:
            return -1
    return at + 1 if line.startswith(")", at) else -1


def _run(line: str, start: int) -> int:
    """How many backticks stand here."""
    end = start + 1
    while line.startswith("`", end):
        end += 1
    return end - start


def _tick_runs(line: str) -> dict[int, list[int]]:
    """Where runs of backticks start, by their length, the last one first."""
    runs: dict[int, list[int]] = {}
    start = line.find("`")
    while start >= 0:
        length = _run(line, start)
        runs.setdefault(length, []).append(start)
        start = line.find("`", start + length)
    for starts in runs.values():
        starts.reverse()
    return runs


# What a line belongs to. REST is text behind a comment that ends on its line; OPEN is a code block
# that nobody closed: it runs to the end.
FRONT, COMMENT, REST, CODE, OPEN, TEXT = "front", "comment", "rest", "code", "open", "text"

BOM = "\ufeff"
_DASHES = "---"
_FENCES = ("```", "~~~")


def layers(lines: "Sequence[str]") -> list[tuple[str, str]]:
    """For each line what it belongs to and what a reader sees of it; given without line ends."""
    found: list[tuple[str, str]] = [(FRONT, "")] * _header_lines(lines)
    fence, fenced_from, closable = "", 0, True
    while len(found) < len(lines):
        at = len(found)
        line = lines[at]
        if fence:
            found.append((CODE, line))
            fence = "" if closes_fence(line, fence) else fence
        elif fence := opened_fence(line):
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


def _header_lines(lines: "Sequence[str]") -> int:
    """How many lines at the top are a header; a header that is never closed is text."""
    if not lines or lines[0].removeprefix(BOM).strip() != _DASHES:
        return 0
    for at in range(1, len(lines)):
        if lines[at].strip() == _DASHES:
            return at + 1
    return 0


def opened_fence(line: str) -> str:
    """The fence that starts a code block on this line, also in a list or quote; else nothing."""
    body = line.lstrip(" \t>")
    body = body[max(item_start(body), 0) :]
    if not body.startswith(_FENCES):
        return ""
    rest = body.lstrip(body[0])
    # ```x``` on one line is inline code.
    return "" if body[0] in rest and body[0] == "`" else body[: len(body) - len(rest)]


def closes_fence(line: str, fence: str) -> bool:
    body = line.strip().lstrip("> ")
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


def item_start(line: str) -> int:
    """Where the text of a list item starts; -1 if the line is none."""
    body = line.lstrip()
    at = len(line) - len(body)
    marker = body[:1]
    if marker.isdigit():
        digits = len(body) - len(body.lstrip("0123456789"))
        marker = body[: digits + 1] if body[digits : digits + 1] in (".", ")") else ""
    elif marker not in ("-", "*", "+"):
        return -1
    rest = body[len(marker) :]
    return at + len(body) - len(rest.lstrip()) if marker and rest[:1] in (" ", "\t") else -1
