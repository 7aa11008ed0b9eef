"""`make bench`: every figure as a ratio against a floor measured in the same run."""

from __future__ import annotations

import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from benchmarks import cli, hooks, mcp, recall, records, store, ui, verify
from benchmarks.common import show

BENCHMARKS = {
    "store": store.measure,
    "recall": recall.measure,
    "hooks": hooks.measure,
    "records": records.measure,
    "verify": verify.measure,
    "mcp": mcp.measure,
    "cli": cli.measure,
    "ui": ui.measure,
}


def main() -> int:
    """Run the benchmarks that were named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*BENCHMARKS, []], default=[])
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    missed = 0
    for name in given.names or BENCHMARKS:
        rows = BENCHMARKS[name]()
        show(name, rows, given.json)
        missed += sum(row.verdict == "missed" for row in rows)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
