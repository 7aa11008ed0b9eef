"""Leaves the byte code of what a hook has imported in one file, for the next start."""

import os
import sys
from binascii import crc32
from marshal import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ast import AST
    from types import CodeType
    from typing import Any

# Who writes it, who reads it, and what few runs need: nearly no project has records.
NOT_NEEDED = (
    __name__,
    "memdir.surfaces.hooks.starting",
    "memdir.surfaces.hooks.detached",
    "memdir.surfaces.hooks.recorded",
    "memdir.adapters.layouts._light_records",
    *("memdir.core.records", "memdir.core.records.fields", "memdir.core.records.rendering"),
    "memdir.adapters.log_file",
)
ONLY_TREE = 0x400  # what `ast` asks `compile` for; that module would cost more than all of this
UNCHECKED = "TYPE_CHECKING"  # False wherever it stands


def write(path: str, root: str, magic: bytes) -> None:
    """Whole or not at all; what cannot be written costs the next start a few milliseconds."""
    modules = {}
    try:
        for name, module in list(sys.modules.items()):  # in the order in which they were ready
            file = getattr(module, "__file__", None)
            if name.split(".")[0] != "memdir" or not file or name in NOT_NEEDED:
                continue
            facts = os.stat(file)
            is_package = hasattr(module, "__path__")
            modules[name] = (file, is_package, _code(file), facts.st_mtime_ns, facts.st_size)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        temporary = f"{path}.{os.getpid()}.tmp"
        # As open to others as the code it stands for, and as closed to their changes.
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
        with open(handle, "wb") as out:
            data = dumps((magic, root, modules))
            out.write(crc32(data).to_bytes(4) + data)
        os.replace(temporary, path)
    except (OSError, SyntaxError, ValueError):
        return


def _code(file: str) -> object:
    """Compiled without docstrings and types: nobody asks a hook for help."""
    with open(file, "rb") as source:
        tree = compile(source.read(), file, "exec", ONLY_TREE, dont_inherit=True)
    _bare(tree)
    return _short(compile(tree, file, "exec", dont_inherit=True, optimize=2))


def _short(code: "CodeType") -> "CodeType":
    """Without the table of its lines, a quarter of all bytes: the log names the function."""
    inner = [_short(one) if hasattr(one, "co_code") else one for one in code.co_consts]
    return code.replace(co_linetable=b"", co_consts=tuple(inner))


def _bare(node: "AST") -> None:
    """Take out what only a type checker reads: it would be made anew at every start."""
    for field in node._fields:
        value: Any = getattr(node, field, None)
        if field in ("annotation", "returns") and value is not None:
            setattr(node, field, None)
        elif isinstance(value, list):
            value[:] = [_plain(one) if hasattr(one, "_fields") else one for one in value]
        elif hasattr(value, "_fields"):
            _bare(value)


def _plain(node: "AST") -> "AST":
    """The same without types; `x: int = 1` is `x = 1`, and nothing is left of `x: int`."""
    from _ast import AnnAssign, Assign, If, Pass

    where = {name: getattr(node, name) for name in node._attributes}
    if isinstance(node, If) and getattr(node.test, "id", "") == UNCHECKED and not node.orelse:
        return Pass(**where)
    if isinstance(node, AnnAssign):
        target, value = node.target, node.value
        node = Pass(**where) if value is None else Assign([target], value, None, **where)
    _bare(node)
    return node
