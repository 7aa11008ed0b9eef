"""The architecture is a test: the contracts stand in pyproject.toml, import-linter holds them."""

import ast
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.self.source import PACKAGE, ROOT, SRC, modules, parse


def lint(source: Path) -> subprocess.CompletedProcess[str]:
    """Check the package below `source` against the contracts of this project."""
    code = "from importlinter.cli import lint_imports_command as lint; lint()"
    return subprocess.run(
        [
            sys.executable,
            "-c",
            code,
            "--config",
            str(ROOT / "pyproject.toml"),
            "--no-cache",
            "--no-logo",
        ],
        cwd=source,
        env={**os.environ, "PYTHONPATH": str(source), "NO_COLOR": "1", "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
    )


def test_imports_point_one_way_and_have_no_cycles():
    run = lint(SRC)
    assert run.returncode == 0, run.stdout + run.stderr


def test_every_family_of_adapters_is_kept_apart():
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = config["tool"]["importlinter"]["contracts"]
    (kept_apart,) = [c["modules"] for c in contracts if c["id"] == "families"]
    families = sorted(path.parent.name for path in PACKAGE.glob("adapters/*/__init__.py"))
    assert kept_apart == [f"memdir.{family}" for family in families]


def test_the_core_imports_only_itself_and_the_standard_library():
    assert [line for path in modules(PACKAGE / "core") for line in foreign(parse(path))] == []


def foreign(tree: ast.AST) -> list[str]:
    """Imports that are neither ours nor Python's."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.append(node.module or "")
    known = {"memdir", *sys.stdlib_module_names, "_sha2"}  # the last one is Python's from 3.12 on
    return [name for name in found if name.split(".")[0] not in known]


def test_an_import_of_a_third_party_is_found():
    assert foreign(ast.parse("import os, click\nfrom rich.text import Text")) == [
        "click",
        "rich.text",
    ]


@pytest.fixture
def package(tmp_path) -> Path:
    """A package of our shape that breaks no contract."""
    package = tmp_path / "memdir"
    families = [path.parent.relative_to(PACKAGE) for path in PACKAGE.glob("adapters/*/__init__.py")]
    for folder in (".", "adapters", "core", "steps", "surfaces", *families):
        (package / folder).mkdir(parents=True, exist_ok=True)
        (package / folder / "__init__.py").touch()
    for module in ("core/one.py", "core/two.py", "steps/one.py", "steps/two.py"):
        (package / module).touch()
    (package / "core/one.py").write_text("import memdir.core.two\n")
    return package


def test_a_package_of_our_shape_passes(package):
    assert lint(package.parent).returncode == 0


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("core/two.py", "import memdir.surfaces", "Imports point one way"),
        ("steps/one.py", "import memdir.adapters", "Imports point one way"),
        ("unlisted.py", "", "Imports point one way"),
        ("core/two.py", "import subprocess", "The core touches no disk"),
        ("steps/one.py", "import memdir.steps.two", "Steps never call each other"),
        ("adapters/history/x.py", "import memdir.adapters.layouts", "Families of adapters"),
        ("core/two.py", "import memdir.core.one", "No cycles"),
    ],
)
def test_a_planted_import_breaks_its_contract(package, module, line, contract):
    (package / module).write_text(line + "\n")
    run = lint(package.parent)
    broken = [text for text in run.stdout.splitlines() if text.endswith("BROKEN")]
    assert run.returncode == 1
    assert any(text.startswith(contract) for text in broken), run.stdout
