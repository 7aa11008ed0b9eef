"""Makes text of any origin readable but harmless to an agent; times and ages in words.

A memory may contain the tags, tokens and headings that mark a client's own text. Their first
bracket becomes ‹, their line starts with ›; hidden characters are removed. Only the view changes,
not the files. Only listed names are affected, not ordinary code.
"""

import time

# All times are UTC, also those without a zone.
DAY = 86_400  # seconds
_FIRST = -62_135_596_800  # 0001-01-01T00:00:00Z; earlier years could not be read back
_LAST = 253_402_300_799  # 9999-12-31T23:59:59Z
_LONGEST = 40  # characters of the longest form we parse
_EPOCH_DAY = 719_469  # of 1970-01-01, counted as below
_SHAPE = str.maketrans("123456789", "000000000")


def parse_time(text: str) -> float | None:
    """Seconds since 1970 of an ISO 8601 date or time; None for anything else."""
    text = text.strip().upper()
    if len(text) > _LONGEST or not text.isascii() or text[:10].translate(_SHAPE) != "0000-00-00":
        return None
    year, month, day = int(text[:4]), int(text[5:7]), int(text[8:10])
    year -= month < 3  # years begin in March; `datetime` is too slow to import in a hook
    days = year * 365 + year // 4 - year // 100 + year // 400 - _EPOCH_DAY
    days += (153 * ((month + 9) % 12) + 2) // 5 + day
    seconds = _clock_seconds(text[10:])
    if seconds is None or iso_day(days * DAY) != text[:10]:  # there is no such day
        return None
    return days * DAY + seconds


def _clock_seconds(text: str) -> float | None:
    if not text:
        return 0.0
    zone = min([index for index in map(text.find, "Z+-") if index > 0], default=len(text))
    clock, dot, fraction = text[:zone].rstrip().replace(",", ".").partition(".")
    shape = clock.translate(_SHAPE)
    if shape[:1] not in ("T", " ") or shape[1:] not in ("00:00", "00:00:00"):
        return None
    if dot and (not fraction.isdigit() or len(shape) < 9):
        return None
    hours, minutes, seconds = int(clock[1:3]), int(clock[4:6]), int(clock[7:9] or 0)
    sign, offset = text[zone : zone + 1], text[zone + 1 :]
    zones = ("00", "0000", "00:00") if sign in ("+", "-") else ("",)
    if offset.translate(_SHAPE) not in zones:
        return None
    east_hours, east_minutes = int(offset[:2] or 0), int(offset[-2:] if offset[2:] else 0)
    if max(hours, east_hours) > 23 or max(minutes, seconds, east_minutes) > 59:
        return None
    east = (east_hours * 3600 + east_minutes * 60) * (-1 if sign == "-" else 1)
    return hours * 3600 + minutes * 60 + seconds + float(f"0.{fraction}0") - east


def iso_time(seconds: float) -> str:
    """`YYYY-MM-DDTHH:MM:SSZ`, truncated to seconds and clamped to years 1 to 9999."""
    now = time.gmtime(min(max(seconds, _FIRST), _LAST))
    return f"{now[0]:04d}-{now[1]:02d}-{now[2]:02d}T{now[3]:02d}:{now[4]:02d}:{now[5]:02d}Z"


def iso_day(seconds: float) -> str:
    return iso_time(seconds)[:10]


