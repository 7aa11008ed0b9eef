"""The store while it is worked on: texts by path, and an account of everything done to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from memdir.core import dates, frontmatter
from memdir.core.contradiction import Contradiction
from memdir.core.frontmatter import Document
from memdir.core.likeness import Alike
from memdir.core.memory import CREATED_KEYS, INDEX, MODIFIED_KEYS, Memory
from memdir.core.pointer import Pointer
from memdir.core.revision import Style

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
        return frontmatter.read(self.text)


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
        document = frontmatter.read(text)
        kept = document.get(*MODIFIED_KEYS, *CREATED_KEYS)
        if page.dated and not kept and document.lines is not None:
            moment = dates.iso_time(page.clock)
            text = frontmatter.edit(document, MODIFIED_KEYS[0], moment).text
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
