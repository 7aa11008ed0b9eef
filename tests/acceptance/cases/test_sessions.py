"""From one session to the next: what was saved, and what a session starts with."""

import json

import pytest

from tests.acceptance.cases.conftest import ALWAYS, FACT, INDEX, OFF, PROMPT, RULE
from tests.acceptance.cases.test_prompt import LIMIT, NEWER, OLDER, PREVIEW, units
from tests.acceptance.equipped import PLUGIN
from tests.acceptance.scripted_api import AGENT, MAIN, last_words, said
from tests.helpers.repositories import Checkout
from tests.helpers.scripted_server import Reply
from tests.helpers.searching import memory

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


@pytest.mark.parametrize(("off", "model"), [("", OLDER), ("1", NEWER)], ids=["on", "off"])
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


@pytest.mark.xfail(
    strict=True,
    reason="the client gives a fork a new id and says nowhere which session it comes from",
)
def test_a_fork_is_not_told_what_it_already_holds(plugged):
    first = plugged.ask(PROMPT)
    assert plugged.ask(PROMPT, "--resume", first.data["session_id"], "--fork-session").succeeded
    assert plugged.sent().count(FACT) == 1


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
