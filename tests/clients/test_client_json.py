"""JSON files of clients: written anew in their own layout, left alone where that could harm."""

import pytest

from memdir.clients.edit_settings import read_values, write_values
from memdir.clients.receipt import UnsafeEdit
from tests.helpers.tables import table

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


@pytest.mark.parametrize("text", UNSAFE, ids=UNSAFE.values())
def test_what_could_not_be_written_again_is_refused(text):
    with pytest.raises(UnsafeEdit, match=UNSAFE[text]):
        read_values(text)
