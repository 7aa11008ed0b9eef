"""From one session to the next: what was saved, and what a session starts with."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.acceptance.cases.conftest import ABOUT, ALWAYS, FACT, INDEX, OFF, PROMPT, RULE
from tests.acceptance.equipped import PLUGIN
from tests.acceptance.scripted_api import AGENT, MAIN, kind, last_words, said
from tests.helpers.repositories import Checkout
from tests.helpers.scripted_server import Reply
from tests.helpers.searching import memory

LIMIT = 10_000  # UTF-16 units of a hook's answer; beyond it the client shows a preview
PREVIEW = "<persisted-output>"
OLDER, NEWER = "claude-sonnet-4-5", "claude-opus-5-5"  # they get a hook's context in two ways
OWN = "The otter feeds it at noon."  # what the client's own memory wrote down
SAVED = "The staging cluster sleeps behind the heron gate."  # what memdir was told to remember
EDITS = ("--permission-mode", "acceptEdits", "--allowedTools", "Bash,Write")
TASK = {"description": "Look", "subagent_type": "reviewer", "run_in_background": False}
AGENT_LINE = "- [Owl](owl.md) — reviews are read by the owl"
DEFINITION = "---\nname: reviewer\ndescription: reviews\nmemory: project\n---\n\nYou review.\n"


def call(tool: str, **given: object) -> Reply:
    return Reply(tool=tool, data=given)


def bash(command: str) -> Reply:
    return call("Bash", command=command, description="Do it")


def counts(request):
    """How often rules, index and memory stand in a request."""
    text = said(request)
    return tuple(text.count(one) for one in (RULE, INDEX, FACT))


def assert_told_once(sandbox, prompt=PROMPT, *arguments):
    """A session with this prompt is told rules, index and memory, each of them once."""
    assert sandbox.ask(prompt, *arguments).succeeded
    assert counts(sandbox.requests()[-1]) == (1, 1, 1)


def test_what_one_session_saved_is_there_in_the_next(installed):
    project = Checkout(installed.project)
    project.commit({"shop/app.py": "shop = 1\n"})
    worktree, other = installed.top / "worktree", Checkout(installed.top / "other")
    project.git("worktree", "add", "--quiet", str(worktree))
    other.commit({"app.py": "app = 1\n"})
    otter = memory("Otter", "feeding the staging cluster", f"The staging cluster: {OWN}")
    installed.api.replies[:] = [
        bash(installed.memdir_line("remember", SAVED, "--type", "project")),
        call("Write", file_path=str(installed.store() / "otter.md"), content=otter),
    ]
    assert installed.ask("Remember the two of them.", *EDITS).succeeded
    for place in (installed.project, installed.project / "shop", worktree):
        assert installed.ask(PROMPT, project=place).succeeded
        request = said(installed.requests()[-1])
        # One comes whole; of the others the agent sees a line, in its index or as a pointer.
        assert request.count(FACT) == 1, place
        assert "heron gate" in request, place
        assert "otter.md" in request, place
    assert installed.ask(PROMPT, project=other.folder).succeeded
    assert installed.told() == []
    assert not any(one in installed.sent() for one in (OWN, "heron gate", FACT, RULE))


@pytest.mark.parametrize(("off", "model"), [("", NEWER), ("1", OLDER)], ids=["on", "off"])
def test_a_session_starts_with_rules_and_index_once_however_it_starts(installed, off, model):
    """With the client's own memory on it loads the index itself; else we do. Two model families."""
    installed.variables |= {OFF: off, ALWAYS: "1"}
    with installed.converse("--model", model) as talk:
        talk.say(PROMPT)
        talk.say("/compact")
        talk.say(PROMPT)
        if "Unknown" in talk.say("/clear")["result"]:
            pytest.skip("this version of the client clears only at a terminal")
        talk.say(PROMPT)
    assert talk.err == ""
    assert installed.ask(PROMPT, "--resume", talk.session, "--model", model).succeeded
    assert [counts(one) for one in installed.requests()] == [(1, 1, 1)] * 4
    assert {one.body["model"] for one in installed.requests()} == {model}
    assert_told_once(installed, "And so?", "--resume", talk.session, "--fork-session")
    assert all(("## How to save" in said(one)) == bool(off) for one in installed.requests())


