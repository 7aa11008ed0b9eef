"""An extra installs only what the code uses; packages come with the system's certificates."""

import ast
import re
import subprocess
import tomllib
from importlib.metadata import packages_distributions

import pytest

from tests.self.source import PACKAGE, ROOT, modules, parse

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
LOADED_BY_ANOTHER = {"psycopg-binary"}  # psycopg takes it where it is installed
REQUIREMENT = re.compile(r"([\w.-]+)(?:\[([\w,.-]+)\])?")


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def imported() -> set[str]:
    """What our modules import, also lazily: modules, and the packages that brought them."""
    nodes = [node for path in modules(PACKAGE) for node in ast.walk(parse(path))]
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    tops = {name.split(".")[0] for name in names}
    brought = packages_distributions()
    return {plain(name) for top in tops for name in (top, *brought.get(top, ()))}


@pytest.mark.parametrize("extra", EXTRAS)
def test_every_package_of_an_extra_is_imported_somewhere(extra):
    for requirement in EXTRAS[extra]:
        package, parts = REQUIREMENT.match(requirement).groups()
        packages = [package, *(parts or "").split(",")]
        if package == PROJECT["name"]:
            assert set(packages[1:]) <= {*EXTRAS} - {extra}
        else:
            wanted = set(map(plain, filter(None, packages))) - LOADED_BY_ANOTHER
            assert wanted <= imported()


def test_uv_trusts_the_certificates_of_the_system():
    words = ["make", "--no-print-directory", "--eval", 'said: ; @echo "$$UV_SYSTEM_CERTS"', "said"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "1\n"
