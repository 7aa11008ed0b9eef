"""The indexes of 23 public repositories, against a count that shares no code with ours."""

import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from memdir.format.index import heal_pointers, survey_pointers

INDEXES = ("MEMORY.md", "README.md")  # one directory has its index in the read-me file
NEVER_MEMORIES = {"memory.md", "readme.md", "index.md"}
LINK = re.compile(r"\[[^\]]*\]\((?:\./)?([^)\s#:]+\.md)(?:#[^)]*)?\)")
CODE = re.compile(r"`([^`\s]+\.md)`")
WIKI = re.compile(r"\[\[([^\]|#\s]+)")
HIDDEN = re.compile(r"<!--.*?-->|^```.*?^```", re.DOTALL | re.MULTILINE)


class Directory(NamedTuple):
    """A memory directory as it lies in the corpus."""

    root: Path
    text: str
    files: list[str]


class Count(NamedTuple):
    """What the regular expressions above find."""

    pointed: set[str]
    missing: list[str]


@pytest.fixture(scope="session")
def directories(shared: Path) -> list[Directory]:
    found = []
    for row in (shared / "corpus/repos.jsonl").read_text("utf-8").splitlines():
        repository = json.loads(row)
        for below in repository["roots"]:
            root = shared / "corpus" / repository["repo"].replace("/", "__") / below
            index = next((root / name for name in INDEXES if (root / name).exists()), None)
            text = index.read_bytes().decode("utf-8", "surrogateescape") if index else ""
            paths = [path for path in root.rglob("*.md") if path.name.lower() not in NEVER_MEMORIES]
            files = sorted(path.relative_to(root).as_posix() for path in paths)
            found.append(Directory(root, text, files))
    assert len(found) == 28
    return found


def count(directory: Directory) -> Count:
    """Links anywhere, names in backticks and wikilinks in lists; no rule of ours."""
    text = HIDDEN.sub("", directory.text)
    bullets = "\n".join(line for line in text.splitlines() if re.match(r"\s*[-*|] ", line))
    links = [target for target in LINK.findall(text) if not target.startswith(("../", "/"))]
    labels = {f"{label.removesuffix('.md')}.md" for label in WIKI.findall(text)}
    named = {*links, *CODE.findall(bullets), *labels}
    missing = [target for target in links if not (directory.root / target).exists()]
    return Count(named & set(directory.files), missing)


def describe(path: str) -> tuple[str, str, str]:
    return path.removesuffix(".md"), f"about {path}", path.partition("_")[0]


def test_healing_adds_exactly_the_orphans_and_takes_only_dead_lines(directories):
    for directory in directories:
        root, text, files = directory
        counted = count(directory)
        healed = heal_pointers(text, files, describe)
        assert healed.added == [path for path in files if path not in counted.pointed], root
        assert healed.dropped == counted.missing, root
        added = [f"- [{path[:-3]}]({path}) — about {path}" for path in healed.added]
        kept = [line for line in healed.text.splitlines() if line not in added]
        dead = tuple(f"]({target})" for target in counted.missing)
        alive = [line for line in text.splitlines() if not any(end in line for end in dead)]
        assert kept == alive, root
        assert healed.text.endswith("\n") == (text.endswith("\n") or not text), root


def test_every_index_is_understood(directories):
    for root, text, files in directories:
        found, counted = survey_pointers(text, files), count(Directory(root, text, files))
        assert set(found.pointers) == counted.pointed, root
        assert set(found.orphans) == set(files) - counted.pointed, root
        assert [pointer.target for pointer in found.dangling] == counted.missing, root
        lines = text.splitlines()
        for at in found.overlong:
            assert len(lines[at - 1]) > 150 and ".md" in lines[at - 1], (root, at)
        for at in found.inline:
            assert not LINK.match(lines[at - 1].lstrip("- ")), (root, lines[at - 1])
            assert lines[at - 1].strip() and not lines[at - 1].startswith("#"), (root, at)
