"""Memories for a prompt, as the model gets them."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

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


def test_nothing_stands_there_for_a_prompt_that_nothing_fits(remembering):
    assert remembering.ask("what is the weather like in Lisbon?").succeeded
    assert remembering.told() == []
    assert FACT not in remembering.sent()


def test_a_memory_of_one_project_is_not_told_in_another(remembering):
    other = remembering.top / "other"
    other.mkdir()
    remembering.write_memory("zebra.md", memory("Zebra", ABOUT, "The zebra does it."), other)
    assert remembering.ask(PROMPT, project=other).succeeded
    (told,) = remembering.told()
    assert "The zebra does it." in told
    assert FACT not in remembering.sent()


@pytest.mark.parametrize("line", ["restart staging cluster word", "restart staging cluster 🧠🧠🧠"])
def test_an_answer_stays_below_the_limit_of_the_client(sandbox, line):
    body = "\n".join([line] * 140)  # 4,096 bytes of it are shown at most
    for number in range(40):
        name = f"m{number}.md"
        sandbox.write_memory(name, memory(f"M{number}", f"{line} {number}", f"{number} {body}"))
    sandbox.prompt_hook()
    assert sandbox.ask(PROMPT).succeeded
    (told,) = sandbox.told()
    assert 2_000 < units(told) <= LIMIT
    assert PREVIEW not in sandbox.sent()


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


def test_a_memory_is_told_once_in_a_session(remembering):
    with remembering.converse() as talk:
        for prompt in (PROMPT, "and again: " + PROMPT, "once more: " + PROMPT):
            talk.say(prompt)
    assert len(remembering.requests()) == 3
    assert remembering.sent().count(FACT) == 1
    assert remembering.ask(PROMPT, "--resume", talk.session).succeeded
    assert remembering.sent().count(FACT) == 1


def test_a_memory_that_changed_is_told_again(remembering):
    with remembering.converse() as talk:
        talk.say(PROMPT)
        remembering.write_memory("pelican.md", memory("Pelican", ABOUT, "The zebra does it now."))
        talk.say("now: " + PROMPT)
    assert "The zebra does it now." in remembering.told()[-1]


def test_two_clients_at_once_are_both_told(remembering):
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(remembering.ask, [PROMPT, PROMPT]))
    assert all(run.succeeded for run in runs)
    assert [said(one).count(FACT) for one in remembering.requests()] == [1, 1]
