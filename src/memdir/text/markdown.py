"""The only Markdown reader: code, links, list items, headings, blocks and sentences.

Hooks import this module, and an index may come from any repository: only C modules of the standard
library, and every function takes linear time.
"""

from memdir.text import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")  # can be escaped by a backslash
_MAX_TARGET_CHARACTERS = 4096  # the longest path on Linux
_MAX_PARENTHESES = 8  # nested in a target


def markdown_spans(line: str) -> tuple[dict[int, int], dict[int, int]]:
    """Code spans (start: end) and brackets outside them (opening: closing), in linear time."""
    ticks: dict[int, list[int]] = {}  # starts of backtick runs by length, last first
    start = line.rfind("`")
    while start >= 0:
        end = start + 1
        while line.endswith("`", 0, start):
            start -= 1
        ticks.setdefault(end - start, []).append(start)
        start = line.rfind("`", 0, start)
    spans: dict[int, int] = {}
    pairs: dict[int, int] = {}
    opened: list[int] = []
    # Jump from mark to mark: most of a line is plain words.
    marks = {mark: place for mark in "\\[]`" if (place := line.find(mark)) >= 0}
    while marks:
        char = min(marks, key=marks.__getitem__)
        i = marks[char]
        end = i + 1
        if char == "\\":
            end = i + 2
        elif char == "[":
            opened.append(i)
        elif char == "]" and opened:
            pairs[opened.pop()] = i
        elif char == "`":
            while line.startswith("`", end):
                end += 1
            size = end - i
            same = ticks.get(size, [])
            while same and same[-1] <= i:
                same.pop()
            if same:
                spans[i] = end = same[-1] + size
        for mark in [mark for mark, place in marks.items() if place < end]:
            marks[mark] = line.find(mark, end)
            if marks[mark] < 0:
                del marks[mark]
    return spans, pairs


def unescape_markdown(text: str) -> str:
    if "\\" not in text:
        return text
    spans, _ = markdown_spans(text)
    out = []
    i = 0
    while i < len(text):
        if text[i] == "\\" and text[i + 1 : i + 2] in _PUNCTUATION:
            i += 1
            end = i + 1
        else:
            end = spans.get(i, i + 1)
        out.append(text[i:end])
        i = end
    return "".join(out)


def escape_markdown(text: str, marks: str) -> str:
    """Inverse of `unescape_markdown`; code spans stay readable."""
    if "\\" not in text and "-->" not in text and not any(mark in text for mark in marks):
        return text
    spans = {} if "`" in marks or "-->" in text else markdown_spans(text)[0]
    out = []
    i = 0
    while i < len(text):
        char, end = text[i], spans.get(i, i + 1)
        escapes = char == "\\" and (i + 1 == len(text) or text[i + 1] in _PUNCTUATION)
        # Must not close a comment that was left open further up.
        ends_comment = char == ">" and text[max(i - 2, 0) : i] == "--"
        if end == i + 1 and (char in marks or escapes or ends_comment):
            out.append("\\")
        out.append(text[i:end])
        i = end
    return "".join(out)


def markdown_link_target(line: str, start: int) -> tuple[str, int]:
    """Target of a link after `](` and the end of the link, -1 if it is not a link."""
    while line.startswith((" ", "\t"), start):
        start += 1
    angled = line.startswith("<", start)
    end = _angled_end(line, start) if angled else _target_end(line, start)
    close = _link_close(line, end)
    if close >= 0:
        return unescape_markdown(line[start + 1 : end - 1] if angled else line[start:end]), close
    # `[x](my file.md)` is not valid Markdown, but people and models write it.
    close = line.find(")", start, start + _MAX_TARGET_CHARACTERS)
    if close < 0 or not line.endswith(".md", start, close):
        return "", -1
    return unescape_markdown(line[start:close]), close + 1


