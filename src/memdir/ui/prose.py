"""Markdown as HTML, without raw HTML, without images; and the difference of two texts as rows.

Everything is escaped first and marked up afterwards, so what is not understood is shown as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

from memdir.text.markdown import closes_fence, heading_level, heading_text, opened_fence
from memdir.text.terminal import visible_text

MAX_PROSE_CHARACTERS = 200_000  # of a memory that is shown as a page
MAX_DIFF_LINES = 4_000  # both sides together; comparing more is too slow
MAX_ROWS = 400  # of a difference
CONTEXT = 3  # lines around a change
_ITEM = re.compile(r"(\s{0,12})(?:[-*+]|(\d{1,6})[.)])\s+(.*)")
_CODE = re.compile(r"(`{1,3})(?!`)([^`]{1,2000})\1")
# Of escaped text: no mark of ours can stand in it.
_LINK = re.compile(r"(!?)\[([^\[\]]{0,500})\]\(([^()\s]{1,1000}(?:\([^()\s]{0,200}\))?)\)")
_BARE = re.compile(r"(?<![\w\"=;/])https?://[^\s<>\"'`]{3,500}")
_STRONG = re.compile(r"\*\*(\S(?:[^*]{0,1000}\S)?)\*\*")
_EM = re.compile(r"(?<![\w*])\*(\S(?:[^*]{0,1000}\S)?)\*(?![\w*])")
_ROW = re.compile(r"\s{0,3}\|.*\|\s*")
_RULE = re.compile(r"\s{0,3}\|?[\s:|-]{3,200}\|?\s*")


Address = Callable[[str], str]  # of another memory, by its path in a link; or empty


def render_prose(text: str, to: Address = lambda _: "") -> Markup:
    """A memory's text as it is meant to be read."""
    cut = text[:MAX_PROSE_CHARACTERS]
    html = "\n".join(_blocks(visible_text(cut).split("\n"), to))
    more = '<p class="quiet">The rest is too long to be shown here.</p>' * (len(cut) < len(text))
    return Markup(html + more)


def _blocks(lines: Sequence[str], to: Address) -> Iterator[str]:
    i = 0
    while i < len(lines):
        line = lines[i]
        if fence := opened_fence(line):
            end = next((k for k in range(i + 1, len(lines)) if closes_fence(lines[k], fence)), 0)
            end = end or len(lines)
            yield f"<pre><code>{escape(chr(10).join(lines[i + 1 : end]))}</code></pre>"
            i = end + 1
        elif not line.strip():
            i += 1
        elif level := heading_level(line):
            level = min(level + 2, 6)  # the page has its own first two
            yield f"<h{level}>{_spans(heading_text(line), to)}</h{level}>"
            i += 1
        elif line.strip() in ("---", "***", "___"):
            yield "<hr>"
            i += 1
        else:
            end = i + 1
            kind = _kind(line)
            while end < len(lines) and _continues(lines[end], kind):
                end += 1
            yield _block(kind, lines[i:end], to)
            i = end


def _kind(line: str) -> str:
    if _ITEM.fullmatch(line):
        return "list"
    if line.lstrip().startswith(">"):
        return "quote"
    return "table" if _ROW.fullmatch(line) else "text"


def _continues(line: str, kind: str) -> bool:
    if not line.strip() or opened_fence(line) or heading_level(line):
        return False
    if kind == "list":
        return True
    return _kind(line) == kind


def _block(kind: str, lines: Sequence[str], to: Address) -> str:
    if kind == "list":
        return _list(lines, to)
    if kind == "quote":
        bare = "\n".join(line.lstrip().lstrip(">").strip() for line in lines)
        return f"<blockquote><p>{_spans(bare, to)}</p></blockquote>"
    if kind == "table":
        return _table(lines, to)
    return f"<p>{_spans(chr(10).join(lines), to)}</p>"


def _list(lines: Sequence[str], to: Address) -> str:
    """Nested items are indented by class: their own lists would need a parser."""
    items: list[tuple[int, str, list[str]]] = []
    for line in lines:
        if match := _ITEM.fullmatch(line):
            items.append((len(match[1].expandtabs(4)) // 2, match[2] or "", [match[3]]))
        else:
            items[-1][2].append(line.strip())
    tag = "ol" if items[0][1] else "ul"
    start = f' start="{int(items[0][1])}"' if items[0][1] not in ("", "1") else ""
    html = "".join(
        f'<li class="in{min(depth, 3)}">{_spans(chr(10).join(text), to)}</li>'
        for depth, _, text in items
    )
    return f"<{tag}{start}>{html}</{tag}>"


def _table(lines: Sequence[str], to: Address) -> str:
    rows = [line.strip().strip("|").split("|") for line in lines if not _RULE.fullmatch(line)]
    html = "".join(
        "<tr>" + "".join(f"<td>{_spans(cell.strip(), to)}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f'<div class="wide"><table class="prose">{html}</table></div>'


def _spans(text: str, to: Address) -> str:
    """Code first: nothing in it is marked up."""
    parts, end = [], 0
    for match in _CODE.finditer(text):
        parts += [_marks(text[end : match.start()], to), f"<code>{escape(match[2])}</code>"]
        end = match.end()
    return "".join([*parts, _marks(text[end:], to)])


def _marks(text: str, to: Address) -> str:
    """Links are kept aside, so that no mark reaches into an address."""
    kept: list[str] = []

    def keep(html: str) -> str:
        kept.append(html)
        return f"\x00{len(kept) - 1}\x00"

    html = str(escape(text.replace("\x00", "")))
    html = _LINK.sub(lambda m: keep(_link(m[2], m[3], to, bool(m[1]))), html)
    html = _BARE.sub(lambda m: keep(_link(m[0], m[0], to)), html)
    html = _STRONG.sub(r"<strong>\1</strong>", html)
    html = _EM.sub(r"<em>\1</em>", html)
    return re.sub("\x00(\\d+)\x00", lambda m: kept[int(m[1])], html)


def _link(label: str, target: str, to: Address, image: bool = False) -> str:
    """Of escaped texts. The web and memories are linked; an image is its words and address."""
    if image:
        return f'{label or "image"} <span class="quiet">({target})</span>'
    if target.startswith(("https://", "http://")):
        return f'<a href="{target}" rel="noreferrer noopener nofollow" target="_blank">{label}</a>'
    if address := to(Markup(target).unescape()):
        return f'<a href="{escape(address)}">{label}</a>'
    return f'{label} <span class="quiet">({target})</span>' if target != label else label


class DiffRow(NamedTuple):
    sign: str  # +, -, a blank, or @ for lines left out
    text: str


def diff_rows(old: str | None, new: str | None) -> list[DiffRow]:
    """What changed, with some lines around it; None means that there is no such file."""
    from difflib import unified_diff

    before, after = (text.removesuffix("\n").split("\n") if text else [] for text in (old, new))
    if before and after and len(before) + len(after) > MAX_DIFF_LINES:
        return [DiffRow("@", "too long to compare line by line")]
    lines = [*unified_diff(before, after, lineterm="", n=CONTEXT)][2:]
    rows = [
        DiffRow("@", "") if line.startswith("@@") else DiffRow(line[:1], visible_text(line[1:1001]))
        for line in lines[:MAX_ROWS]
    ]
    rows = rows[1:] if rows and rows[0].sign == "@" else rows
    left = len(lines) - MAX_ROWS
    return [*rows, DiffRow("@", f"{left:,} more lines")] if left > 0 else rows
