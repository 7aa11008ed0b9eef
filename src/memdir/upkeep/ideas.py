"""What a model may propose for a restructuring, and what of it is taken.

It may find better words for a title and a description, and say which of the likely pairs are the
same. It never writes a body, and words that its memory does not have are not believed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from string import Template

from memdir.errors import BadInput, MemdirError
from memdir.format.draft import check_header_line
from memdir.hot import memory
from memdir.hot.safe import inert_line
from memdir.models.model import Model, Question
from memdir.text import similar
from memdir.text.secrets import find_secrets, text_before_secrets
from memdir.upkeep.split import find_twins_to_merge
from memdir.upkeep.titles import MAX_TITLE_CHARACTERS
from memdir.upkeep.worksheet import Work, line_has_words

MAX_MEMORIES, MAX_PAIRS = 40, 20  # in one question
EXCERPT_CHARACTERS = 700  # of a memory that the model sees
MAX_DESCRIPTION_CHARACTERS = 160
GROUNDED_SHARE = 0.5  # of the longer words of a description that its memory has
MIN_WORD_LETTERS = 4  # shorter words stand anywhere
STEM_LETTERS = 5  # that tell a word, whatever its ending
MAX_TOKENS = 4_000
MARK_CHARACTERS = 12
PROMPT = "prompts/consolidate.md"


def _list_of(limit: int, *keys: str) -> dict[str, object]:
    properties = {key: {"type": "string"} for key in keys}
    item = {"type": "object", "properties": properties, "required": [*keys]}
    return {"type": "array", "items": {**item, "additionalProperties": False}, "maxItems": limit}


SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "memories": _list_of(MAX_MEMORIES, "path", "title", "description"),
        "same": _list_of(MAX_PAIRS, "first", "second"),
    },
    "required": ["memories", "same"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Ideas:
    """Titles and descriptions by path, and pairs that say the same; `by` is who had them."""

    titles: Mapping[str, str] = field(default_factory=dict)
    descriptions: Mapping[str, str] = field(default_factory=dict)
    merges: Sequence[tuple[str, str]] = ()
    by: str = ""
    reason: str = ""  # why there are none


def ask_model_to_tidy(work: Work, model: Model, seconds: float) -> Ideas:
    """The model's ideas on what had to be guessed; whatever goes wrong, none with the reason."""
    guessed = [path for path in work.pages if path not in work.given.pages or path in work.headed]
    paths = sorted(guessed)[:MAX_MEMORIES]
    pairs = [(pair.first, pair.second) for pair in find_twins_to_merge(work)[:MAX_PAIRS]]
    if not paths and not pairs:
        return Ideas(reason="there was nothing to ask")
    try:
        data = model.answer(_build_question(work, paths, pairs, seconds)).data
    except MemdirError as error:
        return Ideas(reason=error.message)
    # What the answer says beyond what was asked is passed over.
    answer = data if isinstance(data, dict) else {}
    rows = [row for row in answer.get("memories", []) if row.get("path") in paths]
    known = {frozenset(pair): pair for pair in pairs}
    same = [known.get(frozenset((row["first"], row["second"]))) for row in answer.get("same", [])]
    return Ideas(
        titles={row["path"]: row["title"] for row in rows},
        descriptions={row["path"]: row["description"] for row in rows},
        merges=[pair for pair in same if pair],
        by=model.name,
    )


def _build_question(
    work: Work, paths: Sequence[str], pairs: Sequence[tuple[str, str]], seconds: float
) -> Question:
    """All but the words of the prompt is data, between marks nobody can guess."""
    prompt = files("memdir.upkeep").joinpath(PROMPT).read_text(encoding="utf-8")
    system, _, given = prompt.partition("\n---\n")
    shown = sorted({*paths, *(path for pair in pairs for path in pair)})
    memories = "\n\n".join(_show(work, path, path in paths) for path in shown)
    listed = "\n".join(f"{first} | {second}" for first, second in pairs) or "none"
    mark = hashlib.sha256(f"{memories}\0{listed}".encode("utf-8", "replace")).hexdigest()
    user = Template(given.strip() + "\n").substitute(
        mark=mark[:MARK_CHARACTERS], memories=memories, pairs=listed
    )
    system = Template(system.strip() + "\n").substitute(
        title=MAX_TITLE_CHARACTERS, description=MAX_DESCRIPTION_CHARACTERS
    )
    return Question(system, user, SCHEMA, MAX_TOKENS, seconds)


def _show(work: Work, path: str, wanted: bool) -> str:
    memory = work.memory(path)
    body = text_before_secrets(memory.document.body)[:EXCERPT_CHARACTERS]
    head = ("path" if wanted else "path (only for the pairs)") + f": {inert_line(path)}"
    lines = [inert_line(line) for line in body.split("\n") if line.strip()]
    title, description = inert_line(memory.name), inert_line(memory.description)
    return "\n".join([head, f"title: {title}", f"description: {description}", *lines])


def take_tidying_ideas(work: Work, ideas: Ideas) -> None:
    """Give a memory the words that a model found, where they are fit and borne out by its text."""
    for key, values, limit in (
        ("name", ideas.titles, MAX_TITLE_CHARACTERS),
        ("description", ideas.descriptions, MAX_DESCRIPTION_CHARACTERS),
    ):
        for path, value in values.items():
            if path not in work.pages:
                continue
            document = work.pages[path].document
            value = " ".join(value.split())
            if document.lines is None or document.get(key) == value:
                continue
            if reason := _unfit(value, limit, document.body):
                remark = f"the model's {key} for {path} was not taken: {reason}"
                work.remarks += [remark] if remark not in work.remarks else []
                continue
            work.write(path, memory.edit_header(document, key, value).text)
            work.note(path, f"{key} by {ideas.by}")


def _unfit(value: str, limit: int, body: str) -> str:
    """Why these words cannot stand in a header; empty where they can."""
    if not line_has_words(value):
        return "it says nothing"
    if len(value) > limit:
        return f"it is longer than {limit} characters"
    if find_secrets(value):
        return "it looks like a secret"
    try:
        check_header_line("it", value)
    except BadInput as error:
        return error.message
    said = {
        word[:STEM_LETTERS]
        for word in similar.compared_words(value)
        if len(word) >= MIN_WORD_LETTERS
    }
    known = {word[:STEM_LETTERS] for word in similar.compared_words(body)}
    return "its text does not say that" if len(said & known) < len(said) * GROUNDED_SHARE else ""
