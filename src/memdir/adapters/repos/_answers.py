"""The smaller questions: what is ignored, and which branches, commits and packages there are."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from memdir.adapters.repos._blobs import Progress, read_blobs
from memdir.adapters.repos._bounds import Bounds
from memdir.adapters.repos._manifests import parse_manifest, parser_of
from memdir.adapters.repos._process import Git
from memdir.adapters.repos._tree import decode
from memdir.adapters.repos._work_tree import WorkTree

COMMIT = re.compile(r"[0-9a-fA-F]{4,64}")
HEADS, REMOTES, TAGS = "refs/heads/", "refs/remotes/", "refs/tags/"
MOST_IGNORES = 20  # folders with a .gitignore of their own that a name is tried in
RULES = ".gitignore"


def ignored(
    git: Git, names: Mapping[str, str], files: Iterable[str], submodules: Collection[str]
) -> frozenset[str]:
    """The names that the ignore rules exclude, at the root or in a folder with own rules."""
    work_tree = WorkTree(git.root)
    rules = sorted((path for path in files if path.endswith("/" + RULES)), key=len)
    folders = ["", *(path[: -len(RULES)] for path in rules[:MOST_IGNORES])]
    asked: dict[str, str] = {}
    for name, form in names.items():
        for folder in folders if form else ():
            path = folder + form
            # Git gives up at a path that is none of its own, and leaves the rest unanswered.
            if path.startswith(tuple(f"{one}/" for one in submodules)):
                continue
            if not work_tree.through_link(path):
                asked[f"./{path}"] = name  # a `:` at the start would mean something to git
                asked[f"./{path}/"] = name
    if not asked:
        return frozenset()
    given = "\0".join(asked).encode("utf-8", "surrogateescape") + b"\0"
    out, _ = git.ask("check-ignore", "--no-index", "--stdin", "-z", given=given)
    return frozenset(asked[path] for path in map(decode, out.split(b"\0")) if path in asked)


def branches(git: Git, names: Collection[str]) -> frozenset[str]:
    """The names that a branch, a remote's branch or a tag has."""
    if not names:
        return frozenset()
    out, _ = git.ask("for-each-ref", "--format=%(refname)", HEADS, REMOTES, TAGS)
    there: set[str] = set()
    for ref in map(decode, out.split(b"\n")):
        there.add(ref)
        for start in (HEADS, REMOTES, TAGS):
            if ref.startswith(start):
                there.add(ref[len(start) :])
        if ref.startswith(REMOTES):
            there.add(ref[len(REMOTES) :].partition("/")[2])
    return (frozenset(names) & there) - {""}


def commits(git: Git, names: Collection[str]) -> frozenset[str]:
    """The ids, whole or abbreviated, that a commit has."""
    asked = [name for name in names if COMMIT.fullmatch(name)]
    if not asked:
        return frozenset()
    given = "".join(f"{name}^{{commit}}\n" for name in asked).encode()
    out, _ = git.ask("cat-file", "--batch-check=%(objecttype)", given=given)
    kinds = out.decode("ascii", "replace").splitlines()
    return frozenset(
        name for name, kind in zip(asked, kinds, strict=False) if kind.strip() == "commit"
    )


def manifests(
    git: Git, files: Mapping[str, str], dirty: Collection[str], bounds: Bounds, progress: Progress
) -> tuple[set[str], set[str]]:
    """All declared packages and all commands; what is changed counts as it is on disk."""
    work_tree = WorkTree(git.root)
    paths = sorted((path for path in files if parser_of(path)), key=lambda path: path.count("/"))
    if len(paths) > bounds.manifests:
        progress.cut = True
        paths = paths[: bounds.manifests]
    committed = [path for path in paths if path not in dirty and not git.partial]
    skipped = len(progress.skipped)
    small = replace(bounds, file_bytes=bounds.manifest_bytes)
    texts = list(read_blobs(git, files, committed, small, progress))
    progress.cut = progress.cut or len(progress.skipped) > skipped
    on_disk = [path for path in paths if path in dirty or git.partial]
    texts += [(path, work_tree.read(path, small.file_bytes) or b"") for path in on_disk]
    packages: set[str] = set()
    commands: set[str] = set()
    until = time.monotonic() + bounds.manifest_seconds
    for path, data in texts:
        if time.monotonic() > until:
            progress.cut = True
            break
        more, others = parse_manifest(path, data.decode("utf-8", "replace"))
        packages |= more
        commands |= others
    return packages, commands


def declared(names: Collection[str], packages: Collection[str]) -> frozenset[str]:
    """The names that are among the packages; case, `-` and `_` make no difference."""
    there = {_folded(package) for package in packages}
    return frozenset(name for name in names if _folded(name) in there)


def _folded(package: str) -> str:
    return package.lower().replace("_", "-")
