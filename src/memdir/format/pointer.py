"""A pointer: a place in a line of the index that names a memory.

Reads every form found in real stores, writes a single one.
"""

from memdir.hot.memory import POINTER_AIM
from memdir.hot.safe import make_visible
from memdir.text import pattern
from memdir.text.markdown import (
    escape_markdown,
    list_item_start,
    markdown_link_target,
    markdown_spans,
    unescape_markdown,
)

SUFFIX = ".md"
LINK, BRACKET, BACKTICK, WIKILINK, TABLE = "link", "bracket", "backtick", "wikilink", "table"

_SEPARATORS = ("—", "–", "--", "-", ":", "→", "|")
# Control characters, and U+2028 and U+2029, which would also end a line.
_CONTROLS = dict.fromkeys([*range(32), *range(127, 160), 0x2028, 0x2029], " ")
_SHORTEST_HOOK = 8  # characters
_FACT = pattern(r"(?<!\S)(?:\(?https?://\S+|[^\s\d]*\d\S*)")  # starts with a word: linear


class Pointer:
    __slots__ = ("end", "form", "hook", "line", "says_more", "start", "target", "title")

    def __init__(
        self, target: str, title: str, hook: str, line: int, form: str, start: int = 0, end: int = 0
    ) -> None:
        self.target = target
        self.title = title
        self.hook = hook
        self.line = line
        self.form = form
        self.start = start  # columns of the pointer without its hook
        self.end = end
        self.says_more = False  # of a pointer to nothing: words that would go with its line


def parse_pointers(line: str, number: int) -> list[Pointer]:
    if "[[" not in line and SUFFIX not in line.lower():
        return []
    spans, pairs = markdown_spans(line)
    result = _bracketed(line, number, pairs)
    # Next to a link, a file name in backticks is part of the hook: `supersedes old.md`.
    row = is_table_row(line)
    if not result and (row or list_item_start(line) >= 0):
        result = _backticked(line, number, spans) or _bare_cells(line, number)
    for i, pointer in enumerate(result):
        end = result[i + 1].start if i + 1 < len(result) else len(line)
        rest = line[pointer.end : end]
        pointer.hook = _hook(rest.rstrip(" \t|") if row else rest)
    if len(result) == 1 and result[0].form == BRACKET and not result[0].hook.strip("."):
        # `- words [file.md]`: the words are the hook.
        result[0].hook = unescape_markdown(
            line[max(list_item_start(line), 0) : result[0].start].strip()
        )
    return result


def format_pointer(title: str, target: str, hook: str) -> str:
    """Inverse of `parse_pointers`; always a single line."""
    title = format_line(title) or format_line(target.rpartition("/")[2].removesuffix(SUFFIX))
    hook, written = format_line(hook), _written_target(target)
    line = ""
    # Escape only what is needed: most titles and hooks read best unchanged.
    for in_title, in_hook in (("[]", ""), ("[]`", ""), ("[]`", "[]`")):
        link = f"- [{escape_markdown(title, in_title)}]({written})"
        short, shown = _fit(hook, in_hook, POINTER_AIM - len(link) - len(" — "))
        line = f"{link} — {shown}" if shown else link
        read = [(pointer.title, pointer.hook) for pointer in parse_pointers(line, 1)]
        if read == [(title, short)]:
            break
    return line


def pointer_path(target: str) -> str:
    """Path in the store; empty if the target leaves the store or is not a memory."""
    path = target.strip()
    cut = path.lower().find(SUFFIX + "#")
    if cut >= 0:
        path = path[: cut + len(SUFFIX)]
    if path[-3:].lower() != SUFFIX or path[0] in "/\\" or path.startswith("~/"):
        return ""
    if _has_scheme(path) or path.translate(_CONTROLS) != path:
        return ""
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." or ("\\" in part and ".." in part.split("\\")):
            if not parts or part != "..":
                return ""
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts) if parts and parts[-1].lower() != SUFFIX else ""


def is_table_row(line: str) -> bool:
    body = line.strip()
    return body.startswith("|") and body.find("|", 1) > 0


def format_line(text: str) -> str:
    return " ".join(make_visible(text.translate(_CONTROLS)).split())


