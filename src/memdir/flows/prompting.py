"""What an agent is told about its memory as such: the words of its mode, then the indexes."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from memdir.app import App
from memdir.core import frontmatter
from memdir.core.errors import BadInput, MemdirError
from memdir.core.memory import TEAM as FOLDER
from memdir.core.model import tokens_of
from memdir.core.prompting import NORMAL, TEAM, Setting
from memdir.flows.acceptance import as_told
from memdir.flows.logging_day import open_log
from memdir.flows.recalling import NONCE_BYTES
from memdir.steps.instruct import instruct


@dataclass(frozen=True)
class Prompt:
    """The text for the agent, its estimated tokens, and the mode that chose its words."""

    text: str
    tokens: int
    mode: str


def prompt(
    apps: Sequence[tuple[str, App]], mode: str = "", *, indexes: bool = True, limit: int = 0
) -> Prompt:
    """directories → words by mode → indexes; no text at all where memory is off.

    The first app's directory is the one that is written to. Without a mode, a team's store among
    the others makes it `team`.
    """
    (scope, first), *others = apps
    team = next((app for name, app in others if name == FOLDER), None)
    mode = mode or (TEAM if team else NORMAL)
    if mode == TEAM and team is None:
        raise BadInput(
            f"there is no team directory below scope {scope}",
            next="leave out --mode, or use --scope project",
        )
    if not first.config.enabled:
        return Prompt("", 0, mode)
    # The words say that they exist, so they do.
    for app in (first, team) if team and mode == TEAM else (first,):
        app.store.make()
    config = first.config
    logs = open_log(config).folder
    setting = Setting(first.store.root, mode, config.options.index, config.shared, logs)
    read = _indexes([as_told(app) for _, app in apps]) if indexes else None
    text = instruct(setting, read, nonce=secrets.token_hex(NONCE_BYTES), limit=limit)
    return Prompt(text, tokens_of(text), mode)


def _indexes(apps: Sequence[App]) -> list[tuple[str, str]]:
    """Path and text of each index that can be read; one that cannot must not hide the rest."""
    found = []
    for app in apps:
        path = f"{app.store.root}/{app.store.index_path}"
        try:
            found.append((path, frontmatter.decode(app.store.index() or b"")))
        except MemdirError as error:
            app.tell(f"{error.message}. Next: {error.next}")
    return found
