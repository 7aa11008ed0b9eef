"""What a part is called, what its one line says, and which file name is free."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence

from memdir.format import names
from memdir.format.draft import UNSAID, Style
from memdir.format.pointer import is_row
from memdir.hot import types
from memdir.hot.memory import UNKNOWN, stem
from memdir.text import secrets
from memdir.text.markdown import CODE, OPEN, TEXT, item_start, layers
from memdir.text.prose import heading_text, headings, level_of

MAX_TITLE_CHARACTERS = 60
MAX_LINE_CHARACTERS = 110  # of a description that we make; its pointer has to fit as well
MIN_LINE_CHARACTERS = 30  # less says little, then the next item is told too
LOOK_CHARACTERS = 400  # of a line
SAMPLE_CHARACTERS = 20_000  # of a text
FEEDBACK, PROJECT, REFERENCE, USER = "feedback", "project", "reference", "user"
RULE_SHARE = 0.3  # of the lines; a rule or two stand in any description of a project
_FENCES = ("```", "~~~")
_LINK = re.compile(r"!?\[([^\[\]]{0,200})\]\([^()\s]{0,300}\)")
_WIKILINK = re.compile(r"\[\[([^\[\]|#]{1,100})[^\[\]]{0,100}\]\]")
_NUMBER = re.compile(r"^(?:\d{1,3}[.)]|[A-Z][.)])\s+|^\d{1,3}(?:\.\d{1,3}){1,4}\s+")
_BRACKETS = re.compile(r"\s*\([^()]{0,200}\)")
_DASHES = re.compile(r"( [—–-])(?: [—–-]){1,5}")
_BOLD = re.compile(r"\*\*([^*]{2,60}?):?\*\*")
_LABEL = re.compile(r"([A-Za-z0-9][^:`*.;,()\[\]]{1,34}):\s")
_CODE = re.compile(r"(`[^`]{2,40}`)")
_SENTENCE = re.compile(r"(?<=[.!?。！？])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<!etc\.)\s", re.I)
# "Last updated: 2026-10-12" and "Read this first!" say nothing of what stands there.
_STAMP = re.compile(
    r"[\s>*_(-]{0,9}(?:(?:last[ ])?(?:updated?|modified|reviewed|changed|generated|edited)\b.{0,60}"
    r"|(?:important:?\s{1,3})?(?:please[ ])?read[ ](?:this|me)(?:[ ]first)?[\W_]{0,5})$",
    re.IGNORECASE,
)
_ACRONYM = re.compile(r"(?<![\w-])([A-Z]{2,6})(?:-?(\d{1,5}))?(?![\w-])")
# Words that people shout.
_LOUD = frozenset(
    {
        *("ALL", "ALSO", "AND", "ANY", "DO", "DONE", "FIRST", "FIX", "IN", "IS", "KEEP", "MUST"),
        *("NEVER", "NEW", "NO", "NOT", "NOW", "OFF", "OK", "OLD", "ON", "ONLY", "OR", "READ"),
        *("STOP", "THE", "TO", "USE", "WHY", "YES"),
    }
)
# Words that say nothing of what stands below them.
_GENERIC = frozenset(
    {
        *("agent", "claude", "code", "general", "index", "memories", "memory", "misc", "my"),
        *("note", "notes", "other", "project", "store", "the", "this"),
    }
)
# What a heading says of the type of what stands below it, in this order.
_HEADINGS = (
    (USER, "about me|about the user|user profile|user role|who i am|user preferences"),
    (REFERENCE, "this index|memory file|memory files|this memory"),
    (
        FEEDBACK,
        "feedback|rules|rule|convention|conventions|preference|preferences|guideline|guidelines"
        "|style|always|never|requirement|workflow|must|behavioral|how to work|do not|gotchas"
        "|pitfalls",
    ),
    (
        REFERENCE,
        "reference|references|links|link|resources|where to find|urls|dashboards|external"
        "|documents|reference files|see also",
    ),
    (
        PROJECT,
        "project|status|roadmap|decision|decisions|architecture|todo|todos|plan|history"
        "|structure|overview|open questions|state",
    ),
)
_RULE = re.compile(
    r"\b(always|never|don['’]?t|do not|must|prefer|avoid|should|make sure|only use|"
    r"instead of|required?)\b",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"https?://|\bdocs/\S|`[\w./-]{1,80}\.md`", re.IGNORECASE)


def plain_line(text: str) -> str:
    """One line without control characters; marks stay."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def plain(text: str) -> str:
    """Words as a person reads them: no links, marks or hidden characters, one line."""
    text = _WIKILINK.sub(r"\1", _LINK.sub(r"\1", text[:LOOK_CHARACTERS]))
    text = "".join(char if unicodedata.category(char)[0] != "C" else " " for char in text)
    return " ".join(text.replace("**", "").replace("__", "").split())


