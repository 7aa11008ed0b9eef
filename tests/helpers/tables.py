"""Tables of cases in tests/data: TOML, or a Python expression per line in the names of its test."""

import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[1] / "data"


@cache
def tables(file: str) -> dict[str, Any]:
    """Everything that stands in a file of TOML."""
    return tomllib.loads((DATA / f"{file}.toml").read_text("utf-8"))


def table(file: str, name: str) -> Any:
    return tables(file)[name]


def toml_cases(file: str, *more: Any) -> Callable[[Any], Any]:
    """One case per row of the test's table, and of `more`; a cell too many at the start is a name.

    `more` is for what TOML cannot hold: nothing at all, half a character, texts without end.
    """

    def mark(test: Any) -> Any:
        rows = table(file, test.__name__.removeprefix("test_"))
        columns = rows["columns"].split()
        params = []
        for number, row in enumerate([*rows["rows"], *more]):
            cells = row if isinstance(row, list | tuple) else [row]
            name = cells[0] if len(cells) > len(columns) else f"{number}"
            params.append(pytest.param(*cells[-len(columns) :], id=name))
        return pytest.mark.parametrize(columns, params)(test)

    return mark


def rows(names: dict[str, Any], section: str) -> list[Any]:
    """The rows of a section, headed `== section ==`, of the file that belongs to a test module."""
    module = names["__name__"]
    _, folder, name = module.split(".")
    text = (DATA / folder / f"{name.removeprefix('test_')}.txt").read_text("utf-8")
    _, _, behind = f"\n{text}".partition(f"\n== {section} ==\n")
    lines = behind.partition("\n== ")[0].split("\n")
    found = [eval(line, names) for line in lines if line and line[0] != "#"]
    assert found, f"{module} has no table {section}"
    return found


def cases(*names: str, **options: Any) -> Callable[[Any], Any]:
    """Parametrize a test with the rows of the section that has its name."""

    def mark(test: Any) -> Any:
        found = rows(test.__globals__, test.__name__)
        cells = found if len(names) > 1 else [(row,) for row in found]
        return pytest.mark.parametrize(names, cells, **options)(test)

    return mark
