"""What manifest files declare: packages, and commands that somebody can run by name."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from typing import Any

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

LONGEST_LINE = 2_000  # characters; a dotted key costs the square of its parts

Found = tuple[set[str], set[str]]  # packages, commands
Parser = Callable[[str], Found]


def parse_manifest(path: str, text: str) -> Found:
    """The packages and commands of a file; of one that cannot be parsed, none."""
    parser = parser_of(path)
    try:
        return parser(text) if parser else (set(), set())
    except (ValueError, RecursionError):
        return set(), set()


def parser_of(path: str) -> Parser | None:
    """How a file of that name is read; None for what is no manifest."""
    name = path.rpartition("/")[2]
    lower = name.lower()
    if lower in PARSERS:
        return PARSERS[lower]
    if lower.startswith(("requirements", "constraints")) and lower.endswith((".txt", ".in")):
        return _requirements
    suffix = lower.rpartition(".")[2]
    return BY_SUFFIX.get(suffix) if suffix != lower else None


def _package_json(text: str) -> Found:
    data = _dict(json.loads(text))
    packages = {str(data["name"])} if isinstance(data.get("name"), str) else set()
    for key, value in data.items():
        if key.lower().endswith("dependencies") or key in ("require", "require-dev", "imports"):
            packages |= set(_dict(value))
    commands = set(_dict(data.get("scripts"))) | set(_dict(data.get("tasks")))
    own = data.get("bin")
    return packages, commands | set(_dict(own))


def _toml(text: str) -> Found:
    if any(len(line) > LONGEST_LINE for line in text.split("\n")):
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
    lines = [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
    return {found.group(1) for line in lines if (found := REQUIREMENT.match(line))}


def _requirements(text: str) -> Found:
    return set(REQUIREMENT.findall(text)), set()


def _lines(pattern: re.Pattern[str]) -> Parser:
    return lambda text: (set(pattern.findall(text)), set())


def _gradle(text: str) -> Found:
    pairs = GRADLE.findall(text)
    return {name for _, name in pairs} | {f"{group}:{name}" for group, name in pairs}, set()


def _makefile(text: str) -> Found:
    rules = TARGET.findall(text)
    return set(), {name for rule in rules for name in rule.split() if not name.startswith(".")}


def _recipes(text: str) -> Found:
    return set(), set(RECIPE.findall(text))


def _tasks(text: str) -> Found:
    return set(), set(TASK.findall(text))


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


PARSERS: dict[str, Parser] = {
    "package.json": _package_json,
    "composer.json": _package_json,
    "deno.json": _package_json,
    "pyproject.toml": _toml,
    "cargo.toml": _toml,
    "pipfile": _toml,
    "go.mod": _lines(GO_MODULE),
    "gemfile": _lines(GEM),
    "podfile": _lines(GEM),
    "pom.xml": _lines(ARTIFACT),
    "build.gradle": _gradle,
    "build.gradle.kts": _gradle,
    "libs.versions.toml": _gradle,
    "directory.packages.props": _lines(REFERENCE),
    "pubspec.yaml": _lines(YAML_KEY),
    "environment.yml": _lines(CONDA),
    "environment.yaml": _lines(CONDA),
    "mix.exs": _lines(HEX),
    "makefile": _makefile,
    "gnumakefile": _makefile,
    "justfile": _recipes,
    ".justfile": _recipes,
    "taskfile.yml": _tasks,
    "taskfile.yaml": _tasks,
}
BY_SUFFIX: dict[str, Parser] = {
    "csproj": _lines(REFERENCE),
    "fsproj": _lines(REFERENCE),
    "gemspec": _lines(GEM),
    "mk": _makefile,
    "just": _recipes,
}
