"""docs/design/architecture.md tells of the house as it is."""

import ast
import re

import pytest

from tests.self.source import PACKAGE, ROOT, parse

PAGE = (ROOT / "docs/design/architecture.md").read_text(encoding="utf-8")
DRAWING = (ROOT / "docs/design/pictures/house.svg").read_text(encoding="utf-8")
PACKAGES = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
STUBS = ("core", "surfaces")
NAMED = sorted(set(re.findall(r"`((?:[a-z_]+/)?[a-z_]+\.[A-Za-z_]+)`", PAGE)))


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_is_on_the_page_and_in_the_drawing(package):
    assert f"`{package}`" in PAGE or f"`{package}/`" in PAGE
    if package not in STUBS:
        assert f">{package}</text>" in DRAWING


@pytest.mark.parametrize("name", NAMED)
def test_every_file_and_function_on_the_page_exists(name):
    """`store/writer.py`, `hot/run.run_hook` or `worker.run_jobs`; other names are left alone."""
    module, _, last = name.rpartition(".")
    if last in ("py", "toml", "svg"):
        folders = (PACKAGE, ROOT, ROOT / "docs/design")
        assert any((folder / name).is_file() for folder in folders)
    elif (path := PACKAGE / f"{module}.py").is_file():
        assert last in {name for node in parse(path).body for name in names_of(node)}


def names_of(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]
