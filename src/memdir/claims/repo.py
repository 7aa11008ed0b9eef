"""One look for all claims."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from memdir.claims import code_index, manifests
from memdir.claims.checkout import Bounds, Opened, open_checkout
from memdir.claims.claim import Past, Seen, Uses, Wanted
from memdir.claims.code_index import PARTS, Cache, Memories, Progress, is_text, read_blobs
from memdir.claims.tree import (
    Matcher,
    Patterns,
    Tree,
    WorkTree,
    nearest,
    plain,
    read_dirty,
    read_tree,
)

# A git checkout: the commit that is checked out, with what is changed and not committed.
#
# A tracked file that is gone from the working tree counts as neither there nor removed until a
# commit says so. An untracked file is there. Below a submodule only what is checked out is known.

Say = Callable[[str], None]
PAUSE = 1.0  # seconds between two words of progress
LONGEST = 200  # characters of an identifier


class GitRepo:
    """Looks at a checkout through git; asks the cache first."""

    def __init__(self, root: str, cache_dir: str, bounds: Bounds) -> None:
        self.root = root
        self._cache = Cache(cache_dir, root, bounds.cache_bytes)
        self._bounds = bounds

    def state(self) -> str:
        """The commit, and a sum over what is changed since; empty if git cannot tell."""
        opened = open_checkout(self.root)
        if opened.problem or opened.bare:
            return opened.commit
        dirty, _ = read_dirty(opened.git, self._bounds)
        if not dirty:
            return opened.commit
        work_tree, total = WorkTree(opened.git.root), hashlib.sha256()
        for path, letters in sorted(dirty.items()):
            fact = f"{path}\0{letters}{work_tree.facts(path)}\n"
            total.update(fact.encode("utf-8", "surrogateescape"))
        return f"{opened.commit}+{total.hexdigest()[:12]}"

    def look(self, wanted: Wanted, say: Say = lambda _: None) -> Seen:
        """Everything that was wanted; what could not be looked at is among the remarks."""
        opened = open_checkout(self.root)
        if opened.problem:
            return Seen(remarks=(opened.problem,))
        return _Look(opened, self._cache, self._bounds, _slowly(say)).seen(wanted)


def open_git_repo(root: str, cache_dir: str, bounds: Bounds | None = None) -> GitRepo:
    """The checkout at that place."""
    return GitRepo(root, cache_dir, bounds or Bounds())


def _slowly(say: Say) -> Say:
    last = time.monotonic()

    def told(text: str) -> None:
        nonlocal last
        if time.monotonic() - last >= PAUSE:
            last = time.monotonic()
            say(text)

    return told


@dataclass
class _Look:
    """One look, from the tree to the answer."""

    opened: Opened
    cache: Cache
    bounds: Bounds
    say: Say
    tree: Tree = field(default_factory=Tree)
    files: dict[str, str] = field(default_factory=dict)  # the tree with what is not committed
    dirty: dict[str, str] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)

    def seen(self, wanted: Wanted) -> Seen:
        git, remarks = self.opened.git, self.opened.remarks
        self._read_tree()
        forms = {name: plain(name, git.root) for name in wanted.paths}
        paths, missing = self._paths(forms)
        past = self._find_past(missing)
        if not self.opened.bare:
            paths |= manifests.untracked_folders(git, missing, past)
            past = self._without_present(past)
        uses, past_symbols = self._find_symbols(wanted.symbols)
        progress = Progress(self.say)
        packages, commands = manifests.manifests(git, self.files, self.dirty, self.bounds, progress)
        if progress.cut:
            remarks.append("not all manifest files were read")
        self.known |= {"paths", "branches", "commits", "packages", "commands"}
        return Seen(
            commit=self.opened.commit,
            paths=paths,
            ignored=self._ignored(missing),
            past=past,
            symbols=uses,
            past_symbols=past_symbols,
            branches=manifests.branches(git, wanted.branches),
            packages=manifests.declared(wanted.packages, packages),
            commits=manifests.commits(git, wanted.commits),
            commands=frozenset(commands),
            known=frozenset(self.known),
            remarks=tuple(remarks),
        )

    def _read_tree(self) -> None:
        git, remarks = self.opened.git, self.opened.remarks
        if self.opened.commit:
            self.tree = read_tree(git, self.opened.commit, self.bounds)
        self.files = dict(self.tree.files)
        if self.tree.cut:
            remarks.append(f"only {len(self.tree.files):,} paths were read: there are more")
        if self.tree.submodules:
            listed = ", ".join(sorted(self.tree.submodules)[:3])
            remarks.append(f"submodules were not searched: {listed}")
        if self.opened.bare:
            return
        dirty, ended = read_dirty(git, self.bounds)
        gone = [path for path, letters in dirty.items() if "D" in letters]
        if not ended.whole:
            remarks.append("git could not tell what is changed and not committed")
        elif gone and len(gone) >= len(self.tree.files):
            remarks.append("nothing is checked out: only the commit was looked at")
        else:
            self.dirty = dirty
            self.files.update({path: "" for path, letters in dirty.items() if "A" in letters})
            for path in gone:
                self.files.pop(path, None)

    def _paths(self, forms: dict[str, str]) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
        """What is there, and the names that are not."""
        matcher, work_tree = Matcher(forms), WorkTree(self.opened.git.root)
        found = matcher.match(self.files, folders=False)
        folders = Tree(self.files, submodules=self.tree.submodules).folders()
        for name, more in matcher.match(folders, folders=True).items():
            found.setdefault(name, []).extend(more)
        for name, form in forms.items():
            if not form or name in found or self.opened.bare:
                continue
            if work_tree.is_there(form, folder=name.endswith("/")):
                found[name] = [form]
        starred = [name for name in forms if "*" in name and name not in found]
        if starred:
            found |= Patterns(self.files).find_all(starred)
        missing = {name: form for name, form in forms.items() if form and name not in found}
        return {name: nearest(some, forms[name]) for name, some in found.items()}, missing

    def _ignored(self, missing: dict[str, str]) -> frozenset[str]:
        if self.opened.bare:
            return frozenset()
        self.known.add("ignored")
        return manifests.ignored_paths(self.opened.git, missing, self.files, self.tree.submodules)

    def _find_past(self, missing: dict[str, str]) -> dict[str, tuple[Past, ...]]:
        if not self.opened.commit:
            return {}
        old = self.cache.load("past", code_index.read_ends)
        ends = code_index.bring_up_renames(
            old, self.opened.git, self.opened.commit, self.bounds, self.say
        )
        if ends is not old:
            self.cache.store("past", code_index.write_ends(ends))
        self.known.add("past")
        self._say_floor(ends.floor, "for renames and removals")
        folders = Tree(self.tree.files, submodules=self.tree.submodules).folders()
        return code_index.Pasts(ends, self.tree.files, folders).find(Matcher(missing))

    def _without_present(self, past: dict[str, tuple[Past, ...]]) -> dict[str, tuple[Past, ...]]:
        """Only what is not on disk in another way than tracked."""
        there = manifests.present(
            self.opened.git, past, self.files, self.tree.submodules, self.bounds.unread_names
        )
        if there is None:
            self.known.discard("past")
            self.opened.remarks.append("submodules hold too much: no path is called removed")
            return {}
        return {name: some for name, some in past.items() if name not in there}

    def _find_symbols(self, names: frozenset[str]) -> tuple[dict[str, Uses], dict[str, Past]]:
        if not self.opened.commit:
            return {}, {}
        self.known |= {"symbols"} if self.opened.git.partial else {"symbols", "past_symbols"}
        if not names:
            return {}, {}
        asked = {name for name in names if 0 < len(name) <= LONGEST and "\n" not in name}
        for name in list(asked):
            parts = PARTS.findall(name.encode("utf-8", "surrogateescape"))
            asked |= {part.decode("ascii") for part in parts}
        symbols = self._known_symbols(asked)
        uses = self._with_dirty(symbols)
        found = {name: uses[name] for name in names if name in uses}
        found = {name: use for name, use in found.items() if use.code or use.prose}
        if unread := symbols.cut or self._unread():
            # What was not read may have it still: nothing is said to be removed.
            return found, self._withdraw(unread)
        absent = {name for name in names & asked if not symbols.uses[name].code}
        absent = {name for name in absent if not uses[name].code}
        return found, self._without_unread(self._past_symbols(absent, uses), symbols, uses)

    def _unread(self) -> str:
        if self.tree.submodules:
            return "submodules may have identifiers still: none is called removed"
        too_many = len(self.dirty) > self.bounds.dirty_files
        return "no identifier is called removed" if too_many else ""

    def _withdraw(self, remark: str) -> dict[str, Past]:
        self.opened.remarks.append(remark)
        self.known.discard("past_symbols")
        return {}

    def _without_unread(
        self, past: dict[str, Past], symbols: code_index.Symbols, uses: dict[str, Uses]
    ) -> dict[str, Past]:
        """Only what no file has whose words were not counted."""
        if not past:
            return past
        words = {
            name: code_index.gone_parts(name, lambda part: bool(uses[part].code)) for name in past
        }
        there = code_index.words_there(
            self.opened.git, {word for some in words.values() for word in some},
            symbols.skipped, self.dirty, Memories(self.files), self.bounds,
        )  # fmt: skip
        if there is None:
            return self._withdraw(
                "data and untracked files were not searched for removed identifiers"
            )
        return {name: one for name, one in past.items() if there.isdisjoint(words[name])}

    def _known_symbols(self, asked: set[str]) -> code_index.Symbols:
        progress, git = Progress(self.say), self.opened.git
        old = self.cache.load("symbols", code_index.read_symbols)
        if old and not old.holds(self.opened.commit, asked, dirty=bool(self.dirty)):
            old = None
        before = (old.commit, len(old.names)) if old else None

        def read(paths: list[str]) -> Iterator[tuple[str, bytes]]:
            if git.partial:
                yield from self._from_disk(paths)
                return
            for path, data in read_blobs(git, self.tree.files, paths, self.bounds, progress):
                if is_text(data):
                    yield path, data
                else:
                    progress.skipped.append(path)

        known = code_index.bring_up_symbols(
            old, git, self.tree, self.opened.commit, sorted(asked), read, self.bounds
        )
        if progress.cut or progress.missing or self.tree.cut:
            known.cut = "not all files were read: identifiers may have more uses"
        known.skipped.update(filter(code_index.may_hold_code, progress.skipped))
        if before != (known.commit, len(known.names)):
            self.cache.store("symbols", code_index.write_symbols(known))
        return known

    def _with_dirty(self, known: code_index.Symbols) -> dict[str, Uses]:
        if not self.dirty:
            return known.uses
        if len(self.dirty) > self.bounds.dirty_files:
            what = f"{len(self.dirty):,} changed files are not committed"
            self.opened.remarks.append(f"{what}: identifiers were looked up in the commit")
            return known.uses
        return code_index.overlay(known, self.dirty, self._from_disk(list(self.dirty)))

    def _from_disk(self, paths: list[str]) -> Iterator[tuple[str, bytes]]:
        work_tree, memories = WorkTree(self.opened.git.root), Memories(self.files)
        for path in paths:
            data = None if memories.hold(path) else work_tree.read(path, self.bounds.file_bytes)
            if data is not None and is_text(data):
                yield path, data

    def _past_symbols(self, names: set[str], uses: dict[str, Uses]) -> dict[str, Past]:
        if self.opened.git.partial:
            return {}
        old = self.cache.load("removed", code_index.read_removed)
        removed = code_index.bring_up_removals(
            old, self.opened.git, self.opened.commit, self.bounds, self.say
        )
        if removed is not old:
            self.cache.store("removed", code_index.write_removed(removed))
        self._say_floor(removed.floor, "for removed identifiers")
        found = {name: removed.find(name, lambda part: bool(uses[part].code)) for name in names}
        return {name: past for name, past in found.items() if past is not None}

    def _say_floor(self, floor: str, what: str) -> None:
        if floor:
            since = "" if floor == "-" else f" before {floor}"
            self.opened.remarks.append(f"the history{since} was not looked at {what}")


# No repository: nothing can be looked up, and that is said.


class NoRepo:
    """Knows nothing, so every claim stays unknown."""

    def __init__(self, reason: str) -> None:
        self.root = ""
        self._reason = reason

    def state(self) -> str:
        """No state: nothing to compare with."""
        return ""

    def look(self, wanted: Wanted, say: Callable[[str], None] = lambda _: None) -> Seen:
        """Nothing, with the reason."""
        return Seen(remarks=(self._reason,))


def open_no_repo(root: str, cache_dir: str) -> NoRepo:
    """The repository that is not there."""
    return NoRepo(f"{root or 'the project'} is no git repository: claims were not checked")


# What the steps need from the world. Adapters fit these shapes; nobody inherits from them.


class Repo(Protocol):
    """The code that memories speak of. It is only looked at, never changed."""

    root: str

    def state(self) -> str: ...
    def look(self, wanted: Wanted, say: Callable[[str], None] = ...) -> Seen: ...
