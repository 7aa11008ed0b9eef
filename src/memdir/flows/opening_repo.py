"""The code that memories speak of."""

from __future__ import annotations

from typing import cast

from memdir import registry
from memdir.app import App
from memdir.core.ports import Repo


def open_repo(app: App) -> Repo:
    """The code that this store's memories speak of; one that knows nothing without git."""
    code = app.config.code
    member = "git" if code else "none"
    return cast(Repo, registry.load("repos", member).open_repo(code, app.config.cache_dir))
