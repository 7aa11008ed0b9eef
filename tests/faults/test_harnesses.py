"""A small run of each harness, with at least one known-bad store that it must catch.

The whole runs are `make faults` and `make faults-full`.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import only_with_every
from tests.helpers.tables import table

pytestmark = [pytest.mark.faults, pytest.mark.slow]
ROOT = Path(__file__).resolve().parents[2]
CLAIMS, MORE_CLAIMS = table("faults", "claims"), table("faults", "more_claims")


@pytest.mark.parametrize("methods", CLAIMS, ids=CLAIMS.values())
def test_what_is_promised_holds_and_a_store_that_breaks_it_is_caught(methods):
    """In a process of its own; skipped, visibly, where the machine cannot run it."""
    command = [sys.executable, str(ROOT / "tests/faults/run.py"), "--small", "--json"]
    command += methods.split(",")
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stdout, done.stderr
    report = json.loads(done.stdout)
    if report["not_run"]:
        pytest.skip("not run: " + "; ".join(report["not_run"]))
    for row in report["rows"]:
        tally = row["tally"]
        assert (tally["examples"], tally["violations"]) == ([], 0)
        assert 0 < tally["points"] == tally["fired"]
        assert all(row["controls"].values()), row["controls"]


@only_with_every
@pytest.mark.parametrize("methods", MORE_CLAIMS, ids=MORE_CLAIMS.values())
def test_what_is_promised_besides_holds_too(methods):
    test_what_is_promised_holds_and_a_store_that_breaks_it_is_caught(methods)