def title_of(heading: str) -> str:
    """A short title of a heading: without numbers and asides, cut at a word."""
    text = _NUMBER.sub("", plain(heading)).strip(" :*_`#").replace("`", "")
    short = _DASHES.sub(r"\1", " ".join(_BRACKETS.sub("", text).split())).strip(" :—–-")
    text = short if len(short) >= 4 else text
    if secrets.find_secrets(text):
        return UNSAID.capitalize()
    if len(text) > MAX_TITLE_CHARACTERS:
        for mark in (" — ", " – ", ": ", " - ", ", ", "; "):
            head = text.partition(mark)[0]
            if 8 <= len(head) <= MAX_TITLE_CHARACTERS:
                return head
    return cut(text, MAX_TITLE_CHARACTERS)


def is_stamp(line: str) -> bool:
    """Does a line only say when a text was changed, or that it is to be read?"""
    return bool(_STAMP.match(line))


def is_generic(title: str) -> bool:
    """Does a title name the index itself rather than what stands in it?"""
    return _GENERIC.issuperset(words_of(title))


def words_of(text: str) -> list[str]:
    return "".join(char if char.isalnum() else " " for char in text.casefold()).split()


def summarize(lines: Sequence[str]) -> str:
    """One line on what these lines say: their headings, their leading words, or how they begin."""
    if not any(map(str.isalnum, "".join(lines))):
        return ""
    shown = secrets.before_secrets("\n".join(lines)[:SAMPLE_CHARACTERS])
    if not shown.strip():
        return UNSAID
    lines = [line for line in shown.split("\n") if not is_stamp(line)]
    heads = [plain(heading_text(lines[i])) for i, _ in headings(lines)]
    below = [title_of(text) for text in heads[1:] if text]
    if len(below) > 1 and len(", ".join(below)) >= MIN_LINE_CHARACTERS:
        return _join(below, ", ")
    items = _read_items(lines)
    if leads := _find_leads(items):
        return _join(leads, ", ")
    said = [text for line in items if (text := plain(line).strip(" -*_:#>"))]
    first = [_SENTENCE.split(text, maxsplit=1)[0].rstrip(" .;,") for text in said[:4]]
    if not first:
        return _summarize_data(lines) or cut(" ".join(heads[:1]), MAX_LINE_CHARACTERS)
    if len(first[0]) >= MIN_LINE_CHARACTERS:
        return cut(first[0], MAX_LINE_CHARACTERS)
    return _join(first, "; ")


def _summarize_data(lines: Sequence[str]) -> str:
    """Of lines that are no sentences: the first cells of a table, else the first line of code."""
    rows = [plain(line.strip().strip("|").partition("|")[0]) for line in lines if is_row(line)]
    cells = [cell for cell in rows if any(map(str.isalnum, cell))]
    if len(cells) > 1:
        return _join(cells[1:], ", ")
    code = [line.strip() for layer, line in layers(lines) if layer in (CODE, OPEN)]
    return _join(
        [
            plain(line).replace("`", "")
            for line in code
            if any(map(str.isalnum, line)) and not line.startswith((*_FENCES, "#", "//"))
        ],
        "; ",
    )


def _find_leads(items: Sequence[str]) -> list[str]:
    """What most items begin with: words in bold, a label, a name in code; none if few do."""
    labels = [lead[1] for line in items if (lead := _BOLD.match(line) or _LABEL.match(line))]
    if len(labels) > 2 and len(labels) * 2 >= len(items):
        return [plain(label).strip(" :.") for label in labels]
    codes = [lead[1] for line in items if (lead := _CODE.match(line))]
    return codes if len(codes) > 2 and len(codes) * 3 >= len(items) * 2 else []


def restore_acronyms(title: str, text: str) -> str:
    """A title made of a file's name, with the acronyms as the text writes them."""
    known = {
        match[1] + (match[2] or "")
        for match in _ACRONYM.finditer(text[:SAMPLE_CHARACTERS])
        if match[1] not in _LOUD and (match[2] or len(match[1]) <= 4)
    }
    return " ".join(word.upper() if word.upper() in known else word for word in title.split(" "))


