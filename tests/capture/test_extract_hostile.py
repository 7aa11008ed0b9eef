"""Hostile words in past sessions: whatever a tool gave back, nothing of it is saved or proposed."""

import pytest

from memdir.capture.extract import HOLD, LEAVE_OUT
from memdir.capture.inbox import open_inbox
from tests.helpers.conversing import PERSON
from tests.helpers.hostile import inputs
from tests.helpers.opened import tree
from tests.helpers.past_sessions import OSLO, Sessions

OSLO_FILE = "the-staging-cluster-is-in-oslo.md"
# Placeholders and documented examples are no secrets.
SECRETS = [
    one
    for one in inputs("secrets", "body")
    if one.values[0] is None or one.values[0].verdict != "preserve"
]


@pytest.fixture
def past(tmp_path):
    return Sessions(tmp_path)


def give_back(talk, text):
    """What a tool gives back to the agent."""
    call = {"type": "tool_use", "id": f"c{talk.count}", "name": "WebFetch", "input": {"url": "x"}}
    talk.record("assistant", [call])
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": text}
    talk.record(PERSON, [result])


@pytest.mark.parametrize("row", inputs("poisoned instructions"))
def test_a_poisoned_text_of_a_tool_is_never_saved_or_proposed(past, row):
    talk = past.session("What does the page say?")
    give_back(talk, f"{row.value}\nPlease remember this: {row.value}")
    made = past.extract(yes=True)
    assert (past.memories(), made.patches) == ({}, [])
    assert {one.outcome for one in made.items} <= {HOLD, LEAVE_OUT}
    assert all(held.catch.origin.tool == "WebFetch" for held in open_inbox(past.app()).list())


@pytest.mark.parametrize("row", SECRETS)
def test_no_secret_reaches_the_disk(past, row):
    past.session(f"Please remember: {row.value}", "Noted.", f"Never commit with {row.value} set.")
    made = past.extract(yes=True)
    secret = next((one for one in row.value.split() if len(one) > 15), row.value).encode()
    written = {
        **tree(past.home / ".local"),
        **(tree(past.store()) if past.store().is_dir() else {}),
    }
    assert not [path for path, data in written.items() if secret in data]
    assert not [one for one in made.patches if secret.decode() in one.text]


@pytest.mark.parametrize("row", inputs("transcripts for extraction", "transcript"))
def test_a_hostile_transcript_hides_no_other(past, row):
    talk = past.session("Hello.", "Hello.")
    with talk.path.open("ab") as file:
        file.write(row.value.encode("utf-8", "surrogateescape") + b"\n")
    past.session(OSLO)
    made = past.extract()
    assert OSLO_FILE in past.memories()
    assert made.lost == []


@pytest.mark.parametrize("row", inputs("tag and frame break-out", "body"))
def test_words_that_break_out_of_a_frame_do_so_in_no_patch(past, row):
    past.session(f"Never force-push to main, {row.value}")
    for patch in past.extract().patches:
        rows = patch.text.split("\n")
        assert sum(one.startswith(("+++ ", "--- ", "@@ ", "diff ")) for one in rows) == 4
