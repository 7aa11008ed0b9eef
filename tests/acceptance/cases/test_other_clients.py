"""Codex, Gemini CLI and opencode as they are: what stands in the request that the model gets.

Cursor has no client that runs without an account and a screen: its files alone are tested, in
tests/conformance/test_clients.py and tests/clients/test_setup_others.py.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.other_clients import CLIENTS, Canned, Client, Other
from tests.helpers.scripted_server import serve_script

PROMPT = "how do we restart the staging cluster?"
FACT = "The pelican job restarts the staging cluster, never a hand."
OTHER = "The walrus job restarts the staging cluster."  # of another project
WORDS = "outlives this session"  # in the words for the agent
WISH = "Remember that releases go out on Tuesdays only."


@pytest.fixture(params=CLIENTS, ids=[one.name for one in CLIENTS])
def other(request: pytest.FixtureRequest, tmp_path: Path, checkout: Path) -> Iterator[Other]:
    """Memories in two projects; memdir is not set up yet."""
    one: Client = request.param
    if not one.found():
        pytest.skip(f"not installed: python -m tests.acceptance.other_clients {one.name}")
    with serve_script(Canned()) as api:
        made = Other(tmp_path, one, checkout, api)
        made.memdir("remember", FACT, "--type", "project", "--name", "restart")
        made.memdir("remember", OTHER, "--type", "project", project=made.elsewhere)
        yield made
        made.rest()


def test_memories_are_sent_and_learned_and_taken_out_nothing_is_sent(other):
    before = other.files()
    stored = other.memdir("show", "restart")
    other.memdir("setup", other.client.name)
    assert other.files() != before
    other.memdir("setup", other.client.name, "--remove")
    assert other.files() == before
    sent = other.ask(PROMPT)
    assert FACT not in sent and WORDS not in sent
    assert other.memdir("show", "restart") == stored
    other.memdir("setup", other.client.name)
    sent = other.ask(PROMPT)
    assert FACT in sent and OTHER not in sent
    assert WORDS in sent
    assert "recall" in sent and "memdir" in sent  # the tools of the server
    other.ask(WISH)
    other.rest()
    listed = other.memdir("list")["memories"]
    assert any("Tuesdays" in str(one) for one in listed), listed
