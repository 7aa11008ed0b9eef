"""The guide says what is proven; each case stands there, and each name there is a case."""

import re
from pathlib import Path

from tests.self.source import ROOT, functions, modules, parse

GUIDE = ROOT / "docs/design/acceptance.md"
CASES = Path(__file__).parent / "cases"


def test_the_table_names_every_case_and_no_other():
    _, _, table = GUIDE.read_text(encoding="utf-8").partition("## What is proven")
    named = re.findall(r"`(test_\w{1,120})`", table)
    found = [one.name for path in modules(CASES) for one in functions(parse(path))]
    cases = [name for name in found if name.startswith("test_")]
    assert sorted(named) == sorted(cases)
