"""The log of what agents were told, read for the page; `hot/run.keep_told` writes it."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memdir.errors import Unwritable
from memdir.hot.run import MAX_LOG_BYTES, TOLD
from memdir.models.model import CHARACTERS_PER_TOKEN
from memdir.store import state
from memdir.store.writer import App, store_state_folder
from memdir.text.secrets import text_before_secrets
from memdir.ui.workspace import Census, state_of_files

MAX_MEMORIES = 50  # of one answer


@dataclass(frozen=True)
class ToldMemory:
    path: str
    scope: str
    whole: bool
    words: tuple[str, ...]


@dataclass(frozen=True)
class Told:
    """One answer to a prompt; without a prompt, what a session began with."""

    time: float
    session: str
    prompt: str
    characters: int
    memories: tuple[ToldMemory, ...]

    @property
    def named(self) -> set[tuple[str, str]]:
        return {(memory.path, memory.scope) for memory in self.memories}


@dataclass(frozen=True)
class ToldSession:
    id: str
    answers: tuple[Told, ...]  # the newest first

    @property
    def time(self) -> float:
        return self.answers[0].time

    @property
    def prompt(self) -> str:
        """The newest one."""
        return next((answer.prompt for answer in self.answers if answer.prompt), "")

    @property
    def tokens(self) -> int:
        return -(-sum(answer.characters for answer in self.answers) // CHARACTERS_PER_TOKEN)


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
    answers, _ = state.parse_state_lines(lines, _parse)
    return answers[::-1]


def _parse(value: Any) -> Told:
    prompt = text_before_secrets(str(value["prompt"]))
    typed = [word.strip("\"'`.,:;?!()") for word in prompt.split()]

    def as_typed(stem: str) -> str:
        return next((word for word in typed if word.lower().startswith(stem)), stem)

    memories = tuple(
        ToldMemory(
            str(item["path"]),
            str(item["scope"]),
            item["whole"] is True,
            tuple(as_typed(str(stem)) for stem in item["words"]),
        )
        for item in value["memories"][:MAX_MEMORIES]
    )
    characters = int(value["characters"])
    datetime.datetime.fromtimestamp(float(value["time"]))  # or it is damaged
    for memory in memories:
        memory.path.encode("utf-8", "surrogateescape")  # likewise: no file has half a character
    return Told(float(value["time"]), str(value["session"]), prompt, characters, memories)


def group_by_session(answers: Sequence[Told]) -> list[ToldSession]:
    groups: dict[str, list[Told]] = {}
    for answer in answers:
        groups.setdefault(answer.session, []).append(answer)
    return [ToldSession(id, tuple(group)) for id, group in groups.items()]