def make_unique(title: str, others: Collection[str], lines: Sequence[str]) -> str:
    """A title that no other memory has: with the first words of what it says, where one has."""
    known = {other.casefold() for other in others}
    words = summarize(lines).rstrip("…").split() if title.casefold() in known else []
    for count in range(3, len(words) + 1):
        longer = f"{title}: {' '.join(words[:count])}".rstrip(" ,;:—–-(")
        longer = cut(longer, MAX_TITLE_CHARACTERS)
        if longer.casefold() not in known:
            return longer
    return title


def cut(text: str, size: int) -> str:
    """At most so many characters, whole words."""
    if len(text) <= size:
        return text
    space = text.rfind(" ", 0, size)
    short = text[: space if space > size // 2 else size - 1].rstrip(" ,;:—–-(")
    # Half a code span would turn the rest of the line into code.
    if short.count("`") % 2:
        head = short.rpartition("`")[0].rstrip(" ,;:—–-(")
        short = head if len(head) > size // 3 else short.replace("`", "")
    return short + "…"


def free_path(title: str, type: str, taken: Collection[str], style: Style, below: str = "") -> str:
    """A file name made of a title that no file has, whatever the disk thinks of case."""
    mark = "_" if style.prefix else "-"
    base = names.name_for(title, type, mark)
    if style.prefix and type != UNKNOWN and not base.startswith(type):
        base = f"{type}_{base}"
    known = {stem(path).casefold().replace("-", "_") for path in taken}
    name, count = base, 1
    while name.replace("-", "_") in known:
        count += 1
        name = f"{base}{mark}{count}"
    return f"{below}{name}.md"


def _join(parts: Iterable[str], mark: str) -> str:
    """As many parts as fit; an ellipsis where there are more."""
    text = ""
    for part in dict.fromkeys(part for part in parts if part):
        longer = f"{text}{mark}{part}" if text else part
        if len(longer) > MAX_LINE_CHARACTERS - 2:
            return f"{text}{mark.rstrip()} …" if text else cut(part, MAX_LINE_CHARACTERS)
        text = longer
    return text


def _read_items(lines: Sequence[str]) -> list[str]:
    """Paragraphs and items of the outermost list, their broken lines joined; no code, no tables."""
    result: list[str] = []
    flows = False  # may this line be the rest of the one above?
    for layer, line in layers(lines):
        body = line.strip().lstrip("> ")
        if layer != TEXT or level_of(line) or is_row(line) or not any(map(str.isalnum, body)):
            flows = False
            continue
        start = item_start(line)
        if flows and start < 0 and len(result[-1]) < LOOK_CHARACTERS:
            result[-1] += " " + body
        elif line[:1] in (" ", "\t") and result:
            flows = False
        else:
            result.append((line[start:] if start >= 0 else body).lstrip("> ").removeprefix("[ ] "))
            flows = True
    return result


def guess_type(path: str, heading: str, section: str, lines: Sequence[str]) -> tuple[str, str]:
    """The type, and the reason in a few words: the file's name, a heading, or the wording."""
    name = stem(path).lower()
    for type in types.names():
        if name == type or name.startswith((type + "_", type + "-")):
            return type, f'the file is called "{type}"'
    for where, text in (("heading", heading), ("section", section)):
        result, word = _guess_by_heading(text)
        if result:
            return result, f'its {where} says "{word}"'
    filled = [line for line in lines if line.strip()]
    if not filled:
        return UNKNOWN, "it says nothing"
    rules, places = (
        sum(1 for line in filled if form.search(line[:LOOK_CHARACTERS]))
        for form in (_RULE, _ADDRESS)
    )
    if rules >= len(filled) * RULE_SHARE:
        return FEEDBACK, f"{rules} of {len(filled)} lines are worded as rules"
    if places * 2 > len(filled):
        return REFERENCE, f"{places} of {len(filled)} lines name a place to look"
    return PROJECT, "it describes the project"


def _guess_by_heading(heading: str) -> tuple[str, str]:
    words = " ".join(words_of(plain(heading)))
    for name in types.names():
        if words and words in (name.replace("_", " "), types.get(name).section.casefold()):
            return name, heading
    for type, marks in _HEADINGS:
        for mark in marks.split("|"):
            if f" {mark} " in f" {words} ":
                return type, mark
    return "", ""
