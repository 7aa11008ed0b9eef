"""A small round of every fault method, each with its known-bad stores; `make faults` is larger."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).parent / "run.py"
METHODS = (
    *("kill", "errors", "crash_states", "twice", "race", "writers"),
    *("model", "links", "clock", "full_disk", "powercut"),
)


@pytest.mark.parametrize("method", METHODS)
def test_nothing_is_lost_and_the_traps_work(method):
    done = subprocess.run(
        [sys.executable, str(RUN), "--small", "--only", method, "--json"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    report = json.loads(done.stdout)
    if report["not_run"] and not report["rows"]:
        pytest.skip(f"not run: {'; '.join(report['not_run'])}")
    assert report["rows"]
