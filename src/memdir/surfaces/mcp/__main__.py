"""`python -m memdir.surfaces.mcp`: the server without the command line's packages."""

import sys

from memdir.surfaces.mcp.line import USAGE, run

if __name__ == "__main__":
    code = run(sys.argv[1:])
    if code is None:
        sys.stderr.write(USAGE)
    sys.exit(2 if code is None else code)
