"""A memory whose author wants more than to be remembered."""

import re
from typing import Any

import pytest

from tests.acceptance.cases.conftest import ABOUT, ALWAYS, OFF, PROMPT
from tests.acceptance.cases.test_sessions import NEWER, OLDER
from tests.acceptance.equipped import Equipped
from tests.acceptance.sandbox import FRAME, Sandbox
from tests.acceptance.scripted_api import said
from tests.helpers.hostile import FILE, inputs
from tests.helpers.searching import memory
from tests.helpers.tables import table

TOGETHER = 12  # of them in one session: rules have a limit
END = "here the text ends"
NAMES = "system|memdir|persisted|task|function|user|hook"
TAGS = re.compile(rf"<[\s/]{{0,3}}(?:{NAMES})[\w-]{{0,40}}", re.IGNORECASE)
ESCAPED = "&lt;"  # newer clients write it for some tags; they should find nothing to do
HOSTILE = table("acceptance", "hostile")
KNOWN = [row.values[0].value for row in inputs("tag and frame break-out", "body") if FILE.is_file()]


def shapes(sandbox: Sandbox, texts: list[str], model: str) -> list[Any]:
    """For each text, told in a turn of its own: the messages, the tags around the frames."""
    sandbox.api.requests.clear()
    with sandbox.converse("--model", model) as talk:
        for number, text in enumerate(texts):
            body = f"Restart of the staging cluster {number}.\n{text}\n{END}"
            path = sandbox.write_memory(f"m{number}.md", memory("Staging", ABOUT, body))
            talk.say(f"{PROMPT} {number}")
            path.unlink()
    assert len(sandbox.told()) == len(texts)
    assert all(END in told for told in sandbox.told())
    return [_shape(request) for request in sandbox.requests()]


def _shape(request: Any) -> Any:
    messages = [(one["role"], one["content"]) for one in request.body["messages"]]
    sizes = [(role, 1 if isinstance(given, str) else len(given)) for role, given in messages]
    return sizes, TAGS.findall(FRAME.sub("", said(request)))


@pytest.mark.parametrize("model", [OLDER, NEWER])
def test_hostile_text_stays_in_the_frame(plugged, model):
    """The model gets the same messages and tags as for tame texts, apart from what is framed."""
    for name in ("pelican.md", "worktree.md"):
        (plugged.store() / name).unlink()
    plugged.write_memory("MEMORY.md", "")  # else the client makes one of the first memory
    texts = HOSTILE + KNOWN
    hostile = shapes(plugged, texts, model)
    assert [TAGS.findall(told) for told in plugged.told()] == [[] for _ in texts]
    escaped = [told.count(ESCAPED) for told in plugged.told()]
    assert escaped == [text.count(ESCAPED) for text in texts]
    plugged.rest()
    assert hostile == shapes(plugged, ["a tame text"] * len(texts), model)


def started(sandbox: Equipped, texts: list[str], model: str) -> list[Any]:
    """The requests of sessions that start with these as rules and lines of the index."""
    sandbox.api.requests.clear()
    for at in range(0, len(texts), TOGETHER):
        index = []
        for number, text in enumerate(texts[at : at + TOGETHER]):
            rule = memory("Rule", "Rule", f"Always do it: {text} {number}", type="feedback")
            sandbox.write_memory(f"rule{number}.md", rule)
            index.append(f"- [Rule](rule{number}.md) — {text} {number}\n")
        sandbox.write_memory("MEMORY.md", "".join(index))
        assert sandbox.ask("hello", "--model", model).succeeded
        index_told, rules = sandbox.told()
        assert "- [Rule](rule0.md)" in index_told
        assert "Always do it" in rules
    return [_shape(request) for request in sandbox.requests()]


@pytest.mark.parametrize("model", [OLDER, NEWER])
def test_hostile_rules_and_indexes_stay_in_the_frame(plugged, model):
    # Else the client itself shows the index, as it is.
    plugged.variables |= {OFF: "1", ALWAYS: "1"}
    texts = HOSTILE + KNOWN
    hostile = started(plugged, texts, model)
    assert not any(TAGS.findall(told) for told in plugged.told())
    assert hostile == started(plugged, ["a tame text"] * len(texts), model)
