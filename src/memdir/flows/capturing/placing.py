"""The project in which a conversation was held, for a transcript that a person names."""

from __future__ import annotations

import os
from dataclasses import dataclass

from memdir.app import App
from memdir.config import Config, read_config
from memdir.core.errors import BadInput, MemdirError
from memdir.core.transcript import Cursor
from memdir.flows.capturing import open_reader
from memdir.flows.capturing.outcome import Request

REPOSITORY = "repository"


@dataclass(frozen=True)
class Found:
    """A directory of the project; empty for the current one, and then maybe with the `problem`."""

    project: str = ""
    problem: str = ""


def project_of(app: App, request: Request) -> Found:
    """As the hooks find it: by the directory in which the client stood."""
    config = app.config
    reader = open_reader(app, request.client, request.transcript)
    cwd = reader.read(request.transcript, Cursor()).cwd
    if not cwd:
        return Found()
    if not cwd.startswith("/") or not os.path.isdir(cwd):
        return Found(problem=f"the directory of the conversation is gone: {cwd}")
    try:
        there = read_config(config.environ, cwd)
    except MemdirError as error:
        return Found(problem=f"the project of the conversation cannot be used: {error.message}")
    # Nothing but the place may differ: a repository must not bring settings of its own along.
    if _own(there) != _own(config):
        return Found(problem=f"other settings hold in {cwd}")
    if not there.enabled and there.enabled_by.startswith(REPOSITORY):
        raise BadInput(
            f"memory is switched off for {there.checkout} ({there.enabled_by})",
            path=there.checkout,
            next="name the project that should remember it with --project",
        )
    return Found() if there.store == config.store else Found(cwd)


def _own(config: Config) -> tuple[object, ...]:
    return config.home, config.claude_dir, config.state_dir, config.config_file, config.options
