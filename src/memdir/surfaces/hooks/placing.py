"""Decides where a hook was called, and leaves the answer behind. Needed once in each directory."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

from memdir.config import Config, read_config
from memdir.config.files import read_settings
from memdir.config.place import MANAGED_SETTINGS, find_place
from memdir.core.errors import MemdirError
from memdir.core.finding import Finding
from memdir.core.scope import is_true
from memdir.surfaces.hooks.ending import CALLER
from memdir.surfaces.hooks.place import (
    ABSENT,
    BUILT_IN,
    BY_AGENT,
    INDEX,
    PROJECT,
    SCAN,
    SHARED,
    SILENT,
    UNHEARD,
    Around,
    Here,
    facts_of,
    write,
)

YOUNG = 50_000_000  # nanoseconds: what changed so lately may change again unseen
REPOSITORY = "repository"


def settle(cwd: str, environ: Mapping[str, str], around: Around, path: str) -> Here | None:
    """The place as the whole configuration says; with a `path` it is left there."""
    begun = time.time_ns()
    if any(map(_unclear, around.doubtful)):
        return None
    try:
        config = read_config(clean(environ, cwd), cwd)
    except MemdirError:
        return None  # no home, or no such directory: nobody to tell
    here = here_of(config, around)
    basis = _basis(config, environ)
    if path and all(_is_old(name, begun) for name in (*basis, *around.seen.split("\0"))):
        write(path, around.seen, basis, here)
    return here


def clean(environ: Mapping[str, str], cwd: str) -> Mapping[str, str]:
    """Without what the settings of the project put there in which the client was started."""
    top = environ.get(PROJECT, "")
    if not top.startswith("/") or not os.path.isdir(top) or top == cwd:
        return environ
    return find_place(environ, top, None, []).env


def is_silent(config: Config) -> bool:
    """True where hooks do nothing: in the client's bare modes, or where somebody said so."""
    env = config.environ
    if is_true(env.get("CLAUDE_CODE_SIMPLE", "")) or not config.options.hooks:
        return True
    if is_true(env.get("CLAUDE_CODE_REMOTE", "")) and not env.get("CLAUDE_CODE_REMOTE_MEMORY_DIR"):
        return True
    # A repository may switch memory off for itself, and that means ours too. A user who switches
    # the client's own off has installed us instead.
    return not config.enabled and config.enabled_by.startswith(REPOSITORY)


def _unclear(path: str) -> bool:
    """True for settings that a client may understand and we do not: better no memory at all."""
    findings: list[Finding] = []
    read_settings(path, findings)
    return bool(findings)


def here_of(config: Config, around: Around) -> Here:
    holds = {
        SILENT: is_silent(config),
        # Of Claude Code; whoever else calls us has none of its own.
        BUILT_IN: config.enabled and not config.environ.get(CALLER),
        INDEX: config.options.index,
        SHARED: config.shared,
        SCAN: config.options.search == SCAN,
        UNHEARD: not config.options.capture,
        BY_AGENT: config.options.capture and config.options.records_agent,
    }
    return Here(
        config.state_dir,
        config.cache_dir,
        around.checkout,
        frozenset(name for name, holding in holds.items() if holding),
        dict(config.scopes),
        config.options.max_file_bytes,
    )


def _basis(config: Config, environ: Mapping[str, str]) -> dict[str, bool]:
    """Each path that the decision rests on; False where only what it is counts.

    The repository's own settings are among what is seen around.
    """
    managed = environ.get("MEMDIR_MANAGED_SETTINGS") or MANAGED_SETTINGS
    parts = os.path.splitext(managed)[0] + ".d"
    own = f"{config.checkout}/.claude"
    basis = {f"{config.claude_dir}/settings.json": True, managed: True, config.config_file: True}
    basis |= {parts: True, **{f"{parts}/{name}": True for name in _names(parts)}}
    # A link there is not followed, so it matters when one comes or goes.
    basis |= {own: False, f"{own}/memory": False, config.store: False}
    for top in (
        f"{config.claude_dir}/agent-memory",
        f"{own}/agent-memory",
        f"{own}/agent-memory-local",
    ):
        basis |= {top: True, **{f"{top}/{name}": False for name in _names(top)}}
    return basis


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _is_old(path: str, begun: int) -> bool:
    """False where it may have changed while it was read."""
    if not path.startswith("/") or facts_of(path, True) == ABSENT:
        return True
    try:
        return os.stat(path).st_ctime_ns < begun - YOUNG or os.path.isdir(path)
    except OSError:
        return True
