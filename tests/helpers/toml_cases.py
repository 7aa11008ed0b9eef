"""Tables of cases in tests/data: one row per case, beside the test that reads them by its name."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[1] / "data"


def cases(file: str, *more: Any) -> Callable[[Any], Any]:
    """One case per row of the test's table, and of `more`; a cell too many at the start is a name.

    `more` is for what TOML cannot hold: nothing at all, half a character, texts without end.
    """

    def mark(test: Any) -> Any:
        tables = tomllib.loads((DATA / f"{file}.toml").read_text(encoding="utf-8"))
        table = tables[test.__name__.removeprefix("test_")]
        columns = table["columns"].split()
        params = []
        for number, row in enumerate([*table["rows"], *more]):
            cells = row if isinstance(row, list | tuple) else [row]
            name = cells[0] if len(cells) > len(columns) else f"{number}"
            params.append(pytest.param(*cells[-len(columns) :], id=name))
        return pytest.mark.parametrize(columns, params)(test)

    return mark
