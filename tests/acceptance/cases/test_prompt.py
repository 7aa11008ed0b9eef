"""Memories for a prompt, as the model gets them."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from tests.acceptance.cases.conftest import ABOUT, FACT, PROMPT
from tests.acceptance.equipped import PLUGIN
from tests.acceptance.scripted_api import said
from tests.helpers.scripted_server import Reply
from tests.helpers.searching import memory

LIMIT = 10_000  # UTF-16 units of a hook's answer; beyond it the client shows a preview
PREVIEW = "<persisted-output>"
OLDER, NEWER = "claude-sonnet-4-5", "claude-opus-5-5"  # they get a hook's context in two ways
READ = Reply(tool="Bash", data={"command": "echo hello", "description": "Say hello"})


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def test_a_memory_of_one_project_is_not_told_in_another(plugged):
    other = plugged.top / "other"
    other.mkdir()
    plugged.write_memory("zebra.md", memory("Zebra", ABOUT, "The zebra does it."), other)
    assert plugged.ask(PROMPT, project=other).succeeded
    assert "The zebra does it." in plugged.told()[-1]
    assert FACT not in plugged.sent()


def test_no_request_is_made_that_would_not_be_made_without_memdir(equipped):
    def requests() -> Counter[tuple[str, str]]:
        equipped.api.requests.clear()
        equipped.api.replies[:] = [READ]
        with equipped.converse("--allowedTools", "Bash") as talk:
            for prompt in (PROMPT, "/compact", PROMPT, "/clear", PROMPT):
                talk.say(prompt)
        equipped.rest()  # the worker that was started has its turn, too
        return Counter((one.method, one.path) for one in equipped.api.requests)

    without = requests()
    equipped.install(PLUGIN)
    assert requests() == without
    # a prompt, its tool, the summary, two more prompts
    assert without["POST", "/v1/messages?beta=true"] == 5
    assert any(FACT in said(one) for one in equipped.requests())


def test_a_memory_is_told_once_in_a_session_and_again_once_it_changed(plugged):
    with plugged.converse() as talk:
        talk.say("what is the weather like in Lisbon?")
        assert FACT not in plugged.sent()
        for prompt in (PROMPT, "and again: " + PROMPT, "once more: " + PROMPT):
            talk.say(prompt)
    assert len(plugged.requests()) == 4
    assert plugged.sent().count(FACT) == 1
    assert plugged.ask(PROMPT, "--resume", talk.session).succeeded
    assert plugged.sent().count(FACT) == 1
    plugged.write_memory("pelican.md", memory("Pelican", ABOUT, "The zebra does it now."))
    assert plugged.ask("now: " + PROMPT, "--resume", talk.session).succeeded
    assert "The zebra does it now." in plugged.told()[-1]


def test_two_clients_at_once_are_both_told(plugged):
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(plugged.ask, [PROMPT, PROMPT]))
    assert all(run.succeeded for run in runs)
    assert [said(one).count(FACT) for one in plugged.requests()] == [1, 1]
