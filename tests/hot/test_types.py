"""Types: eleven files of data, found without importing them."""

import pytest

from memdir.hot import types
from memdir.hot.types import UNKNOWN, Type
from tests.self.test_hot_path import too_heavy

HALF_LIVES = {
    "value": 365,
    "user": 180,
    "feedback": 90,
    "reference": 60,
    "project": 14,
    "decision": 365,
    "constraint": 365,
    "preference": 365,
    "runbook": 60,
    "tech_debt": 60,
    "session_summary": 14,
}
RECORDS = {"decision", "constraint", "preference", "runbook", "tech_debt", "session_summary"}
NOT_TEXT = {"half_life_days", "needs_why", "record"}
SCOPES = {
    "user": "private",
    "feedback": "private or team",
    "project": "team",
    "reference": "team",
    "value": "private",
}


def test_the_types_are_known_by_their_files():
    assert types.names() == tuple(sorted(HALF_LIVES))


@pytest.mark.parametrize("name", types.names())
def test_a_type_is_complete(name):
    found = types.get(name)
    assert isinstance(found, Type)
    assert found.name == name
    assert found.half_life_days == HALF_LIVES[name]
    assert found.record == (name in RECORDS)
    assert found.needs_why == (name in {"feedback", "project"})
    assert found.scope in {"private", "private or team", "team"}
    assert found.scope == SCOPES.get(name, found.scope)
    texts = [getattr(found, field) for field in Type.__slots__ if field not in NOT_TEXT]
    assert all(isinstance(text, str) and text.strip() == text != "" for text in texts)


def test_sections_are_distinct():
    sections = [types.get(name).section for name in types.names()]
    assert len(set(sections)) == len(sections)


@pytest.mark.parametrize("name", ["feedback", "project"])
def test_where_a_reason_is_needed_the_texts_show_it(name):
    found = types.get(name)
    for text in (found.body, found.example):
        assert "**Why:**" in text
        assert "**How to apply:**" in text


@pytest.mark.parametrize(
    "name", ["", "unknown", "Feedback", "nonsense", "__init__", "os", ".user", "../user", "user.py"]
)
def test_any_other_name_is_unknown(name):
    assert types.get(name) is UNKNOWN
    assert UNKNOWN.half_life_days == 30


def test_a_type_is_one_object():
    assert types.get("user") is types.get("user")


def test_types_cost_no_heavy_module():
    """The prompt of a session start lists the types."""
    assert too_heavy("memdir.hot.types") == []
