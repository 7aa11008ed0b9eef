"""`python -m tests.contract.record [NAME ...]` writes the goldens anew: then read the diff."""

import shutil
import sys

from tests.contract.home import Home, avoid_midnight
from tests.contract.script import FIRST, GOLDEN, run


def main(names: list[str]) -> None:
    avoid_midnight()
    home = Home()
    try:
        for file in sorted(GOLDEN.glob("*.txt")):
            wanted = not names or file.stem in names
            if wanted or file.stem == FIRST:
                text = run(home, file.read_text("utf-8"))
                if wanted:
                    file.write_text(text, "utf-8")
            if file.stem == FIRST:
                home.keep_template()
    finally:
        shutil.rmtree(home.top)


if __name__ == "__main__":
    main(sys.argv[1:])