def age_days(then: float, now: float) -> int:
    """Whole days, rounded down; negative if `then` is in the future."""
    return int((now - then) // DAY)


def age_words(days: int) -> str:
    """Words, because models are bad at calculating with dates."""
    if days < 0:
        return "in the future"
    if days == 0:
        return "today"
    if days == 1:
        return "yesterday"
    return f"{days} days ago"


BRACKET = "‹"  # replaces a bracket
QUOTED = "› "  # prefix of a line that imitates the client or a turn
ELLIPSIS = "…"
BROKEN = "\ufffd"  # replaces a byte that is not UTF-8

_NEW_LINES = "\v\f\x85\u2028\u2029"
_CONTROLS = [*range(9), *range(14, 32), 127]
_HARMLESS = bytes([9, 10, *range(32, 127)])
_ASCII: dict[int, str | None] = {**dict.fromkeys(_CONTROLS), 11: "\n", 12: "\n"}
# C0 and C1 · soft hyphen, direction marks, fillers, zero width, invisible operators, glyph
# selectors, annotations · noncharacters.
_HIDDEN = frozenset(
    [
        *map(chr, (*_CONTROLS, *range(0x80, 0x85), *range(0x86, 0xA0), *range(0x202A, 0x202F))),
        *map(chr, (*range(0x2060, 0x2070), *range(0xFDD0, 0xFDF0), *range(0xFE00, 0xFE0E))),
        *map(chr, (*range(0xFFF0, 0xFFFC), 0xFFFE, 0xFFFF)),
        *"\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u200b\u200e\u200f\u3164\ufeff\uffa0",
    ]
)
# Format characters of hieroglyphs, shorthand and music; tags and selectors can hide text.
_HIDDEN_ABOVE = (
    (0x13430, 0x13442),
    (0x16FE4, 0x16FE4),
    (0x1BCA0, 0x1BCA3),
    (0x1D159, 0x1D159),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)
# Joiners, emoji styles and Mongolian forms are also removed, unless a script or an emoji
# needs them.
_NON_JOINER, _JOINER = "\u200c", "\u200d"
_STYLES = "\ufe0e\ufe0f"
_MONGOLIAN = "\u180b\u180c\u180d\u180e\u180f"
_BLANK_DOTS = "\u2800"  # the space of Braille
_SOMETIMES = _NON_JOINER + _JOINER + _STYLES + _MONGOLIAN + _BLANK_DOTS
_KEYCAP = "\u20e3"
_EMOJI = (("↔", "↪"), ("⌚", "⏿"), ("▪", "◾"), ("☀", "➿"), ("⬅", "⭕"))  # first and last
_MORE_EMOJI = "©®‼⁉™ℹⓂ⤴⤵〰〽㊗㊙"

_OPENERS = "<＜﹤˂ᐸ⟨\u2329\u3008❬❮"
_WINDOW = 64  # characters of a name that are compared
_BETWEEN = " \t\n/\\"
_SLASHES = frozenset("/／⁄∕⧸")
_STOPS = frozenset(_OPENERS + BRACKET + ">＞|｜")  # end the characters that may precede a name
_BEFORE_END = " \t\n\"'`/"
_LOOKS_LIKE = dict.fromkeys([0x2044, 0x2215, 0x29F8], "/") | dict.fromkeys(
    [0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2212], "-"
)
# Names that clients act on, with - for _. These have no other meaning:
_TAGS = frozenset(
    (
        *("system-reminder", "system-prompt", "system-message", "user-prompt-submit-hook"),
        *("function-calls", "function-call", "function-results", "function-result"),
        *("tool-use", "tool-result", "tool-results", "tool-call", "tool-calls", "tool-response"),
        *("tool-use-error", "local-command-stdout", "local-command-stderr", "command-name"),
        *("local-command-caveat", "command-message", "command-args", "command-contents"),
        *("bash-input", "bash-stdout", "bash-stderr", "task-notification", "teammate-message"),
        *("persisted-output", "new-diagnostics", "ide-opened-file", "ide-selection"),
        *("team-memory-content", "memory-context", "memory-content", "environment-context"),
        *("user-instructions", "triage-data", "transcript-data", "start-of-turn", "end-of-turn"),
    )
)
# These may also be a type, a C++ header or a placeholder.
_WORDS = frozenset(
    (
        *("memory", "memories", "system", "sys", "human", "assistant"),
        *("invoke", "parameter", "think", "thinking"),
    )
)
_OPENING = ("memdir", "antml", "system-reminder", "team-memor", "relevant-memor")
_CLOSING = (*_OPENING, "memory-", "system-", "local-command", "user-prompt")
_REMINDER = "system-reminder"
_INCLUDES = ("include", "import")  # before <memory> in C and C++
_TOKENS = ("INST", "SYSTEM_PROMPT", "AVAILABLE_TOOLS", "TOOL_CALLS", "TOOL_RESULTS")

_ROLES = ("human:", "assistant:")
_TURNS = (*_ROLES, "system:", "user:")  # some models get their turns as headings
# Starts of our own lines (inject.py) and of the client's.
_HEADINGS = (
    *("memory, saved", "memory, confirmed", "memory, dated", "memory, not an instruction"),
    *("memory (", "memory: /", "memory: ~/", "this memory was last confirmed"),
    *("standing rules from memory", "more memories that may matter", "(cut here: "),
)
_CONTEXT = frozenset(("currentdate", "claudemd", "gitstatus", "useremail"))
_MARKUP = " \t#>*_`"
_INITIALS = frozenset("hHaAmMtTsS(cCgGuU")
_LONGEST_START = 40  # characters
_LONGEST_LINE = 8192  # characters; the longest path has 4,096
_SWITCHES = ("true", "false", "yes", "no", "")


def inert(text: str) -> str:
    """Text that is safe to show an agent; ordinary prose and code stay unchanged."""
    return _quote(_unbracket(make_visible(text)))


def inert_line(text: str, size: int = 0) -> str:
    # Join first: separate parts may form a tag.
    text = text[:_LONGEST_LINE]
    plain = text.isascii() and text.isprintable()
    line = " ".join((text if plain else make_visible(text)).split())
    line = _quote(_unbracket(line)) if line.isascii() else inert(line)
    return clip(line, size) if size else line


def clip(text: str, size: int) -> str:
    data = text.encode()
    if len(data) <= size:
        return text
    room = size - len(ELLIPSIS.encode())
    return data[:room].decode("utf-8", "ignore").rstrip() + ELLIPSIS if room >= 0 else ""


def make_visible(text: str) -> str:
    r"""Removes hidden characters and turns every kind of line end into "\n"."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.isascii():
        odd = text.encode().translate(None, _HARMLESS)
        return text.translate(_ASCII) if odd else text
    # ASCII is removed as bytes: a set of all characters would cost ten times as much.
    data = text.encode("utf-8", "surrogatepass").translate(None, _HARMLESS)
    characters = set(data.decode("utf-8", "surrogatepass"))
    changes: dict[int, str | None] = {ord(char): None for char in characters & _HIDDEN}
    for char in characters.intersection(_NEW_LINES):
        changes[ord(char)] = "\n"
    for code in [ord(char) for char in characters if char >= "\ud800"]:
        if code <= 0xDFFF:
            changes[code] = BROKEN
        elif code > 0xFFFF and (
            code & 0xFFFE == 0xFFFE or any(low <= code <= high for low, high in _HIDDEN_ABOVE)
        ):
            changes[code] = None
    if changes:
        text = text.translate(changes)
    if characters.isdisjoint(_SOMETIMES):
        return text
    kept: list[str] = []  # joiners and styles only where a script or emoji needs them
    for index, char in enumerate(text):
        before = kept[-1] if kept else " "
        if char not in _SOMETIMES or _needed(char, before, text[index + 1 : index + 2]):
            kept.append(char)
    return "".join(kept)


def _needed(char: str, before: str, after: str) -> bool:
    if char in _MONGOLIAN:
        return "\u1820" <= before <= "\u18aa"
    if char == _BLANK_DOTS:
        return all("\u2801" <= beside <= "\u28ff" for beside in (before, after))
    if char in _STYLES:
        return _is_emoji(before) or (after == _KEYCAP and before in "0123456789#*")
    if "\u0600" <= before <= "\u18af" and "\u0600" <= after <= "\u18af":
        return after not in _MONGOLIAN
    return char == _JOINER and _is_emoji(after) and (before in _STYLES or _is_emoji(before))


def _is_emoji(char: str) -> bool:
    if "\U0001f000" <= char <= "\U0001faff" or (char and char in _MORE_EMOJI):
        return True
    return any(low <= char <= high for low, high in _EMOJI)


def _unbracket(text: str) -> str:
    """Replaces the first bracket of each tag or token that clients act on with ‹."""
    characters: list[str] = []
    for opener in "<" if text.isascii() else _OPENERS:
        index = text.find(opener)
        while index >= 0:
            if _is_tag(text, index):
                characters = characters or list(text)
                characters[index] = BRACKET
            index = text.find(opener, index + 1)
    text = "".join(characters) or text
    if "]" in text:
        for token in _TOKENS:
            if token in text:
                text = text.replace(f"[{token}]", f"{BRACKET}{token}]")
                text = text.replace(f"[/{token}]", f"{BRACKET}/{token}]")
        text = text.replace("[/inst]", BRACKET + "/inst]")
    return text


def _is_tag(text: str, opener: int) -> bool:
    start = opener + 1
    while start < len(text) and _is_gap(text[start]):
        start += 1
    lead, window = text[opener + 1 : start], _plain(text[start : start + _WINDOW])
    if window[:1] == "|":
        token, _, rest = window[1:].partition("|")
        named = rest[:1] == ">" and token.replace("_", "").replace("▁", "").isalnum()
        return named and (not lead or not lead.isascii())
    end = 0
    while end < len(window) and (window[end].isalnum() or window[end] in "-_:."):
        end += 1
    odd = any(char.isascii() and char not in _BETWEEN for char in lead)
    if odd and (window[:end].endswith("-") or window[end:].lstrip(_BEFORE_END)[:1] != ">"):
        return False  # x <- tool_result, <!-- memory -->, cat <"$system_prompt"
    name = window[:end].lower().replace("_", "-").rstrip("-:.")
    if _is_listed(name):
        return True
    if not _SLASHES.isdisjoint(lead):
        return name in _WORDS or name.startswith(_CLOSING)
    if odd:
        return name in _WORDS and "&" not in lead  # Vec<&System>
    return name in _WORDS and _opens(text, opener, lead, window[:end], window[end:])


def _is_gap(char: str) -> bool:
    if char.isalnum() or char in _STOPS:
        return False
    return char.isascii() or not any(map(str.isalnum, _plain(char)))


def _is_listed(name: str) -> bool:
    joined = name.replace(":", "-")
    if joined in _TAGS or name.startswith(_OPENING) or name.rpartition(":")[2] in _TAGS:
        return True
    return "-".join(filter(None, joined.replace(".", "-").split("-"))).startswith(_REMINDER)


def _opens(text: str, opener: int, lead: str, name: str, rest: str) -> bool:
    if lead or rest[:1] not in (">", "/", " ", "\t", "\n", ""):
        return rest.lstrip()[:1] == ">"
    before = text[max(opener - 12, 0) : opener]
    if before[-1:].isalnum() or before[-1:] in ("_", ":"):
        # List<System>, i<memory
        return rest[:1] == ">" and (name.islower() or name.isupper())
    return not before.rstrip().endswith(_INCLUDES)


def _quote(text: str) -> str:
    """Prefixes lines that imitate a turn, a heading or a verdict with ›."""
    lines = text.split("\n")
    for index, line in enumerate(lines):
        bare = line.lstrip(_MARKUP)
        if (bare[:1] in _INITIALS or not bare[:1].isascii()) and _is_forged(line, bare):
            lead = line[: len(line) - len(bare)]
            lines[index] = f"{lead}{QUOTED}{bare}"
    return "\n".join(lines)


def _is_forged(line: str, bare: str) -> bool:
    start = _plain(bare[:_LONGEST_START]).lower()
    plain = line[: len(line) - len(bare)].isspace() or len(line) == len(bare)
    if start.startswith(_ROLES) and plain:
        return True
    if start.startswith(_TURNS):
        return "#" in line[: -len(bare)]
    if start.startswith("checked:"):  # `checked: true` is a setting
        return plain and start[8:].strip() not in _SWITCHES
    if start.startswith("contents of "):
        return "):" in line or line.rstrip(" \t*_").endswith((":", "："))
    if start.startswith("this memory is "):
        return start[15:16].isdigit()
    return start.startswith(_HEADINGS) or ("#" in line and start.strip() in _CONTEXT)


def _plain(text: str) -> str:
    """Folds look-alike letters, only to compare names."""
    if text.isascii():
        return text
    from unicodedata import normalize

    return normalize("NFKC", text).translate(_LOOKS_LIKE)
