"""docs/features.md carries the whole ledger, and `works` is only said where a test holds it."""

import ast
import re
from typing import NamedTuple

import pytest

from tests.self.source import ROOT, parse

LEDGER = {"M": 33, "C": 8, "A": 11, "R": 16, "T": 6, "B": 15}
IDS = [f"{letter}{n}" for letter, last in LEDGER.items() for n in range(1, last + 1)]
STATES = ("works", "not yet")
COMMANDS = ("memdir ", "make ", "from memdir")


class Row(NamedTuple):
    id: str
    feature: str
    command: str
    test: str
    state: str


def rows(document: str) -> list[Row]:
    lines = re.findall(r"^\|(.*)\|$", document, re.MULTILINE)
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)] for line in lines]
    return [Row(*row) for row in cells if re.fullmatch(r"[A-Z]\d+", row[0])]


def is_there(test: str) -> bool:
    """`tests/x.py` or `tests/x.py::name` (a class may stand between)."""
    file, *names = test.split("::")
    path = ROOT / file
    if not file.startswith("tests/") or not path.is_file():
        return False
    body: list[ast.stmt] = parse(path).body
    for name in names:
        nodes = [node for node in body if getattr(node, "name", None) == name]
        body = getattr(nodes[0], "body", []) if nodes else []
        if not nodes:
            return False
    return True


def unproven(row: Row) -> list[str]:
    """What is missing before this row may say what it says."""
    if row.state == "not yet":
        return []
    command = row.command.strip("`")
    tests = re.findall(r"`([^`]+)`", row.test)
    return [
        *([] if row.state in STATES else [f"{row.id}: state {row.state!r}"]),
        *([] if command.startswith(COMMANDS) else [f"{row.id}: no command shows it"]),
        *([] if tests else [f"{row.id}: no test holds it"]),
        *[f"{row.id}: there is no {test}" for test in tests if not is_there(test)],
    ]


FEATURES = rows((ROOT / "docs/features.md").read_text(encoding="utf-8"))


def test_no_id_is_forgotten_added_or_repeated():
    assert [row.id for row in FEATURES] == IDS


def test_the_list_is_that_of_the_ledger(shared):
    ledger = (shared / "spec/features.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| ([A-Z]\d+) \|", ledger, re.MULTILINE) == IDS


@pytest.mark.parametrize("row", FEATURES, ids=lambda row: row.id)
def test_what_works_names_a_command_and_a_test_that_exists(row):
    assert row.feature
    assert unproven(row) == []
