"""A question with earlier turns: what was sent once is sent again, first and unchanged."""

import json

from memdir.models.model import Question, Turn, Usage
from memdir.store import registry
from tests.conformance import own
from tests.helpers.scripted_server import Reply, serve
from tests.helpers.tables import cases, rows

SCHEMA = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
TURNS = (Turn('{"x": 1}', "told first"), Turn('{"x": 2}', "told next"))
FIRST = Question("Be brief.", "Which one?", SCHEMA, 100, 60.0, more=True)
THIRD = Question("Be brief.", "Which one?", SCHEMA, 100, 60.0, TURNS, more=True)
EPHEMERAL = {"type": "ephemeral", "ttl": "5m"}


def sent(name: str, *questions: Question) -> list[dict]:
    """The bodies of the requests."""
    with serve(Reply(data={"x": 3})) as script:
        address = script.address + ("/v1" if name == "openai" else "")
        model = registry.load("models", name).open_model("some-model", address, own.KEYS)
        for question in questions:
            assert model.answer(question).data == {"x": 3}
        return [request.body for request in script.requests]


@own.needs_extra
def test_anthropic_gets_marks_for_its_cache_on_the_stable_prefix():
    first, third = sent("anthropic", FIRST, THIRD)
    for body in (first, third):
        (system,) = body["system"]
        assert system == {"type": "text", "text": "Be brief.", "cache_control": EPHEMERAL}
        opening = body["messages"][0]["content"]
        assert opening == [{"type": "text", "text": "Which one?", "cache_control": EPHEMERAL}]
    assert [message["role"] for message in third["messages"]] == ["user", "assistant"] * 2 + [
        "user"
    ]
    answers = [third["messages"][at]["content"][0] for at in (1, 3)]
    assert [answer["input"] for answer in answers] == [{"x": 1}, {"x": 2}]
    results = [third["messages"][at]["content"][0] for at in (2, 4)]
    assert [one["content"][0]["text"] for one in results] == ["told first", "told next"]
    assert [one["tool_use_id"] for one in results] == [answer["id"] for answer in answers]
    # The newest text is marked too, for the turn that follows; the one before it no longer.
    assert [("cache_control" in one) for one in results] == [False, True]


@own.needs_extra
def test_openai_gets_plain_texts_in_a_stable_order():
    first, third = sent("openai", FIRST, THIRD)
    assert third["messages"][:2] == first["messages"]
    assert third["messages"] == rows(globals(), "OPENAI")


@own.needs_extra
@cases("name", "usage")
def test_what_a_cache_gave_is_counted_apart(name, usage):
    said = {**dict(rows(globals(), "SAID"))[name], "usage": usage}
    with serve(Reply(raw=json.dumps(said).encode())) as script:
        address = script.address + ("/v1" if name == "openai" else "")
        model = registry.load("models", name).open_model("some-model", address, own.KEYS)
        assert model.answer(THIRD).usage == Usage(50, 20, 900)
