"""Which commit a checkout is at, from a few small files: git would cost a process. Hot path."""

import os

MOST_BYTES = 4096
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_HEX = frozenset("0123456789abcdef")


def head_of(root: str) -> str:
    """The commit's id; empty where these files do not tell it, as with packed references."""
    gitdir = f"{root}/.git"
    link = line_of(gitdir)
    if link.startswith("gitdir:"):
        gitdir = os.path.join(root, link[7:].strip())
    head = line_of(f"{gitdir}/HEAD")
    if not head.startswith("ref:"):
        return _id(head)
    name = head[4:].strip()
    if not name.startswith("refs/") or ".." in name:
        return ""
    common = os.path.join(gitdir, line_of(f"{gitdir}/commondir") or ".")
    return _id(line_of(f"{common}/{name}"))


def _id(text: str) -> str:
    return text if len(text) in (40, 64) and _HEX.issuperset(text) else ""


def line_of(path: str) -> str:
    """A file of git's that holds one line; empty for anything else."""
    try:
        handle = os.open(path, _READ)
        try:
            data = os.read(handle, MOST_BYTES)
        finally:
            os.close(handle)
    except (OSError, ValueError):
        return ""
    return data.decode("utf-8", "surrogateescape").strip()
