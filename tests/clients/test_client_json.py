"""JSON files of clients: written anew in their own layout, left alone where that could harm."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdir.clients.edit_settings import read_values, write_values
from memdir.clients.receipt import UnsafeEdit
from tests.helpers.data_tables import table

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=12,
)  # fmt: skip
LAYOUTS = table("clients", "layouts")
UNSAFE = {
    '{"a": NaN}': "NaN is no number",
    '{"a": 1e400}': "1e400 is no number",
    '{"a": ' + "9" * 6000 + "}": "too long",
    '{"a": ' + "[" * 200_000 + "]" * 200_000 + "}": "nested too deeply",
    '{"a": "\x01"}': "not JSON",
    '{"a": 1} {}': "Extra data",
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_file_is_written_in_the_layout_it_has(layout):
    like, text = LAYOUTS[layout]
    assert write_values({"a": ["ü"]}, like) == text


@given(st.dictionaries(st.text(max_size=4), JSON, max_size=4), st.sampled_from([None, 1, 4, "\t"]))
def test_any_values_are_read_as_they_were_written(values, indent):
    like = json.dumps(values, indent=indent)
    assert read_values(write_values(values, like)) == values


@pytest.mark.parametrize("text", UNSAFE, ids=UNSAFE.values())
def test_what_could_not_be_written_again_is_refused(text):
    with pytest.raises(UnsafeEdit, match=UNSAFE[text]):
        read_values(text)


def test_what_is_nested_too_deeply_to_be_written_is_refused():
    deep: dict[str, object] = {}
    for _ in range(20_000):
        deep = {"a": deep}
    with pytest.raises(UnsafeEdit, match="nested too deeply"):
        write_values(deep, "")
