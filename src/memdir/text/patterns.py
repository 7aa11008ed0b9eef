"""Patterns that are compiled when they are first used: most commands need few of them."""

from __future__ import annotations

import re
from typing import Any, cast


class _Waiting:
    """Stands in for a compiled pattern; what was asked of it once is asked of that directly."""

    def __init__(self, text: str, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(self._text, self._flags), name)
        setattr(self, name, value)
        return value


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Like `re.compile`, later."""
    return cast("re.Pattern[str]", _Waiting(text, flags))
