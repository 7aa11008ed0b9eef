"""The repository names no package registry, and its documents speak only of the product."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.self.source import ROOT

# Put together here, so that this file does not hold what it looks for.
HOSTS = [
    f"{name}.{end}".encode()
    for end, names in {
        "org": ("pypi", "pythonhosted", "npmjs", "anaconda", "rubygems"),
        "com": ("npmjs", "yarnpkg"),
        "io": ("crates",),
    }.items()
    for name in names
]
NOT_OURS = {
    *(".git", ".venv", "__pycache__", "build", "dist", "node_modules"),
    *(".hypothesis", ".import_linter_cache", ".mypy_cache", ".pytest_cache", ".ruff_cache"),
}

MAKER = r"(claude|chatgpt|gpt|codex|copilot|gemini|cursor|an? (ai|llm|language model|assistant))"
AUTHORSHIP = [
    r"co-authored-by:",
    r"\bai[- ](generated|written|assisted)\b",
    r"🤖",
    rf"\bgenerated (with|by) \[?{MAKER}\b",
    r"\b(memdir|(this|the) (code|project|product|software|repository|readme|documentation))"
    r" (is|was|were|has been) (\w+ )?(built|created|developed|generated|made|written)"
    rf" (by|using|with|with the help of) {MAKER}\b",
]


def files(folder: Path) -> Iterator[Path]:
    """Every file of the project, tracked or not."""
    for here, folders, names in os.walk(folder):
        folders[:] = set(folders) - NOT_OURS
        yield from (Path(here, name) for name in names)


def addresses(folder: Path) -> list[str]:
    return [
        f"{path.relative_to(folder)}: {host.decode()}"
        for path in files(folder)
        if path.is_file() and (content := path.read_bytes().lower())
        for host in HOSTS
        if host in content
    ]


def test_no_file_names_a_package_registry():
    assert addresses(ROOT) == []


@pytest.mark.parametrize("path", sorted(ROOT.glob("requirements/*.txt")), ids=lambda p: p.name)
def test_a_lock_file_holds_names_and_hashes_only(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"://|^-|--(extra-)?index|--find-links", text, re.MULTILINE)
    pinned = re.findall(r"^[a-z0-9].*==.*\n    --hash=sha256:", text, re.MULTILINE)
    assert len(pinned) == len(re.findall(r"^[a-z0-9]", text, re.MULTILINE))


def test_the_documents_speak_only_of_the_product():
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        text = " ".join(path.read_text("utf-8").lower().split())
        assert [pattern for pattern in AUTHORSHIP if re.search(pattern, text)] == [], path
