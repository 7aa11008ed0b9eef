"""The file a client runs: `python -I -S start.py EVENT`, or with STATE CACHE SCOPE=DIRECTORY ...

Also the worker's: `start.py worker DIRECTORY`.
"""

import gc
import os
import sys

if __name__ == "__main__":
    gc.disable()  # the process ends before there is garbage worth a search
    try:
        root = os.path.realpath(__file__).rsplit("/", 3)[0]
        # What is left to import are modules in C, and those lie at the end of the path.
        sys.path[:] = [sys.path[-1], root, *sys.path[:-1]]
        from memdir.hot.run import main

        main(sys.argv[1:])
    except BaseException:  # whatever is broken in here, the session is not: 2 would block it
        pass
    os._exit(0)  # everything is written and closed; taking down the modules would cost 1 ms
