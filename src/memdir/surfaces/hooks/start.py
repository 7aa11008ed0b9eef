"""The file a client runs: `python -I -S start.py EVENT`, or with STATE CACHE SCOPE=DIRECTORY ...

A script is compiled each time it is run, a module only once: so everything is in `starting`. That
one is imported without the packages around it, whose files would have to be looked for.
"""

import gc
import os
import sys

if __name__ == "__main__":
    gc.disable()  # the process ends before there is garbage worth a search
    try:
        sys.path.insert(0, __file__.rpartition("/")[0] or ".")
        from starting import ROOT, main  # type: ignore[import-not-found, unused-ignore]

        # What is left to import are modules in C, and those lie at the end of the path.
        sys.path[:] = [sys.path[-1], ROOT, *sys.path[1:-1]]
        main(sys.argv[1:])
    except BaseException:  # whatever is broken in here, the session is not: 2 would block it
        pass
    os._exit(0)  # everything is written and closed; taking down the modules would cost 1 ms
