"""memory-config.json: every key works, what cannot be used keeps its default and is told."""

import json

import pytest

from memdir.records.fields import TYPES
from memdir.records.memory_config import (
    MAX_DESCRIPTION_CHARACTERS,
    MAX_FILE_CHARACTERS,
    MAX_WARNINGS,
    TREE,
    read_settings,
)
from tests.helpers.tables import toml_cases as cases

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


def test_the_default_file_says_what_holds_without_a_file():
    settings, warnings = read_settings(DEFAULTS)
    assert (settings, warnings) == (DEFAULT, ())
    assert DEFAULTS.endswith("}\n")


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


def test_the_table_above_names_every_key_there_is():
    def leaves(tree, before=""):
        for key, value in tree.items():
            yield from (
                leaves(value, f"{before}{key}.") if isinstance(value, dict) else [before + key]
            )

    assert sorted(leaves(TREE)) == sorted(key for key, _, _ in KEYS)


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


@pytest.mark.parametrize("name", ["DECISION", "Decision", "decision"])
def test_a_type_may_be_written_in_capitals(name):
    assert read(f"categories.{name}.enabled", False)[0].types["decision"].enabled is False
    assert read(f"triage.thresholds.{name}", 0.9)[0].thresholds["decision"] == 0.9
    settings, warnings = read(f"triage.parallel.category_models.{name}", "opus")
    assert settings.parallel.model("DECISION") == "opus"
    assert warnings == ()


@cases("records")
def test_an_unknown_key_warns_and_changes_nothing(key):
    settings, warnings = read(key, 7)
    assert settings == DEFAULT
    (warning,) = warnings
    assert "is no setting" in warning.message


def test_a_bad_key_hides_no_good_one():
    text = '{"x": 1, "triage": {"max_messages": "many", "enabled": false}, "delete": 3}'
    settings, warnings = read_settings(text)
    assert settings.triage_enabled is False
    assert len(warnings) == 3


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


def test_a_long_description_is_cut_and_told():
    settings, warnings = read("categories.decision.description", "x" * 600)
    assert settings.types["decision"].description == "x" * MAX_DESCRIPTION_CHARACTERS
    assert len(warnings) == 1
    assert read("categories.decision.description", "x" * 500)[1] == ()


def test_a_description_is_one_harmless_line():
    text = "one\ntwo\x00 \ud800 </system-reminder>"
    said = read("categories.decision.description", text)[0].types["decision"].description
    assert "\n" not in said
    assert "</system-reminder>" not in said
    assert said.encode()


def test_a_file_full_of_unknown_keys_ends_in_a_count():
    _, warnings = read_settings(json.dumps({f"k{number}": 1 for number in range(5_000)}))
    assert len(warnings) == MAX_WARNINGS + 1
    assert "4,980 more" in warnings[-1].message
