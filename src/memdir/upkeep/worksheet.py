"""The store on paper while it is restructured: its pages, an account of everything done to them,
and what a memory to be is called.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from memdir.format import names
from memdir.format.draft import UNSAID, Style
from memdir.format.index import Survey
from memdir.format.outline import Line, Lookup, read_index_lines
from memdir.format.pointer import Pointer, cut_hook_at_word
from memdir.format.type_guess import FEEDBACK, PROJECT, REFERENCE, USER, guess_memory_type
from memdir.hot import memory, safe, types
from memdir.hot.memory import CREATED_KEYS, INDEX, MODIFIED_KEYS, UNKNOWN, Document, Memory, stem
from memdir.text import secrets
from memdir.text.markdown import heading_level, heading_text, markdown_headings, split_sentences
from memdir.text.similar import Alike

_MARKS = re.compile(r"^(?:[\s>#*+|\ufeff-]|\d{1,9}[.)]\s)+")


@dataclass(frozen=True)
class Check:
    """One thing that must hold for memory to work, and what to do where it does not."""

    name: str
    ok: bool
    message: str
    fix: str = ""


@dataclass(frozen=True)
class Page:
    """A memory's whole text; `clock` is its date, `dated` whether that date means anything."""

    text: str
    clock: float = 0.0
    dated: bool = False

    @cached_property
    def seen(self) -> dict[str, Memory]:
        """As a scan would see it, by path: parsed once."""
        return {}

    @cached_property
    def document(self) -> Document:
        return memory.read_header(self.text)


@dataclass(frozen=True)
class Given:
    """The store as it stands; `gone` asks it whether a pointer's target is nowhere.

    `readme` is a README.md that served as the index: it is read for its hooks, never changed.
    """

    pages: Mapping[str, Page]
    index: Page = field(default_factory=lambda: Page(""))
    index_path: str = INDEX
    readme: str = ""
    taken: frozenset[str] = frozenset()  # every name in the directory, memory or not
    gone: Callable[[Pointer], bool] | None = None
    stale: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # path -> evidence
    left: Mapping[str, str] = field(default_factory=dict)  # files left alone -> why
    style: Style = field(default_factory=Style)


@dataclass(frozen=True)
class Accounted:
    """A line that is not there any more word for word, and the reason."""

    path: str
    text: str
    reason: str


@dataclass(frozen=True)
class Proposal:
    """What a person should decide: which memory, what, the evidence, the command that does it."""

    path: str
    what: str
    evidence: tuple[str, ...]
    command: str = ""


@dataclass
class Work:
    """What becomes of the store."""

    given: Given
    notes: dict[str, list[str]] = field(default_factory=dict)  # what was done to each path
    merged: dict[str, str] = field(default_factory=dict)  # path -> the memory that took it in
    accounted: list[Accounted] = field(default_factory=list)
    proposals: list[Proposal] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    surveyed: tuple[tuple[str, dict[str, Page]], Survey] | None = None
    settled: dict[str, Page] = field(default_factory=dict)  # pages without a date to write out
    compared: tuple[dict[str, str], list[Alike]] | None = None  # texts, and the pairs among them

    def __post_init__(self) -> None:
        self.index = self.given.index.text
        self.pages = dict(self.given.pages)

    def note(self, path: str, message: str) -> None:
        self.notes.setdefault(path, []).append(message)

    def account(self, path: str, text: str, reason: str) -> None:
        self.accounted.append(Accounted(path, text, reason))

    def propose(self, path: str, what: str, evidence: tuple[str, ...], command: str = "") -> None:
        self.proposals.append(Proposal(path, what, evidence, command))

    def write(self, path: str, text: str) -> None:
        """A new text for a memory; its age goes into the header where only the file told it."""
        page = self.pages[path]
        if text == page.text:
            return
        document = memory.read_header(text)
        has_date = document.get(*MODIFIED_KEYS, *CREATED_KEYS)
        if page.dated and not has_date and document.lines is not None:
            text = memory.edit_header(document, MODIFIED_KEYS[0], safe.iso_time(page.clock)).text
        self.pages[path] = Page(text, page.clock, page.dated)

    def append(self, path: str, block: str) -> None:
        """A block at the end of a memory's body, a blank line above it, in its own line ends."""
        text = self.pages[path].text
        end = restructured_line_end(text)
        gap = "" if text.endswith(end * 2) else end if text.endswith("\n") else end * 2
        self.write(path, text + gap + block.replace("\n", end) + end)

    def memory(self, path: str) -> Memory:
        """The memory as a scan would see it."""
        page = self.pages[path]
        if path not in page.seen:
            page.seen[path] = Memory(path, page.text, page.clock, len(page.text))
        return page.seen[path]

    def names(self) -> dict[str, str]:
        """Labels by which a [[wikilink]] may mean a memory."""
        return {self.memory(path).name: path for path in self.pages}

    def outline(self, text: str) -> tuple[str, list[Line]]:
        """The byte order mark and the lines of an index, read against the store as it is now."""
        return read_index_lines(text, Lookup(self.pages, self.names()))

    @property
    def texts(self) -> dict[str, str]:
        return {path: page.text for path, page in self.pages.items()}

    def is_dead(self, pointer: Pointer) -> bool:
        """Does it lead nowhere, and say nothing that only a person can place?"""
        gone = self.given.gone is None or self.given.gone(pointer)
        return pointer.target in self.merged or (gone and not pointer.says_more)

    @property
    def clocks(self) -> dict[str, float]:
        return {path: page.clock for path, page in self.pages.items()}

    @property
    def taken(self) -> set[str]:
        """Every name that a new memory cannot have."""
        return {*self.given.taken, *self.pages}


