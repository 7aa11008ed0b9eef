"""Runs a script on a disk where every file takes its time: `python slow_disk.py SECONDS FILE ...`.

Python tells its own audit hooks before it opens, lists or renames anything.
"""

import runpy
import sys
from time import sleep

TOUCH = {"open", "os.listdir", "os.mkdir", "os.rename", "os.scandir", "sqlite3.connect"}

if __name__ == "__main__":
    seconds, script = float(sys.argv[1]), sys.argv[2]
    sys.argv[:] = sys.argv[2:]
    sys.addaudithook(lambda event, _: sleep(seconds) if event in TOUCH else None)
    runpy.run_path(script, run_name="__main__")
