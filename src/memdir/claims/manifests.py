"""The smaller questions: packages, commands, branches, commits, ignored paths."""

from __future__ import annotations

import json
import os
import re
import time
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from memdir.claims.checkout import Bounds
from memdir.claims.claim import Past
from memdir.claims.scanner import Progress, read_blobs
from memdir.claims.tree import OWN, WorkTree, decode
from memdir.store.git import Git

# What manifest files declare: packages, and commands that somebody can run by name.

# Lines of the formats that are not worth a parser; each pattern is linear.
REQUIREMENT = re.compile(r"^\s{0,8}([A-Za-z0-9][A-Za-z0-9._-]{0,100})", re.M)
GO_MODULE = re.compile(
    r"^\s{0,8}(?:require |module )?\s{0,4}([\w.~-]{1,80}(?:/[\w.~-]{1,80}){0,9})", re.M
)
GEM = re.compile(r"^\s{0,40}(?:gem|pod|s\.add_\w{1,30})[ (]{1,3}['\"]([^'\"\n]{1,120})['\"]", re.M)
ARTIFACT = re.compile(r"<artifactId>\s{0,20}([\w.-]{1,120})\s{0,20}</artifactId>")
GRADLE = re.compile(r"['\"]([\w.-]{1,100}):([\w.-]{1,100})(?::[^'\"\n]{0,60})?['\"]")
REFERENCE = re.compile(
    r"<Package(?:Reference|Version)\s{1,20}(?:Include|Update)=\"([^\"\n]{1,120})\""
)
YAML_KEY = re.compile(r"^ {2}([A-Za-z0-9_@/.-]{1,100}):", re.M)
CONDA = re.compile(r"^\s{0,20}-\s{1,4}([A-Za-z0-9][A-Za-z0-9._-]{0,100})", re.M)
HEX = re.compile(r"\{:([a-z0-9_]{1,60}),")
TARGET = re.compile(r"^([A-Za-z0-9_./%-][A-Za-z0-9_./% -]{0,200}):(?![=:])", re.M)
RECIPE = re.compile(r"^@?([A-Za-z_][A-Za-z0-9_-]{0,80})(?: [^:\n]{0,200})?:(?!=)", re.M)
TASK = re.compile(r"^ {2}['\"]?([A-Za-z0-9_:-]{1,80})['\"]?:\s{0,4}$", re.M)

MAX_LINE_CHARACTERS = 2_000  # a dotted key costs the square of its parts

Declared = tuple[set[str], set[str]]  # packages, commands
Parser = Callable[[str], Declared]


def parse_manifest(path: str, text: str) -> Declared:
    """The packages and commands of a file; of one that cannot be parsed, none."""
    parser = parser_of(path)
    try:
        return parser(text) if parser else (set(), set())
    except (ValueError, RecursionError):
        return set(), set()


def parser_of(path: str) -> Parser | None:
    """How a file of that name is read; None for what is no manifest."""
    name = path.rpartition("/")[2].lower()
    if name.startswith(("requirements", "constraints")) and name.endswith((".txt", ".in")):
        return _packages_by(REQUIREMENT)
    stem, _, suffix = name.rpartition(".")
    return PARSERS.get(name) or (BY_SUFFIX.get(suffix) if stem or name[:1] == "." else None)


def _package_json(text: str) -> Declared:
    data = _dict(json.loads(text))
    packages = {str(data["name"])} if isinstance(data.get("name"), str) else set()
    for key, value in data.items():
        if key.lower().endswith("dependencies") or key in ("require", "require-dev", "imports"):
            packages |= set(_dict(value))
    return packages, {name for key in ("scripts", "tasks", "bin") for name in _dict(data.get(key))}


def _toml(text: str) -> Declared:
    if any(len(line) > MAX_LINE_CHARACTERS for line in text.split("\n")):
        raise ValueError("no line that somebody wrote")
    packages: set[str] = set()
    commands: set[str] = set()
    for path, value in _tables(tomllib.loads(text), ()):
        last = path[-1] if path else ""
        if last in ("scripts", "gui-scripts", "tasks", "console_scripts"):
            commands |= set(_dict(value))
        if last.endswith("dependencies") or last in ("packages", "dev-packages"):
            packages |= set(_dict(value)) | _requirement_names(value)
        if last in ("requires", "bin"):
            packages |= _requirement_names(value)
        if len(path) > 1 and ("optional-dependencies" in path or "dependency-groups" in path):
            packages |= _requirement_names(value)
        if last == "name" and isinstance(value, str) and len(path) < 4:
            packages.add(value)
    return packages, commands


