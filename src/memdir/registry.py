"""Finds the members of a family by their files, without importing them."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable
from types import ModuleType

from memdir.core.errors import BadInput

ADAPTERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "adapters")


def members(family: str) -> tuple[str, ...]:
    """The names of a family's members; a name with a leading `_` is a helper, not a member."""
    # Compared with what lies on disk, so that no name can lead out of the folder.
    families = _public(name for name in os.listdir(ADAPTERS) if os.path.isdir(_join(name)))
    if family not in families:
        raise BadInput(f"there is no family {family!r}", next=f"There are: {', '.join(families)}")
    return _public(name[:-3] for name in os.listdir(_join(family)) if name.endswith(".py"))


def load(family: str, name: str) -> ModuleType:
    """Import one member, and only that one."""
    known = members(family)
    if name not in known:
        listed = ", ".join(known) or "none"
        raise BadInput(f"{family} has no member {name!r}", next=f"There are: {listed}")
    return importlib.import_module(f"memdir.adapters.{family}.{name}")


def _join(name: str) -> str:
    return os.path.join(ADAPTERS, name)


def _public(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(name for name in names if name.isidentifier() and name[0] != "_"))
