"""Git's trees and commits as Python values: paths with blob ids, and what a commit says."""

from __future__ import annotations

from memdir.adapters.history._objects import Objects
from memdir.core.frontmatter import decode, encode
from memdir.core.history import Cause, Logged, read_message, write_message

_FILE, _FOLDER = b"100644", b"40000"


def write_tree(objects: Objects, files: dict[str, str]) -> str:
    """Store the tree of these paths and blob ids; gives its id."""
    entries: dict[bytes, tuple[bytes, str]] = {}
    folders: dict[str, dict[str, str]] = {}
    for path, oid in files.items():
        head, slash, rest = path.partition("/")
        if slash:
            folders.setdefault(head, {})[rest] = oid
        else:
            entries[encode(head)] = (_FILE, oid)
    for name, inner in folders.items():
        entries[encode(name) + b"/"] = (_FOLDER, write_tree(objects, inner))
    # Git orders a folder as if its name ended in a slash.
    rows = [
        mode + b" " + name.rstrip(b"/") + b"\0" + bytes.fromhex(oid)
        for name, (mode, oid) in sorted(entries.items())
    ]
    return objects.write("tree", b"".join(rows))[0]


def read_tree(objects: Objects, oid: str, prefix: str = "") -> dict[str, str]:
    """The inverse of `write_tree`."""
    files: dict[str, str] = {}
    data, start = objects.read(oid, "tree"), 0
    while start < len(data):
        end = data.index(b"\0", start)
        mode, _, name = data[start:end].partition(b" ")
        inner = data[end + 1 : end + 21].hex()
        path = prefix + decode(name)
        if mode == _FOLDER:
            files |= read_tree(objects, inner, path + "/")
        else:
            files[path] = inner
        start = end + 21
    return files


def write_commit(
    objects: Objects,
    tree: str,
    parent: str,
    time: float,
    cause: Cause,
    paths: list[tuple[str, str]],
) -> str:
    """Store a commit; gives its id."""
    author = "".join(char for char in cause.actor if char.isprintable() and char not in "<>")
    who = f"{author.strip() or 'memdir'} <memdir> {max(0, int(time))} +0000"
    parents = f"parent {parent}\n" if parent else ""
    message = write_message(cause, paths)
    text = f"tree {tree}\n{parents}author {who}\ncommitter {who}\n\n{message}"
    return objects.write("commit", encode(text))[0]


def read_commit(objects: Objects, oid: str) -> Logged:
    """The inverse of `write_commit`."""
    head, _, message = decode(objects.read(oid, "commit")).partition("\n\n")
    tree = parent = ""
    time = 0.0
    for line in head.split("\n"):
        key, _, value = line.partition(" ")
        if key == "tree":
            tree = value
        elif key == "parent":
            parent = parent or value
        elif key == "committer":
            time = float(value.rsplit(" ", 2)[-2])
    cause, paths = read_message(message)
    return Logged(oid, parent, tree, time, cause, paths)
