"""The project that a conversation belongs to: the one in which it was started.

An agent that goes to another directory on the way still works for that project.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from memdir.app import App
from memdir.config import Config, read_config
from memdir.core.errors import BadInput, MemdirError
from memdir.core.transcript import Cursor
from memdir.flows.capturing import Reader, open_reader
from memdir.flows.capturing.outcome import Request

REPOSITORY = "repository"


@dataclass(frozen=True)
class Found:
    """A directory of the project; empty for the current one, and then maybe with the `problem`."""

    project: str = ""
    problem: str = ""


def started_in(reader: Reader, transcript: str) -> str:
    """The directory of the first words of a conversation; empty where nobody knows."""
    look = getattr(reader, "started_in", None)  # of clients that write down each change of it
    try:
        found = look(transcript) if look else reader.read(transcript, Cursor()).cwd
    except MemdirError:
        return ""
    return str(found)


def place_of(app: App, request: Request, cwd: str) -> str:
    """For a hook that is called in `cwd`: the directory whose project learns from it.

    Where the conversation was started, as long as that is there and keeps its state in one place.
    """
    config = app.config
    started = started_in(open_reader(app, request.client), request.transcript)
    if not started.startswith("/") or "\0" in started or not os.path.isdir(started):
        return cwd
    try:
        there = read_config(config.environ, started)
    except MemdirError:
        return cwd
    return started if there.state_dir == config.state_dir else cwd


def project_of(app: App, request: Request) -> Found:
    """By the directory in which the client stood when the conversation began."""
    config = app.config
    reader = open_reader(app, request.client, request.transcript)
    cwd = started_in(reader, request.transcript)
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
