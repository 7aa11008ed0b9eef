"""Markdown as HTML, without raw HTML, without images; and the difference of two texts as rows.

Everything is escaped first and marked up afterwards, so what is not understood is shown as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from markupsafe import Markup, escape

from memdir.text.markdown import (
    FENCED,
    HEADING,
    PROSE,
    ROW,
    heading_level,
    heading_text,
    markdown_parts,
)
from memdir.text.terminal import visible_text

MAX_PROSE_CHARACTERS = 200_000  # of a memory that is shown as a page
MAX_DIFF_LINES = 4_000  # both sides together; comparing more is too slow
MAX_ROWS = 400  # of a difference
CONTEXT = 3  # lines around a change
LIST = "list"  # besides the kinds of `text.markdown`
_ITEM = re.compile(r"(\s{0,12})(?:[-*+•]|(\d{1,6})[.)])\s+(.*)")
_CODE = re.compile(r"(`{1,3})(?!`)([^`]{1,2000})\1")
# Of escaped text: no mark of ours can stand in it.
_LINK = re.compile(r"(!?)\[([^\[\]]{0,500})\]\(([^()\s\x00]{1,1000}(?:\([^()\s\x00]{0,200}\))?)\)")
_BARE = re.compile(r"(?<![\w\"=;/])https?://[^\s<>\"'`\x00]{3,500}")
_STRONG = re.compile(r"\*\*(\S(?:[^*]{0,1000}\S)?)\*\*")
_EM = re.compile(r"(?<![\w*])\*(\S(?:[^*]{0,1000}\S)?)\*(?![\w*])")
_RULE = re.compile(r"\s{0,3}\|?[\s:|-]{3,200}\|?\s*")

Address = Callable[[str], str]  # of another memory, by its path in a link; or empty


def render_prose(text: str, to: Address = lambda _: "") -> Markup:
    """A memory's text as it is meant to be read."""
    cut = text[:MAX_PROSE_CHARACTERS]
    blocks = markdown_parts(visible_text(cut).split("\n"), 1)
    named = (
        (LIST if kind == PROSE and _ITEM.match(lines[0]) else kind, lines)
        for kind, _, lines in blocks
    )
    groups = groupby(named, key=itemgetter(0))
    html = "\n".join(_group(name, [lines for _, lines in group], to) for name, group in groups)
    more = '<p class="quiet">The rest is too long to be shown here.</p>' * (len(cut) < len(text))
    return Markup(html + more)


def _group(name: str, blocks: Sequence[Sequence[str]], to: Address) -> str:
    """Items and rows stand together, every other block alone."""
    if name == LIST:
        return _list(blocks, to)
    if name == ROW:
        rows = [row.strip().strip("|").split("|") for (row,) in blocks if not _RULE.fullmatch(row)]
        cells = [[f"<td>{_spans(cell.strip(), to)}</td>" for cell in row] for row in rows]
        html = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
        return f'<div class="wide"><table class="prose">{html}</table></div>'
    return "\n".join(_block(name, "\n".join(lines), to) for lines in blocks)


def _block(name: str, text: str, to: Address) -> str:
    if name == FENCED:
        return f"<pre><code>{escape(text)}</code></pre>"
    if name == HEADING:
        level = min(heading_level(text) + 2, 6)  # the page has its own first two
        return f"<h{level}>{_spans(heading_text(text), to)}</h{level}>"
    if text.lstrip().startswith(">"):
        bare = "\n".join(line.lstrip().lstrip(">").strip() for line in text.split("\n"))
        return f"<blockquote><p>{_spans(bare, to)}</p></blockquote>"
    return "<hr>" if text.strip() in ("---", "***", "___") else f"<p>{_spans(text, to)}</p>"


def _list(items: Sequence[Sequence[str]], to: Address) -> str:
    """Nested items are indented by class: their own lists would need a parser."""
    parts = [_ITEM.split(lines[0], maxsplit=1) for lines in items]
    html = ""
    for (_, indent, _, first, _), lines in zip(parts, items, strict=True):
        text = "\n".join([first, *map(str.strip, lines[1:])])
        depth = min(len(indent.expandtabs(4)) // 2, 3)
        html += f'<li class="in{depth}">{_spans(text, to)}</li>'
    number = parts[0][2]
    return f'<ol start="{int(number)}">{html}</ol>' if number else f"<ul>{html}</ul>"


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