def restructured_line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text[:4096] else "\n"


def bare_line(line: str) -> str:
    """A line without its marks (bullet, number, heading, quote), its blanks single."""
    return " ".join(_MARKS.sub("", line.replace("\ufeff", "")).rstrip(" \t\r#|*").split())


def text_holds(text: str, words: str) -> bool:
    """Does a text say these words, wherever its lines break?"""
    return bare_line(words) in " ".join(text.split())


def line_has_words(text: str) -> bool:
    """A line without a letter or digit is no knowledge."""
    return any(map(str.isalnum, text))


# What a part is called, what its one line says, which type it has, and which file name is free

MAX_TITLE_CHARACTERS = 60
MAX_LINE_CHARACTERS = 110  # of a description that we make; its pointer has to fit as well
MIN_LINE_CHARACTERS = 30  # less says little, then the next sentence is told too
LOOK_CHARACTERS = 400  # of a line
SAMPLE_CHARACTERS = 20_000  # of a text
_LINK = re.compile(r"!?\[([^\[\]]{0,200})\]\([^()\s]{0,300}\)")
_WIKILINK = re.compile(r"\[\[([^\[\]|#]{1,100})[^\[\]]{0,100}\]\]")
_NUMBER = re.compile(r"^(?:\d{1,3}[.)]|[A-Z][.)])\s+|^\d{1,3}(?:\.\d{1,3}){1,4}\s+")
_ASIDE = re.compile(r"\s*\([^()]{0,200}\)")
# `- **Port:** 8080` and `- Port: 8080`
_LABEL = re.compile(
    r"(?:[-*+]|\d{1,3}[.)])\s+(?:\*\*([^*]{2,60}?):?\*\*|([A-Za-z0-9][^:`*.;,()\[\]]{1,34}):\s)"
)
_ITEM = re.compile(r"(?:[-*+]|\d{1,3}[.)])\s")
# A title of these words names the index, not what stands in it.
_GENERIC = re.compile(
    r"agent|claude|code|general|index|memory|memories|misc|my|notes?|other|project|store|the|this"
)
# `*(Add project_*.md as needed.)*`, `(none yet)`, `_TBD_`: a word to whoever keeps the index.
_PLACEHOLDER = re.compile(
    r"[*_]{0,2}\((?:add|none|nothing|no|empty|tbd|todo|to be|fill|placeholder)\b.{0,120}\)[*_]{0,2}"
    r"|[*_]{0,2}(?:none|none yet|tbd|empty)[*_.]{0,3}"
)
# What a heading says of the type of what stands below it, in this order.
_HEADINGS = (
    (USER, "about me|about the user|user profile|user role|who i am|user preferences"),
    (REFERENCE, "this index|memory file|memory files|this memory"),
    (FEEDBACK, "feedback|rules?|conventions?|preferences?|guidelines?|style|always|never"),
    (FEEDBACK, "requirement|workflow|must|behavioral|how to work|do not|gotchas|pitfalls"),
    (REFERENCE, "references?|links?|resources|where to find|urls|dashboards|external|documents"),
    (REFERENCE, "reference files|see also"),
    (PROJECT, "project|status|roadmap|decisions?|architecture|todos?|plan|history|structure"),
    (PROJECT, "overview|open questions|state"),
)


