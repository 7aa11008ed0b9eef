"""The hot path pays for the bare interpreter and a few C modules, nothing else."""

import subprocess
import sys

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
    "memdir.adapters.layouts.markdown",
)
# C modules of the standard library that bring nothing else with them, under a millisecond each.
LIGHT = {
    *("_random", "_sha2", "_sha256", "_stat", "_string", "_struct", "binascii", "errno", "fcntl"),
    *("itertools", "math", "pwd", "select", "time", "unicodedata", "zlib"),
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
