"""Reads shared/hostile/inputs.jsonl: one hostile input per row, its value decoded."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from tests.conftest import SHARED

FILE = SHARED / "hostile/inputs.jsonl"
VERDICTS = ("reject", "neutralise", "preserve", "private", "ignore", "degrade")


@dataclass(frozen=True)
class Hostile:
    """`value` is a text; `setup` says in words what state to make, `http` is a request."""

    id: str
    group: str
    field: str
    value: str
    setup: str
    http: Any
    expected: str

    @property
    def verdict(self) -> str:
        return self.expected.split(":")[0].split()[0]


def decode(value: Any) -> str:
    """The text that one of the README's forms stands for; bytes that are no UTF-8 stay halves."""
    if isinstance(value, str):
        return value
    if "repeat" in value:
        return value["repeat"] * value["times"]
    if "join" in value:
        return "".join(map(decode, value["join"]))
    if "hex" in value:
        return bytes.fromhex(value["hex"]).decode("utf-8", "surrogateescape")
    if "cp" in value:
        return "".join(part if isinstance(part, str) else chr(part) for part in value["cp"])
    if "nest" in value:
        first, last = value["nest"]
        return first * value["depth"] + value.get("core", "") + last * value["depth"]
    return ""


def read(line: str) -> Hostile:
    row = json.loads(line)
    value = row["value"]
    special = value if isinstance(value, dict) else {}
    return Hostile(
        id=row["id"],
        group=row["class"],
        field=row["field"],
        value=decode(value),
        setup=special.get("setup", ""),
        http=special.get("http"),
        expected=row["expected"],
    )


def inputs(group: str, *fields: str) -> list[Any]:
    """The rows of a class, for `parametrize`; where they are absent, one that skips aloud."""
    if not FILE.is_file():
        return [pytest.param(None, marks=pytest.mark.skip(reason="../shared is not here"))]
    rows = [read(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    chosen = [row for row in rows if row.group == group and (not fields or row.field in fields)]
    return [pytest.param(row, id=row.id) for row in chosen]
