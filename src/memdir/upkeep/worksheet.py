"""The store on paper: pages, an account of every line, checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from memdir.audit.disagree import Contradiction
from memdir.format.draft import Style
from memdir.format.pointer import Pointer, read_pointers
from memdir.hot import memory, safe
from memdir.hot.memory import CREATED_KEYS, INDEX, MODIFIED_KEYS, Document, Memory
from memdir.text.markdown import item_start
from memdir.text.markdown import plain as unescaped
from memdir.text.similar import Alike

# A check: one thing that must hold for memory to work, and what to do where it does not.


@dataclass(frozen=True)
class Check:
    """What was looked at, whether it is well, what was seen, and the way to mend it."""

    name: str
    ok: bool
    message: str
    fix: str = ""


@dataclass(frozen=True)
class Folder:
    """A directory that memdir writes to; `mode` is 0 where it does not exist yet."""

    path: str
    exists: bool
    directory: bool
    writable: bool
    mode: int
    free_bytes: int


@dataclass(frozen=True)
class Machine:
    """What matters of the machine; `git` is empty where there is none."""

    python: str
    git: str
    store: Folder
    state: Folder


# The store while it is worked on: texts by path, and an account of everything done to them.

# What was done.
MOVED, SPLIT, MERGED, HEADED, DATED = "moved", "split", "merged", "headed", "dated"
SHORTENED, POINTED, DROPPED, ARRANGED, TITLED = (
    *("shortened", "pointed", "dropped", "arranged"),
    "titled",
)


@dataclass(frozen=True)
class Page:
    """A memory's whole text; `clock` is its date, `dated` whether that date means anything."""

    text: str
    clock: float = 0.0
    dated: bool = False

    @property
    def document(self) -> Document:
        """Header and body."""
        return memory.read(self.text)


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
    empty: tuple[str, ...] = ()  # files without a word; left alone
    style: Style = field(default_factory=Style)


@dataclass(frozen=True)
class Made:
    """One thing that was done to a file, and why."""

    kind: str
    path: str
    what: str


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
    index: str
    pages: dict[str, Page]
    made: list[Made] = field(default_factory=list)
    accounted: list[Accounted] = field(default_factory=list)
    proposals: list[Proposal] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    contradictions: list[Contradiction] = field(default_factory=list)
    compared: tuple[dict[str, str], list[Alike]] | None = None  # texts, and the pairs among them

    def say(self, kind: str, path: str, what: str) -> None:
        """Note what was done."""
        self.made.append(Made(kind, path, what))

    def account(self, path: str, text: str, reason: str) -> None:
        """Note a line that is not there any more as it was."""
        self.accounted.append(Accounted(path, text, reason))

    def write(self, path: str, text: str) -> None:
        """A new text for a memory; its age goes into the header where only the file told it."""
        page = self.pages[path]
        if text == page.text:
            return
        document = memory.read(text)
        kept = document.get(*MODIFIED_KEYS, *CREATED_KEYS)
        if page.dated and not kept and document.lines is not None:
            moment = safe.iso_time(page.clock)
            text = memory.edit(document, MODIFIED_KEYS[0], moment).text
        self.pages[path] = Page(text, page.clock, page.dated)

    def append(self, path: str, block: str) -> None:
        """A block at the end of a memory's body, a blank line above it, in its own line ends."""
        text = self.pages[path].text
        end = "\r\n" if "\r\n" in text[:4096] else "\n"
        gap = "" if text.endswith(end * 2) else end if text.endswith("\n") else end * 2
        self.write(path, text + gap + block.replace("\n", end) + end)

    def memory(self, path: str) -> Memory:
        """The memory as a scan would see it."""
        page = self.pages[path]
        return Memory(path, page.text, page.clock, len(page.text))

    def names(self) -> dict[str, str]:
        """Labels by which a [[wikilink]] may mean a memory."""
        return {self.memory(path).name: path for path in self.pages}


def begin(given: Given) -> Work:
    """Nothing done yet."""
    return Work(given, given.index.text, dict(given.pages))


# The invariant: every line of knowledge is there afterwards, or accounted for.
#
# A line is what is left of it without its marks (bullet, number, heading, quote, blanks): those
# change with the place. Lines without a letter or digit are no knowledge.

_MARKS = re.compile(r"^(?:[\s>#*+|\ufeff-]|\d{1,9}[.)]\s)+")
_SEE = re.compile(r"[\s(—–-]*\bsee\s*:?\s*$", re.IGNORECASE)  # in front of a link only
_ENDS = " \t\r#|*"


@dataclass(frozen=True)
class Lost:
    """A line that would disappear: never allowed to happen."""

    path: str
    line: int
    text: str


def bare(line: str) -> str:
    """A line without its marks, its blanks single."""
    return " ".join(_MARKS.sub("", line.replace("\ufeff", "")).rstrip(_ENDS).split())


def holds(text: str, words: str) -> bool:
    """Does a text say these words, wherever its lines break?"""
    return bare(words) in " ".join(text.split())


def find_lost(
    before: Mapping[str, str], after: Mapping[str, str], accounted: Iterable[Accounted]
) -> list[Lost]:
    """The lines of before that are nowhere afterwards and that nobody accounted for."""
    there = _Said(after)
    told = {bare(one.text) for one in accounted}
    found = []
    for path, text in before.items():
        for number, line in enumerate(text.split("\n"), 1):
            said = bare(line)
            if not any(map(str.isalnum, said)) or said in told:
                continue
            if not there.says(line, said):
                found.append(Lost(path, number, line))
    return found


class _Said:
    """Everything the files say: their lines for a quick look, their whole text for the rest."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._lines = {bare(line) for text in texts.values() for line in text.split("\n")}
        self._texts = list(texts.values())
        self._whole = ""

    def says(self, line: str, said: str) -> bool:
        if said in self._lines or self._flowing(said):
            return True
        if self._points(line.strip()):
            return True
        # In a header the value counts, however it is quoted there.
        _, colon, value = said.partition(": ")
        return bool(colon) and self._flowing(bare(memory.unquote(value.strip())))

    def _points(self, line: str) -> bool:
        """A pointer is there when its title and all words beside it are."""
        pointers = read_pointers(line, 1)
        if not pointers:
            return False
        front = _SEE.sub("", line[max(item_start(line), 0) : pointers[0].start])
        words = [front, *(part for each in pointers for part in (each.title.strip("`"), each.hook))]
        return all(self._flowing(bare(each)) for each in words if any(map(str.isalnum, each)))

    def _flowing(self, said: str) -> bool:
        if not self._whole:
            parts = [" ".join(text.split()) for text in self._texts]
            self._whole = "\n".join([*parts, *map(unescaped, parts)])
        return said in self._whole