def _angled_end(line: str, start: int) -> int:
    i = start + 1
    while i < len(line) and line[i] not in "<>":
        i += 2 if line[i] == "\\" else 1
    return i + 1 if line.startswith(">", i) else -1


def _target_end(line: str, start: int) -> int:
    i, depth = start, 0
    while i < len(line) and line[i] not in " \t":
        char = line[i]
        if char == "(":
            depth += 1
            # Also keeps `[a]([a]([a](…` from taking quadratic time.
            if depth > _MAX_PARENTHESES:
                return -1
        elif char == ")":
            if not depth:
                break
            depth -= 1
        i += 2 if char == "\\" else 1
    return min(i, len(line))


def _link_close(line: str, end: int) -> int:
    if end < 0:
        return -1
    i = end
    while line.startswith((" ", "\t"), i):
        i += 1
    if i > end and line.startswith(('"', "'"), i):
        i = line.find(line[i], i + 1) + 1
        if not i:
            return -1
    return i + 1 if line.startswith(")", i) else -1


# Layers. REST is text after a comment that ends on its line; OPEN is a code block that
# is never closed, so it runs to the end.
FRONT, COMMENT, REST, CODE, OPEN, TEXT = "front", "comment", "rest", "code", "open", "text"

BOM = "\ufeff"
_DASHES = "---"
_FENCES = ("```", "~~~")


def markdown_layers(lines: "Sequence[str]") -> list[tuple[str, str]]:
    """The layer of each line and its visible text; lines come without line ends."""
    result: list[tuple[str, str]] = [(FRONT, "")] * markdown_header_lines(lines)
    fence, fence_start, closable = "", 0, True
    while len(result) < len(lines):
        i = len(result)
        line = lines[i]
        if fence:
            result.append((CODE, line))
            fence = "" if closes_fence(line, fence) else fence
        elif fence := opened_fence(line):
            fence_start = i
            result.append((CODE, line))
        elif closable and line.startswith("<!--", _indent(line)) and _indent(line) <= 3:
            comment = _comment(lines, i)
            # Nothing closes a comment below this line, so do not search again.
            closable = bool(comment)
            result += comment or [(TEXT, line)]
        else:
            result.append((TEXT, line))
    if fence:
        result[fence_start:] = [(OPEN, line) for line in lines[fence_start:]]
    return result


def markdown_header_lines(lines: "Sequence[str]") -> int:
    """A header that is never closed is text."""
    if not lines or lines[0].removeprefix(BOM).strip() != _DASHES:
        return 0
    return next((i + 1 for i in range(1, len(lines)) if lines[i].strip() == _DASHES), 0)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def opened_fence(line: str) -> str:
    body = line.lstrip(" \t>")
    body = body[max(list_item_start(body), 0) :]
    if not body.startswith(_FENCES):
        return ""
    rest = body.lstrip(body[0])
    # ```x``` on one line is inline code.
    return "" if body[0] in rest and body[0] == "`" else body[: len(body) - len(rest)]


def closes_fence(line: str, fence: str) -> bool:
    body = line.strip().lstrip("> ")
    return len(body) >= len(fence) and not body.strip(fence[0])


def _comment(lines: "Sequence[str]", first: int) -> list[tuple[str, str]]:
    start = lines[first].index("<!--") + 4
    for last in range(first, len(lines)):
        close = lines[last].find("-->", start)
        if close >= 0:
            rest = lines[last][close + 3 :]
            while (start := rest.find("<!--")) >= 0 and (end := rest.find("-->", start + 4)) >= 0:
                rest = rest[:start] + rest[end + 3 :]
            shown = (REST, rest) if rest.strip() else (COMMENT, "")
            return [(COMMENT, "")] * (last - first) + [shown]
        start = 0
    return []


def list_item_start(line: str) -> int:
    body = line.lstrip()
    marker = body[:1]
    if marker.isdigit():
        digits = len(body) - len(body.lstrip("0123456789"))
        marker = body[: digits + 1] if body[digits : digits + 1] in (".", ")") else ""
    elif marker not in ("-", "*", "+"):
        return -1
    rest = body[len(marker) :]
    return len(line) - len(rest.lstrip()) if marker and rest[:1] in (" ", "\t") else -1


