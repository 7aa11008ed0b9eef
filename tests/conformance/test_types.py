"""What every type of memory promises: ours, and one of a user's own by being there."""

import pytest

from memdir.hot import types
from memdir.hot.types import Type
from tests.conformance import own

OURS = types.names()
NOT_TEXT = {"half_life_days", "needs_why", "record"}


@pytest.fixture(params=(*OURS, *own.own("types")))
def member(request: pytest.FixtureRequest) -> tuple[str, Type]:
    name = request.param
    found = types.get(name) if name in OURS else own.registry.load_own("types", name, own.FOLDER)
    return name, found if isinstance(found, Type) else found.TYPE


def test_a_type_is_complete(member):
    name, type = member
    assert type.name == name and name.isidentifier() and name.islower() and name != "unknown"
    texts = [getattr(type, field) for field in Type.__annotations__ if field not in NOT_TEXT]
    assert all(isinstance(text, str) and text.strip() == text != "" for text in texts)
    assert isinstance(type.half_life_days, int) and type.half_life_days > 0
    assert type.scope in {"private", "private or team", "team"}
    for text in (type.body, type.example) if type.needs_why else ():
        assert "**Why:**" in text and "**How to apply:**" in text
    assert type.section not in {types.get(other).section for other in OURS if other != name}
