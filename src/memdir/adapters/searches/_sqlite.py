"""SQLite without what it would bring along: 2 ms of Python modules for one small cache. Hot path.

The C module asks `functools` for nothing but `lru_cache`, to keep its statements. Where nobody
has imported `functools` yet, it gets the C part of that cache and nothing else.
"""

import sys

if "functools" in sys.modules or "_sqlite3" in sys.modules:
    from _sqlite3 import Connection, connect
    from _sqlite3 import Error as SqlError
else:
    from _functools import _lru_cache_wrapper  # type: ignore[import-not-found, unused-ignore]

    _stand_in = type(sys)("functools")
    _stand_in.lru_cache = lambda size: lambda made: _lru_cache_wrapper(made, size, False, tuple)  # type: ignore[attr-defined]
    sys.modules["functools"] = _stand_in
    try:
        from _sqlite3 import Connection, connect
        from _sqlite3 import Error as SqlError
    finally:
        del sys.modules["functools"]  # whoever wants it gets the real one

__all__ = ["Connection", "SqlError", "connect"]
