"""Propose better words and merges for a restructuring: by a model, or nothing and the reason."""

from __future__ import annotations

from importlib.resources import files

from memdir.core.errors import MemdirError
from memdir.core.ports import Model
from memdir.core.restructuring.ideas import Ideas, build_question, open_questions, parse
from memdir.core.restructuring.work import Work

WORDS = "prompts/consolidate.md"


def propose(work: Work, model: Model, seconds: float) -> Ideas:
    """The model's ideas on what had to be guessed; whatever goes wrong, none with the reason."""
    paths, pairs = open_questions(work)
    if not paths and not pairs:
        return Ideas(reason="there was nothing to ask")
    words = files("memdir.steps").joinpath(WORDS).read_text(encoding="utf-8")
    question = build_question(words, work, paths, pairs, seconds)
    try:
        data = model.answer(question).data
    except MemdirError as error:
        return Ideas(reason=error.message)
    return parse(data, paths, pairs, model.name)
