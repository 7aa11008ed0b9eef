"""Which identifiers a text has: all of its words are taken apart at once and compared.

With three thousand names over 50,000 files this is thirty times as fast as `git grep -F -w`,
which tries one name after the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

LFS = b"version https://git-lfs"  # stands for a file that lies elsewhere
SNIFFED = 8000  # bytes in which git looks for a NUL to tell data from text
LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
APART = bytes(code if code in LETTERS else 32 for code in range(256))
PARTS = re.compile(rb"[A-Za-z0-9_]+")
DEFINITIONS = 50  # files in which a name's definition is looked for
FEW_NAMES = 12  # so few are looked for one by one

PROSE = frozenset(
    (
        *("md", "markdown", "mdx", "mdc", "txt", "rst", "adoc", "asciidoc", "org", "tex", "pod"),
        # Data that somebody or something wrote down: it names code, it is none.
        *("csv", "tsv", "log", "svg", "lock", "sum", "snap", "po", "pot", "map", "diff", "patch"),
    )
)
PROSE_NAMES = frozenset(
    (
        *("readme", "license", "licence", "copying", "changelog", "changes", "authors", "notice"),
        *("contributors", "todo", "news", "package-lock.json", "npm-shrinkwrap.json"),
        *("pnpm-lock.yaml", "composer.lock", "go.sum"),
    )
)
DEFINERS = frozenset(
    (
        *(b"def", b"class", b"function", b"func", b"fn", b"interface", b"type", b"struct"),
        *(b"enum", b"trait", b"const", b"let", b"var", b"val", b"module", b"macro", b"define"),
        *(b"fun", b"object", b"namespace", b"protocol", b"record", b"static", b"sub", b"impl"),
    )
)
INDEX = "MEMORY.md"
# Where agents keep memories: a memory must not prove itself.
OF_MEMORIES = re.compile(
    r"(?:^|/)(?:\.(?:claude|agents|gemini|codex|cursor|serena|kilocode|clinerules)/"
    r"(?:memory|memories|agent-memory|agent-memory-local)|\.memory|\.memories|memory-bank)/"
)


def is_prose(path: str) -> bool:
    """True for text about code."""
    name = path.rpartition("/")[2].lower()
    stem, dot, suffix = name.rpartition(".")
    return (
        suffix in PROSE
        if dot and stem and suffix in PROSE
        else name in PROSE_NAMES or stem in PROSE_NAMES
    )


class Memories:
    """Knows which files of a tree are memories themselves."""

    def __init__(self, paths: Iterable[str]) -> None:
        indexes = (path for path in paths if path.endswith("/" + INDEX))
        self.roots = tuple(path[: -len(INDEX)] for path in indexes)

    def hold(self, path: str) -> bool:
        """True below a known folder of memories; beside a MEMORY.md only for prose."""
        if OF_MEMORIES.search(path):
            return True
        return bool(self.roots) and path.startswith(self.roots) and is_prose(path)


def is_text(data: bytes) -> bool:
    """As git sees it; what only stands for a file is none."""
    return b"\0" not in data[:SNIFFED] and not data.startswith(LFS)


class Scanner:
    """Looks for numbered names in texts; one may be of several words, like `Store.put` or `$HOME`.

    A hit is twice the number of a name, plus one where its first place looks like a definition.
    """

    def __init__(self, names: Mapping[str, int]) -> None:
        self.words: dict[bytes, int] = {}
        self.compounds: dict[bytes, tuple[int, tuple[bytes, ...]]] = {}
        for name, number in names.items():
            text = name.encode("utf-8", "surrogateescape")
            parts = tuple(PARTS.findall(text))
            if parts == (text,):
                self.words[text] = 2 * number
            elif text.strip():
                self.compounds[text] = 2 * number, parts
        within = (part for _, parts in self.compounds.values() for part in parts)
        self.wanted = frozenset((*self.words, *within))
        self.only_within = self.wanted - self.words.keys()
        self.tries = dict.fromkeys(self.words, DEFINITIONS)
        bare = [text for text, (_, parts) in self.compounds.items() if not parts]
        self.few = [*self.wanted, *bare] if len(self.wanted) <= FEW_NAMES else None

    def scan(self, data: bytes) -> list[int]:
        """The hits in a text."""
        if self.few is not None and not any(word in data for word in self.few):
            return []
        words = data.translate(APART).split()
        hits = self.wanted.intersection(words)
        found = list(map(self.words.__getitem__, hits - self.only_within))
        if self.tries:
            found += self._defined(words, hits)
        if self.compounds:
            found += self._compounds(data, hits)
        return found

    def _defined(self, words: list[bytes], hits: frozenset[bytes]) -> list[int]:
        """The definitions among the hits, each beside its plain hit."""
        found = []
        for word in self.tries.keys() & hits:
            at = words.index(word)
            if at > 0 and words[at - 1] in DEFINERS:
                found.append(self.words[word] + 1)
            self.tries[word] -= 1
            if not self.tries[word]:
                del self.tries[word]
        return found

    def _compounds(self, data: bytes, hits: frozenset[bytes]) -> list[int]:
        return [
            hit
            for text, (hit, parts) in self.compounds.items()
            if hits.issuperset(parts) and stands_alone(text, data)
        ]


def stands_alone(text: bytes, data: bytes) -> bool:
    """True if the text is there and no word runs into it."""
    at = data.find(text)
    while at >= 0:
        end = at + len(text)
        starts = at == 0 or data[at - 1] not in LETTERS or text[0] not in LETTERS
        ends = end == len(data) or data[end] not in LETTERS or text[-1] not in LETTERS
        if starts and ends:
            return True
        at = data.find(text, at + 1)
    return False
