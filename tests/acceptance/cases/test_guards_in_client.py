"""A command that a memory forbids: denied once with the memory as the reason, then it runs."""

import pytest

from tests.acceptance.cases.test_sessions import bash, call
from tests.acceptance.scripted_api import AGENT, MAIN, kind, said
from tests.helpers.scripted_server import Reply

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
