"""Finds the members of a family by their files, without importing them.

Ours lie in `adapters/<family>`, a user's own in `<family>` beside config.toml: one file is one
member there, too. Ours keep their names.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import stat
import sys
from collections.abc import Callable, Iterable
from types import ModuleType

from memdir.core import types
from memdir.core.errors import BadInput, MemdirError
from memdir.core.types import Type

ADAPTERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "adapters")
TYPES = "types"  # of memories: the one family that lies in core
OWN_PACKAGE = "memdir_own"
_loaded: dict[tuple[str, int], ModuleType] = {}  # by the file and the time of its last change


def members(family: str, own: str = "") -> tuple[str, ...]:
    """The names of a family's members, ours and with `own`, a folder, the user's.

    A name with a leading `_` is a helper, not a member.
    """
    # Compared with what lies on disk, so that no name can lead out of the folder.
    families = _public(name for name in os.listdir(ADAPTERS) if os.path.isdir(_join(name)))
    if family not in families:
        raise BadInput(f"there is no family {family!r}", next=f"There are: {', '.join(families)}")
    ours = _files(_join(family))
    return tuple(sorted({*ours, *own_members(family, own)}))


def load(family: str, name: str, own: str = "") -> ModuleType:
    """Import one member, and only that one; ours where both have one of that name."""
    if name in members(family):
        return importlib.import_module(f"memdir.adapters.{family}.{name}")
    if name in own_members(family, own):
        return load_own(family, name, own)
    listed = ", ".join(members(family, own)) or "none"
    raise BadInput(f"{family} has no member {name!r}", next=f"There are: {listed}")


def own_members(family: str, own: str) -> tuple[str, ...]:
    """The members that a user has added; none where there is no such folder."""
    try:
        return _files(os.path.join(own, family)) if own else ()
    except OSError:
        return ()


def use_types(own: str, tell: Callable[[str], None]) -> None:
    """The user's own types beside ours from now on; one that is broken is told and left out."""
    found: dict[str, Type] = {}
    for name in own_members(TYPES, own):
        try:
            found[name] = _type(name, own)
        except MemdirError as error:
            tell(f"{error.message}. Next: {error.next}")
    types.use(found)


def _type(name: str, own: str) -> Type:
    found = getattr(load_own(TYPES, name, own), "TYPE", None)
    if isinstance(found, Type) and found.name == name:
        return found
    path = _own_file(TYPES, name, own)
    raise BadInput(f"{path} has no TYPE called {name!r}", path=path, next="see memdir.core.types")


def load_own(family: str, name: str, own: str) -> ModuleType:
    """Run a user's file; whatever is wrong with it is said with its name."""
    path = _own_file(family, name, own)
    key = path, _changed(path)
    if key not in _loaded:
        called = f"{OWN_PACKAGE}_{family}_{name}"
        spec = importlib.util.spec_from_file_location(called, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[called] = module  # where dataclasses and pickle look for it
        try:
            spec.loader.exec_module(module)
        except Exception as error:  # a file that we did not write may fail in any way
            del sys.modules[called]
            what = f"{path} cannot be used: {type(error).__name__}: {error}"
            raise BadInput(what, path=path, next="mend the file, or move it away") from error
        _loaded[key] = module
    return _loaded[key]


def _changed(path: str) -> int:
    """When the file was last changed; refused where somebody else could have done that."""
    try:
        facts = os.stat(path)
    except OSError as error:
        raise BadInput(
            f"{path} cannot be read: {error.strerror}", path=path, next="move it away"
        ) from None
    if not stat.S_ISREG(facts.st_mode):
        raise BadInput(f"{path} is no file", path=path, next="move it away")
    if facts.st_mode & stat.S_IWOTH or facts.st_uid not in (0, os.geteuid()):
        raise BadInput(
            f"{path} can be changed by others; its code is not run",
            path=path,
            next=f"make it yours alone: chown it, chmod go-w {path}",
        )
    return facts.st_mtime_ns


def _own_file(family: str, name: str, own: str) -> str:
    return os.path.join(own, family, f"{name}.py")


def _join(name: str) -> str:
    return os.path.join(ADAPTERS, name)


def _files(folder: str) -> tuple[str, ...]:
    return _public(name[:-3] for name in os.listdir(folder) if name.endswith(".py"))


def _public(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(name for name in names if name.isidentifier() and name[0] != "_"))
