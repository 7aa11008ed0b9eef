"""The library learns from a conversation that it is handed, and can be awaited."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from memdir.errors import BadInput, Missing
from memdir.library import Memdir

pytestmark = pytest.mark.usefixtures("project")

ASKED = "Please remember that we deploy only on Fridays, never on Mondays."
NOTICED = "From now on don't use pip, use uv."
TALK: list[dict[str, Any]] = [
    {"role": "user", "content": ASKED},
    {"role": "assistant", "content": "I will."},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "memories"


@pytest.fixture
def memory(folder: Path) -> Memdir:
    return Memdir.open(dir=str(folder))


def what(outcome: Any) -> list[str]:
    return [one.what for one in outcome.decided]


def test_what_a_person_asked_for_is_saved_and_recalled(memory, folder):
    outcome = memory.capture(TALK)
    assert what(outcome) == ["saved"]
    (name,) = [one.name for one in outcome.decided]
    assert "Fridays" in (folder / f"{name}.md").read_text()
    assert "client: library" in (folder / f"{name}.md").read_text()
    assert "Fridays" in memory.recall("on which day do we deploy?").text
    memory.undo()
    assert not (folder / f"{name}.md").exists()


def test_a_conversation_handed_over_again_gives_only_what_is_new(memory, folder):
    memory.capture(TALK, session="one")
    assert memory.capture(TALK, session="one").reason == "nothing new was said"
    more = [*TALK, {"role": "user", "content": "remember: the staging host is called pelican"}]
    assert what(memory.capture(more, session="one")) == ["saved"]
    assert what(memory.capture(more[1:], session="one")) == []  # cut by a compaction
    assert len([path for path in folder.glob("*.md") if path.name != "MEMORY.md"]) == 2


def test_the_forms_of_both_apis_are_read(memory):
    talk = [
        {"role": "system", "content": "remember: never this"},
        {"role": "user", "content": [{"type": "text", "text": ASKED}]},
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "tool", "tool_call_id": "t", "content": "remember: nor this"},
    ]
    outcome = memory.capture(talk)
    assert [one.name for one in outcome.decided] == ["deploy-fridays-never-mondays"]


def test_a_transcript_of_a_client_is_read_by_its_path(memory, tmp_path):
    record = {"type": "user", "uuid": "u1", "message": {"role": "user", "content": ASKED}}
    (tmp_path / "talk.jsonl").write_text(json.dumps(record) + "\n")
    assert what(memory.capture(str(tmp_path / "talk.jsonl"))) == ["saved"]
    with pytest.raises(Missing, match="there is no transcript"):
        memory.capture(str(tmp_path / "gone.jsonl"))


def test_no_model_is_asked_unless_one_is_wanted(folder, tmp_path, home):
    answers = tmp_path / "answers.jsonl"
    answers.write_text(json.dumps({"answer": {"drafts": []}}) + "\n")
    environ = {"HOME": str(home), "MEMDIR_MODEL": f"scripted:{answers}"}
    memory = Memdir.open(dir=str(folder), environ=environ)
    talk = [{"role": "user", "content": NOTICED}]
    assert memory.capture(talk, session="one").tokens == 0
    assert memory.capture(talk, session="two", model=True).tokens > 0
    assert memory.capture(talk, session="three", model=f"scripted:{answers}").tokens > 0


@pytest.mark.parametrize(
    "talk",
    [
        ["text"],
        [{"role": "robot", "content": "x"}],
        [{"role": "user", "content": 5}],
        [{"role": "user", "content": [object()]}],
        [{"content": "x"}],
    ],
    ids=lambda given: repr(given).split(" at 0x")[0],
)
def test_what_is_no_conversation_is_refused_with_the_message(memory, folder, talk):
    with pytest.raises(BadInput, match="message 1") as refused:
        memory.capture(talk)
    assert refused.value.next
    assert not folder.exists()


def test_everything_can_be_awaited(memory):
    async def live() -> tuple[str, str]:
        await memory.aio.save("Releases are cut with make release.", type="project", name="rel")
        recalled, prompt = await asyncio.gather(
            memory.aio.recall("cut a release", limit=1), memory.aio.prompt()
        )
        await memory.aio.verify("rel")
        assert (await memory.aio.audit()).memories
        assert (await memory.aio.capture(TALK)).decided
        await memory.aio.undo()
        assert await memory.aio.section(session="one")
        return recalled.text, prompt.text

    recalled, prompt = asyncio.run(live())
    assert "make release" in recalled and prompt
