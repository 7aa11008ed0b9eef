"""What manifests declare: packages, scripts, and versions of images, languages and packages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fnmatch import translate

from memdir.claims.claim import Pin

_WITH_PACKAGES = """
package.json composer.json deno.json pyproject.toml setup.py setup.cfg cargo.toml pipfile go.mod
gemfile podfile pom.xml build.gradle build.gradle.kts libs.versions.toml pubspec.yaml
directory.packages.props environment.y*ml mix.exs *.csproj *.fsproj *.gemspec
*requirements*.txt *requirements*.in *constraints*.txt requirements/*.txt requirements/*.in
"""
_OTHERS = """
makefile gnumakefile justfile .justfile taskfile.y*ml *.mk *.just *dockerfile* *compose*.y*ml
tox.ini .python-version .nvmrc .node-version
"""
MANIFEST_PATHS = tuple(f":(icase,glob)**/{name}" for name in _WITH_PACKAGES.split())
_MANIFEST = re.compile(
    "|".join(translate(name) for name in (_WITH_PACKAGES + _OTHERS).split() if "/" not in name)
    + r"|requirements/[^/]+\.(?:txt|in)\Z"
)
_COMMENT = re.compile(r"^\s{0,40}(?:#|//).{0,2000}$", re.M)
_PACKAGE = re.compile(r"[a-z0-9@][a-z0-9@/.-]{0,120}")
# In a script, only what is quoted and nothing but a requirement is a package.
_REQUIRED = re.compile(
    r"[\"']([A-Za-z0-9][\w.-]{0,80})(?:\[[^\]\n]{0,80}\])?(?:[ <>=!~;(][^\"'\n]{0,120})?[\"']"
)
_REQUIREMENT = re.compile(
    r"([A-Za-z0-9][\w.-]{0,80})(?:\[[^\]\n]{0,80}\])?\s?(?:(?:===?|~=|!=|>=|<=|<|>|;|@ ).{0,200})?$"
)
# `"left-pad": "^1"`, `serde = { version = "1" }`, `github.com/a/b v1.2`
_VERSIONED = re.compile(
    r"(?:require )?[\"']?(@?[A-Za-z0-9][\w./-]{0,120}?)[\"']?"
    r"(?:\s?[:=]\s?(?:\{\s?version\s?=\s?)?[\"'][\^~<>=v\s]{0,3}\d| v\d)"
)
_LIST = re.compile(r"requires?\b|dependencies\b|=\s?\[|^gem ")
_NO_PACKAGES = frozenset(
    ("version", "python", "requires-python", "rust-version", "edition", "node")
)
_TARGET = re.compile(r"^([A-Za-z0-9_./%-][A-Za-z0-9_./% -]{0,200}):(?![=:])", re.M)
_RECIPE = re.compile(r"^@?([A-Za-z_][A-Za-z0-9_-]{0,80})(?: [^:\n]{0,200})?:(?!=)", re.M)
_TASK = re.compile(r"^ {2}['\"]?([A-Za-z0-9_:-]{1,80})['\"]?:\s{0,4}$", re.M)


def is_package_manifest(path: str) -> bool:
    *_, folder, name = ("", *path.lower().split("/"))
    return bool(_MANIFEST.match(name) or _MANIFEST.match(f"{folder}/{name}"))


def compare_package_name(name: str) -> str:
    """Ignores case, and treats `-` and `_` alike."""
    return name.lower().replace("_", "-").rstrip("/.-")


def read_package_words(path: str, text: str) -> list[str]:
    if path.endswith("setup.py"):
        return [compare_package_name(name) for name in _REQUIRED.findall(text)]
    words = _PACKAGE.findall(_COMMENT.sub("", text).lower().replace("_", "-"))
    return [word.rstrip("/.-") for word in words]


def read_dropped_packages(removed: str) -> set[str]:
    """Packages that removed lines asked for: requirements, items of lists, names with a version."""
    names: set[str] = set()
    for line in map(str.strip, removed.split("\n")):
        match = _REQUIREMENT.match(line) or _VERSIONED.match(line)
        if match and match[1] not in _NO_PACKAGES:
            names.add(match[1])
        elif line[:1] in "\"'" or _LIST.search(line):
            names.update(_REQUIRED.findall(line.partition("=[")[2] or line))
    return {compare_package_name(name) for name in names}


