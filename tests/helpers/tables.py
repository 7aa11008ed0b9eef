"""Tables of cases in tests/data: a Python expression per line, in the names of its test module."""

from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[1] / "data"


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


def cases(*names: str, **options: Any) -> Any:
    """Parametrize a test with the table of its own name."""

    def with_table(test: Any) -> Any:
        return pytest.mark.parametrize(
            names,
            [row if len(names) > 1 else (row,) for row in rows(test.__globals__, test.__name__)],
            **options,
        )(test)

    return with_table
