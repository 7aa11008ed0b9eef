"""One look at a git checkout for all claims: the commit and uncommitted changes.

A tracked file that is missing from the working tree counts as neither existing nor removed until
the removal is committed. An untracked file exists. In a submodule only checked-out files are known.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Protocol

from memdir.claims import code_index, manifests, past, tree
from memdir.claims.claim import Past, Pin, Seen, Uses, Wanted
from memdir.claims.code_index import MAX_PLACES, WORD_BYTES, Texts, drop_code_comments
from memdir.claims.tree import Bounds, Files, Tree, from_git, to_git
from memdir.store.git import Git

MAX_NAME_CHARACTERS = 200

Pasts = dict[str, tuple[Past, ...]]


class Repo(Protocol):
    """Read-only view of the code that memories describe."""

    root: str

    def state(self) -> str: ...
    def own_names(self) -> frozenset[str]: ...
    def look(self, wanted: Wanted) -> Seen: ...


class GitRepo:
    def __init__(self, root: str, cache_dir: str, bounds: Bounds = Bounds()) -> None:  # noqa: B008
        self.root = root
        self._cache_dir = cache_dir
        self._bounds = bounds

    def state(self) -> str:
        """Commit and a checksum of uncommitted changes; empty if git cannot tell."""
        checkout = tree.open_repo_checkout(self.root)
        dirty = {} if checkout.problem else tree.read_dirty_paths(checkout.git, self._bounds)[0]
        if not dirty:
            return checkout.commit
        work_tree, total = tree.WorkTree(checkout.git.root), hashlib.sha256()
        for path, letters in sorted(dirty.items()):
            total.update(to_git(f"{path}\0{letters}{work_tree.facts(path)}\n"))
        return f"{checkout.commit}+{total.hexdigest()[:12]}"

    def own_names(self) -> frozenset[str]:
        """Names of the repository, of its remotes' repositories and of its top folders."""
        checkout = tree.open_repo_checkout(self.root)
        git, names = checkout.git, {os.path.basename(checkout.git.root)}
        if not checkout.problem:
            urls = from_git(git.ask("config", "--get-regexp", r"^remote\..*\.url$")[0])
            for line in urls.split("\n"):
                names.add(re.split("[/:]", line.removesuffix(".git"))[-1])
            top = git.ask("ls-tree", "--name-only", "-z", "HEAD")[0] if checkout.commit else b""
            names.update(map(from_git, top.split(b"\0")))
        return frozenset(names - {""})

    def look(self, wanted: Wanted) -> Seen:
        checkout, bounds = tree.open_repo_checkout(self.root), self._bounds
        if checkout.problem:
            return Seen(remarks=(checkout.problem,))
        place = self._cache_dir, self.root, bounds.cache_bytes
        try:
            with code_index.open_code_index(*place) as index:
                return _Look(checkout, index, bounds).see(wanted)
        except code_index.DAMAGED:  # the damaged index was deleted
            with code_index.open_code_index(*place) as index:
                return _Look(checkout, index, bounds).see(wanted)


