"""Questions, answers and failures of models, and the check of an answer against its schema."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from memdir.errors import BadInput, MemdirError

KINDS: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}
MAX_SHOWN_CHARACTERS = 40
CHARACTERS_PER_TOKEN = 4  # estimate for English and code
_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)\n\s*```", re.DOTALL)


def find_misfits_in_answer(
    data: object, schema: Mapping[str, object], where: str = "the answer"
) -> list[str]:
    kind = str(schema["type"])
    if not isinstance(data, KINDS[kind]) or (type(data) is bool and kind != "boolean"):
        return [f"{where} is no {kind}"]
    choices = schema.get("enum")
    if isinstance(choices, list) and data not in choices:
        return [f"{where} is none of {', '.join(map(str, choices))}"]
    problems: list[str] = []
    if isinstance(data, dict):
        properties, required = schema.get("properties", {}), schema.get("required", [])
        assert isinstance(properties, Mapping) and isinstance(required, list)
        problems += [f"{where} has no {name}" for name in required if name not in data]
        for name, value in data.items():
            if name in properties:
                problems += find_misfits_in_answer(value, properties[name], f"{where}.{name}")
            elif schema.get("additionalProperties") is False:
                shown = name[:MAX_SHOWN_CHARACTERS]
                problems.append(f"{where} has {shown!r}, which nobody asked for")
    items = schema.get("items")
    if isinstance(data, list) and isinstance(items, Mapping):
        for index, item in enumerate(data):
            problems += find_misfits_in_answer(item, items, f"{where}[{index}]")
    return problems


@dataclass(frozen=True)
class Turn:
    answered: str
    told: str


@dataclass(frozen=True)
class Question:
    """One prompt; with a schema the answer is JSON that fits it. `seconds` is a hard limit.

    Sent as `user`, then `earlier` turns, unchanged, so that caches match. `more`: turns may follow.
    """

    system: str
    user: str
    schema: Mapping[str, object] | None = None
    max_tokens: int = 1024
    seconds: float = 30.0
    earlier: tuple[Turn, ...] = ()
    more: bool = False

    @property
    def texts(self) -> list[str]:
        turns = [text for turn in self.earlier for text in (turn.answered, turn.told)]
        return [self.system, self.user, *turns]


@dataclass(frozen=True)
class Usage:
    """Tokens of one call, cached ones apart; `cost` in US dollars if the model reports it."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None

    @property
    def total(self) -> int:
        return self.input_tokens + self.output_tokens

    def plus(self, other: Usage) -> Usage:
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            sum(costs) if costs else None,
        )


@dataclass(frozen=True)
class Answer:
    """`data` is the parsed answer if there was a schema, else None."""

    data: object
    text: str
    model: str
    usage: Usage


class ModelFailed(MemdirError):
    """A model gave no answer; `usage` is what it cost, None if unknown."""

    code = "model_failed"

    def __init__(self, message: str, *, next: str = "", usage: Usage | None = None) -> None:
        super().__init__(message, next=next)
        self.usage = usage


class ModelTimeout(ModelFailed):
    code = "model_timeout"


class ModelRefused(ModelFailed):
    code = "model_refused"


class ModelUnavailable(ModelFailed):
    code = "model_unavailable"


class BadAnswer(ModelFailed):
    code = "bad_answer"


def model_too_slow(name: str, seconds: float) -> ModelTimeout:
    hint = "try again later, or give it more time: model.timeout in config.toml"
    return ModelTimeout(f"{name} did not answer within {seconds:g} s", next=hint)


def model_refused(name: str, usage: Usage | None = None) -> ModelRefused:
    hint = "say it in other words, or choose another model"
    return ModelRefused(f"{name} refused to answer", next=hint, usage=usage)


def model_member_and_name(text: str) -> tuple[str, str]:
    member, colon, name = text.strip().partition(":")
    if not member or (colon and not name):
        hint = "write member:name, such as anthropic:claude-haiku-4-5"
        raise BadInput(f"{text!r} names no model", next=hint)
    return member, name


def count_model_tokens(*texts: str) -> int:
    return -(-sum(map(len, texts)) // CHARACTERS_PER_TOKEN)


def model_answer(question: Question, text: str, model: str, usage: Usage) -> Answer:
    """The answer with its parsed data; estimates the usage if the server counts no tokens."""
    if not usage.total:
        usage = Usage(count_model_tokens(*question.texts), count_model_tokens(text))
    if question.schema is None:
        return Answer(None, text, model, usage)
    hint = "try again, or choose another model"
    try:
        data = _parse_json(text)
    except (ValueError, RecursionError):
        raise BadAnswer(f"{model} did not answer in JSON", next=hint, usage=usage) from None
    if wrong := find_misfits_in_answer(data, question.schema):
        raise BadAnswer(f"{model} answered wrongly: {wrong[0]}", next=hint, usage=usage)
    return Answer(data, text, model, usage)


def _parse_json(text: str) -> object:
    """The JSON of a text, without the fence or sentence that models like to add."""
    fenced = _FENCED.search(text)
    for part in (text, fenced[1] if fenced else "", text[text.find("{") : text.rfind("}") + 1]):
        try:
            return json.loads(part)
        except ValueError:
            continue
    raise ValueError("no JSON")


class Model(Protocol):
    """Answers in time or raises ModelFailed; members need not inherit from it."""

    @property
    def name(self) -> str: ...
    def answer(self, question: Question) -> Answer: ...