def heading_level(line: str) -> int:
    body = line.strip()
    level = len(body) - len(body.lstrip("#"))
    return level if 0 < level <= 6 and body[level : level + 1] in ("", " ", "\t") else 0


def heading_text(line: str) -> str:
    return line.strip().strip("#").strip()


def markdown_headings(lines: "Sequence[str]") -> list[tuple[int, int]]:
    return [
        (i, level)
        for i, (layer, shown) in enumerate(markdown_layers(lines))
        if layer == TEXT and (level := heading_level(shown))
    ]


MAX_TEXT_CHARACTERS = 1_000_000  # read per memory
MAX_LINE_CHARACTERS = 20_000  # longer lines are data
MAX_BLOCK_LINES = 400  # longer blocks are split
MAX_LEAD_CHARACTERS = 300  # of an introducing line
PROSE, FENCED, ROW, HEADING = "prose", "fenced", "row", "heading"
HIDDEN = "\x01"  # replaces each character of a code span
# A list item, or a label such as **Why:**, starts a new block.
_ITEM = pattern(r"\s{0,40}(?:[-*+•]|\d{1,4}[.)])\s")
_LABEL = pattern(r"\s{0,8}\*\*[^*\n]{1,80}\*\*")


def markdown_sections(lines: "Sequence[str]", level: int) -> list[tuple[str, list[str]]]:
    """Title and lines of each section, split at this level or above; "" before the first."""
    cuts = [index for index, depth in markdown_headings(lines) if depth <= level]
    parts = [("", list(lines[: cuts[0] if cuts else len(lines)]))]
    for start, end in zip(cuts, [*cuts[1:], len(lines)], strict=False):
        parts.append((heading_text(lines[start]), list(lines[start:end])))
    return [(title, part) for title, part in parts if title or any(map(str.strip, part))]


class Block:
    __slots__ = ("columns", "first", "heads", "kind", "lead", "masked", "spans", "text")

    def __init__(self, kind: str, first: int, text: str) -> None:
        self.kind = kind
        self.first = first  # line of the file, from 1
        self.text = text
        self.heads: tuple[str, ...] = ()  # headings above
        self.lead = ""  # the line above that introduces it with a colon
        self.columns: tuple[str, ...] = ()  # column titles of a table row
        spans = markdown_spans(text)[0] if kind != FENCED else {}
        self.spans = sorted(spans.items())  # code spans
        self.masked = text  # code spans hidden
        if spans:
            ends = [0, *(end for _, end in self.spans)]
            starts = [*(start for start, _ in self.spans), len(text)]
            parts = [text[end:start] for end, start in zip(ends, starts, strict=True)]
            hidden = [HIDDEN * (end - start) for start, end in self.spans]
            pairs = zip(parts, [*hidden, ""], strict=True)
            self.masked = "".join([part for pair in pairs for part in pair])

    def place(self, offset: int) -> tuple[int, int]:
        line = self.first + self.text.count("\n", 0, offset)
        return line, offset - self.text.rfind("\n", 0, offset) - 1


