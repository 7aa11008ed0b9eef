"""One look for all claims."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from memdir.claims import code_index, manifests, past
from memdir.claims.checkout import Bounds, Opened, open_checkout
from memdir.claims.claim import Past, Seen, Uses, Wanted
from memdir.claims.code_index import CodeIndex, open_index
from memdir.claims.scanner import (
    PARTS,
    Memories,
    Progress,
    gone_parts,
    is_text,
    may_hold_code,
    read_blobs,
    words_there,
)
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
PAUSE_SECONDS = 1.0  # between two words of progress
MAX_NAME_CHARACTERS = 200


class GitRepo:
    """Looks at a checkout through git; what earlier looks read comes from the index."""

    def __init__(self, root: str, cache_dir: str, bounds: Bounds) -> None:
        self.root = root
        self._cache_dir = cache_dir
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
        try:
            return self._look(wanted, say)
        except code_index.DAMAGED:  # the index was thrown away
            return self._look(wanted, say)

    def _look(self, wanted: Wanted, say: Say) -> Seen:
        opened = open_checkout(self.root)
        if opened.problem:
            return Seen(remarks=(opened.problem,))
        with open_index(self._cache_dir, self.root, self._bounds.cache_bytes) as index:
            return _Look(opened, index, self._bounds, _slowly(say)).seen(wanted)


def open_git_repo(root: str, cache_dir: str, bounds: Bounds | None = None) -> GitRepo:
    """The checkout at that place."""
    return GitRepo(root, cache_dir, bounds or Bounds())


def _slowly(say: Say) -> Say:
    last = time.monotonic()

    def say_now_and_then(text: str) -> None:
        nonlocal last
        if time.monotonic() - last >= PAUSE_SECONDS:
            last = time.monotonic()
            say(text)

    return say_now_and_then


@dataclass
class _Look:
    """One look, from the tree to the answer."""

    opened: Opened
    index: CodeIndex
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
        gone = self._find_past(missing)
        if not self.opened.bare:
            paths |= manifests.untracked_folders(git, missing, gone)
            gone = self._without_present(gone)
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
            past=gone,
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
        past.update_renames(self.index, self.opened.git, self.opened.commit, self.bounds, self.say)
        self.known.add("past")
        self._remark_floor(past.PATHS, "for renames and removals")
        folders = Tree(self.tree.files, submodules=self.tree.submodules).folders()
        return past.Pasts(self.index, self.tree.files, folders).find(Matcher(missing))

    def _without_present(self, gone: dict[str, tuple[Past, ...]]) -> dict[str, tuple[Past, ...]]:
        """Only what is not on disk in another way than tracked."""
        there = manifests.present(
            self.opened.git, gone, self.files, self.tree.submodules, self.bounds.unread_names
        )
        if there is None:
            self.known.discard("past")
            self.opened.remarks.append("submodules hold too much: no path is called removed")
            return {}
        return {name: pasts for name, pasts in gone.items() if name not in there}

    def _find_symbols(self, names: frozenset[str]) -> tuple[dict[str, Uses], dict[str, Past]]:
        if not self.opened.commit:
            return {}, {}
        self.known |= {"symbols"} if self.opened.git.partial else {"symbols", "past_symbols"}
        if not names:
            return {}, {}
        asked = {
            name for name in names if 0 < len(name) <= MAX_NAME_CHARACTERS and "\n" not in name
        }
        for name in list(asked):
            parts = PARTS.findall(name.encode("utf-8", "surrogateescape"))
            asked |= {part.decode("ascii") for part in parts}
        cut = self._update_symbols(asked)
        committed = code_index.read_uses(self.index)
        uses = self._with_dirty(committed)
        found = {name: uses[name] for name in names if name in uses}
        found = {name: use for name, use in found.items() if use.code or use.prose}
        if self.tree.submodules:
            cut = cut or "submodules may have identifiers still: none is called removed"
        elif len(self.dirty) > self.bounds.dirty_files:
            cut = cut or "no identifier is called removed"
        if cut:  # what was not read may have it still: nothing is said to be removed
            return found, self._withdraw(cut)
        used = {name for name in asked if committed[name].code or uses[name].code}
        return found, self._find_removed(names & asked - used, uses)

    def _withdraw(self, remark: str) -> dict[str, Past]:
        self.opened.remarks.append(remark)
        self.known.discard("past_symbols")
        return {}

    def _update_symbols(self, asked: set[str]) -> str:
        """Bring the index up to date; what was not read, in words."""
        progress, git = Progress(self.say), self.opened.git

        def read(paths: list[str]) -> Iterator[tuple[str, bytes]]:
            if git.partial:
                yield from self._read_disk(paths)
                return
            for path, data in read_blobs(git, self.tree.files, paths, self.bounds, progress):
                if is_text(data):
                    yield path, data
                else:
                    progress.skipped.append(path)

        code_index.update_symbols(
            self.index, git, self.tree, self.opened.commit, asked, read, self.bounds
        )
        self.index.skip_files(filter(may_hold_code, progress.skipped))
        if progress.cut or progress.missing or self.tree.cut:
            cut = "not all files were read: identifiers may have more uses"
            self.index.put("symbols cut", cut)
        return self.index.get("symbols cut")

    def _with_dirty(self, committed: dict[str, Uses]) -> dict[str, Uses]:
        if not self.dirty:
            return committed
        if len(self.dirty) > self.bounds.dirty_files:
            changed = f"{len(self.dirty):,} changed files are not committed"
            self.opened.remarks.append(f"{changed}: identifiers were looked up in the commit")
            return committed
        texts = self._read_disk(list(self.dirty))
        return code_index.overlay_uses(self.index, frozenset(self.dirty), texts)

    def _read_disk(self, paths: list[str]) -> Iterator[tuple[str, bytes]]:
        work_tree, memories = WorkTree(self.opened.git.root), Memories(self.files)
        for path in paths:
            data = None if memories.hold(path) else work_tree.read(path, self.bounds.file_bytes)
            if data is not None and is_text(data):
                yield path, data

    def _find_removed(self, names: frozenset[str], uses: dict[str, Uses]) -> dict[str, Past]:
        """The removals of names, where no file has them whose words were not counted."""
        if self.opened.git.partial:
            return {}

        def is_used(part: str) -> bool:
            return bool(uses[part].code)

        past.update_removed(self.index, self.opened.git, self.opened.commit, self.bounds, self.say)
        self._remark_floor(past.WORDS, "for removed identifiers")
        removals = {name: past.find_removal(self.index, name, is_used) for name in names}
        removed = {name: removal for name, removal in removals.items() if removal is not None}
        if not removed:
            return removed
        words = {name: gone_parts(name, is_used) for name in removed}
        there = words_there(
            self.opened.git, {word for parts in words.values() for word in parts},
            self.index.skipped(), self.dirty, Memories(self.files), self.bounds,
        )  # fmt: skip
        if there is None:
            remark = "data and untracked files were not searched for removed identifiers"
            return self._withdraw(remark)
        return {name: item for name, item in removed.items() if there.isdisjoint(words[name])}

    def _remark_floor(self, log: str, purpose: str) -> None:
        floor = self.index.get(f"{log} floor")
        if floor:
            since = "" if floor == "-" else f" before {floor}"
            self.opened.remarks.append(f"the history{since} was not looked at {purpose}")


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
