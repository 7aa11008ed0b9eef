"""Lets a model choose the memories for a prompt (M13); falls back to the local choice."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from string import Template

from memdir.config.config import clean_environment, read_config
from memdir.errors import MemdirError
from memdir.format.pointer import format_line
from memdir.hot import safe
from memdir.hot.inject import Recalled
from memdir.hot.memory import Memory
from memdir.hot.recall import (
    BODIES,
    POINTERS,
    Place,
    Reader,
    Recollection,
    private_wins,
    recall,
    without_usage_of_tools,
)
from memdir.hot.run import SessionState
from memdir.hot.safe import inert_line
from memdir.models.ledger import open_model
from memdir.models.model import Model, Question
from memdir.store.writer import App, open_app

NEWEST = 200  # memories; more would crowd the model's prompt
RANKED = 20  # of the local ranking, which may be older than the newest 200
MAX_CHOSEN = 5  # memories; more would crowd the agent's context
MAX_TOKENS = 256
SECONDS = 3.0
PROMPT_CHARACTERS = 4_000  # the start names the topic; the rest is often a paste
LINE_CHARACTERS = 300
MARK_CHARACTERS = 12
PROJECT = "project"
MODEL, LOCAL = "model", "local"

SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "memories": {
            "type": "array",
            "items": {"type": "string"},
            "maxItems": MAX_CHOSEN,
            "description": f"Paths from the list, the most useful first, at most {MAX_CHOSEN}.",
        }
    },
    "required": ["memories"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Selected:
    """Paths, best first; `by` says who chose, `reason` why the model did not."""

    paths: tuple[str, ...]
    by: str
    reason: str = ""


def recall_manifest(memories: Sequence[Memory]) -> str:
    """A line per memory, newest first: `- [type] path (time): description`."""
    return "\n".join(
        format_line(
            f"- [{item.type}] {item.path} ({safe.iso_time(item.mtime)}): {item.description}"
        )
        for item in _newest(memories)
    )


def _newest(memories: Sequence[Memory]) -> list[Memory]:
    return sorted(memories, key=lambda memory: (-memory.mtime, memory.path))[:NEWEST]


def select_recalled(
    prompt: str,
    memories: Sequence[Memory],
    local: Sequence[str],
    model: Model,
    *,
    top: Sequence[str] = (),
    seconds: float = SECONDS,
) -> Selected:
    """The model's choice, or on any failure the local choice and the reason.

    `memories` are the candidates, with unique paths and none that was shown already; `local` is the
    local choice, `top` the rest of the local ranking.
    """
    by_path = {memory.path: memory for memory in memories}
    offered = {memory.path: memory for memory in _newest(memories)}
    offered |= {path: by_path[path] for path in [*local, *top][:RANKED] if path in by_path}
    if not offered:
        return Selected(tuple(local), LOCAL, "there is nothing to choose from")
    lines = [
        _cut(inert_line(recall_manifest([item])), LINE_CHARACTERS) for item in offered.values()
    ]
    try:
        data = model.answer(_build_question(prompt, lines, seconds)).data
    except MemdirError as error:
        return Selected(tuple(local), LOCAL, error.message)
    names = data.get("memories") if isinstance(data, dict) else None
    given = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    paths = tuple(dict.fromkeys(name for name in given if name in offered))[:MAX_CHOSEN]
    if names and not paths:  # an empty list is a valid choice
        reason = f"{model.name} named only memories that are not listed"
        return Selected(tuple(local), LOCAL, reason)
    return Selected(paths, MODEL)


def _build_question(prompt: str, lines: Sequence[str], seconds: float) -> Question:
    """All data stands between marks that no memory can guess."""
    words = files("memdir.recall").joinpath("prompts/select.md").read_text(encoding="utf-8")
    system, _, given = words.partition("\n---\n")
    asked, listed = _cut(prompt.strip(), PROMPT_CHARACTERS), "\n".join(lines)
    # A digest of the data: reproducible, and no memory can contain it.
    mark = hashlib.sha256(f"{asked}\0{listed}".encode("utf-8", "replace")).hexdigest()
    user = Template(given.strip() + "\n").substitute(
        mark=mark[:MARK_CHARACTERS], prompt=asked, memories=listed
    )
    system = Template(system.strip() + "\n").substitute(most=MAX_CHOSEN)
    return Question(system, user, SCHEMA, MAX_TOKENS, seconds)


def _cut(text: str, limit: int) -> str:
    mark = " […]"
    return text if len(text) <= limit else text[: limit - len(mark)] + mark


def choose_recalled(
    cwd: str,
    places: Sequence[Place],
    prompt: str,
    state: SessionState,
    local: Recollection,
    session: str,
) -> Recollection:
    config = read_config(clean_environment(os.environ, cwd), cwd)
    app = open_app(config, now=time.time, tell=lambda text: None, actor="hook")
    apps = [(PROJECT, app)]
    return select_recalled_by_model(apps, places, prompt, state, local, session)[1]


def select_recalled_by_model(
    apps: Sequence[tuple[str, App]],
    places: Sequence[Place],
    prompt: str,
    state: SessionState,
    local: Recollection,
    session: str,
    *,
    limit: int = BODIES,
    pointers: int = POINTERS,
) -> tuple[Selected, Recollection]:
    memories = [place.recalled(item) for place in places for item in place.store.scan().memories]
    new = [item for item in memories if item.version not in state.surfaced]
    reader = Reader(places, local.findings)
    new = without_usage_of_tools(new, state, reader)
    offered = {_key(item): item for item in private_wins(new, reader)}
    ranked = recall(places, prompt, state, limit=0, pointers=RANKED, abstain=False).pointers
    local_keys = [_key(item) for item in local.bodies]
    app = apps[0][1]
    try:
        model = open_model(app, "select", session)
    except MemdirError as error:
        reason = f"{error.message} ({error.next})" if error.next else error.message
        return Selected(tuple(local_keys), LOCAL, reason), local
    selected = select_recalled(
        prompt,
        [
            Memory(key, item.memory.head, item.memory.mtime, item.memory.size)
            for key, item in offered.items()
        ],
        local_keys,
        model,
        top=[_key(item) for item in ranked],
        seconds=app.config.options.model_timeout,
    )
    if selected.by != MODEL:
        return selected, local
    selected = Selected(selected.paths[:limit], selected.by, selected.reason)
    result = Recollection()
    result.searched, result.findings = local.searched, local.findings
    if not selected.paths:
        return selected, result.nothing("the model chose none")
    reader = Reader(places, result.findings)
    scored = {_key(item): item for item in (*ranked, *local.bodies, *local.pointers)}
    for key in selected.paths:
        item = scored.get(key) or offered[key]
        item.note = item.note or offered[key].note
        result.bodies += [item] if reader.read(item) else []
    rest = (*local.bodies, *local.pointers)
    result.pointers = [item for item in rest if _key(item) not in selected.paths][:pointers]
    return selected, result


def _key(item: Recalled) -> str:
    return item.memory.path if item.scope == PROJECT else f"{item.scope}/{item.memory.path}"
