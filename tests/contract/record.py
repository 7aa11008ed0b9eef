"""`python -m tests.contract.record [NAME ...]` writes goldens anew, all or those: read the diff.

The fixture of 0.1.0 is not among them: what that version left behind does not change.
"""

import shutil
import sys

from tests.contract.home import Home, avoid_midnight
from tests.contract.hostile import FILE, OUTCOMES, outcomes, rows
from tests.contract.script import FIRST, GOLDEN, run


def main(names: list[str]) -> None:
    avoid_midnight()
    home = Home()
    for file in sorted(GOLDEN.glob("*.txt")):
        wanted = not names or file.stem in names
        if wanted or file.stem == FIRST:
            text = run(home, file.read_text("utf-8"))
        if wanted:
            file.write_text(text, "utf-8")
        if file.stem == FIRST:
            home.keep_template()
    if FILE.is_file() and (not names or OUTCOMES.stem in names):
        other = Home()
        (other.project / ".git").mkdir()
        with other.server() as server:
            lines = [outcomes(home, server, row) for row in rows()]
        OUTCOMES.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        shutil.rmtree(other.top)
    shutil.rmtree(home.top)


if __name__ == "__main__":
    main(sys.argv[1:])
