"""A store on disk to search in, and what a search answers in a form that can be compared."""

import time
from pathlib import Path

from memdir.errors import Finding
from memdir.hot import catalog
from memdir.hot.catalog import Fts
from memdir.hot.layout import Markdown
from memdir.hot.recall import Found
from memdir.recall import scan
from memdir.store.ports import Search

SETTLED = 0.06  # seconds after which a file counts as old enough to be trusted
MANY = 50  # more than any store of the tests has to give


class Searched:
    """A store below `top`, its catalog, and both searches over it."""

    def __init__(self, top: Path) -> None:
        self.root = top / "memory"
        self.cache = top / "cache"
        self.root.mkdir(parents=True, exist_ok=True)
        self.store = Markdown(str(self.root))

    @property
    def catalog(self) -> Path:
        return self.cache / catalog.NAME

    def write(self, path: str, data: bytes | str) -> Path:
        where = self.root / path
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_bytes(data.encode() if isinstance(data, str) else data)
        return where

    def settle(self) -> None:
        """Wait until a catalog may trust the files, then make it."""
        time.sleep(SETTLED)
        self.fts().find("anything at all", MANY)
        assert self.catalog_findings("anything at all") == []

    def fts(self) -> Fts:
        return catalog.open_search(self.store, str(self.cache))

    def scan(self) -> Search:
        return scan.open_search(self.store, str(self.cache))

    def catalog_findings(self, prompt: str) -> list[Finding]:
        """What a search by the catalog says about the catalog; its answer is that of a scan."""
        found = self.fts().find(prompt, MANY)
        assert answers(found) == answers(self.scan().find(prompt, MANY))
        return [one for one in found.findings if one.kind.startswith("catalog")]


def answers(found: Found) -> list[tuple[object, ...]]:
    """What is found, best first; sums of floats may differ in the last digit."""
    return [
        (
            *(hit.memory.path, round(hit.score, 5), round(hit.sure, 5)),
            *(hit.memory.description, hit.memory.size, round(hit.memory.mtime, 1)),
            {word: round(gain, 5) for word, gain in hit.words.items()},
        )
        for hit in found.hits
    ]


def paths(found: Found) -> list[str]:
    return [hit.memory.path for hit in found.hits]


def memory(name: str, description: str = "", body: str = "", type: str = "project") -> str:
    """The text of a memory; nothing in it but what is given."""
    return f"---\nname: {name}\ndescription: {description}\ntype: {type}\n---\n\n{body}\n"
