"""What a model may propose."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from string import Template

from memdir.errors import BadInput, MemdirError
from memdir.format.draft import check_line
from memdir.hot import memory
from memdir.hot.safe import inert_line
from memdir.models.model import Model, Question
from memdir.text import similar
from memdir.text.secrets import before_secrets, find_secrets
from memdir.upkeep.split import likely
from memdir.upkeep.titles import LONGEST_TITLE
from memdir.upkeep.worksheet import HEADED, TITLED, Work

# What a model may propose for a restructuring, and what of it is taken.
#
# It may find better words for a title and a description, and say which of the likely pairs are the
# same. It never writes a body, and words that its memory does not have are not believed.

MOST_MEMORIES, MOST_PAIRS = 40, 20  # in one question
EXCERPT = 700  # characters of a memory that the model sees
LONGEST_DESCRIPTION = 160  # characters
GROUNDED = 0.5  # share of the longer words of a description that its memory has
LONGER = 4  # letters; shorter words stand anywhere
START = 5  # letters that tell a word, whatever its ending
MAX_TOKENS = 4_000
SPLIT = "\n---\n"  # in the words: what the model is, then what it is given
MARK_CHARACTERS = 12
_TEXT = {"type": "string"}
_SCHEMA_MEMORY = {
    "type": "object",
    "properties": {"path": _TEXT, "title": _TEXT, "description": _TEXT},
    "required": ["path", "title", "description"],
    "additionalProperties": False,
}
_SCHEMA_PAIR = {
    "type": "object",
    "properties": {"first": _TEXT, "second": _TEXT},
    "required": ["first", "second"],
    "additionalProperties": False,
}
SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "memories": {"type": "array", "items": _SCHEMA_MEMORY, "maxItems": MOST_MEMORIES},
        "same": {"type": "array", "items": _SCHEMA_PAIR, "maxItems": MOST_PAIRS},
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


def open_questions(work: Work) -> tuple[list[str], list[tuple[str, str]]]:
    """The memories whose words we had to guess, and the pairs that are likely the same."""
    headed = {one.path for one in work.made if one.kind == HEADED}
    new = [path for path in work.pages if path not in work.given.pages or path in headed]
    pairs = [(first, second) for first, second, _ in likely(work)]
    return sorted(new)[:MOST_MEMORIES], pairs[:MOST_PAIRS]


def build_question(
    words: str, work: Work, paths: Sequence[str], pairs: Sequence[tuple[str, str]], seconds: float
) -> Question:
    """What the model is asked; all but the words is data, between marks nobody can guess."""
    system, _, given = words.partition(SPLIT)
    shown = sorted({*paths, *(path for pair in pairs for path in pair)})
    memories = "\n\n".join(_shown(work, path, path in paths) for path in shown)
    listed = "\n".join(f"{first} | {second}" for first, second in pairs) or "none"
    mark = hashlib.sha256(f"{memories}\0{listed}".encode("utf-8", "replace")).hexdigest()
    user = Template(given.strip() + "\n").substitute(
        mark=mark[:MARK_CHARACTERS], memories=memories, pairs=listed
    )
    limits = {"title": LONGEST_TITLE, "description": LONGEST_DESCRIPTION}
    system = Template(system.strip() + "\n").substitute(limits)
    return Question(system, user, SCHEMA, MAX_TOKENS, seconds)


def parse(data: object, paths: Sequence[str], pairs: Sequence[tuple[str, str]], by: str) -> Ideas:
    """The ideas of an answer about what was asked; anything else in it is passed over."""
    rows = data.get("memories", []) if isinstance(data, dict) else []
    named = [row for row in rows if isinstance(row, dict) and row.get("path") in paths]
    same = data.get("same", []) if isinstance(data, dict) else []
    known = {frozenset(pair): pair for pair in pairs}
    chosen = [known.get(frozenset((str(one["first"]), str(one["second"])))) for one in same]
    return Ideas(
        titles={row["path"]: row["title"] for row in named},
        descriptions={row["path"]: row["description"] for row in named},
        merges=tuple(pair for pair in chosen if pair),
        by=by,
    )


def take_ideas(work: Work, ideas: Ideas) -> None:
    """Give a memory the words that a model found, where they are fit and borne out by its text."""
    for field_name, values, longest in (
        ("name", ideas.titles, LONGEST_TITLE),
        ("description", ideas.descriptions, LONGEST_DESCRIPTION),
    ):
        for path, value in values.items():
            if path not in work.pages:
                continue
            document = work.pages[path].document
            value = " ".join(value.split())
            if document.lines is None or document.get(field_name) == value:
                continue
            reason = _unfit(value, longest, document.body)
            if reason:
                said = f"the model's {field_name} for {path} was not taken: {reason}"
                if said not in work.remarks:
                    work.remarks.append(said)
                continue
            work.write(path, memory.edit(document, field_name, value).text)
            work.say(TITLED, path, f"{field_name} by {ideas.by}")


def _unfit(value: str, longest: int, body: str) -> str:
    """Why these words cannot stand in a header; empty where they can."""
    if not any(map(str.isalnum, value)):
        return "it says nothing"
    if len(value) > longest:
        return f"it is longer than {longest} characters"
    if find_secrets(value):
        return "it looks like a secret"
    try:
        check_line("it", value)
    except BadInput as error:
        return error.message
    said = {word[:START] for word in similar.words(value) if len(word) >= LONGER}
    there = {word[:START] for word in similar.words(body)}
    if said and len(said & there) < len(said) * GROUNDED:
        return "its text does not say that"
    return ""


def _shown(work: Work, path: str, wanted: bool) -> str:
    memory = work.memory(path)
    body = before_secrets(memory.document.body)[:EXCERPT]
    lines = [inert_line(line) for line in body.split("\n") if line.strip()]
    what = "path" if wanted else "path (only for the pairs)"
    head = f"{what}: {inert_line(path)}\ntitle: {inert_line(memory.name)}"
    return f"{head}\ndescription: {inert_line(memory.description)}\n" + "\n".join(lines)


# Propose better words and merges for a restructuring: by a model, or nothing and the reason.

WORDS = "prompts/consolidate.md"


def propose(work: Work, model: Model, seconds: float) -> Ideas:
    """The model's ideas on what had to be guessed; whatever goes wrong, none with the reason."""
    paths, pairs = open_questions(work)
    if not paths and not pairs:
        return Ideas(reason="there was nothing to ask")
    words = files("memdir.upkeep").joinpath(WORDS).read_text(encoding="utf-8")
    question = build_question(words, work, paths, pairs, seconds)
    try:
        data = model.answer(question).data
    except MemdirError as error:
        return Ideas(reason=error.message)
    return parse(data, paths, pairs, model.name)
