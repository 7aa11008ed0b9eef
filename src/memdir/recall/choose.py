"""A model chooses (M13)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from string import Template

from memdir.errors import MemdirError
from memdir.format.pointer import one_line
from memdir.hot import safe
from memdir.hot.inject import Recalled, SessionState
from memdir.hot.memory import Memory
from memdir.hot.recall import BODIES, POINTERS, Place, Reader, Recollection, private_wins, recall
from memdir.hot.safe import inert_line
from memdir.models.ledger import open_model
from memdir.models.model import Model, Question
from memdir.store.writer import App

# The manifest: the list of memories a model chooses from.

NEWEST = 200  # memories; more would crowd the prompt of the model that selects


def manifest(memories: list[Memory]) -> str:
    """One line per memory, the newest first: `- [type] path (time): description`."""
    newest = sorted(memories, key=lambda memory: (-memory.mtime, memory.path))[:NEWEST]
    return "\n".join(map(_line, newest))


def _line(memory: Memory) -> str:
    when = safe.iso_time(memory.mtime)
    return one_line(f"- [{memory.type}] {memory.path} ({when}): {memory.description}")


# Selection by a model: the question it gets, and what its answer means.

MOST = 5  # memories; more would crowd the agent's context
TOP = 20  # of the local ranking: they may be older than the newest 200
MAX_TOKENS = 256
SECONDS = 3.0
PROMPT_CHARACTERS = 4_000  # the start of a prompt says what it is about; the rest is often a paste
LINE_CHARACTERS = 300
MARK_CHARACTERS = 12
CUT = " […]"
SPLIT = "\n---\n"  # in the words: what the model is, then what it is given

SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "memories": {
            "type": "array",
            "items": {"type": "string"},
            "maxItems": MOST,
            "description": f"Paths from the list, the most useful first, at most {MOST}.",
        }
    },
    "required": ["memories"],
    "additionalProperties": False,
}

MODEL, LOCAL = "model", "local"


@dataclass(frozen=True)
class Selected:
    """The chosen paths, best first; `by` says who chose, `reason` why the model did not."""

    paths: tuple[str, ...]
    by: str
    reason: str = ""


def candidates(memories: Sequence[Memory], top: Sequence[str]) -> dict[str, str]:
    """The manifest's line of each memory that may be chosen: the newest, and the local top."""
    newest = sorted(memories, key=lambda memory: (-memory.mtime, memory.path))[:NEWEST]
    by_path = {memory.path: memory for memory in memories}
    chosen = {memory.path: memory for memory in newest}
    chosen |= {path: by_path[path] for path in top[:TOP] if path in by_path}
    return {path: _selection_line(memory) for path, memory in chosen.items()}


def build_question(words: str, prompt: str, lines: Sequence[str], seconds: float) -> Question:
    """What the model is asked. All of it but the words is data, between marks nobody can guess."""
    system, _, given = words.partition(SPLIT)
    asked, listed = _cut(prompt.strip(), PROMPT_CHARACTERS), "\n".join(lines)
    # Made of the data itself: the same question has the same mark, and no memory can contain it.
    mark = hashlib.sha256(f"{asked}\0{listed}".encode("utf-8", "replace")).hexdigest()
    user = Template(given.strip() + "\n").substitute(
        mark=mark[:MARK_CHARACTERS],
        prompt=asked,
        memories=listed,
    )
    system = Template(system.strip() + "\n").substitute(most=MOST)
    return Question(system, user, SCHEMA, MAX_TOKENS, seconds)


def parse(data: object, known: Sequence[str]) -> tuple[str, ...]:
    """The memories that an answer names: known ones, each once, at most 5; compared exactly."""
    names = data.get("memories") if isinstance(data, dict) else None
    given = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    allowed = frozenset(known)
    return tuple(dict.fromkeys(name for name in given if name in allowed))[:MOST]


def names_any(data: object) -> bool:
    """Whether the answer names something at all; naming nothing is a choice."""
    return isinstance(data, dict) and bool(data.get("memories"))


def _selection_line(memory: Memory) -> str:
    return _cut(inert_line(manifest([memory])), LINE_CHARACTERS)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - len(CUT)] + CUT


# Select the memories that belong to a prompt: by a model, or locally where it cannot.

WORDS = "prompts/select.md"


def select(
    prompt: str,
    memories: Sequence[Memory],
    local: Sequence[str],
    model: Model,
    *,
    top: Sequence[str] = (),
    seconds: float = SECONDS,
) -> Selected:
    """What the model chooses; whatever goes wrong, the local choice with the reason.

    `memories` are those that may be chosen (none that was shown already), with paths that are
    unique. `local` is the local choice, `top` the local ranking beyond it, best first.
    """
    chosen = tuple(local)
    lines = candidates(memories, [*local, *top])
    if not lines:
        return Selected(chosen, LOCAL, "there is nothing to choose from")
    words = files("memdir.recall").joinpath(WORDS).read_text(encoding="utf-8")
    question = build_question(words, prompt, [*lines.values()], seconds)
    try:
        data = model.answer(question).data
    except MemdirError as error:
        return Selected(chosen, LOCAL, error.message)
    paths = parse(data, [*lines])
    if not paths and names_any(data):
        return Selected(chosen, LOCAL, f"{model.name} named only memories that are not listed")
    return Selected(paths, MODEL)


# Selection by a model: what it may choose from, and what its choice means for the answer.

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
