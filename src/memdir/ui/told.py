"""The log of what agents were told, read for the page; `hot/run.keep_told` writes it."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any, NamedTuple

from memdir.errors import Unwritable
from memdir.hot.run import MAX_LOG_BYTES, TOLD
from memdir.store import state
from memdir.store.writer import App, store_state_folder
from memdir.text.secrets import text_before_secrets
from memdir.ui.workspace import Census, state_of_files

MAX_MEMORIES = 50  # of one answer


class ToldMemory(NamedTuple):
    path: str
    scope: str
    whole: bool
    words: tuple[str, ...]


class Told(NamedTuple):
    """One answer to a prompt; without a prompt, what a session began with."""

    time: float
    session: str
    prompt: str
    characters: int
    memories: tuple[ToldMemory, ...]


def read_told(app: App, census: Census) -> list[Told]:
    """The newest first; read again only when the log has changed."""
    folder = store_state_folder(app.config)
    return census.once("told", lambda: _read_lines(folder), state_of_files(folder))


def _read_lines(folder: str) -> list[Told]:
    """A damaged line hides no other one."""
    try:
        lines, _ = state.read_state_lines(folder, TOLD, 2 * MAX_LOG_BYTES)
    except OSError as error:
        message = f"the log of what was told cannot be read: {error.strerror}"
        raise Unwritable(message, path=f"{folder}/{TOLD}", next="move that file away") from None
    return state.parse_state_lines(lines, _parse)[0][::-1]


def _parse(value: Any) -> Told:
    prompt = text_before_secrets(str(value["prompt"]))
    typed = [word.strip("\"'`.,:;?!()") for word in prompt.split()]
    memories = []
    for item in value["memories"][:MAX_MEMORIES]:
        path, stems = str(item["path"]), map(str, item["words"])
        path.encode("utf-8", "surrogateescape")  # or it is damaged: no file has half a character
        words = (next((it for it in typed if it.lower().startswith(stem)), stem) for stem in stems)
        memories.append(ToldMemory(path, str(item["scope"]), item["whole"] is True, tuple(words)))
    time = float(value["time"])
    datetime.datetime.fromtimestamp(time)  # likewise
    return Told(time, str(value["session"]), prompt, int(value["characters"]), tuple(memories))


def group_by_session(answers: Sequence[Told]) -> list[list[Told]]:
    groups: dict[str, list[Told]] = {}
    for answer in answers:
        groups.setdefault(answer.session, []).append(answer)
    return [*groups.values()]
