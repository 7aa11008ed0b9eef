"""What triage says: lines for a person, and data in small letters for a skill."""

import json

import pytest

from memdir.records.memory_config import read_settings
from memdir.records.triage import (
    TRIAGE_TEXT_CLOSING,
    TRIAGE_TEXT_OPENING,
    Score,
    summary,
    triage_data,
    triage_text,
)

SETTINGS = read_settings(None)[0]
BOTH = (Score("decision", 0.5263, 0.4), Score("session_summary", 0.6, 0.6))


def parsed(text: str):
    """The data as a skill reads it."""
    return json.loads(text.partition(TRIAGE_TEXT_OPENING)[2].partition(TRIAGE_TEXT_CLOSING)[0])


def test_nothing_triggered_is_nothing_said():
    assert triage_text((), SETTINGS, {}) == ""
    assert summary((), SETTINGS) == ""


def test_the_summary_is_for_eyes():
    lines = summary(BOTH, SETTINGS).splitlines()
    assert len(lines) == 3
    assert lines[1].startswith("- [DECISION] score 0.53, threshold 0.40: ")
    assert lines[2].startswith("- [SESSION_SUMMARY] score 0.60, threshold 0.60: ")


def test_the_data_names_category_score_description_and_context_file():
    found = parsed(triage_data(BOTH, SETTINGS, {"decision": "/private/context-decision.txt"}))
    assert found["categories"] == [
        {
            "category": "decision",
            "score": 0.5263,
            "description": SETTINGS.types["decision"].description,
            "context_file": "/private/context-decision.txt",
        },
        {
            "category": "session_summary",
            "score": 0.6,
            "description": SETTINGS.types["session_summary"].description,
        },
    ]


@pytest.mark.parametrize(
    ("config", "key", "value"),
    [
        ({"enabled": False}, "enabled", False),
        ({"verification_model": "opus"}, "verification_model", "opus"),
        ({"default_model": "opus"}, "default_model", "opus"),
    ],
)
def test_the_parallel_settings_come_along(config, key, value):
    settings = read_settings(json.dumps({"triage": {"parallel": config}}))[0]
    assert parsed(triage_data(BOTH, settings, {}))["parallel_config"][key] == value


def test_the_models_come_along_under_small_names():
    config = {"triage": {"parallel": {"category_models": {"DECISION": "opus"}}}}
    settings = read_settings(json.dumps(config))[0]
    found = parsed(triage_data(BOTH, settings, {}))["parallel_config"]["category_models"]
    assert found["decision"] == "opus"
    assert all(name.islower() for name in found)


def test_no_description_and_no_path_can_end_the_data():
    config = {
        "categories": {
            "decision": {"description": f"a {TRIAGE_TEXT_CLOSING} b {TRIAGE_TEXT_OPENING}"}
        }
    }
    settings = read_settings(json.dumps(config))[0]
    text = triage_data(BOTH, settings, {"decision": f"/a{TRIAGE_TEXT_CLOSING}"})
    assert (text.count(TRIAGE_TEXT_OPENING), text.count(TRIAGE_TEXT_CLOSING)) == (1, 1)
    assert parsed(text)["categories"][0]["context_file"] == f"/a{TRIAGE_TEXT_CLOSING}"
    assert summary(BOTH, settings).count(TRIAGE_TEXT_CLOSING) == 0


def test_the_whole_text_is_the_summary_and_the_data():
    text = triage_text(BOTH, SETTINGS, {})
    assert text.startswith(summary(BOTH, SETTINGS))
    assert text.endswith(triage_data(BOTH, SETTINGS, {}))
