"""The store on paper while it is restructured: pages, and an account of everything done to them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from memdir.format.draft import Style
from memdir.format.index import Survey
from memdir.format.outline import Line, Lookup, read_index_lines
from memdir.format.pointer import Pointer
from memdir.hot import memory, safe
from memdir.hot.memory import CREATED_KEYS, INDEX, MODIFIED_KEYS, Document, Memory
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
        end = topic_line_end(text)
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
    def new_paths(self) -> list[str]:
        return [path for path in self.pages if path not in self.given.pages]

    @property
    def taken(self) -> set[str]:
        """Every name that a new memory cannot have."""
        return {*self.given.taken, *self.pages}


def topic_line_end(text: str) -> str:
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
