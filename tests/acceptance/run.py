"""Run the acceptance cases with the real client, fenced in.

    python tests/acceptance/run.py [--version V] [--record] [arguments of pytest]

`--record` writes down anew what the client hands to hooks. Exit 0 without a client: it says so.
"""

import argparse
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]

from tests.acceptance import client, fence  # noqa: E402
from tests.acceptance.other_clients import CLIENTS  # noqa: E402

NONE = "-"  # no Claude Code, but another client


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", default="")
    parser.add_argument("--record", action="store_true")
    chosen, rest = parser.parse_known_args(arguments)
    found = client.program(client.folder(), client.PROGRAMS, chosen.version)
    program = os.environ.get("ACCEPTANCE_CLIENT") or str(found or "")
    others = any(one.found() for one in CLIENTS)
    if not program and (chosen.version or chosen.record or not others):
        wanted = f"Claude Code {chosen.version}".strip()
        how = (
            f"make acceptance-client VERSION={chosen.version}" if chosen.version else client.INSTALL
        )
        print(f"skipped: {wanted} is not installed. Get it with: {how}")
        return 0
    if reason := fence.why_not():
        print(f"refused: the client runs only where it can reach nobody: {reason}", file=sys.stderr)
        return 1
    inside = [sys.executable, "-m", "tests.acceptance.recording"]
    if not chosen.record:
        cases = ROOT / "tests/acceptance/cases"
        if not program:
            print(f"Claude Code is not installed ({client.INSTALL}): only the others are tried")
            cases /= "test_other_clients.py"
        inside = [sys.executable, "-m", "pytest", str(cases), *rest]
    # Named, because a case has a home of its own, where no client lies.
    given = {"ACCEPTANCE_CLIENT": program or NONE, "ACCEPTANCE_DIR": str(client.folder())}
    given["PYTHONPATH"] = str(ROOT)
    fence.enter(inside, {**os.environ, **given})
    return 1


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main(sys.argv[1:]))
