"""An extra installs only what the code uses; packages come with the system's certificates."""

import ast
import re
import subprocess
import tomllib
from functools import cache
from importlib.metadata import packages_distributions

import pytest

from tests.self.source import PACKAGE, ROOT, modules, parse

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
LOADED_BY_ANOTHER = {"psycopg-binary"}  # psycopg takes it where it is installed
REQUIREMENT = re.compile(r"([\w.-]+)(?:\[([\w,.-]+)\])?")


distributions = cache(packages_distributions)  # it reads the list of files of each package


def imported() -> set[str]:
    """Every top-level package that a module of ours imports, also lazily."""
    names = set()
    for path in modules(PACKAGE):
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                names.add(node.module.split(".")[0])
    return names


def is_used(package: str, used: set[str]) -> bool:
    """A distribution may name its modules otherwise: pydantic-ai-slim brings pydantic_ai."""
    plain = re.sub(r"[-_.]+", "-", package).lower()
    brought = {
        module
        for module, names in distributions().items()
        if plain in (re.sub(r"[-_.]+", "-", name).lower() for name in names)
    }
    return bool(used & (brought or {plain.replace("-", "_")}))


@pytest.mark.parametrize("extra", EXTRAS)
def test_every_package_of_an_extra_is_imported_somewhere(extra):
    used = imported()
    for requirement in EXTRAS[extra]:
        package, parts = REQUIREMENT.match(requirement).groups()
        if package == PROJECT["name"]:
            assert set(parts.split(",")) <= {*EXTRAS} - {extra}
            continue
        packages = [package, *parts.split(",")] if parts else [package]
        missing = [name for name in packages if not is_used(name, used)]
        assert [name for name in missing if name not in LOADED_BY_ANOTHER] == []


def test_uv_trusts_the_certificates_of_the_system():
    words = ["make", "--no-print-directory", "--eval", 'said: ; @echo "$$UV_SYSTEM_CERTS"', "said"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "1\n"
