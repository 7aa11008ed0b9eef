"""Prints the test folders of the packages that changed since the last commit, for `make quick`."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ALWAYS = ("text",)  # what a clean tree runs


def main() -> None:
    """Changed and new files of the work tree; a clean tree gives what always runs."""
    command = ["git", "status", "--porcelain", "--untracked-files=all"]
    lines = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.splitlines()
    packages = set(ALWAYS)
    for path in (Path(line[3:].rpartition(" -> ")[2]) for line in lines):
        if path.parts[:2] == ("src", "memdir"):
            packages.add(path.parts[2].removesuffix(".py"))
        elif path.parts[0] == "tests" and len(path.parts) > 2:
            packages.add(path.parts[1])
    print(*(f"tests/{name}" for name in sorted(packages) if (ROOT / "tests" / name).is_dir()))


if __name__ == "__main__":
    main()
