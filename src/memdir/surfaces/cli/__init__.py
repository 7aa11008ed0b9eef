"""The command line: `memdir COMMAND`.

run         the commands by section, and the net that turns errors into sentences
session     where and for whom; how a command is declared
saving shelving listing showing placing past care exchanging sharing verifying    the commands
capturing reviewing extracting logging_day    the commands that learn
auditing dashboard pruning restructuring dreaming budgeting status    the ones that look after it
serving     `memdir mcp`, where its light way in does not understand
records                the group `memdir records`
inputs editor          what comes in
answers diffs screen visible    what goes out
advice elsewhere progress       the next step, and a word for who waits
"""

import os
import sys


def main() -> None:
    """The console script."""
    _open_streams()
    try:
        served = _served()
        code = _run() if served is None else served
    except KeyboardInterrupt:
        code = 130  # before or after the net
    sys.exit(code)


def _served() -> int | None:
    """An agent waits for its MCP server; of odd words the whole command line is to say so."""
    if sys.argv[1:2] != ["mcp"]:
        return None
    from memdir.surfaces.mcp.line import run

    return run(sys.argv[2:])


def _run() -> int:
    from memdir.surfaces.cli.run import run

    return run(sys.argv[1:])


def _open_streams() -> None:
    """Give a closed stream back its number, or the next file we open would get it."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115
