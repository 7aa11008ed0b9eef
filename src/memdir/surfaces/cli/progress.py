"""A word for who waits: a command that takes long says that it is under way."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from memdir.surfaces.cli.screen import Screen

PATIENCE_SECONDS = 1.0


@contextmanager
def progress(screen: Screen, bulk: bool) -> Iterator[None]:
    """Speak once after a second, to a person at a terminal; a program hears nothing."""
    if not bulk or screen.json or not sys.stderr.isatty():
        yield
        return
    timer = threading.Timer(PATIENCE_SECONDS, _speak, [screen])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _speak(screen: Screen) -> None:
    screen.tell("done; writing the history …" if screen.answered else "working …")
