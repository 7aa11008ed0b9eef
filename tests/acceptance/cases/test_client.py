"""What memdir relies on in the client. A red case after an update says: the client has changed."""

import shlex
import sys

import pytest

from tests.acceptance.cases.conftest import FACT, PROMPT
from tests.acceptance.cases.test_sessions import LIMIT, PREVIEW
from tests.acceptance.recording import CLIENT, fields, read, record
from tests.acceptance.scripted_api import last_words, said
from tests.helpers.scripted_server import Reply
from tests.helpers.tables import table

EVERY = {"session_id", "transcript_path", "cwd", "hook_event_name"}
NEEDED = table("acceptance", "needed")


def test_hooks_are_given_what_is_recorded(sandbox):
    found, recorded = record(sandbox), read()
    for event in found.values():
        assert {*EVERY, *NEEDED.get(event["hook_event_name"], [])} <= fields(event)
    if sandbox.version() != recorded.pop(CLIENT)["version"]:
        pytest.skip("true for the recorded version, and memdir does not rely on it in others")
    assert found.keys() == recorded.keys()
    for name, event in found.items():
        assert fields(event) == fields(recorded[name]), name


@pytest.mark.parametrize(("more", "whole"), [(0, True), (1, False)])
def test_the_context_of_a_hook_has_a_limit(sandbox, more, whole):
    text = "ä" * (LIMIT + more - len(FACT)) + FACT
    sandbox.listen("UserPromptSubmit", answer=text)
    assert sandbox.ask(PROMPT).succeeded
    assert (FACT in sandbox.sent()) == whole
    assert (PREVIEW in sandbox.sent()) == (not whole)


@pytest.mark.parametrize(("event", "reaches"), [("SubagentStart", True), ("SessionStart", False)])
def test_a_subagent_gets_the_context_of_its_own_hook_alone(sandbox, event, reaches):
    sandbox.listen(event, answer=FACT)
    task = {"description": "Look", "prompt": "Look around.", "subagent_type": "Explore"}
    sandbox.api.replies[:] = [Reply(tool="Agent", data={**task, "run_in_background": False})]
    assert sandbox.ask(PROMPT, "--allowedTools", "Agent").succeeded
    (asked,) = (one for one in sandbox.api.requests if last_words(one).endswith("Look around."))
    assert (FACT in said(asked)) == reaches


def test_a_script_that_is_gone_blocks_the_prompt(sandbox):
    """So the command of a hook has to end with `|| :`; Python alone exits with 2."""
    sandbox.hook("UserPromptSubmit", shlex.join([sys.executable, "-I", "-S", "/no/such/start.py"]))
    assert sandbox.ask(PROMPT).code == 0
    assert sandbox.requests() == []


def test_a_nested_client_runs_the_hooks_again_unless_told_not_to(sandbox):
    sandbox.listen("UserPromptSubmit")
    assert sandbox.ask(PROMPT).succeeded
    assert sandbox.ask(PROMPT, "--setting-sources", "").succeeded
    assert len(sandbox.events("UserPromptSubmit")) == 1
    assert len(sandbox.requests()) == 2
