"""Leaves the byte code of what a hook has imported in one file, for the next start."""

import os
import sys
from binascii import crc32
from marshal import dumps

# Who writes it, who reads it, and what few runs need.
NOT_NEEDED = (
    __name__,
    "memdir.surfaces.hooks.starting",
    "memdir.surfaces.hooks.detached",
    "memdir.adapters.log_file",
)


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
    """Compiled without docstrings: nobody asks a hook for help."""
    with open(file, "rb") as source:
        return compile(source.read(), file, "exec", dont_inherit=True, optimize=2)
