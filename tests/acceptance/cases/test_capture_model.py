"""Capture with a model: what it drafts, what it costs, and when it is not asked at all."""

import json
from dataclasses import replace

import pytest

from tests.acceptance.equipped import WAYS
from tests.acceptance.sandbox import FRAME
from tests.acceptance.scripted_api import CAPTURE, MAIN, Rule, kind, said
from tests.helpers.scripted_server import Reply
from tests.helpers.tables import table

TYPICAL = 4_000  # tokens that no cache gave, for the capture of a typical session
BYTES = 4  # of a token
NOTICED = (
    "from now on use a real database in integration tests, the mocked ones hid a broken migration"
)
ABOUT_TESTS = "which database do the integration tests use?"
REASONS = (
    "**Why:** The mocked ones hid a broken migration.",
    "**How to apply:** Whenever an integration test needs data.",
)
DRAFTS = table("acceptance", "drafts")
WISH = "Remember that we deploy only on Tuesdays."
TUESDAYS = "we-deploy-only-on-tuesdays"
CORRECTION = "That is wrong by now, we deploy only on Wednesdays, the release team has moved."


def drafted(*drafts, usage=(2_000, 200)):
    return Reply(data={"drafts": [*drafts]}, usage=usage)


def answer(sandbox, reply):
    """What the model answers to capture from now on."""
    sandbox.api.rules[:] = [rule for rule in sandbox.api.rules if rule.kind != CAPTURE]
    sandbox.api.rules.append(Rule(CAPTURE, reply))


def kinds(sandbox):
    """Every request that came, the client's own and memdir's."""
    return [kind(one) for one in sandbox.api.requests]


@pytest.fixture(params=WAYS)
def nesting(equipped, request):
    """The client itself as the model, and a hook of somebody else that writes down who calls."""
    equipped.offer_client()
    equipped.listen("SessionStart", "UserPromptSubmit", "Stop")
    equipped.install(request.param)
    equipped.choose(capture__model="claude:haiku")
    return equipped


# What it drafts


def test_what_a_model_drafted_is_told_with_its_reasons_in_the_next_session(asking):
    answer(asking, drafted(DRAFTS["noticed"]))
    asking.finish("What does this function do?")
    assert kinds(asking) == [MAIN]  # where nothing is worth it, no model is asked
    asking.api.requests.clear()
    asking.finish(NOTICED)
    assert asking.ask(ABOUT_TESTS).succeeded
    told = "\n".join(asking.told())
    assert all(reason in told for reason in REASONS)
    asking.rest()
    assert kinds(asking) == [MAIN, CAPTURE, MAIN]
    (asked,) = asking.requests(CAPTURE)
    assert len(json.dumps(asked.body)) / BYTES < TYPICAL
    status = asking.memdir("status")
    assert (status["received"], status["saved"], status["balances"]) == (1, 1, True)
    assert status["budget"]["left"] == status["budget"]["day_tokens"] - 2_200


def test_the_client_as_a_model_calls_no_hook_and_asks_once(nesting):
    answer(nesting, replace(drafted(DRAFTS["noticed"]), tool="StructuredOutput"))
    nesting.heard.unlink(missing_ok=True)  # what installing said
    nesting.finish(NOTICED)
    assert nesting.ask(ABOUT_TESTS).succeeded
    told = "\n".join(nesting.told())
    assert all(reason in told for reason in REASONS)
    nesting.rest()
    assert kinds(nesting) == [MAIN, CAPTURE, MAIN]
    assert not FRAME.search(said(nesting.requests(CAPTURE)[0]))
    for event in ("SessionStart", "UserPromptSubmit", "Stop"):
        assert len(nesting.events(event)) == 2, event
    assert nesting.memdir("status")["received"] == 1


def test_a_client_that_finds_no_end_as_a_model_is_stopped(nesting):
    """A model that calls a tool which is not there gets an answer, and may do so for ever."""
    answer(nesting, Reply(tool="Missing", data={}))
    nesting.finish(NOTICED)
    assert 1 <= kinds(nesting).count(CAPTURE) <= 3
    status = nesting.memdir("status")
    assert (status["waiting"], status["balances"]) == (1, True)  # tried again later


def test_a_correction_changes_the_memory_that_is_there(asking):
    answer(asking, drafted())
    asking.finish(WISH)
    first = asking.memories()
    assert b"Tuesdays" in first[f"{TUESDAYS}.md"]
    answer(asking, drafted(DRAFTS["corrected"]))
    asking.finish(CORRECTION)
    second = asking.memories()
    assert second.keys() == first.keys()
    assert b"We deploy only on Wednesdays.\n\n**Why:** The release" in second[f"{TUESDAYS}.md"]
    assert b"only on Tuesdays" not in second[f"{TUESDAYS}.md"]
    newest, *_ = asking.memdir("log", TUESDAYS)["changes"]
    changed = {one["path"]: one["change"] for one in newest["paths"]}
    assert (newest["actor"], changed[f"{TUESDAYS}.md"]) == ("capture", "M")
    assert asking.ask("on which day of the week do we deploy?").succeeded
    assert "We deploy only on Wednesdays." in "\n".join(asking.told())
    asking.rest()
    asking.memdir("undo")
    assert asking.memories() == first


# Several at once


def test_two_sessions_that_end_at_once_are_captured_once_each(asking):
    answer(asking, drafted())
    wishes = [WISH, "Remember that the staging database is called heron, for reasons of history."]
    running = [asking.start("-p", wish) for wish in wishes]
    for one in running:
        one.communicate(timeout=90)
        assert one.returncode == 0
    asking.rest()
    assert kinds(asking) == [MAIN, MAIN]  # what is asked for needs no model
    new = asking.memories().keys() - {"MEMORY.md", "pelican.md", "worktree.md"}
    assert len(new) == 2
    status = asking.memdir("status")
    assert (status["received"], status["saved"], status["balances"]) == (2, 2, True)
    assert status["queued"] == 0
