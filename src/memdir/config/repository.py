"""A repository's own settings: heard, reported, and not obeyed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass

from memdir.config.files import read_settings
from memdir.core.deciding import OURS, PLACE_VARIABLES
from memdir.core.finding import Finding
from memdir.core.scope import is_true

# The second name is what other tools and older notes call it.
REDIRECT_KEYS = ("autoMemoryDirectory", "memoryDirectory")


@dataclass(frozen=True)
class Said:
    """What one settings file says."""

    path: str
    values: Mapping[str, object]

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables it wants the client to set for every hook, as the client writes them."""
        env = self.values.get("env")
        pairs = env.items() if isinstance(env, dict) else ()
        return {
            name: value if isinstance(value, str) else json.dumps(value)
            for name, value in pairs
            if isinstance(value, str | bool | int | float)
        }


def read_repository(folders: list[str], findings: list[Finding]) -> list[Said]:
    """The repository's own settings files in these folders."""
    paths = [
        os.path.join(folder, ".claude", name)
        for folder in folders
        for name in ("settings.json", "settings.local.json")
    ]
    found = [Said(path, read_settings(path, findings)) for path in paths]
    return [said for said in found if said.values]


def without_repository(
    environ: Mapping[str, str], repository: list[Said], findings: list[Finding]
) -> dict[str, str]:
    """The environment without what the repository has put there; every attempt is a finding."""
    env = dict(environ)
    for said in repository:
        for key in REDIRECT_KEYS:
            if key in said.values:
                findings.append(_attempt(said.path, f"sets {key}"))
        for name, value in said.environment.items():
            if not _decides(name, value):
                continue
            findings.append(_attempt(said.path, f"sets the variable {name}"))
            # Equal: the client handed it on. Different: it is the user's own, and stays.
            if env.get(name) == value:
                del env[name]
    return env


def _decides(name: str, value: str) -> bool:
    # A repository may switch memory off for itself, but not on against the user.
    if name == "CLAUDE_CODE_DISABLE_AUTO_MEMORY":
        return not is_true(value)
    return name in PLACE_VARIABLES or name.startswith(OURS)


def _attempt(path: str, what: str) -> Finding:
    message = f"the repository {what}; ignored: a repository may not decide where memory lies"
    fix = "If you want this yourself, put it into your user settings or your own environment."
    return Finding("redirect-attempt", path, message, fix)
