"""Code without its comments: a name that only comments still mention is not in the code.

Text in quotes counts as code, because a name in it may be looked up at run time.
"""

from __future__ import annotations

import re

# Every alternative ends at the end of its line or of the file at the latest: no second try.
_QUOTED = rb"""'(?:[^'\\\n]|\\.)*(?:'|$)|"(?:[^"\\\n]|\\.)*(?:"|$)"""
_LONG = rb"""\"{3}(?s:.*?)(?:\"{3}|\Z)|'{3}(?s:.*?)(?:'{3}|\Z)"""
_TICKED = rb"`(?:[^`\\]|\\(?s:.))*(?:`|\Z)"
_HASH = re.compile(
    rb"(?P<comment>(?:\A|(?<=[^\"']:))\s*[rRuU]?(?:" + _LONG + rb")|(?:^|(?<=\s))#.*)"
    rb"|" + _LONG + rb"|" + _QUOTED,
    re.MULTILINE,
)
_SLASHES = re.compile(
    rb"(?P<comment>(?<![^\s;{}(),])/(?:/.*|\*(?s:.*?)(?:\*/|\Z)))|" + _QUOTED + rb"|" + _TICKED,
    re.MULTILINE,
)
_WITH_HASH = "bash ex exs fish jl nim pl py pyi r rb sh tf toml yaml yml zsh"
_WITH_SLASHES = """
c cc cjs cpp cs cts cxx dart go gradle groovy h hpp java js jsx kt kts mjs mts php proto rs scala
scss sol swift ts tsx zig
"""
_PATTERNS = {
    **dict.fromkeys(_WITH_HASH.split(), _HASH),
    **dict.fromkeys(_WITH_SLASHES.split(), _SLASHES),
}


def drop_code_comments(path: str, data: bytes) -> bytes:
    """The file without comments and docstrings; whole if its language is not known."""
    pattern = _PATTERNS.get(path.rpartition(".")[2].lower())
    return pattern.sub(lambda m: b"\n" if m["comment"] else m[0], data) if pattern else data
