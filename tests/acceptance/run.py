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


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", default="")
    parser.add_argument("--record", action="store_true")
    chosen, rest = parser.parse_known_args(arguments)
    program = os.environ.get("ACCEPTANCE_CLIENT") or _program(chosen.version)
    if not program:
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
        inside = [sys.executable, "-m", "pytest", str(ROOT / "tests/acceptance/cases"), *rest]
    fence.enter(inside, {**os.environ, "ACCEPTANCE_CLIENT": program, "PYTHONPATH": str(ROOT)})
    return 1


def _program(version: str) -> str:
    version = version or (*client.versions(), "")[0]
    return str(client.program(version) or "") if version else ""


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main(sys.argv[1:]))