def _tables(value: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, value
    if isinstance(value, dict) and len(path) < 8:
        for key, below in value.items():
            yield from _tables(below, (*path, key))


def _requirement_names(value: object) -> set[str]:
    lines = [line for line in value if isinstance(line, str)] if isinstance(value, list) else []
    return {found.group(1) for line in lines if (found := REQUIREMENT.match(line))}


def _packages_by(pattern: re.Pattern[str]) -> Parser:
    return lambda text: (set(pattern.findall(text)), set())


def _commands_by(pattern: re.Pattern[str]) -> Parser:
    return lambda text: (set(), set(pattern.findall(text)))


def _gradle(text: str) -> Declared:
    pairs = GRADLE.findall(text)
    return {name for _, name in pairs} | {f"{group}:{name}" for group, name in pairs}, set()


def _makefile(text: str) -> Declared:
    rules = TARGET.findall(text)
    return set(), {name for rule in rules for name in rule.split() if not name.startswith(".")}


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


PARSERS: dict[str, Parser] = {
    "package.json": _package_json,
    "composer.json": _package_json,
    "deno.json": _package_json,
    "pyproject.toml": _toml,
    "cargo.toml": _toml,
    "pipfile": _toml,
    "go.mod": _packages_by(GO_MODULE),
    "gemfile": _packages_by(GEM),
    "podfile": _packages_by(GEM),
    "pom.xml": _packages_by(ARTIFACT),
    "build.gradle": _gradle,
    "build.gradle.kts": _gradle,
    "libs.versions.toml": _gradle,
    "directory.packages.props": _packages_by(REFERENCE),
    "pubspec.yaml": _packages_by(YAML_KEY),
    "environment.yml": _packages_by(CONDA),
    "environment.yaml": _packages_by(CONDA),
    "mix.exs": _packages_by(HEX),
    "makefile": _makefile,
    "gnumakefile": _makefile,
    "justfile": _commands_by(RECIPE),
    ".justfile": _commands_by(RECIPE),
    "taskfile.yml": _commands_by(TASK),
    "taskfile.yaml": _commands_by(TASK),
}
BY_SUFFIX: dict[str, Parser] = {
    "csproj": _packages_by(REFERENCE),
    "fsproj": _packages_by(REFERENCE),
    "gemspec": _packages_by(GEM),
    "mk": _makefile,
    "just": _commands_by(RECIPE),
}


# The smaller questions: what is ignored, and which branches, commits and packages there are.

COMMIT = re.compile(r"[0-9a-fA-F]{4,64}")
HEADS, REMOTES, TAGS = "refs/heads/", "refs/remotes/", "refs/tags/"
MAX_RULE_FOLDERS = 20  # folders with a .gitignore of their own that a name is tried in
RULES = ".gitignore"


def ignored_paths(
    git: Git, names: Mapping[str, str], files: Iterable[str], submodules: Collection[str]
) -> frozenset[str]:
    """The names that the ignore rules exclude, at the root or in a folder with own rules."""
    work_tree = WorkTree(git.root)
    rules = sorted((path for path in files if path.endswith("/" + RULES)), key=len)
    folders = ["", *(path[: -len(RULES)] for path in rules[:MAX_RULE_FOLDERS])]
    asked: dict[str, str] = {}
    for name, form in names.items():
        for folder in folders if form else ():
            path = folder + form
            # Git gives up at a path that is none of its own, and leaves the rest unanswered.
            if path.startswith(tuple(f"{each}/" for each in submodules)):
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
    there = {package.lower().replace("_", "-") for package in packages}
    return frozenset(name for name in names if name.lower().replace("_", "-") in there)


# Past paths that are there after all: untracked, through a link, or in a submodule.

Pasts = Mapping[str, tuple[Past, ...]]


def untracked_folders(
    git: Git, missing: Mapping[str, str], past: Pasts
) -> dict[str, tuple[str, ...]]:
    """Folders with nothing tracked; one that once had is only what a build left behind."""
    work_tree = WorkTree(git.root)
    unseen = [(name, form) for name, form in missing.items() if name not in past]
    return {name: (form,) for name, form in unseen if work_tree.has_folder(form)}


def present(
    git: Git, past: Pasts, files: Iterable[str], submodules: Collection[str], max_names: int
) -> set[str] | None:
    """The names of what is there; None if submodules hold too much to tell."""
    work_tree = WorkTree(git.root)
    there: set[str] = set()
    folders: dict[str, str] = {}
    for name, pasts in past.items():
        for path in (each.name for each in pasts):
            if work_tree.is_there(path, folder=name.endswith("/")):
                there.add(name)
            elif work_tree.has_folder(path):
                folders[path] = path
    # A folder counts only if it is ignored, for else a build left it behind.
    ignored = ignored_paths(git, folders, files, submodules) if folders else frozenset()
    lasts: set[str] | None = set()
    if past and submodules:
        lasts = _names(git.root, submodules, max_names)
    if lasts is None:
        return None
    below = tuple(f"{each}/" for each in submodules)
    for name, pasts in past.items():
        for each in pasts:
            moved_in = not each.now and each.name.rpartition("/")[2] in lasts
            if each.name in ignored or moved_in or (below and each.name.startswith(below)):
                there.add(name)
    return there


def _names(root: str, submodules: Collection[str], max_names: int) -> set[str] | None:
    """The last parts of all paths on disk below the submodules; no link is entered."""
    work_tree, names, seen = WorkTree(root), set[str](), 0
    waiting = [os.path.join(root, each) for each in submodules if work_tree.enters(each)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    seen += 1
                    names.add(entry.name)
                    if entry.is_dir(follow_symlinks=False) and entry.name.lower() != OWN:
                        waiting.append(entry.path)
        except OSError:
            return None
        if seen > max_names:
            return None
    return names
