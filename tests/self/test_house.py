"""The house keeps its shape: budgets that only fall, names that occur once, tools with one home.

The figures stand in pyproject.toml under `tool.memdir`; a budget may exceed what there is by a
little only, so whoever makes a package smaller lowers its budget in the same change.
"""

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from tests.self.source import PACKAGE, ROOT, SRC, functions, modules, parse

HOUSE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["memdir"]
SLACK = 0.03  # share by which a budget may exceed what there is
SLACK_LINES = 40
STUBS = ("core", "surfaces", "tools")  # entry points that version 0.1.0 named
ENTRY_POINTS = {"__init__", "__main__"}
# Gerunds that are ordinary nouns.
NOUNS = {"standing"}
BANNED_WORDS = {"manager", "managers", "util", "utils", "service", "services", "processor"}


def lines_of(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def package_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else "root"


def house() -> list[Path]:
    return [
        path
        for path in modules(PACKAGE)
        if path.relative_to(PACKAGE).parts[0].removesuffix(".py") not in STUBS
    ]


def check_budget(what: str, actual: int, budget: int) -> None:
    assert actual <= budget, f"{what}: {actual} is over its budget of {budget}"
    limit = max(actual * (1 + SLACK), actual + SLACK_LINES)
    assert budget <= limit, f"{what}: {actual} of {budget}: lower the budget in pyproject.toml"


def test_the_whole_house_keeps_its_budget():
    check_budget("lines", sum(map(lines_of, modules(PACKAGE))), HOUSE["budget"]["lines"])
    check_budget("modules", len(modules(PACKAGE)), HOUSE["budget"]["modules"])


def test_each_package_keeps_its_budget():
    sizes: Counter[str] = Counter()
    for path in modules(PACKAGE):
        sizes[package_of(path)] += lines_of(path)
    assert set(sizes) == set(HOUSE["budget"]["packages"])
    for package, budget in HOUSE["budget"]["packages"].items():
        check_budget(package, sizes[package], budget)


def test_the_tests_keep_their_budget():
    check_budget("tests", sum(map(lines_of, modules(ROOT / "tests"))), HOUSE["budget"]["tests"])


def test_no_module_is_longer_than_its_limit():
    limit, longer = HOUSE["module_lines"], HOUSE["longer_modules"]
    found = {p.relative_to(PACKAGE).as_posix(): lines_of(p) for p in modules(PACKAGE)}
    assert {name: n for name, n in found.items() if n > longer.get(name, limit)} == {}
    assert [name for name in longer if found.get(name, 0) <= limit] == [], "no longer too long"


def test_no_function_is_longer_than_a_screen():
    limit = HOUSE["function_lines"]
    found = [
        f"{path.relative_to(PACKAGE)}:{node.lineno} {node.name}: {length}"
        for path in modules(PACKAGE)
        for node in functions(parse(path))
        if (length := (node.end_lineno or node.lineno) - node.lineno + 1) > limit
    ]
    assert found == []


def test_a_module_name_occurs_once():
    """Only a command of the command line may share the name of the module it calls."""
    found: Counter[str] = Counter()
    for path in house():
        if path.stem not in ENTRY_POINTS and package_of(path) != "cli":
            found[path.stem] += 1
    assert [name for name, count in found.items() if count > 1] == []


def test_no_module_is_named_by_a_gerund_or_hidden():
    names = {path.stem for path in house()} - ENTRY_POINTS - NOUNS
    assert [name for name in names if name.endswith("ing") or name.startswith("_")] == []


def test_no_name_uses_a_word_that_says_nothing():
    named = [
        (path, node.name)
        for path in house()
        for node in ast.walk(parse(path))
        if isinstance(node, ast.ClassDef | ast.FunctionDef)
    ]
    named += [(path, path.stem) for path in house()]
    found = [
        f"{path.relative_to(PACKAGE)}: {name}"
        for path, name in named
        if BANNED_WORDS & {word.lower() for word in re.findall(r"[A-Z]?[a-z]+", name)}
    ]
    assert found == []


@pytest.mark.parametrize("rule", HOUSE["homes"], ids=lambda rule: rule["pattern"])
def test_a_tool_has_one_home(rule):
    """Open flags, rename and locks stand where they are tested, and nowhere else."""
    pattern = re.compile(rule["pattern"])
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in modules(PACKAGE)
        if pattern.search(path.read_text(encoding="utf-8"))
    }
    assert found - set(rule["in"]) == set()
    assert set(rule["in"]) - found == set(), "no longer there: take it off the list"


def lint(source: Path) -> subprocess.CompletedProcess[str]:
    """Check the package below `source` against the contracts of this project."""
    code = "from importlinter.cli import lint_imports_command as lint; lint()"
    config = ["--config", str(ROOT / "pyproject.toml"), "--no-cache", "--no-logo"]
    return subprocess.run(
        [sys.executable, "-c", code, *config],
        cwd=source,
        env={**os.environ, "PYTHONPATH": str(source), "NO_COLOR": "1", "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
    )


def test_imports_point_one_way():
    run = lint(SRC)
    assert run.returncode == 0, run.stdout + run.stderr
