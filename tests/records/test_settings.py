"""memory-config.json: every key works, what cannot be used keeps its default and is told."""

import json

import pytest

from memdir.records.fields import TYPES
from memdir.records.memory_config import (
    MAX_FILE_CHARACTERS,
    TREE,
    read_settings,
)
from tests.helpers.toml_cases import cases

DEFAULT = read_settings(None)[0]
DEFAULTS = json.dumps(TREE, indent=2) + "\n"  # as the file of somebody who wants to change them


def nested(path: str, value: object) -> str:
    """`a.b` and 1 as the text {"a": {"b": 1}}."""
    for key in reversed(path.split(".")):
        value = {key: value}
    return json.dumps(value)


def read(path: str, value: object):
    return read_settings(nested(path, value))


def at(settings, path: str):
    """A value by the path that settings have in Python."""
    for part in path.split("."):
        settings = settings[part] if isinstance(settings, dict) else getattr(settings, part)
    return settings


@cases("records")
def test_the_defaults_are_those_of_the_seed(place, value):
    assert at(DEFAULT, place) == value


# The keys that each category has, and where their values stand in Python.
PER_CATEGORY = [
    ("categories.{}.enabled", "types.{}.enabled", False),
    ("categories.{}.auto_capture", "types.{}.auto_capture", False),
    ("categories.{}.retention_days", "types.{}.retention_days", 7),
    ("categories.{}.description", "types.{}.description", "mine"),
    ("triage.thresholds.{}", "thresholds.{}", 0.75),
    ("triage.parallel.category_models.{}", "parallel.category_models.{}", "opus"),
]
KEYS = [
    *((key.format(it), place.format(it), to) for key, place, to in PER_CATEGORY for it in TYPES),
    ("categories.session_summary.max_retained", "types.session_summary.max_retained", 12),
    ("retrieval.max_inject", "max_inject", 0),
    ("max_memories_per_category", "max_memories_per_category", 3),
    ("triage.enabled", "triage_enabled", False),
    ("triage.max_messages", "max_messages", 200),
    ("triage.parallel.enabled", "parallel.enabled", False),
    ("triage.parallel.verification_model", "parallel.verification_model", "claude-opus-4:x/y@1"),
    ("triage.parallel.default_model", "parallel.default_model", "sonnet"),
    ("delete.grace_period_days", "grace_period_days", 0),
    ("delete.archive_retired", "archive_retired", False),
]


@pytest.mark.parametrize(("key", "place", "value"), KEYS, ids=[key for key, _, _ in KEYS])
def test_this_key_works(key, place, value):
    settings, warnings = read(key, value)
    assert at(settings, place) == value
    assert warnings == ()
    assert at(DEFAULT, place) != value


@cases("records", ("triage.parallel", None))
def test_a_value_that_makes_no_sense_keeps_the_default_and_warns_once(key, wrong):
    settings, warnings = read(key, wrong)
    assert settings == DEFAULT
    assert len(warnings) == 1
    assert key in warnings[0].message


@cases("records", ("triage.thresholds.decision", "thresholds.decision", 10**400, 1.0))
def test_a_number_beyond_its_bounds_becomes_the_nearest(key, place, given, used):
    settings, warnings = read(key, given)
    assert at(settings, place) == used
    assert type(at(settings, place)) is type(at(DEFAULT, place))
    assert len(warnings) == 1


@cases("records")
def test_an_unknown_key_warns_and_changes_nothing(key):
    settings, warnings = read(key, 7)
    assert settings == DEFAULT
    (warning,) = warnings
    assert "is no setting" in warning.message


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "nothing", "[]", "null", "3", '"text"', "{} trailing", "[" * 100_000),
        '{"triage": %s}' % ("9" * 5000),
        '{"a": "' + "x" * MAX_FILE_CHARACTERS + '"}',
    ],
    ids=lambda text: text[:20],
)
def test_a_broken_file_means_the_defaults_and_one_warning(text):
    settings, warnings = read_settings(text, "/p/memory-config.json")
    assert settings == DEFAULT
    (warning,) = warnings
    assert warning.path == "/p/memory-config.json"
    assert "is not used" in warning.message
    assert warning.fix


def test_a_description_is_one_harmless_line():
    text = "one\ntwo\x00 \ud800 </system-reminder>"
    said = read("categories.decision.description", text)[0].types["decision"].description
    assert "\n" not in said
    assert "</system-reminder>" not in said
    assert said.encode()
