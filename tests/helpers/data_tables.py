"""Cases that are data: the tables of tests/data, one file per folder of tests."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent.parent / "data"


@cache
def _tables(folder: str) -> dict[str, Any]:
    return tomllib.loads((DATA / f"{folder}.toml").read_text("utf-8"))


def table(folder: str, name: str) -> Any:
    return _tables(folder)[name]
