"""The file a client runs: `python -I -S start.py prompt STATE CACHE SCOPE=DIRECTORY ...`.

A script is compiled each time it is run, a module only once: so everything is in `starting`.
"""

import sys

if __name__ == "__main__":
    sys.path.insert(0, __file__.rpartition("/memdir/surfaces/hooks/")[0] or "../../..")
    from memdir.surfaces.hooks.starting import main

    sys.exit(main(sys.argv[1:]))
