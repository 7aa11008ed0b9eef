"""Text made harmless for a terminal."""

from __future__ import annotations

import unicodedata

from memdir.text import pattern

# C0, DEL and C1 · soft hyphen, joiners, direction marks and overrides, zero width, fillers ·
# line and paragraph separators · invisible operators · tags and variation selectors, which can
# hide text · surrogates (bytes that are not UTF-8).
_HIDDEN = pattern(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff]"
    "|(?<=[\ufe0e\ufe0f])[\ufe0e\ufe0f]"
)
_PICTURES = 0x2400  # first symbol of a C0 control: ␛ is 0x241B
ELLIPSIS = "…"


def visible_text(text: str) -> str:
    return _HIDDEN.sub(lambda found: _symbol(ord(found[0])), text)


def one_line(text: str) -> str:
    return visible_text(text).replace("\n", "␊").replace("\t", " ")


def _symbol(code: int) -> str:
    if code < 0x20:
        return chr(_PICTURES + code)
    if code == 0x7F:
        return "␡"
    if code < 0xA0:
        return f"\\x{code:02x}"
    if 0xDC80 <= code <= 0xDCFF:  # a byte that was not UTF-8, escaped as a surrogate
        return f"\\x{code - 0xDC00:02x}"
    return f"<U+{code:04X}>"


def plural(number: int, one: str, several: str = "") -> str:
    """`1 file`, `2,000 files`."""
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def text_width(text: str) -> int:
    """Columns on a terminal: wide characters take two, combining ones none."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me") or char in "\ufe0e\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cut_text(text: str, columns: int) -> str:
    if text_width(text) <= columns:
        return text
    return _first(text, columns - 1).rstrip() + ELLIPSIS if columns > 0 else ""


def cut_text_middle(text: str, columns: int) -> str:
    """Keeps both ends: names often differ only at their end."""
    if text_width(text) <= columns:
        return text
    end = _first(text[::-1], (columns - 1) // 3)[::-1]
    return _first(text, columns - 1 - text_width(end)) + ELLIPSIS + end if columns > 0 else ""


def pad_text(text: str, columns: int) -> str:
    return text + " " * (columns - text_width(text))


def _first(text: str, columns: int) -> str:
    used = 0
    for index, char in enumerate(text):
        used += _columns(char)
        if used > columns:
            return text[:index]
    return text


def wrap_text(text: str, columns: int, first: str = "", rest: str = "") -> list[str]:
    """A word longer than the line stays whole, so that it can be copied."""
    lines, now, empty = [], first, True
    for word in _words(text, max(columns - text_width(rest), 1)):
        blank = "" if empty else " "
        if now.strip() and text_width(now + blank + word) > columns:
            lines.append(now.rstrip())
            now, blank = rest[: max(columns - text_width(word), 0)], ""
        now += blank + word
        empty = False
    return [*lines, now]


def fold_line(text: str, columns: int, sign: str = "") -> list[str]:
    """Every character stays; what follows the first line begins with `sign`."""
    lines = []
    while text_width(text) > columns:
        part = _first(text, columns)
        lines.append(part)
        text = sign + text[len(part) :]
    return [*lines, text]


def _words(text: str, columns: int) -> list[str]:
    parts = []
    for word in text.split():
        while text_width(word) > columns and text_width(word) > len(word):
            part = _first(word, columns) or word[0]
            parts.append(part)
            word = word[len(part) :]
        parts.append(word)
    return [word for word in parts if word]


def draw_bar(share: float, columns: int = 10) -> str:
    """A bar for a share of 0 to 1, in eighths of a column."""
    full, part = divmod(round(min(max(share, 0.0), 1.0) * columns * 8), 8)
    return ("█" * full + " ▏▎▍▌▋▊▉"[part].strip()).ljust(columns, "·")