def read_manifest_commands(name: str, text: str) -> list[str]:
    if name.endswith(".json"):
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            return []
        tables = [data.get(key) for key in ("scripts", "tasks")] if isinstance(data, dict) else []
        return [key for table in tables if isinstance(table, dict) for key in table]
    if "makefile" in name or name.endswith(".mk"):
        rules = _TARGET.findall(text)
        return [target for rule in rules for target in rule.split() if target[0] != "."]
    if "just" in name:
        return _RECIPE.findall(text)
    return _TASK.findall(text) if "taskfile" in name else []


# Versions. A claim names one, a manifest asks for one or for a range.

ALIASES = {"postgresql": "postgres", "nodejs": "node", "node.js": "node", "golang": "go"}
_IMAGE = re.compile(
    r"^\s{0,40}(?:FROM|-?\s{0,4}image:)\s{1,8}[\"']?((?:[\w.-]{1,80}/){0,4}([\w.-]{1,80}):v?(\d[\w.-]{0,60}))",
    re.M | re.I,
)
_ASKED = (
    (
        "python",
        re.compile(
            r"^\s{0,8}((?:requires-python|python_requires|python)\s?=\s?[\"']([^\"'\n]{1,60}))",
            re.M,
        ),
    ),
    ("node", re.compile(r"\"engines\"\s?:\s?\{[^{}]{0,200}?(\"node\"\s?:\s?\"([^\"\n]{1,60}))")),
    ("go", re.compile(r"^(go (\d[\d.]{0,20}))$", re.M)),
    ("rust", re.compile(r"^(rust-version\s?=\s?\"([^\"\n]{1,40}))", re.M)),
)
_PINNED = re.compile(
    r"([A-Za-z0-9][\w.-]{0,80})(?:\[[^\]\n]{0,80}\])?\s?((?:==|~=|>=|<=|<|>|!=)\s?\d[^\"'\s;#)]{0,80})"
)
_NPM = re.compile(r"\"(@?[\w./-]{1,120})\"\s?:\s?\"([\^~]?\d[\w.-]{0,40})\"")
_WHOLE_FILES = {".python-version": "python", ".nvmrc": "node", ".node-version": "node"}
_NUMBER = re.compile(r"\d{1,6}(?:\.\d{1,6}){0,4}")
_BOUND = re.compile(r"(===?|~=|!=|>=|<=|[<>^~=])?\s?v?(\d{1,6}(?:\.(?:\d{1,6}|\*|x)){0,4})")


def claimed_version_key(name: str) -> str:
    name = compare_package_name(name)
    return ALIASES.get(name, name)


def read_manifest_pins(path: str, text: str) -> Iterator[tuple[str, Pin]]:
    name = path.rpartition("/")[2].lower()
    if name in _WHOLE_FILES and _NUMBER.search(text):
        yield _WHOLE_FILES[name], Pin(path, _NUMBER.findall(text)[0], text.strip()[:40])
    elif "docker" in name or "compose" in name:
        for shown, image, tag in _IMAGE.findall(text):
            yield claimed_version_key(image), Pin(path, tag, shown)
    elif name == "package.json":
        for package, asked in _NPM.findall(text):
            yield claimed_version_key(package), Pin(path, asked, f"{package} {asked}")
    else:
        for package, asked in _PINNED.findall(_COMMENT.sub("", text)):
            yield claimed_version_key(package), Pin(path, asked, f"{package}{asked}")
    for language, pattern in _ASKED:
        for shown, asked in pattern.findall(text):
            yield language, Pin(path, asked, shown.replace('"', "").replace("'", ""))


def manifest_allows_version(asked: str, version: str) -> bool:
    """True if a version, of which the end may be left out, fits what is asked for."""
    claimed = [int(part) for part in version.split(".")]
    return any(
        all(_fits(sign, number, claimed) for sign, number in _BOUND.findall(choice))
        for choice in asked.split("||")
    )


def _fits(sign: str, number: str, claimed: list[int]) -> bool:
    bound = [int(part) for part in number.split(".") if part.isdigit()]
    size = min(len(claimed), len(bound))
    low, high = claimed[:size], bound[:size]
    if sign in ("<", "<="):
        return low < high or (low == high and (sign == "<=" or len(bound) > len(claimed)))
    # `^1.2` stays below 2, `~1.2` and `~=1.2` below the next of their last number but one.
    same = {"^": 1, "~": len(bound) - 1, "~=": len(bound) - 1, ">=": 0, ">": 0, "!=": 0}
    return low[: same.get(sign, size)] == high[: same.get(sign, size)] and low >= high