def test_a_resumed_session_is_told_which_rules_are_new(plugged):
    new = "Never force-push a branch that somebody else has."
    first = plugged.ask("hello")
    plugged.write_memory("push.md", memory("Push", new, new, type="feedback"))
    for _ in range(2):
        assert plugged.ask("hello again", "--resume", first.data["session_id"]).succeeded
    assert plugged.sent().count(new) == 1


def test_no_hook_says_more_than_the_client_takes(equipped):
    """Many rules, a long index, long memories, an agent with a long index of its own."""
    equipped.variables |= {OFF: "1", ALWAYS: "1"}
    word = "restart staging cluster 🧠🧠🧠 "
    for number in range(120):
        rule = f"Always do number {number} of it. {word * 5}"
        equipped.write_memory(f"rule{number}.md", memory("Rule", rule, rule, type="feedback"))
        body = "\n".join([word * 3] * 60)
        equipped.write_memory(f"m{number}.md", memory(f"M{number}", f"{word}{number}", body))
    lines = "".join(f"- [M{number}](m{number}.md) — {word * 4}\n" for number in range(400))
    equipped.write_memory("MEMORY.md", lines)
    define_agent(equipped, lines)
    equipped.install(PLUGIN)
    equipped.api.replies[:] = [call("Agent", prompt="Look around.", **TASK)]
    assert equipped.ask(PROMPT, "--allowedTools", "Agent").succeeded
    added = equipped.attachments()
    assert {event for event, _ in added} == {"SessionStart", "UserPromptSubmit", "SubagentStart"}
    for event, text in added:
        assert 2_000 < units(text) <= LIMIT, event
    bodies = [json.dumps(one.body) for one in equipped.api.requests]
    assert not any(PREVIEW in one for one in bodies)


# Agents


def define_agent(sandbox, index):
    """A custom agent with a memory of its own in the project."""
    own = {"agents/reviewer.md": DEFINITION, "agent-memory/reviewer/MEMORY.md": index}
    for name, text in own.items():
        path = sandbox.project / ".claude" / name
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("off", ["", "1"], ids=["on", "off"])
def test_an_agent_with_a_memory_gets_its_own_and_no_other(installed, off):
    """With the client's own memory on it brings that of the agent itself; else we do."""
    installed.variables |= {OFF: off, ALWAYS: "1"}
    Checkout(installed.project)
    define_agent(installed, f"{AGENT_LINE}\n")
    installed.api.replies[:] = [call("Agent", prompt=PROMPT, **TASK)]
    assert installed.ask("Have it reviewed.", "--allowedTools", "Agent").succeeded
    (asked,) = installed.requests(AGENT)
    assert last_words(asked).endswith(PROMPT)
    assert said(asked).count(AGENT_LINE) == 1
    rules, index, told = counts(asked)
    assert (rules, told) == (0, 0)
    assert index == (not off)  # the client with its memory on gives it to every agent
    for request in installed.requests(MAIN):
        assert AGENT_LINE not in said(request)
        assert counts(request)[:2] == (1, 1)


# -- prompts -----------------------------------------------------------------------------------


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


# -- guards ------------------------------------------------------------------------------------


TOOLS = ("--allowedTools", "Bash,Agent")
SENTENCE = "Never run `touch forbidden.txt`"
MOST_REQUESTS = 6
LOOK = {"description": "Look", "prompt": "Look around.", "subagent_type": "general-purpose"}


@pytest.mark.parametrize("who", [MAIN, AGENT])
def test_it_is_denied_once_with_the_reason_and_the_second_call_passes(installed, who):
    installed.memdir("remember", f"{SENTENCE}; it confuses the build.", "--name", "no-touch")
    made = installed.project / "forbidden.txt"
    told: list[str] = []

    def choose(request):
        asked = kind(request)
        if asked == who and not made.exists() and len(told) < MOST_REQUESTS:
            told.append(said(request))
            return bash("touch forbidden.txt")
        if asked == who:
            told.append(said(request))
        if asked == MAIN and not told:
            return call("Agent", **LOOK)
        return Reply("Done.")

    installed.api.choose = choose
    assert installed.ask("Make the file.", *TOOLS).succeeded
    stopped = [text.count("Stopped once by a memory") for text in told]
    assert stopped[0] == 0 and max(stopped) == 1 and made.exists(), stopped
    reason = told[stopped.index(1)]
    assert SENTENCE in reason and "memdir guards off no-touch" in reason
