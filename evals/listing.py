"""A repository as lists: its paths, words and past in text files, without the code itself."""

from __future__ import annotations

import json
import os

from evals.listing_paths import Pasts, Paths
from memdir.claims.claim import Past, Seen, Uses, Wanted
from memdir.errors import BadInput

TREE, SYMBOLS, HISTORY, PAST_SYMBOLS, META = (
    "tree.txt",
    "symbols.txt",
    "history.txt",
    "history_symbols.txt",
    "meta.json",
)
MAX_BYTES = 256 * 1024 * 1024  # of one list
Meta = dict[str, object]


class Listing:
    """Answers from lists; one that is missing is said, and what it would tell stays unknown."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._read: tuple[Paths, Pasts] | None = None

    def state(self) -> str:
        """The commit that the lists describe."""
        return str(self._meta().get("commit", ""))

    def own_names(self) -> frozenset[str]:
        """The folder is called `owner__name`."""
        top = {row[0].partition("/")[0] for row in self._rows(TREE)}
        return frozenset({os.path.basename(self.root).rpartition("__")[2], *top})

    def look(self, wanted: Wanted) -> Seen:
        """Everything that was wanted, from the lists."""
        meta = self._meta()
        if self._read is None:
            tree = self._rows(TREE)
            pasts = Pasts(self._rows(HISTORY), {row[0] for row in tree})
            self._read = Paths(tree), pasts
        paths, pasts = self._read
        found = {name: paths.find(name) for name in wanted.paths}
        past = {name: pasts.find(name) for name in wanted.paths if name not in found[name]}
        for name, some in past.items():
            if found[name]:
                past[name] = tuple(one for one in some if one.name == name)
        ignored = {str(one).rstrip("/") for one in _list(meta, "ignored_mentions")}
        branches = {str(one) for key in ("branches", "tags") for one in _list(meta, key)}
        commits = [key for key, there in _dict(meta, "commits_mentioned").items() if there]
        symbols, past_symbols = self._symbols(wanted)
        return Seen(
            commit=str(meta.get("commit", "")),
            paths={name: one for name, one in found.items() if one},
            ignored=frozenset(one for one in wanted.paths if one in ignored),
            past={name: one for name, one in past.items() if one},
            symbols=symbols,
            past_symbols=past_symbols,
            branches=wanted.branches & branches,
            packages=wanted.packages & set(_dict(meta, "dependencies")),
            commits=frozenset(
                one for one in wanted.commits if one and any(key.startswith(one) for key in commits)
            ),
            commands=_commands(meta),
            known=self._known(),
            remarks=self._remarks(),
        )

    def _symbols(self, wanted: Wanted) -> tuple[dict[str, Uses], dict[str, Past]]:
        uses, past = dict[str, Uses](), dict[str, Past]()
        for row in self._rows(SYMBOLS):
            if row[0] in wanted.symbols and len(row) > 2:
                uses[row[0]] = Uses(_number(row[1]), _number(row[2]))
        for row in self._rows(PAST_SYMBOLS):
            if row[0] in wanted.symbols and len(row) > 2:
                past[row[0]] = Past(row[0], row[1], row[2])
        return uses, past

    def _known(self) -> frozenset[str]:
        tables = {
            TREE: ("paths",),
            SYMBOLS: ("symbols",),
            HISTORY: ("past",),
            PAST_SYMBOLS: ("past_symbols",),
            META: ("ignored", "branches", "packages", "commits", "commands"),
        }
        return frozenset(
            table for name, some in tables.items() if self._has(name) for table in some
        )

    def _remarks(self) -> tuple[str, ...]:
        missing = [
            name for name in (TREE, SYMBOLS, HISTORY, PAST_SYMBOLS, META) if not self._has(name)
        ]
        return (f"{self.root} has no {', '.join(missing)}",) if missing else ()

    def _has(self, name: str) -> bool:
        return os.path.isfile(os.path.join(self.root, name))

    def _rows(self, name: str) -> list[list[str]]:
        return [line.split("\t") for line in self._text(name).split("\n") if line]

    def _text(self, name: str) -> str:
        path = os.path.join(self.root, name)
        if not self._has(name):
            return ""
        if os.path.getsize(path) > MAX_BYTES:
            raise BadInput(f"{path}: larger than {MAX_BYTES:,} bytes", path=path, next="cut it")
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                return file.read()
        except OSError as error:
            next = "make it readable, or take it away"
            raise BadInput(f"{path}: {error.strerror}", path=path, next=next) from None

    def _meta(self) -> Meta:
        path = os.path.join(self.root, META)
        try:
            meta = json.loads(self._text(META) or "{}")
        except (ValueError, RecursionError) as error:
            next = "correct the file or get it again"
            raise BadInput(f"{path}: not a JSON object: {error}", path=path, next=next) from None
        return meta if isinstance(meta, dict) else {}


def open_repo(root: str, cache_dir: str) -> Listing:
    """The lists in a directory; nothing is cached."""
    return Listing(root)


def _commands(meta: Meta) -> frozenset[str]:
    """Every script, make target and recipe."""
    scripts = [one for some in _dict(meta, "package_scripts").values() for one in _items(some)]
    return frozenset(
        map(str, (*scripts, *_list(meta, "make_targets"), *_list(meta, "just_recipes")))
    )


def _list(meta: Meta, key: str) -> list[object]:
    return _items(meta.get(key))


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _dict(meta: Meta, key: str) -> dict[str, object]:
    value = meta.get(key)
    return value if isinstance(value, dict) else {}


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0
