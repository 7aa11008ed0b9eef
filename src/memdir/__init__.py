"""memdir: a memory for coding agents that its users can trust.

docs/design/architecture.md has the map of its packages.
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
