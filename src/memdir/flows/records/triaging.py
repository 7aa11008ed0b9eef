"""What a conversation may hold: read → score → a private context for each type that triggers."""

from __future__ import annotations

import os
from typing import Protocol, cast

from memdir import registry
from memdir.adapters.contexts import Context, Contexts
from memdir.app import App
from memdir.core.transcript import Cursor, Stretch
from memdir.flows.records.placing import settings_of
from memdir.steps.triage import Triaged
from memdir.steps.triage import triage as triage_step

CLIENT = "claude_code"


class Reader(Protocol):
    """Reads the transcripts of one client."""

    def read(self, path: str, since: Cursor, last: str = "") -> Stretch: ...


def triage(app: App, transcript: str, session: str = "", last: str = "") -> Triaged:
    """read → triage; on a dry run no context is written"""
    settings, warnings = settings_of(app.store)
    transcript = os.path.abspath(transcript)
    stretch = open_transcripts(app, transcript).read(transcript, Cursor(), last)

    def place() -> Context:
        private = Contexts(app.config.state_dir)
        private.prune(app.now())
        return private.open(session or stretch.session)

    found = triage_step(stretch.said, settings, None if app.dry_run else place)
    return found._replace(findings=[*warnings, *found.findings])


def open_transcripts(app: App, path: str) -> Reader:
    """The reader of a transcript that a person or a hook named, wherever it lies."""
    member = registry.load("transcripts", CLIENT)
    environ = {**app.config.environ, "CLAUDE_CONFIG_DIR": app.config.claude_dir}
    reader = member.open_reader(app.config.home, environ)
    reader.root = os.path.dirname(os.path.realpath(path))
    return cast(Reader, reader)