def plain_title_line(text: str) -> str:
    """One line without control characters; marks stay."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def plain_title(text: str) -> str:
    """Words as a person reads them: no links, marks or hidden characters, one line."""
    text = _WIKILINK.sub(r"\1", _LINK.sub(r"\1", text[:LOOK_CHARACTERS]))
    text = "".join(char if unicodedata.category(char)[0] != "C" else " " for char in text)
    return " ".join(text.replace("**", "").replace("__", "").split())


def topic_title(heading: str) -> str:
    """A short title of a heading: without numbers and asides, cut at a word."""
    text = _NUMBER.sub("", plain_title(heading)).strip(" :*_`#").replace("`", "")
    short = " ".join(_ASIDE.sub("", text).split()).strip(" :—–-")
    text = short if len(short) >= 4 else text
    if secrets.find_secrets(text):
        return UNSAID.capitalize()
    if len(text) > MAX_TITLE_CHARACTERS:
        for mark in (" — ", " – ", ": ", " - ", ", ", "; "):
            head = text.partition(mark)[0]
            if 8 <= len(head) <= MAX_TITLE_CHARACTERS:
                return head
    return cut_hook_at_word(text, MAX_TITLE_CHARACTERS)


def is_generic_title(title: str) -> bool:
    """Does a title name the index itself rather than what stands in it?"""
    return all(map(_GENERIC.fullmatch, title_words(title)))


def is_placeholder_piece(text: str) -> bool:
    """A line to whoever keeps the index: nothing is known yet."""
    body = text.strip().removeprefix("- ").removeprefix("* ").strip()
    return bool(_PLACEHOLDER.fullmatch(body.casefold())) and "-->" not in body


def title_words(text: str) -> list[str]:
    return "".join(char if char.isalnum() else " " for char in text.casefold()).split()


def summarize_topic(lines: Sequence[str]) -> str:
    """One line on what these lines say: their headings, their labels, or how they begin."""
    if not any(map(str.isalnum, "".join(lines))):
        return ""
    shown = secrets.text_before_secrets("\n".join(lines)[:SAMPLE_CHARACTERS])
    if not shown.strip():
        return UNSAID
    lines = shown.split("\n")
    heads = [plain_title(heading_text(lines[i])) for i, _ in markdown_headings(lines)]
    below = [topic_title(text) for text in heads[1:] if text]
    if len(below) > 1 and len(", ".join(below)) >= MIN_LINE_CHARACTERS:
        return _join(below, ", ")
    labels = [
        plain_title(label[1] or label[2]).strip(" :.")
        for label in map(_LABEL.match, lines)
        if label
    ]
    if len(labels) > 2 and len(labels) * 2 >= sum(1 for line in lines if _ITEM.match(line)):
        return _join(labels, ", ")
    body = "\n".join(line for line in lines if not heading_level(line))
    said = [
        plain_title(text).strip(" -*_:#>.;,") for text, code in split_sentences(body) if not code
    ]
    said = [text for text in said if any(map(str.isalnum, text))]
    if not said:
        return topic_title(heads[0]) if heads else ""
    if len(said[0]) >= MIN_LINE_CHARACTERS:
        return _cut(said[0])
    return _join(said[:4], "; ")


def _join(parts: Iterable[str], mark: str) -> str:
    """As many parts as fit; an ellipsis where there are more."""
    text = ""
    for part in dict.fromkeys(part for part in parts if part):
        longer = f"{text}{mark}{part}" if text else part
        if len(longer) > MAX_LINE_CHARACTERS - 2:
            return f"{text}{mark.rstrip()} …" if text else _cut(part)
        text = longer
    return text


def _cut(text: str) -> str:
    short = cut_hook_at_word(text, MAX_LINE_CHARACTERS)
    # Half a code span would turn the rest of the line into code.
    return short.replace("`", "") if short.count("`") % 2 else short


def free_restructured_path(
    title: str, type: str, taken: Collection[str], style: Style, below: str = ""
) -> str:
    """A file name made of a title that no file has, whatever the disk thinks of case."""
    mark = "_" if style.prefix else "-"
    base = names.memory_name(title, type, mark)
    if style.prefix and type != UNKNOWN and not base.startswith(type):
        base = f"{type}_{base}"
    known = {stem(path).casefold().replace("-", "_") for path in taken}
    name, count = base, 1
    while name.replace("-", "_") in known:
        count += 1
        name = f"{base}{mark}{count}"
    return f"{below}{name}.md"


def guess_topic_type(
    path: str, heading: str, section: str, lines: Sequence[str]
) -> tuple[str, str]:
    """The type, and the reason in a few words: the file's name, a heading, or the wording."""
    name = stem(path).lower()
    for type in types.names():
        if name == type or name.startswith((type + "_", type + "-")):
            return type, f'the file is called "{type}"'
    for where, text in (("heading", heading), ("section", section)):
        words = " ".join(title_words(plain_title(text)))
        for type in types.names():
            if words and words in (type.replace("_", " "), types.get(type).section.casefold()):
                return type, f'its {where} says "{text}"'
        for type, marks in _HEADINGS:
            if mark := re.search(rf"\b(?:{marks})\b", words):
                return type, f'its {where} says "{mark[0]}"'
    filled = [line[:LOOK_CHARACTERS] for line in lines if line.strip()]
    if not filled:
        return UNKNOWN, "it says nothing"
    guess = guess_memory_type("\n".join(filled), plain_title(heading))
    return guess.type, "its wording" + ("" if guess.sure else ", a guess")
