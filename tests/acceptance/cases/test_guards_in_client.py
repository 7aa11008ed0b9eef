"""A command that a memory forbids: denied once with the memory as the reason, then it runs."""

import pytest

from tests.acceptance.cases.test_sessions import bash, call
from tests.acceptance.scripted_api import AGENT, MAIN, kind, said
from tests.helpers.scripted_server import Reply

TOOLS = ("--allowedTools", "Bash,Agent")
SENTENCE = "Never run `touch forbidden.txt`"
LOOK = {"description": "Look", "prompt": "Look around.", "subagent_type": "general-purpose"}


@pytest.mark.parametrize("who", [MAIN, AGENT])
def test_it_is_denied_once_with_the_reason_and_the_second_call_passes(installed, who):
    installed.memdir("remember", f"{SENTENCE}; it confuses the build.", "--name", "no-touch")
    made = installed.project / "forbidden.txt"
    there: list[bool] = []
    told: list[str] = []

    def choose(request):
        asked = kind(request)
        if asked == who and len(there) < 3:
            there.append(made.exists())
            told.append(said(request))
            return bash("touch forbidden.txt") if len(there) < 3 else Reply("Done.")
        if asked == MAIN and not there:
            return call("Agent", **LOOK)
        return Reply("Done.")

    installed.api.choose = choose
    assert installed.ask("Make the file.", *TOOLS).succeeded
    assert there == [False, False, True]
    assert told[-1].count(SENTENCE) == 1
    assert "memdir guards off no-touch" in told[-1]