def markdown_blocks(text: str) -> "Iterator[Block]":
    lines = [line[:MAX_LINE_CHARACTERS] for line in text[:MAX_TEXT_CHARACTERS].split("\n")]
    body = markdown_header_lines(lines)
    first = next((i for i in range(body) if lines[i].startswith("description")), 0)
    if first:
        end = first + 1
        while lines[end][:1] in (" ", "\t"):
            end += 1
        yield Block(PROSE, first + 1, "\n".join(lines[first:end]))
    heads: list[tuple[int, str]] = []
    items: list[tuple[int, str]] = []  # indent and lead of the enclosing list items
    lead = ""
    columns: tuple[str, ...] = ()
    above = 0  # first line after the previous block
    for kind, number, held in markdown_parts(lines[body:], body + 1):
        block = Block(kind, number, "\n".join(held))
        is_item = kind == PROSE and _ITEM.match(held[0])
        if kind == PROSE:
            items = [item for item in items if is_item and item[0] < _indent(held[0])]
        if kind == ROW:
            fresh = not columns or number != above
            columns = tuple(held[0].strip().strip("|").split("|")) if fresh else columns
            block.columns, above = columns, number + 1
        block.heads = tuple(head for _, head in heads)
        block.lead = " ".join([lead, *(text for _, text in items)]).strip()
        yield block
        if kind == HEADING:
            level = heading_level(held[0])
            heads = [*(head for head in heads if head[0] < level), (level, held[0])]
            lead, items = "", []
        elif kind == PROSE:
            last = held[-1].rstrip().rstrip("*_")
            leads = last[-MAX_LEAD_CHARACTERS:] if last.endswith((":", "：")) else ""
            if is_item:
                items.append((_indent(held[0]), leads))
            else:
                lead = leads


def markdown_parts(lines: "Sequence[str]", first: int) -> "Iterator[tuple[str, int, list[str]]]":
    """Kind, first line number and lines of each block; code comes without its fences."""
    held: list[str] = []
    fence, start = "", first
    for number, line in enumerate(lines, first):
        opened = "" if fence else opened_fence(line)
        edge = opened or (fence and closes_fence(line, fence))
        kind = FENCED if fence else PROSE
        if not fence and line.lstrip().startswith("|"):
            kind = ROW
        elif not fence and heading_level(line) and _indent(line) <= 3:
            kind = HEADING
        begins = not fence and (not line.strip() or _ITEM.match(line) or _LABEL.match(line))
        if held and (edge or begins or kind in (ROW, HEADING) or len(held) >= MAX_BLOCK_LINES):
            yield FENCED if fence else PROSE, start, held
            held = []
        if edge:
            fence = opened
        elif kind in (ROW, HEADING):
            yield kind, number, [line]
        elif fence or line.strip():
            start = start if held else number
            held.append(line)
    if held:
        yield FENCED if fence else PROSE, start, held


# Of a body; later ones are not compared.
MAX_CHARACTERS = 40_000
MAX_SENTENCES = 2_000
# A full stop before a lower-case letter does not end a sentence: `e.g. this`.
_ENDS = pattern(r"(?<=[.!?][\s*_)\"'`])\s{0,4}(?=[^a-z\s])|(?<=[;。！？])\s{0,4}|\s—\s|\s--\s")
_MARKS = pattern(r"^(?:[\s>#*+|-]{1,40}|\d{1,3}[.)]\s)")
# Labels that every memory has.
_ASKED = pattern(r"(?i)^[*_]{0,2}(?:why|how to apply|rule|note|lesson)[*_]{0,2}:[*_]{0,2}\s*")


def split_sentences(body: str) -> list[tuple[str, bool]]:
    """Each sentence, with True if it is a line of code; list items are separate."""
    result: list[tuple[str, bool]] = []
    heading, below, count = "", 0, 0  # a heading belongs to the paragraph directly below it
    for kind, number, lines in markdown_parts(body[:MAX_CHARACTERS].split("\n"), 1):
        if kind == FENCED:
            result += [(line.strip(), True) for line in lines if line.strip()]
            continue
        if kind == PROSE and number == below and not _ITEM.match(lines[0]):
            lines = [heading, *lines]
            del result[count:]
        heading, below, count = lines[0], number + (kind == HEADING), len(result)
        for part in _ENDS.split("\n".join(lines)):
            text = _MARKS.sub("", " ".join(part.split()), count=1)
            text = _ASKED.sub("", text).strip(" *_|")
            result += [(text, False)] if text else []
    return result[:MAX_SENTENCES]
