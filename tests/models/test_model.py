"""Answers are read as models write them, and held to their schema."""

import pytest

from memdir.errors import BadInput
from memdir.models import model

NAMES = {"type": "array", "items": {"type": "string"}}
SCHEMA = {
    "type": "object",
    "properties": {"names": NAMES, "how": {"type": "string", "enum": ["a", "b"]}},
    "required": ["names"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "text",
    [
        '{"names": ["x"]}',
        ' \n{"names": ["x"]}\n',
        '```json\n{"names": ["x"]}\n```',
        'Here:\n```\n{"names": ["x"]}\n```\nDone.',
        'I choose {"names": ["x"]}, of course.',
    ],
)
def test_json_is_found_however_it_is_wrapped(text):
    answer = model.model_answer(model.Question("s", "u", SCHEMA), text, "m", model.Usage(1, 1))
    assert answer.data == {"names": ["x"]}


@pytest.mark.parametrize("text", ["", "none", "{", "}{", "[" * 100_000, '{"names": ["x"]'])
def test_no_json_is_a_bad_answer_that_keeps_its_cost(text):
    with pytest.raises(model.BadAnswer, match="did not answer in JSON") as failure:
        model.model_answer(model.Question("s", "u", SCHEMA), text, "m", model.Usage(7, 3))
    assert failure.value.usage == model.Usage(7, 3)


@pytest.mark.parametrize("text", ["", " ", ":", ":x", "openai:"])
def test_half_a_name_is_refused(text):
    with pytest.raises(BadInput, match="names no model"):
        model.model_member_and_name(text)
