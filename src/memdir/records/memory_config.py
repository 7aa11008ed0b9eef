"""The settings of a store of records, in `memory-config.json`.

The file is in the repository, so anybody may have written it: values are checked, clamped and
sanitized. An unusable value keeps its default, with a warning.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any, NamedTuple

from memdir.errors import Finding
from memdir.hot.safe import inert_line
from memdir.records.fields import TYPES
from memdir.text import pattern

FILE = "memory-config.json"
SESSION_SUMMARY = "session_summary"
KIND = "bad-setting"  # of a warning
MAX_DESCRIPTION_CHARACTERS = 500
MAX_WARNINGS = 20
MAX_SHOWN_BYTES = 80  # of a key or value in a warning
_MODEL = pattern(r"[A-Za-z0-9][A-Za-z0-9_.:/@-]{0,99}")

DESCRIPTIONS = {
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


# All keys with their defaults; shipped as schemas/memory-config.default.json.
TREE: Mapping[str, Any] = {
    "categories": {
        name: {"enabled": True, "description": DESCRIPTIONS[name], "auto_capture": True}
        | (_SESSIONS if name == SESSION_SUMMARY else {"retention_days": 0})
        for name in TYPES
    },
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
# Limits of numbers; beyond them the default is used, unless the key is CLAMPED.
BOUNDS: Mapping[str, tuple[float, float]] = {
    "retention_days": (0, 36_500),
    "max_retained": (1, 10_000),
    "max_inject": (0, 20),
    "max_memories_per_category": (1, 100_000),
    "max_messages": (10, 200),
    "thresholds": (0.0, 1.0),
    "grace_period_days": (0, 36_500),
}
CLAMPED = ("max_inject", "max_messages", "thresholds")  # to the nearest allowed value


class TypeSettings(NamedTuple):
    """No days, and no `max_retained`, mean no limit."""

    enabled: bool
    description: str
    auto_capture: bool
    retention_days: int
    max_retained: int = 0


class RecordSettings(NamedTuple):
    types: Mapping[str, TypeSettings]
    max_inject: int
    max_memories_per_category: int
    triage_enabled: bool
    max_messages: int
    thresholds: Mapping[str, float]
    parallel: Mapping[str, Any]  # for the agent that drafts
    grace_period_days: int
    archive_retired: bool

    def captures(self, type: str) -> bool:
        own = self.types[type]
        return self.triage_enabled and own.enabled and own.auto_capture


def read_record_settings(given: dict[str, Any]) -> tuple[RecordSettings, tuple[Finding, ...]]:
    problems: list[tuple[str, str]] = []  # message and fix
    tree = _read_tree(TREE, given, "", problems)
    shown = problems[:MAX_WARNINGS]
    if more := len(problems) - len(shown):
        shown.append((f"{more:,} more settings are not used", "Compare it with the defaults."))
    return _settings(tree), tuple(Finding(KIND, FILE, *problem) for problem in shown)


def _read_tree(
    tree: Mapping[str, Any], given: dict[str, Any], above: str, problems: list[tuple[str, str]]
) -> dict[str, Any]:
    result = dict(tree)
    for key, value in given.items():
        where, problem = f"{above}{key}", ""
        fix = "Remove it; every key and its default: memdir records schema memory-config"
        if key not in tree:
            problem = "is no setting"
        elif not isinstance(tree[key], dict):
            result[key], problem = _read_value(tree[key], value, where)
            fix = "Write such a value, or leave it."
        elif isinstance(value, dict):
            result[key] = _read_tree(tree[key], value, f"{where}.", problems)
        else:
            problem, fix = "must be an object", "Its defaults hold."
        if problem:
            problems.append((f"{inert_line(where, MAX_SHOWN_BYTES)} {problem}", fix))
    return result


def _read_value(default: Any, value: Any, where: str) -> tuple[Any, str]:
    if where.endswith(".description") and isinstance(value, str):
        line = inert_line(value)
        cut = f"is cut to {MAX_DESCRIPTION_CHARACTERS} characters"
        short = line[:MAX_DESCRIPTION_CHARACTERS].rstrip()
        return short, cut if len(line) > MAX_DESCRIPTION_CHARACTERS else ""
    if isinstance(default, bool):
        sound, wanted = type(value) is bool, "true or false"
    elif isinstance(default, str):
        sound = isinstance(value, str) and _MODEL.fullmatch(value) is not None
        wanted = "a text" if where.endswith(".description") else "the name of a model"
    else:
        rule = where.split(".")[-1] if isinstance(default, int) else "thresholds"
        low, high = BOUNDS[rule]
        kind = "a whole number" if isinstance(default, int) else "a number"
        wanted = f"{kind} from {low:g} to {high:g}"
        finite = type(value) is float and type(default) is float and isfinite(value)
        sound = type(value) is int or finite
        if sound and not low <= value <= high:
            sound = False
            if rule in CLAMPED:
                default = type(default)(low if value < low else high)
        value = type(default)(value) if sound else value
    if sound:
        return value, ""
    shown = inert_line(json.dumps(default), MAX_SHOWN_BYTES)
    return default, f"must be {wanted}; {shown} is used"


def _settings(tree: Mapping[str, Any]) -> RecordSettings:
    triage, rules = tree["triage"], tree["delete"]
    return RecordSettings(
        types={name: TypeSettings(**given) for name, given in tree["categories"].items()},
        max_inject=tree["retrieval"]["max_inject"],
        max_memories_per_category=tree["max_memories_per_category"],
        triage_enabled=triage["enabled"],
        max_messages=triage["max_messages"],
        thresholds=triage["thresholds"],
        parallel=triage["parallel"],
        grace_period_days=rules["grace_period_days"],
        archive_retired=rules["archive_retired"],
    )