def _bracketed(line: str, number: int, pairs: dict[int, int]) -> list[Pointer]:
    result: list[Pointer] = []
    done = 0
    for start in sorted(pairs):
        if start < done:
            continue
        close = pairs[start]
        label = slice(start + 1, close)
        if line.startswith("(", close + 1):
            target, end = markdown_link_target(line, close + 2)
            if end > 0:
                done = end
                path = pointer_path(target)
                if path and not line.startswith("!", max(start - 1, 0), start):
                    title = unescape_markdown(line[label].strip())
                    result.append(Pointer(path, title, "", number, LINK, start, end))
        elif pairs.get(start + 1) == close - 1 and line.find("[", start + 2, close) < 0:
            done = close + 1
            pointer = _wikilink(line[start + 2 : close - 1], number)
            if pointer:
                pointer.start, pointer.end = start, done
                result.append(pointer)
        elif line.endswith(SUFFIX, start, close):
            path = _file_name(line[label])
            if path:
                done = close + 1
                result.append(Pointer(path, line[label], "", number, BRACKET, start, done))
    return result


def _wikilink(text: str, number: int) -> Pointer | None:
    """`[[target]]`, `[[target|title]]`, `[[target#heading]]`, but not a shell test."""
    name, _, title = text.partition("|")
    name = name.partition("#")[0].strip()
    if not name or text != text.strip() or not pointer_path(name.removesuffix(SUFFIX) + SUFFIX):
        return None
    return Pointer(name, title.strip() or name, "", number, WIKILINK)


def _backticked(line: str, number: int, spans: dict[int, int]) -> list[Pointer]:
    result = []
    for start, end in spans.items():
        code = line[start:end].strip("`").strip()
        path = _file_name(code)
        if path:
            result.append(Pointer(path, code, "", number, BACKTICK, start, end))
    return result


def _bare_cells(line: str, number: int) -> list[Pointer]:
    result = []
    start = 0
    for cell in line.split("|") if is_table_row(line) else ():
        path = _file_name(cell.strip())
        if path:
            end = start + len(cell)
            result.append(Pointer(path, cell.strip(), "", number, TABLE, start, end))
        start += len(cell) + 1
    return result


def _file_name(text: str) -> str:
    return "" if " " in text or "\t" in text else pointer_path(text)


def _hook(rest: str) -> str:
    if rest.startswith(("*", "_")):  # the end of **[Title](file.md)**
        rest = rest.lstrip("*_")
    rest = rest.strip()
    for separator in _SEPARATORS:
        if rest.startswith(separator):
            rest = rest.removeprefix(separator).strip()
            break
    return unescape_markdown(rest)


def _written_target(target: str) -> str:
    written = target.translate(_CONTROLS)
    if ":" in written.partition("/")[0]:
        written = "./" + written  # the `a:` of `a:b.md` would be a URL scheme
    if SUFFIX + "#" in written:
        written = written.replace("#", "%23")
    if any(char in written for char in " ()<>\\`[]"):
        return "<" + escape_markdown(written, "<>`[]") + ">"
    return written


def _fit(hook: str, marks: str, room: int) -> tuple[str, str]:
    size = room
    while size >= min(_SHORTEST_HOOK, len(hook)) > 0:
        short = cut_hook_at_word(hook, size)
        shown = escape_markdown(short, marks)
        if len(shown) <= room:
            return short, shown
        size -= len(shown) - room
    return "", ""


def cut_hook_at_word(text: str, size: int) -> str:
    """A number, date or address that would be lost is kept, whole, after the cut."""
    if len(text) <= size:
        return text
    lost = next((fact for fact in _FACT.finditer(text) if fact.end() > size - 1), None)
    fact = lost[0].strip("()<>.,;:") if lost else ""
    if fact and len(fact) <= size - _SHORTEST_HOOK:
        return f"{_cut_at_word(text, size - len(fact) - 1)} {fact}"
    return _cut_at_word(text, size)


def _cut_at_word(text: str, size: int) -> str:
    space = text.rfind(" ", 0, size)
    return text[: space if space > size // 2 else size - 1].rstrip(" ,;:—–-\\") + "…"


def _has_scheme(path: str) -> bool:
    """`https:`, `mailto:`, also the drive in `C:`; `./a:b.md` has none."""
    name, colon, _ = path.partition(":")
    if not colon or not name.isascii() or not name[:1].isalpha():
        return False
    return all(char.isalnum() or char in "+.-" for char in name)
