"""The settings of a store of records: the text of `memory-config.json` and what it means.

The file lies in the repository, so everybody may have written it: what stands there is checked,
cut to its bounds and made harmless. What cannot be used keeps its default, with a warning.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any, NamedTuple

from memdir.errors import Finding
from memdir.hot.safe import inert_line
from memdir.records.fields import TYPES
from memdir.text import pattern

FILE = "memory-config.json"
SESSION_SUMMARY = "session_summary"
KIND = "bad-setting"  # of a warning
MAX_FILE_CHARACTERS = 1 << 20
MAX_DESCRIPTION_CHARACTERS = 500
MAX_WARNINGS = 20
MAX_SHOWN_BYTES = 80  # of a key or value in a warning
_MODEL = pattern(r"[A-Za-z0-9][A-Za-z0-9_.:/@-]{0,99}")

_SAYS = {
    SESSION_SUMMARY: "Where a session stopped: goal, outcome, what is open and what comes next",
    "decision": "A choice between options and the grounds it was made on",
    "runbook": "How to recognise, repair and check a fault that can come back",
    "constraint": "A wall that stays: a limit, a gap or a policy nobody here can change",
    "tech_debt": "Work that was put off, and why it was put off",
    "preference": "How things are to be done here, and how strongly it is meant",
}
_THRESHOLDS = (0.6, 0.4, 0.4, 0.45, 0.4, 0.4)
_MODELS = ("haiku", "sonnet", "haiku", "sonnet", "haiku", "haiku")
_SESSIONS = {"retention_days": 90, "max_retained": 5}


def _type(name: str) -> dict[str, Any]:
    own = _SESSIONS if name == SESSION_SUMMARY else {"retention_days": 0}
    return {"enabled": True, "description": _SAYS[name], "auto_capture": True, **own}


# Every key there is, with its default.
TREE: Mapping[str, Any] = {
    "categories": {name: _type(name) for name in TYPES},
    "retrieval": {"max_inject": 5},
    "max_memories_per_category": 100,
    "triage": {
        "enabled": True,
        "max_messages": 50,
        "thresholds": dict(zip(TYPES, _THRESHOLDS, strict=True)),
        "parallel": {
            "enabled": True,
            "category_models": dict(zip(TYPES, _MODELS, strict=True)),
            "verification_model": "sonnet",
            "default_model": "haiku",
        },
    },
    "delete": {"grace_period_days": 30, "archive_retired": True},
}
# The least and the most of a number; one beyond them keeps its default, unless it is CLAMPED.
BOUNDS: Mapping[str, tuple[float, float]] = {
    "retention_days": (0, 36_500),
    "max_retained": (1, 10_000),
    "max_inject": (0, 20),
    "max_memories_per_category": (1, 100_000),
    "max_messages": (10, 200),
    "thresholds": (0.0, 1.0),
    "grace_period_days": (0, 36_500),
}
CLAMPED = ("max_inject", "max_messages", "thresholds")  # to the nearest that is allowed


class TypeSettings(NamedTuple):
    """What is set for one type; no days, and no `max_retained`, mean without end."""

    enabled: bool
    description: str
    auto_capture: bool
    retention_days: int
    max_retained: int = 0


class Parallel(NamedTuple):
    """How drafts are made inside a client: at once or one by one, and by which models."""

    enabled: bool
    category_models: Mapping[str, str]
    verification_model: str
    default_model: str

    def model(self, type: str) -> str:
        """Who drafts a record of this type."""
        return self.category_models.get(type.lower()) or self.default_model


class RecordSettings(NamedTuple):
    """Every key of the file, checked."""

    types: Mapping[str, TypeSettings]
    max_inject: int
    max_memories_per_category: int
    triage_enabled: bool
    max_messages: int
    thresholds: Mapping[str, float]
    parallel: Parallel
    grace_period_days: int
    archive_retired: bool

    def captures(self, type: str) -> bool:
        """Is this type looked for when a turn ends?"""
        own = self.types[type]
        return self.triage_enabled and own.enabled and own.auto_capture


Warnings = tuple[Finding, ...]


def read_settings(text: str | None, path: str = FILE) -> tuple[RecordSettings, Warnings]:
    """What a file says, and what of it is not used; None stands for no file at all."""
    if text is None:
        return _settings(TREE), ()
    said = _parsed(text)
    if isinstance(said, str):
        fix = "Mend the file, or remove it: the defaults hold until then."
        return _settings(TREE), (Finding(KIND, path, f"{path} is not used: {said}", fix),)
    reader = _Reader()
    tree = reader.read(TREE, said, "")
    return _settings(tree), reader.warnings(path)


def _parsed(text: str) -> dict[str, Any] | str:
    """The object, or why there is none."""
    if len(text) > MAX_FILE_CHARACTERS:
        return f"it is longer than {MAX_FILE_CHARACTERS:,} characters"
    try:
        said = json.loads(text.removeprefix("\ufeff"))
    except RecursionError:
        return "it is nested too deeply"
    except json.JSONDecodeError as error:
        return f"it is no JSON (line {error.lineno}: {error.msg})"
    except ValueError:
        return "it holds a number that nobody can read"
    return said if isinstance(said, dict) else "it is no JSON object"


class _Reader:
    """Reads one file over the defaults, and gathers what is wrong with it."""

    def __init__(self) -> None:
        self.problems: list[tuple[str, str]] = []  # message and fix

    def read(self, tree: Mapping[str, Any], given: dict[str, Any], above: str) -> dict[str, Any]:
        """The tree with what the file says of it."""
        result = dict(tree)
        taken: set[str] = set()
        for name, value in given.items():
            key = name.lower() if name not in tree and tree.keys() <= set(TYPES) else name
            where = f"{above}{name}"
            if key not in tree:
                self.warn(where, "is no setting", _instead(name))
            elif key in taken:
                self.warn(where, "is set twice; the first one counts", "Remove one of them.")
            elif not isinstance(tree[key], dict):
                result[key] = self.value(tree[key], value, where)
            elif isinstance(value, dict):
                result[key] = self.read(tree[key], value, f"{where}.")
            else:
                self.warn(where, "must be an object", "Its defaults hold.")
            taken.add(key)
        return result

    def value(self, default: Any, value: Any, where: str) -> Any:
        """A value where it is sound, the nearest one where it is clamped, else the default."""
        if isinstance(default, bool):
            sound, wanted = type(value) is bool, "true or false"
        elif where.endswith(".description"):
            sound, wanted = isinstance(value, str), "a text"
            if sound:
                return self.description(value, where)
        elif isinstance(default, str):
            sound = isinstance(value, str) and _MODEL.fullmatch(value) is not None
            wanted = "the name of a model"
        else:
            rule = where.split(".")[-1] if isinstance(default, int) else "thresholds"
            low, high = BOUNDS[rule]
            kind = "a whole number" if isinstance(default, int) else "a number"
            wanted = f"{kind} from {low:g} to {high:g}"
            finite = type(value) is float and type(default) is float and isfinite(value)
            number = type(value) is int or finite
            sound = number and low <= value <= high
            if number and not sound and rule in CLAMPED:
                nearest = type(default)(low if value < low else high)
                self.warn(where, f"must be {wanted}; {nearest:g} is used", "Write one of these.")
                return nearest
            value = type(default)(value) if sound else value
        if sound:
            return value
        shown = inert_line(json.dumps(default), MAX_SHOWN_BYTES)
        self.warn(where, f"must be {wanted}; {shown} is used", "Write such a value, or leave it.")
        return default

    def description(self, value: str, where: str) -> str:
        line = inert_line(value)
        if len(line) > MAX_DESCRIPTION_CHARACTERS:
            problem = f"is cut to {MAX_DESCRIPTION_CHARACTERS} characters"
            self.warn(where, problem, "Write a shorter one.")
        return line[:MAX_DESCRIPTION_CHARACTERS].rstrip()

    def warn(self, where: str, problem: str, fix: str) -> None:
        self.problems.append((f"{inert_line(where, MAX_SHOWN_BYTES)} {problem}", fix))

    def warnings(self, path: str) -> Warnings:
        """At most so many; a file full of them says so once."""
        shown = self.problems[:MAX_WARNINGS]
        if more := len(self.problems) - len(shown):
            shown.append((f"{more:,} more settings are not used", "Compare it with the defaults."))
        return tuple(Finding(KIND, path, message, fix) for message, fix in shown)


def _instead(name: str) -> str:
    """What was meant, where a key of that name stands elsewhere."""
    for path in _paths(TREE, ""):
        if path.rpartition(".")[2] == name:
            return f"Write {path} instead."
    return f"Remove it; every key there is stands in the default {FILE}."


def _paths(tree: Mapping[str, Any], above: str) -> Iterator[str]:
    for key, value in tree.items():
        yield f"{above}{key}"
        if isinstance(value, dict):
            yield from _paths(value, f"{above}{key}.")


def _settings(tree: Mapping[str, Any]) -> RecordSettings:
    triage, rules = tree["triage"], tree["delete"]
    return RecordSettings(
        types={name: TypeSettings(**said) for name, said in tree["categories"].items()},
        max_inject=tree["retrieval"]["max_inject"],
        max_memories_per_category=tree["max_memories_per_category"],
        triage_enabled=triage["enabled"],
        max_messages=triage["max_messages"],
        thresholds=triage["thresholds"],
        parallel=Parallel(**triage["parallel"]),
        grace_period_days=rules["grace_period_days"],
        archive_retired=rules["archive_retired"],
    )
