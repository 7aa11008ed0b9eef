"""What was learned and then undone: nobody wants it back unasked, whoever finds it again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memdir.app import App
from memdir.core import dates, frontmatter
from memdir.core.capturing import Catch
from memdir.core.errors import MemdirError
from memdir.core.history import ADDED, Logged
from memdir.core.routing import Known, Text


@dataclass(frozen=True)
class Undone:
    """A learned memory that was taken back, and when: what is said again later is new."""

    text: Text
    time: float


def find_undone(app: App) -> list[Undone]:
    """Memories with an origin that an undo removed; an undo that was undone removed none."""
    found: list[Undone] = []
    times: dict[str, float] = {}  # of the undo that took a change back
    try:
        for logged in app.history.log():
            if logged.id not in times:
                times.update(dict.fromkeys(logged.cause.undoes, logged.time))
            elif not logged.cause.undoes:
                found += [Undone(text, times[logged.id]) for text in _learned(app, logged)]
    except MemdirError:
        return found  # the history is broken, as `memdir doctor` says: so far it is known
    return found


def undone_on(app: App, catch: Catch) -> str:
    """The day on which this very thing, from the same message, was undone; empty for any other."""
    for one in find_undone(app) if catch.origin.message else ():
        if one.text.message == catch.origin.message and Known([one.text]).where(catch):
            return dates.iso_day(one.time)
    return ""


def learned_text(path: str, data: bytes, where: str = "") -> Text:
    """What a memory says, and the message that it was learned from."""
    document = frontmatter.read(frontmatter.decode(data))
    values = document.values
    said = f"{values.get('description', '')}\n{document.body}"
    source = (values.get("metadata.session", ""), values.get("metadata.message", ""))
    return Text(path + where, said, *source)


def _learned(app: App, logged: Logged) -> Iterator[Text]:
    for kind, path in logged.paths:
        data = app.history.content(logged.id, path) if kind == ADDED else None
        text = learned_text(path, data) if data else None
        if text is not None and text.message:
            yield text
