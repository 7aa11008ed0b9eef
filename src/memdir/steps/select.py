"""Select the memories that belong to a prompt: by a model, or locally where it cannot."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from memdir.core.errors import MemdirError
from memdir.core.memory import Memory
from memdir.core.ports import Model
from memdir.core.selection import (
    LOCAL,
    MODEL,
    SECONDS,
    Selected,
    build_question,
    candidates,
    names_any,
    parse,
)

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
    words = files("memdir.steps").joinpath(WORDS).read_text(encoding="utf-8")
    question = build_question(words, prompt, [*lines.values()], seconds)
    try:
        data = model.answer(question).data
    except MemdirError as error:
        return Selected(chosen, LOCAL, error.message)
    paths = parse(data, [*lines])
    if not paths and names_any(data):
        return Selected(chosen, LOCAL, f"{model.name} named only memories that are not listed")
    return Selected(paths, MODEL)
