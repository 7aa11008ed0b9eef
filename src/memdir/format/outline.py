"""The lines of an index: their kinds and the memories they point at."""

from memdir.format.pointer import (
    BACKTICK,
    BRACKET,
    LINK,
    SUFFIX,
    TABLE,
    WIKILINK,
    Pointer,
    is_table_row,
    parse_pointers,
    pointer_path,
)
from memdir.hot import types
from memdir.hot.memory import stem
from memdir.text import markdown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

# Kinds of lines; inside code, comment or header, the kind is the layer's name.
BLANK, HEADING, POINTER, MORE, INTRO = "blank", "heading", "pointer", "more", "intro"
RULE, HEAD, CONTENT, ELSEWHERE = "rule", "head", "content", "elsewhere"
# Indexes and READMEs are not memories: a link to one is neither a pointer nor dangling.
NEVER_MEMORIES = ("memory.md", "readme.md", "index.md")
# `[CLAUDE.md]` in brackets is the client's file, not a missing memory.
_INSTRUCTIONS = ("claude.md", "claude.local.md", "agents.md", "gemini.md")
_EMPHASIS = "*_ "


class Lookup:
    """Resolves pointers by the rules of their form; ties go to the shallowest path."""

    __slots__ = ("_files", "_loose", "_names", "_ordered", "_stems")

    def __init__(self, files: "Iterable[str]", names: "Mapping[str, str]") -> None:
        self._files = frozenset(files)
        self._ordered = sorted(self._files, key=lambda path: (path.count("/"), path))
        self._names = names
        self._stems: dict[str, str] = {}
        for path in self._ordered:
            self._stems.setdefault(stem(path), path)
        self._loose: dict[str, str] = {}  # filled on first use

    def find(self, target: str, form: str) -> str | None:
        if target in self._files:
            return target
        if form == WIKILINK:
            return self._find_label(target)
        decoded = unescape_pointer_target(target)
        if decoded in self._files:
            return decoded
        return None if form == LINK or "/" in target else self._stems.get(stem(target))

    def _find_label(self, target: str) -> str | None:
        """Exact stem or name, then ignoring case, type prefix and `-` versus `_`."""
        path = pointer_path(target.removesuffix(SUFFIX) + SUFFIX)
        if path in self._files:
            return path
        label = target.removesuffix(SUFFIX)
        if label in self._stems:
            return self._stems[label]
        if self._names.get(label) in self._files:
            return self._names[label]
        if not self._loose:
            named = [(name, path) for name, path in self._names.items() if path in self._files]
            stems = [(stem(path), path) for path in self._ordered]
            untyped_stems = [(title_without_type(label), path) for label, path in stems]
            for name, path in (*stems, *named, *untyped_stems):
                self._loose.setdefault(_loosen(name), path)
        return self._loose.get(_loosen(label))


def _loosen(label: str) -> str:
    return label.replace("-", "_").casefold()


class Line:
    __slots__ = ("end", "entry", "kind", "layer", "level", "number", "paths", "pointers", "text")

    def __init__(self, text: str, end: str, number: int = 0) -> None:
        self.text = text
        self.end = end
        self.number = number
        self.layer = self.kind = markdown.TEXT
        self.level = 0  # heading level
        self.pointers: list[Pointer] = []
        self.paths: list[str | None] = []  # files of the pointers; None if missing
        self.entry = False  # an item or row that exists for its first pointer

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip())

    @property
    def item(self) -> bool:
        return markdown.list_item_start(self.text) >= 0

    @property
    def continues(self) -> bool:
        return self.kind in (CONTENT, MORE) and not self.pointers and not self.item


def read_index_lines(text: str, lookup: Lookup) -> tuple[str, list[Line]]:
    bom = markdown.BOM if text.startswith(markdown.BOM) else ""
    lines = list(_split(text.removeprefix(bom)))
    for line, (layer, shown) in zip(
        lines, markdown.markdown_layers([line.text for line in lines]), strict=True
    ):
        line.layer = line.kind = layer
        if layer in (markdown.TEXT, markdown.REST):
            _classify(line)
            _point(line, shown, lookup)
    _mark_heads(lines)
    _mark_items(lines)
    _mark_intro(lines)
    _mark_words(lines)
    return bom, lines


def write_index_lines(bom: str, lines: "Iterable[Line]") -> str:
    return bom + "".join([line.text + line.end for line in lines])


def index_block_end(lines: list[Line], i: int, indent: int) -> int:
    end = i + 1
    for below in range(end, len(lines)):
        line = lines[below]
        if line.kind != BLANK:
            # An unclosed code block is an accident and belongs to no line above.
            if line.indent <= indent or line.kind in (markdown.OPEN, HEADING):
                break
            end = below + 1
    return end


def hanging_index_lines(lines: list[Line], i: int, gone: "Collection[int]") -> list[int] | None:
    """Continuation lines of an entry; None if anything else hangs below it."""
    result: list[int] = []
    parted = False
    for below in range(i + 1, index_block_end(lines, i, lines[i].indent)):
        if below in gone:
            continue
        if lines[below].kind == BLANK:
            parted = True
        elif parted or not lines[below].continues:
            return None
        else:
            result.append(below)
    return result