class _Look:
    def __init__(self, checkout: tree.Checkout, index: code_index.CodeIndex, bounds: Bounds):
        self.git, self.commit, self.remarks = checkout.git, checkout.commit, [*checkout.remarks]
        self.index, self.bounds = index, bounds
        self.tree = Tree()
        self.files: Files = {}  # the tree with uncommitted changes
        self.dirty: dict[str, str] = {}
        self.known = {"paths", "ignored", "branches", "commits", "packages", "commands"}
        self.work_tree = tree.WorkTree(self.git.root)
        self.history = past.History(index, self.git, self.commit, bounds)

    def see(self, wanted: Wanted) -> Seen:
        self._read_tree()
        forms = {name: tree.path_in_repo(name, self.git.root) for name in wanted.paths}
        paths, missing = self._find_paths(forms)
        # A path that only ends so elsewhere may be another file: the one at the root may be gone.
        lost = {name: form for name, form in forms.items() if form not in paths.get(name, ("",))}
        gone = self._find_past({**lost, **missing}, missing)
        for name, form in missing.items():
            # An untracked folder that once had tracked files is left over from a build.
            if name not in gone and self.work_tree.has_folder(form):
                paths[name] = (form,)
        uses, past_symbols = self._find_symbols(wanted.symbols)
        packages, commands, versions = self._read_manifests(wanted)
        branches = _find_branches(self.git, wanted.branches)
        lost_branches = wanted.branches - branches
        return Seen(
            commit=self.commit,
            paths=paths,
            ignored=tree.find_paths_git_ignores(self.git, missing, self.tree.submodules),
            past=gone,
            symbols=uses,
            past_symbols=past_symbols,
            branches=branches,
            past_branches=past.find_past_branches(self.git, lost_branches, self.bounds),
            packages=packages,
            past_packages=self._find_dropped(wanted.packages - packages),
            versions=versions,
            commits=_find_commits(self.git, wanted.commits),
            commands=commands,
            known=frozenset(self.known),
            remarks=tuple(self.remarks),
        )

    def _read_tree(self) -> None:
        if self.commit:
            self.tree = tree.read_tracked_paths(self.git, self.commit, self.bounds)
        self.files = dict(self.tree.files)
        if self.tree.cut:
            self.remarks.append(f"only {len(self.tree.files):,} paths were read: there are more")
        if self.tree.submodules:
            listed = ", ".join(sorted(self.tree.submodules)[:3])
            self.remarks.append(f"submodules were not searched: {listed}")
        dirty, whole = tree.read_dirty_paths(self.git, self.bounds)
        gone = [path for path, letters in dirty.items() if "D" in letters]
        if not whole:
            self.remarks.append("git could not tell what is changed and not committed")
        elif gone and len(gone) >= len(self.tree.files):
            self.remarks.append("nothing is checked out: only the commit was looked at")
        else:
            self.dirty = dirty
            added = [path for path, letters in dirty.items() if "A" in letters]
            self.files.update(dict.fromkeys(added, ("", 0)))
            for path in gone:
                self.files.pop(path, None)

    def _find_paths(
        self, forms: dict[str, str]
    ) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
        there = tree.match_repo_endings(forms, self.files, folders=False)
        folders = self.tree.folders(self.files)
        for name, more in tree.match_repo_endings(forms, folders, folders=True).items():
            there.setdefault(name, []).extend(more)
        for name in [name for name, form in forms.items() if form and name not in there]:
            if self.work_tree.has_file(forms[name], folder=name.endswith("/")):
                there[name] = [forms[name]]
        starred = [name for name in forms if "*" in name and name not in there]
        there |= tree.match_repo_patterns(starred, self.files)
        missing = {name: form for name, form in forms.items() if form and name not in there}
        return {
            name: tree.pick_nearest_repo_paths(some, forms[name]) for name, some in there.items()
        }, missing

    def _find_past(self, names: dict[str, str], missing: Collection[str]) -> Pasts:
        """Past paths of the names, without those that may exist untracked."""
        if not self.commit:
            return {}
        self.history.update_removed_paths()
        self.known.add("past")
        self._remark_floor(past.PATHS, "for renames and removals")
        folders = self.tree.folders(self.tree.files)
        gone = past.PastPaths(self.index, self.tree.files, folders).find(names)
        for name in gone.keys() - missing:
            gone[name] = tuple(item for item in gone[name] if item.name == names[name])
        submodules = tuple(f"{each}/" for each in self.tree.submodules)
        ended = {item.name: item.name for pasts in gone.values() for item in pasts}
        ignored = tree.find_paths_git_ignores(self.git, ended, self.tree.submodules)

        def may_be_there(name: str, item: Past) -> bool:
            return (
                (item.name in ignored and not item.now)
                or item.name.startswith(submodules)
                or (bool(submodules) and not item.now and "/" not in name)
                or self.work_tree.has_file(item.name, folder=name.endswith("/"))
            )

        return {
            name: pasts
            for name, pasts in gone.items()
            if pasts and not any(may_be_there(name, item) for item in pasts)
        }

    def _find_symbols(self, names: frozenset[str]) -> tuple[dict[str, Uses], dict[str, Past]]:
        if not self.commit:
            return {}, {}
        self.known |= {"symbols"} if self.git.partial else {"symbols", "past_symbols"}
        asked = {name for name in names if len(name) <= MAX_NAME_CHARACTERS and "\n" not in name}
        if not asked:
            return {}, {}
        doubt = self._update_symbols(asked)
        dirty: Collection[str] = self.dirty
        if len(dirty) > self.bounds.dirty_files:
            doubt = doubt or "no identifier is called removed"
            changed = f"{len(dirty):,} changed files are not committed"
            self.remarks.append(f"{changed}: identifiers were looked up in the commit")
            dirty = ()
        uses, committed = code_index.count_symbol_uses(
            self.index, asked, dirty, self._read_disk(dirty)
        )
        there = {name: uses[name] for name in asked if uses[name].code or uses[name].prose}
        if self.tree.submodules:
            doubt = doubt or "submodules may have identifiers still: none is called removed"
        if self.git.partial:
            return there, {}
        few = {name: committed[name] for name in asked if len(committed[name]) <= MAX_PLACES}
        lost = {name: paths for name, paths in few.items() if paths or not uses[name].code}
        removed = {} if doubt else self._find_removed(lost)
        if doubt or removed is None:  # a file that was not read may still have it
            searched = "data and untracked files were not searched for removed identifiers"
            self.remarks.append(doubt or searched)
            self.known.discard("past_symbols")
        commented = [name for name in removed or () if lost[name]]
        there |= {name: replace(uses[name], code=0, only_comments=True) for name in commented}
        return there, removed or {}

    def _update_symbols(self, asked: set[str]) -> str:
        reading = code_index.Reading()

        def read(paths: list[str]) -> Iterator[tuple[str, bytes]]:
            if self.git.partial:
                yield from self._read_disk(paths)
                return
            for path, data in self._read_commit(paths, self.bounds.file_bytes, reading):
                if code_index.is_text_blob(data):
                    yield path, data
                else:
                    reading.skipped.append(path)

        code_index.update_code_symbols(
            self.index, self.git, self.tree, self.commit, asked, read, self.bounds
        )
        rows = [(to_git(path),) for path in filter(code_index.may_file_hold_code, reading.skipped)]
        self.index.db.executemany("INSERT OR IGNORE INTO skipped VALUES (?)", rows)
        if reading.cut or self.tree.cut:
            cut = "not all files were read: identifiers may have more uses"
            self.index.put("symbols cut", cut)
        return self.index.get("symbols cut")

    def _read_commit(self, paths: list[str], limit: int, reading: code_index.Reading) -> Texts:
        return code_index.read_repo_blobs(
            self.git, self.tree.files, paths, limit, self.bounds, reading
        )

    def _read_disk(self, paths: Collection[str]) -> Iterator[tuple[str, bytes]]:
        memories = code_index.Memories(self.files)
        for path in paths:
            if not memories.hold(path):
                data = self.work_tree.read(path, self.bounds.file_bytes)
                if data and code_index.is_text_blob(data):
                    yield path, data

    def _find_removed(self, names: Mapping[str, list[str]]) -> dict[str, Past] | None:
        """Removals of words, each with files that have it, unless one has it as code.

        None if not all files could be searched.
        """
        if not names:
            return {}
        self.history.update_removed_symbols()
        self._remark_floor(past.WORDS, "for removed identifiers")
        removed = past.find_removed_words(self.index, past.WORDS, {name: name for name in names})
        standing = {name: names[name] for name in removed if names[name]}
        for name in self._find_in_code(standing, {n for n in standing if removed[n].defined}):
            del removed[name]
        untracked = tree.read_untracked_paths(self.git, self.bounds) if removed else []
        rows = self.index.db.execute("SELECT path FROM skipped") if removed else ()
        skipped = [path for path in map(from_git, (row[0] for row in rows)) if path in self.files]
        if untracked is None or not all(map(self.work_tree.leads_to, skipped)):
            return None
        memories = code_index.Memories(self.files)
        unread = filter(code_index.may_file_hold_code, {*skipped, *self.dirty, *untracked})
        paths = [path for path in unread if not memories.hold(path)]
        there = code_index.find_words_in_code(self.git.root, removed, paths, self.bounds)
        return None if there is None else {n: removed[n] for n in removed if n not in there}

    def _find_in_code(self, names: Mapping[str, list[str]], once_defined: set[str]) -> set[str]:
        """Of names with the files that have them, those that do not stand in comments only."""
        reading = code_index.Reading()
        paths = sorted({path for name in once_defined for path in names[name]})
        words = {
            path: past.read_defined_names(data)
            | set(drop_code_comments(path, data).translate(WORD_BYTES).split())
            for path, data in self._read_commit(paths, self.bounds.file_bytes, reading)
        }
        in_comments = {
            name
            for name in once_defined
            if all(path in words and to_git(name) not in words[path] for path in names[name])
        }
        return names.keys() - in_comments

    def _remark_floor(self, log: str, purpose: str) -> None:
        floor = self.index.get(f"{log} floor")
        if floor:
            since = "" if floor == "-" else f" before {floor}"
            self.remarks.append(f"the history{since} was not looked at {purpose}")

    def _read_manifests(
        self, wanted: Wanted
    ) -> tuple[frozenset[str], frozenset[str], dict[str, tuple[Pin, ...]]]:
        found = filter(manifests.is_package_manifest, self.files)
        paths = sorted(found, key=lambda path: path.count("/"))
        reading = code_index.Reading(cut=len(paths) > self.bounds.manifests)
        paths, limit = paths[: self.bounds.manifests], self.bounds.manifest_bytes
        on_disk = [path for path in paths if path in self.dirty or self.git.partial]
        committed = [path for path in paths if path not in on_disk]
        texts = list(self._read_commit(committed, limit, reading))
        texts += [(path, self.work_tree.read(path, limit) or b"") for path in on_disk]
        if reading.cut or reading.skipped:
            self.remarks.append("not all manifest files were read")
        named: set[str] = set()
        commands: set[str] = set()
        pins: dict[str, list[Pin]] = {}
        for path, data in texts:
            text = data.decode("utf-8", "replace")
            named.update(manifests.read_package_words(path, text))
            commands.update(manifests.read_manifest_commands(path.rpartition("/")[2].lower(), text))
            for name, pin in manifests.read_manifest_pins(path, text):
                if name in wanted.versions:
                    pins.setdefault(name, []).append(pin)
        words = {name: manifests.read_package_words("", name) for name in wanted.packages}
        packages = [name for name in words if words[name] and named.issuperset(words[name])]
        versions = {name: tuple(some) for name, some in pins.items()}
        return frozenset(packages), frozenset(commands), versions

    def _find_dropped(self, names: Collection[str]) -> dict[str, Past]:
        if not names or not self.commit or self.git.partial:
            return {}
        self.history.update_dropped_packages()
        forms = {name: manifests.compare_package_name(name) for name in names}
        return past.find_removed_words(self.index, past.PACKAGES, forms)


_COMMIT = re.compile(r"[0-9a-fA-F]{4,64}")
_REFS = ("refs/heads/", "refs/remotes/", "refs/tags/")


def _find_branches(git: Git, names: Collection[str]) -> frozenset[str]:
    out = git.ask("for-each-ref", "--format=%(refname)", *_REFS)[0] if names else b""
    there: set[str] = set()
    for ref in map(from_git, out.split(b"\n")):
        name = ref.split("/", 2)[-1]
        there |= {ref, name}
        if ref.startswith("refs/remotes/"):
            there.add(name.partition("/")[2])
    return (frozenset(names) & there) - {""}


def _find_commits(git: Git, names: Collection[str]) -> frozenset[str]:
    asked = [name for name in names if _COMMIT.fullmatch(name)]
    given = "".join(f"{name}^{{commit}}\n" for name in asked).encode()
    out = git.ask("cat-file", "--batch-check=%(objecttype)", given=given)[0] if asked else b""
    kinds = out.decode("ascii", "replace").splitlines()
    return frozenset(name for name, kind in zip(asked, kinds, strict=False) if kind == "commit")
