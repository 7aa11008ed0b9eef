"""Selection by a model: what it may choose from, and what its choice means for the answer."""

from __future__ import annotations

from collections.abc import Sequence

from memdir.flows.budgeting import open_model
from memdir.app import App
from memdir.core.errors import MemdirError
from memdir.core.injection import Recalled
from memdir.core.memory import Memory
from memdir.core.selection import LOCAL, MODEL, Selected
from memdir.core.session_state import SessionState
from memdir.steps.recall import (
    BODIES,
    POINTERS,
    Place,
    Reader,
    Recollection,
    private_wins,
    recall,
)
from memdir.steps.select import select

PURPOSE = "select"
PROJECT = "project"
RANKED = 20  # of the local ranking that the model sees, however old they are


def select_by_model(
    apps: Sequence[tuple[str, App]],
    places: Sequence[Place],
    prompt: str,
    state: SessionState,
    found: Recollection,
    session: str,
    *,
    limit: int = BODIES,
    pointers: int = POINTERS,
) -> tuple[Selected, Recollection]:
    """The model's choice as bodies, the local one below it; or the local answer and the reason."""
    everything = _everything(places, state, found)
    ranked = recall(places, prompt, state, limit=0, pointers=RANKED, abstain=False).pointers
    local = [_key(one) for one in found.bodies]
    app = apps[0][1]
    try:
        model = open_model(app, PURPOSE, session)
    except MemdirError as error:
        reason = f"{error.message} ({error.next})" if error.next else error.message
        return Selected(tuple(local), LOCAL, reason), found
    selected = select(
        prompt,
        [_named(one) for one in everything.values()],
        local,
        model,
        top=[_key(one) for one in ranked],
        seconds=app.config.options.model_timeout,
    )
    if selected.by != MODEL:
        return selected, found
    selected = Selected(selected.paths[:limit], selected.by, selected.reason)
    answer = _chosen(selected, everything, ranked, places, found)
    answer.pointers = answer.pointers[:pointers]
    return selected, answer


def _chosen(
    selected: Selected,
    everything: dict[str, Recalled],
    ranked: list[Recalled],
    places: Sequence[Place],
    found: Recollection,
) -> Recollection:
    answer = Recollection()
    answer.searched, answer.findings = found.searched, found.findings
    if not selected.paths:
        return answer.nothing("the model chose none")
    reader = Reader(places, answer.findings)
    scored = {_key(one): one for one in (*ranked, *found.bodies, *found.pointers)}
    for key in selected.paths:
        one = scored.get(key) or everything[key]
        one.note = one.note or everything[key].note
        answer.bodies += [one] if reader.read(one) else []
    given = set(selected.paths)
    rest = (*found.bodies, *found.pointers)
    answer.pointers = [one for one in rest if _key(one) not in given]
    return answer


def _everything(
    places: Sequence[Place], state: SessionState, found: Recollection
) -> dict[str, Recalled]:
    """Every memory that would be new to the session and of use, by a name that is unique."""
    each = [place.recalled(memory) for place in places for memory in place.store.scan().memories]
    new = [one for one in each if one.version not in state.surfaced]
    return {_key(one): one for one in private_wins(new, Reader(places, found.findings))}


def _key(one: Recalled) -> str:
    """The path as the manifest has it; below its scope where that is not the project's."""
    return one.memory.path if one.scope == PROJECT else f"{one.scope}/{one.memory.path}"


def _named(one: Recalled) -> Memory:
    """The memory under that name."""
    return Memory(_key(one), one.memory.head, one.memory.mtime, one.memory.size)
