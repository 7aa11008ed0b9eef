"""memdir: a memory for coding agents that its users can trust.

The map of the house, from the ground up; a package imports only what stands above it here.

hot          all that a hook may import: light, written once, used by everybody below
text         text in, values out: Markdown, sentences, dates, secrets, near-duplicates
format       what lies in a store: types, names, MEMORY.md, drafts
config       settings and environment in, one frozen Config out
store        one store: the one writer, history, trash, undo
models       question in, answer out, within a budget
claims       what memories say of the code, checked against the repository
recall       search, and what comes back for a prompt or a new session
audit        a store's scores and findings
clients      one file per agent: install, read transcripts, import its memories
capture      a conversation becomes drafts: saved, held for review, or refused
upkeep       a tidier store: restructure and dream
sync         several machines and a team: one engine, over git or a server
records      structured records, a second layout with rules of its own
share        what others get
evals        how good memory is, in figures
care         doctor and status
worker       what hooks leave to a process of its own
library      `from memdir import Memdir`
memory_tool  the Anthropic memory tool on a store
mcp          the MCP server
server       the team server: PostgreSQL, HTTP and MCP
ui           the page of `memdir ui`
integrations adapters for frameworks, a file each
cli          the command line: parse, call one function, print
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit("memdir: it needs Python 3.11 or newer. Next: install one; this is " + sys.version[:6])
if sys.platform == "win32":  # no file locks, no directory handles: a store would not be safe
    sys.exit("memdir: it does not run on Windows itself. Next: install and use it inside WSL")

__version__ = "0.1.0"
__all__ = [
    "AsyncMemdir",
    "BadInput",
    "Busy",
    "Conflict",
    "HistoryBroken",
    "Memdir",
    "MemdirError",
    "Missing",
    "Unwritable",
    "__version__",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memdir.errors import (
        BadInput,
        Busy,
        Conflict,
        HistoryBroken,
        MemdirError,
        Missing,
        Unwritable,
    )
    from memdir.library import AsyncMemdir, Memdir


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'memdir' has no attribute {name!r}")
    if name.endswith("Memdir"):  # not before somebody asks: the hot path imports this package too
        from memdir import library

        return getattr(library, name)
    from memdir import errors

    return getattr(errors, name)
