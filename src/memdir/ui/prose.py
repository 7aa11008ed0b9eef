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
_LINK = re.compile(r"(!?)\[([^\[\]]{0,500})\]\(([^()\s\x00]{1,1000}(?:\([^()\s\x00]{0,200}\))?)\)")
_BARE = re.compile(r"(?<![\w\"=;/])https?://[^\s<>\"'`\x00]{3,500}")
_STRONG = re.compile(r"\*\*(\S(?:[^*]{0,1000}\S)?)\*\*")
_EM = re.compile(r"(?<![\w*])\*(\S(?:[^*]{0,1000}\S)?)\*(?![\w*])")
_ROW = re.compile(r"\s{0,3}\|.*\|\s*")
_RULE = re.compile(r"\s{0,3}\|?[\s:|-]{3,200}\|?\s*")

Address = Callable[[str], str]  # of another memory, by its path in a link; or empty


def render_prose(text: str, to: Address = lambda _: "") -> Markup:
    """A memory's text as it is meant to be read."""
    cut = text[:MAX_PROSE_CHARACTERS]
    blocks = _blocks(visible_text(cut).split("\n"))
    html = "\n".join(_block(kind, lines, to) for kind, lines in blocks)
    more = '<p class="quiet">The rest is too long to be shown here.</p>' * (len(cut) < len(text))
    return Markup(html + more)


def _blocks(lines: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """What stands there, and its lines; code comes without its fences."""
    i = 0
    while i < len(lines):
        kind, end = _kind(lines[i]), i + 1
        if kind == "code":
            fence = opened_fence(lines[i])
            closed = (k for k in range(end, len(lines)) if closes_fence(lines[k], fence))
            end = next(closed, len(lines))
            yield kind, lines[i + 1 : end]
            end += 1
        elif kind:
            joined = ("list", "quote", "rule", "table", "text") if kind == "list" else (kind,)
            while kind not in ("heading", "rule") and end < len(lines):
                if _kind(lines[end]) not in joined:
                    break
                end += 1
            yield kind, lines[i:end]
        i = end


def _kind(line: str) -> str:
    """Empty if nothing stands there."""
    if opened_fence(line):
        return "code"
    if heading_level(line):
        return "heading"
    if line.strip() in ("---", "***", "___"):
        return "rule"
    if _ITEM.fullmatch(line):
        return "list"
    if line.lstrip().startswith(">"):
        return "quote"
    return "table" if _ROW.fullmatch(line) else "text" if line.strip() else ""


def _block(kind: str, lines: Sequence[str], to: Address) -> str:
    text = "\n".join(lines)
    if kind == "code":
        return f"<pre><code>{escape(text)}</code></pre>"
    if kind == "heading":
        level = min(heading_level(text) + 2, 6)  # the page has its own first two
        return f"<h{level}>{_spans(heading_text(text), to)}</h{level}>"
    if kind == "rule":
        return "<hr>"
    if kind == "list":
        return _list(lines, to)
    if kind == "quote":
        bare = "\n".join(line.lstrip().lstrip(">").strip() for line in lines)
        return f"<blockquote><p>{_spans(bare, to)}</p></blockquote>"
    if kind == "table":
        rows = [line.strip().strip("|").split("|") for line in lines if not _RULE.fullmatch(line)]
        cells = [[f"<td>{_spans(cell.strip(), to)}</td>" for cell in row] for row in rows]
        html = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
        return f'<div class="wide"><table class="prose">{html}</table></div>'
    return f"<p>{_spans(text, to)}</p>"


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
    html = [
        f'<li class="in{min(depth, 3)}">{_spans(chr(10).join(text), to)}</li>'
        for depth, _, text in items
    ]
    return f"<{tag}{start}>{''.join(html)}</{tag}>"


def _spans(text: str, to: Address) -> str:
    """Code and links are kept aside, so that no mark reaches into them."""
    kept: list[str] = []

    def keep(html: str) -> str:
        kept.append(html)
        return f"\x00{len(kept) - 1}\x00"

    text = _CODE.sub(lambda m: keep(f"<code>{escape(m[2])}</code>"), text.replace("\x00", ""))
    html = _LINK.sub(lambda m: keep(_link(m[2], m[3], to, bool(m[1]))), str(escape(text)))
    html = _BARE.sub(lambda m: keep(_link(m[0], m[0], to)), html)
    html = _EM.sub(r"<em>\1</em>", _STRONG.sub(r"<strong>\1</strong>", html))
    while "\x00" in html:  # the label of a link may hold code
        html = re.sub("\x00(\\d+)\x00", lambda m: kept[int(m[1])], html)
    return html


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
    lines = [*unified_diff(before, after, lineterm="", n=CONTEXT)][3:]  # after @@ of the first
    rows = [
        DiffRow("@", "") if line.startswith("@@") else DiffRow(line[:1], visible_text(line[1:1001]))
        for line in lines[:MAX_ROWS]
    ]
    left = len(lines) - MAX_ROWS
    return [*rows, DiffRow("@", f"{left:,} more lines")] if left > 0 else rows