def title_without_type(label: str) -> str:
    for name in types.names():
        rest = label[len(name) + 1 :]
        if rest and label.startswith((name + "_", name + "-")):
            return rest
    return label


def unescape_pointer_target(target: str) -> str:
    if "%" not in target:
        return target
    head, *parts = target.split("%")
    data = head.encode("utf-8", "surrogateescape")
    for part in parts:
        code = part[:2]
        if len(code) == 2 and all(char in "0123456789abcdefABCDEF" for char in code):
            data += bytes([int(code, 16)]) + part[2:].encode("utf-8", "surrogateescape")
        else:
            data += b"%" + part.encode("utf-8", "surrogateescape")
    return data.decode("utf-8", "surrogateescape")


def _split(text: str) -> "Iterator[Line]":
    parts = text.split("\n")
    last = parts.pop()
    for number, part in enumerate(parts, 1):
        bare = part.removesuffix("\r")
        yield Line(bare, "\n" if bare == part else "\r\n", number)
    if last:
        yield Line(last, "", len(parts) + 1)


def _classify(line: Line) -> None:
    body, level = line.text.strip(), markdown.heading_level(line.text)
    if not body:
        line.kind = BLANK
    elif level:
        line.kind, line.level = HEADING, level
    elif body[0] in "-*_=" and len(body) > 2 and not body.strip(body[0] + " "):
        line.kind = RULE
    else:
        line.kind = CONTENT


def _point(line: Line, shown: str, lookup: Lookup) -> None:
    for pointer in parse_pointers(shown, line.number):
        path = lookup.find(pointer.target, pointer.form)
        if path is not None or _must_exist(pointer):
            line.pointers.append(pointer)
            line.paths.append(path)
    text = markdown.list_item_start(shown)
    if line.kind != CONTENT or not line.pointers:
        if line.kind == CONTENT and text >= 0 and _leads_elsewhere(shown[text:]):
            line.kind = ELSEWHERE
        return
    first = line.pointers[0]
    leads = not shown[max(text, 0) : first.start].strip(_EMPHASIS)
    if text >= 0 or leads or is_table_row(shown):
        line.kind = POINTER
    last = first.form == BRACKET and not shown[first.end :].strip(" .")
    alone = len(line.pointers) == 1
    line.entry = line.layer == markdown.TEXT and (
        (text >= 0 and (leads or (last and alone))) or (alone and is_table_row(shown))
    )


def _leads_elsewhere(body: str) -> bool:
    body = body.lstrip(_EMPHASIS)
    close = body.find("](")
    return body.startswith("[") and close > 0 and "]" not in body[:close]


def _must_exist(pointer: Pointer) -> bool:
    """False for a name in backticks: it may be any file of the repository."""
    name = pointer.target.rpartition("/")[2].lower().removesuffix(SUFFIX) + SUFFIX
    if pointer.form in (BACKTICK, TABLE) or name in NEVER_MEMORIES:
        return False
    return pointer.form != BRACKET or name not in _INSTRUCTIONS


def _mark_heads(lines: list[Line]) -> None:
    for above, line in zip([None, *lines], lines, strict=False):
        if line.kind == CONTENT and is_table_row(line.text) and not line.text.strip(" \t|:-"):
            line.kind = HEAD
            if above and above.kind in (CONTENT, POINTER) and is_table_row(above.text):
                above.kind, above.entry = HEAD, False


def _mark_items(lines: list[Line]) -> None:
    for i, line in enumerate(lines):
        if line.kind == POINTER and line.item:
            end = i + 1
            while end < len(lines) and lines[end].continues and lines[end].indent > line.indent:
                lines[end].kind = MORE
                end += 1


def _mark_intro(lines: list[Line]) -> None:
    titled = False
    for line in lines:
        if line.kind == HEADING and line.level == 1 and not titled:
            titled = True
        elif line.kind == CONTENT and not line.item and not is_table_row(line.text):
            line.kind = INTRO
        elif line.kind not in (BLANK, RULE, markdown.COMMENT, markdown.FRONT):
            return


def _mark_words(lines: list[Line]) -> None:
    """Does a line, or what continues it, say more than the name of the file that is gone?"""
    for i, line in enumerate(lines):
        if None in line.paths:
            below = lines[i + 1 : index_block_end(lines, i, line.indent)]
            texts = [line.text[max(markdown.list_item_start(line.text), 0) :]]
            texts += [each.text for each in below if each.continues]
            said = {*split_index_title(" ".join(texts))}
            for pointer in line.pointers:
                names = f"{pointer.target} {unescape_pointer_target(pointer.target)} {SUFFIX}"
                pointer.says_more = not said.issubset(split_index_title(names))


def split_index_title(text: str) -> list[str]:
    return "".join([char if char.isalnum() else " " for char in text.casefold()]).split()
