"""Names that version 0.1.0 documented: a user's own member written for it finds its imports."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

# The modules that `examples/own` and the guide of 0.1.0 named, and where their names are now.
MOVED = {
    "memdir.adapters": (),
    "memdir.adapters.clients": (),
    "memdir.adapters.clients._merge": ("clients.edit_settings",),
    "memdir.adapters.clients._ours": ("clients.setup", "clients.edit_settings"),
    "memdir.adapters.clients._plan": ("clients.edit_settings", "clients.setup"),
    "memdir.adapters.clients._receipt": ("clients.edit_settings",),
    "memdir.adapters.disk": ("hot.disk",),
    "memdir.adapters.layouts": (),
    "memdir.adapters.layouts._files": ("hot.layout",),
    "memdir.adapters.searches": (),
    "memdir.adapters.searches.scan": ("recall.scan",),
    "memdir.core.errors": ("errors",),
    "memdir.core.hit": ("hot.recall",),
    "memdir.core.memory": ("hot.memory",),
    "memdir.core.model": ("models.model",),
    "memdir.core.ports": ("store.ports", "models.model"),
    "memdir.core.types": ("hot.types",),
}
# Functions among them that have another name now.
RENAMED = {
    "answered": "model_answer",
    "check_path": "check_path_on_disk",
    "failure": "disk_failure",
    "is_memory": "is_memory_file",
    "is_of_records": "is_record_file",
    "is_server": "is_our_server",
    "odd_content": "describe_odd_content",
    "only_settings": "refuse_plugin",
    "server": "client_server",
    "too_slow": "model_too_slow",
}


class OldNames(MetaPathFinder, Loader):
    """Makes a module of an old name out of the names of the new ones."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in MOVED:
            return None
        return ModuleSpec(name, self, is_package=not MOVED[name])

    def exec_module(self, module: ModuleType) -> None:
        for name in MOVED[module.__name__]:
            names = vars(importlib.import_module(f"memdir.{name}"))
            vars(module).update({key: value for key, value in names.items() if key[:2] != "__"})
        for old, new in RENAMED.items():
            if hasattr(module, new):
                setattr(module, old, getattr(module, new))


sys.meta_path.append(OldNames())
