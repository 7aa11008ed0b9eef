"""Where memories come from: a directory or an archive, or what another tool keeps, by its name."""

from __future__ import annotations

from memdir import registry
from memdir.adapters.exchange import Brought, read_source
from memdir.adapters.sources._files import BROKEN, Around
from memdir.adapters.sources._pieces import parted
from memdir.config import Config
from memdir.core.errors import BadInput

__all__ = ["BROKEN", "Brought", "read", "sources"]

FAMILY = "sources"


def sources(own: str = "") -> list[str]:
    """The tools whose memories can be read, as people write them; `own` are the user's."""
    return [name.replace("_", "-") for name in registry.members(FAMILY, own)]


def read(config: Config, source: str, path: str = "") -> Brought:
    """All memories of a source; `./codex` is a directory, `codex` the tool."""
    if source not in (there := sources(config.own)):
        if path:
            known = ", ".join(there)
            raise BadInput(f"there is no source {source!r}", next=f"there are: {known}")
        return read_source(source)
    member = registry.load(FAMILY, source.replace("-", "_"), config.own)
    project = "" if config.scope.kind == "user" else config.checkout
    brought: Brought = member.read(path, Around(config.home, project, config.environ))
    brought.files[:] = parted(brought.files)
    return brought
