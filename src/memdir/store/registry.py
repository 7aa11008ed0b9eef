"""Finds layouts, searches, models and other members without importing them.

A user's own member is a file in the folder `<family>` beside config.toml; ours win over it.
"""

from __future__ import annotations

import importlib.util
import os
import stat
import sys
from collections.abc import Callable
from types import ModuleType

from memdir.errors import BadInput, MemdirError
from memdir.hot import types
from memdir.hot.types import Type

# family -> member -> module
FAMILIES: dict[str, dict[str, str]] = {
    "layouts": {
        "markdown": "memdir.hot.layout",
        "records": "memdir.records.folders",
    },
    "searches": {"fts": "memdir.hot.catalog", "scan": "memdir.recall.scan"},
    "models": {
        name: f"memdir.models.{name}" for name in ("anthropic", "claude", "openai", "scripted")
    },
    "clients": {
        name: f"memdir.clients.{name}"
        for name in ("claude_code", "codex", "cursor", "gemini_cli", "opencode")
    },
    "transcripts": {
        "claude_code": "memdir.clients.claude_transcript",  # read at every stop, install seldom
        **{name: f"memdir.clients.{name}" for name in ("codex", "gemini_cli", "opencode")},
    },
    "sources": {name: f"memdir.clients.{name}" for name in ("codex", "cursor", "gemini_cli")},
}
TYPES = "types"
OWN_PACKAGE = "memdir_own"
_loaded: dict[tuple[str, int], ModuleType] = {}  # by path and modification time


def members(family: str, own: str = "") -> tuple[str, ...]:
    if family not in FAMILIES:
        raise BadInput(f"there is no family {family!r}", next=f"There are: {', '.join(FAMILIES)}")
    return tuple(sorted({*FAMILIES[family], *own_members(family, own)}))


def load(family: str, name: str, own: str = "") -> ModuleType:
    if name in FAMILIES.get(family, {}):
        return importlib.import_module(FAMILIES[family][name])
    if name in own_members(family, own):
        return load_own(family, name, own)
    listed = ", ".join(members(family, own)) or "none"
    raise BadInput(f"{family} has no member {name!r}", next=f"There are: {listed}")


def own_members(family: str, own: str) -> tuple[str, ...]:
    try:
        names = os.listdir(os.path.join(own, family)) if own else []
    except OSError:
        names = []
    stems = (name[:-3] for name in names if name.endswith(".py"))
    return tuple(sorted(stem for stem in stems if stem.isidentifier() and stem[0] != "_"))


def use_types(own: str, tell: Callable[[str], None]) -> None:
    added: dict[str, Type] = {}
    for name in own_members(TYPES, own):
        try:
            added[name] = _load_type(name, own)
        except MemdirError as error:
            tell(f"{error.message}. Next: {error.next}")
    types.use(added)


def _load_type(name: str, own: str) -> Type:
    added = getattr(load_own(TYPES, name, own), "TYPE", None)
    if isinstance(added, Type) and added.name == name:
        return added
    path = os.path.join(own, TYPES, f"{name}.py")
    raise BadInput(f"{path} has no TYPE called {name!r}", path=path, next="see memdir.hot.types")


def load_own(family: str, name: str, own: str) -> ModuleType:
    path = os.path.join(own, family, f"{name}.py")
    key = path, _changed(path)
    if key not in _loaded:
        called = f"{OWN_PACKAGE}_{family}_{name}"
        spec = importlib.util.spec_from_file_location(called, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[called] = module  # dataclasses and pickle look for it there
        try:
            importlib.import_module("memdir.core")  # defines the module names of version 0.1.0
            spec.loader.exec_module(module)
        except Exception as error:  # user code may fail in any way
            del sys.modules[called]
            message = f"{path} cannot be used: {type(error).__name__}: {error}"
            raise BadInput(message, path=path, next="mend the file, or move it away") from error
        _loaded[key] = module
    return _loaded[key]


def _changed(path: str) -> int:
    facts = os.stat(path) if os.path.isfile(path) else None
    if facts is None:
        raise BadInput(f"{path} is no file", path=path, next="move it away")
    if facts.st_mode & stat.S_IWOTH or facts.st_uid not in (0, os.geteuid()):
        raise BadInput(
            f"{path} can be changed by others; its code is not run",
            path=path,
            next=f"make it yours alone: chown it, chmod go-w {path}",
        )
    return facts.st_mtime_ns
