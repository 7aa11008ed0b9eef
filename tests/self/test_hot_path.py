"""The hot path pays for the bare interpreter and a few C modules, nothing else."""

import subprocess
import sys
import time

import pytest

from tests.self.source import SRC

HOT = (
    "memdir.core.errors",
    "memdir.core.finding",
    "memdir.core.frontmatter",
    "memdir.core.inert",
    "memdir.core.injection",
    "memdir.core.memory",
    "memdir.core.index",
    "memdir.core.pointer",
    "memdir.core.scope",
    "memdir.core.dates",
    "memdir.core.asking",
    "memdir.core.background",
    "memdir.core.hit",
    "memdir.core.ranking",
    "memdir.core.session_state",
    "memdir.core.stems",
    "memdir.core.store_key",
    "memdir.core.verdicts",
    "memdir.core.words",
    "memdir.adapters.layouts.markdown",
    "memdir.adapters.searches.fts",
    "memdir.adapters.searches.scan",
    "memdir.adapters.sessions",
    "memdir.adapters.verdicts",
    "memdir.core.prompting",
    "memdir.steps.inject",
    "memdir.steps.instruct",
    "memdir.steps.recall",
    "memdir.surfaces.hooks.background",
    "memdir.surfaces.hooks.prompt",
)
# C modules of the standard library that bring nothing else with them, under a millisecond each.
LIGHT = {
    *("_collections", "_random", "_sha2", "_sha256", "_stat", "_string", "_struct", "binascii"),
    *("errno", "fcntl", "itertools", "math", "pwd", "select", "time", "unicodedata", "zlib"),
}
# Allowed although it brings Python modules of its own (collections, functools): about 3 ms.
SQLITE = "_sqlite3"


def loaded(*names: str) -> set[str]:
    """What a bare interpreter holds after importing `names`."""
    code = "import sys; sys.path.insert(0, sys.argv[1])\n"
    code += "".join(f"import {name}\n" for name in names) + "print(*sys.modules)"
    command = [sys.executable, "-I", "-S", "-c", code, str(SRC)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return set(run.stdout.split())


def too_heavy(*names: str) -> list[str]:
    held = loaded(*names)
    allowed = loaded("os") | LIGHT | (loaded(SQLITE) if SQLITE in held else set())
    return sorted(name for name in held - allowed if name.split(".")[0] != "memdir")


def test_the_hot_path_imports_only_light_modules():
    assert too_heavy(*HOT) == []


@pytest.mark.parametrize("name", HOT)
def test_each_hot_module_is_light_on_its_own(name):
    assert too_heavy(name) == []


# Says what was loaded for one answer.
ANSWER = """
import sys; sys.path.insert(0, sys.argv[1])
from memdir.surfaces.hooks.prompt import answer
given = b'{"prompt": "where is the pelican cluster?"}'
assert "pelican.md" in answer(given, *sys.argv[2:4], [("project", sys.argv[4])])[0]
print(*sys.modules)
"""
NOT_FOR_A_PROMPT = {"collections", "functools", "json", "re", "sqlite3", "typing", "dataclasses"}


def test_a_prompt_is_answered_without_the_python_modules_of_sqlite(tmp_path):
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/pelican.md").write_text("The pelican cluster is in Oslo.\n")
    places = [str(tmp_path / name) for name in ("state", "cache", "memory")]
    command = [sys.executable, "-I", "-S", "-c", ANSWER, str(SRC), *places]
    for _ in range(2):  # the first one makes the catalog
        time.sleep(0.06)
        run = subprocess.run(command, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
    held = set(run.stdout.split())
    assert "_sqlite3" in held
    assert held & NOT_FOR_A_PROMPT == set()


@pytest.mark.parametrize(
    "name",
    [
        *("collections", "dataclasses", "datetime", "enum", "functools", "hashlib", "json"),
        *("pathlib", "re", "shutil", "sqlite3", "subprocess", "tempfile", "typing"),
    ],
)
def test_a_heavy_module_is_found(name):
    assert name in too_heavy(name)


@pytest.mark.parametrize("name", ["os", "errno", "fcntl", "time", "unicodedata", "zlib", SQLITE])
def test_a_light_module_passes(name):
    assert too_heavy(name) == []
