"""Edits of JSON text: what is put in can be taken out, and nothing else moves by a byte."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.core.settings_text import Insertion, UnsafeEdit, add, cut, join, read_values, take_out

HOOK = {"type": "command", "command": 'run "it\'s" ü', "timeout": 5}
WANTED = {"hooks": {"Stop": [{"hooks": [HOOK]}], "SessionEnd": [{"hooks": [HOOK]}]}}
TEXTS = {
    "empty": "",
    "blank": " \n",
    "nothing": "{}",
    "nothing, with a blank": "{ }",
    "nothing on two lines": "{\n}\n",
    "byte order mark": '\ufeff{\n  "a": 1\n}\n',
    "one line": '{"a":1}',
    "one line, hooks": '{"hooks":{"Stop":[]},"a":[1,2]}',
    "four blanks": '{\n    "a": 1\n}\n',
    "tabs": '{\n\t"a": {\n\t\t"b": []\n\t}\n}',
    "CRLF": '{\r\n  "a": 1,\r\n  "hooks": {\r\n    "Stop": []\r\n  }\r\n}\r\n',
    "no indentation": '{\n"a": 1,\n"b": 2\n}',
    "odd indentation": '{ "a": 1,\n      "b":2\n, "hooks" : {}\n }',
    "hooks of others": json.dumps({"hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}}, indent=2),
    "unknown keys": '{"$schema": "x", "Ключ": {"deep": [[], {}]}, "n": 1e400}',
    "escapes": '{"a\\"}": "\\u007b , ] // no comment", "b": "\\ud800"}',
    "long number": '{"n": ' + "9" * 6000 + "}",
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=12,
)


def ours(path: tuple[str | int, ...], value: object) -> bool:
    return isinstance(value, dict) and value.get("command") == HOOK["command"]


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_is_put_in_can_be_cut_out_to_the_byte(text):
    made, insertions = add(text, WANTED)
    assert cut(made, insertions) == text
    values = read_values(made)
    assert values["hooks"]["Stop"][-1]["hooks"][0]["command"] == HOOK["command"]
    assert {key: values[key] for key in read_values(text) if key != "hooks"} == {
        key: value for key, value in read_values(text).items() if key != "hooks"
    }


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_taken_out_by_its_meaning_only_ours_is_gone(text):
    made, _ = add(text, WANTED)
    left = read_values(take_out(made, ours))
    before = read_values(text)
    if before.get("hooks") in ({}, {"Stop": []}):  # nobody can tell who has left them empty
        left, before = {**left, "hooks": 0}, {**before, "hooks": 0}
    assert left == before


def test_what_comes_in_looks_like_what_is_there():
    made, _ = add('{\n\t"a": 1\n}\n', {"b": {"c": [1]}})
    assert made == '{\n\t"a": 1,\n\t"b": {\n\t\t"c": [\n\t\t\t1\n\t\t]\n\t}\n}\n'
    assert add('{"a":1}', {"b": [1]})[0] == '{"a":1, "b": [1]}'
    crlf, _ = add('{\r\n  "a": 1\r\n}\r\n', {"b": 2})
    assert crlf == '{\r\n  "a": 1,\r\n  "b": 2\r\n}\r\n'


@given(st.dictionaries(st.text(max_size=4), JSON, max_size=4), st.sampled_from([None, 1, 4, "\t"]))
def test_any_settings_survive(values, indent):
    text = json.dumps(values, indent=indent)
    try:
        made, insertions = add(text, WANTED)
    except UnsafeEdit:
        assert "hooks" in values
        return
    assert cut(made, insertions) == text
    assert json.loads(made) == {**values, **WANTED}
    assert json.loads(take_out(made, ours)) == values


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{ broken", "line 1, column 3"),
        ('{\n  // mine\n  "a": 1\n}', "line 2"),
        ('{"a": 1,}', "not JSON"),
        ('{"a": [1,]}', "not JSON"),
        ("{'a': 1}", "not JSON"),
        ('{"a": NaN}', "NaN is no number"),
        ('{"a": 1} {"b": 2}', "Extra data"),
        ("[]", "no JSON object"),
        ('"hooks"', "no JSON object"),
        ('{"hooks": {}, "hooks": {}}', "'hooks' stands twice"),
        ('{"hooks": []}', "hooks holds something else"),
        ('{"hooks": {"Stop": "x"}}', "hooks.Stop holds something else"),
        ('{"hooks": null}', "hooks holds something else"),
        ('{"a": ' + "[" * 400 + "]" * 400 + "}", "nested too deeply"),
        ('{"a": ' + "[" * 200_000 + "]" * 200_000 + "}", "nested too deeply"),
        ('{"a": "\x01"}', "not JSON"),
    ],
)
def test_what_cannot_be_edited_safely_is_refused(text, problem):
    with pytest.raises(UnsafeEdit, match=problem):
        add(text, WANTED)


def test_a_text_that_was_changed_elsewhere_is_still_cut():
    made, insertions = add('{\n  "a": 1\n}\n', WANTED)
    assert cut('{\n  "new": 0,' + made[1:], insertions) == '{\n  "new": 0,\n  "a": 1\n}\n'


def test_what_was_written_anew_or_stands_twice_is_not_cut():
    made, insertions = add('{\n  "a": 1\n}\n', {"b": 2})
    assert cut(json.dumps(json.loads(made)), insertions) is None
    assert cut("xx", [Insertion(5, "x")]) is None


def test_values_that_agree_are_joined_and_others_are_not():
    assert join({"a": {"b": True}}, {"a": {"b": True, "c": 1}}) == {"a": {"b": True, "c": "1"}}
    with pytest.raises(UnsafeEdit, match=r"a\.b holds something else there: false"):
        join({"a": {"b": False}}, {"a": {"b": True}})
