"""What one says is kept once, told in words, and asked about only as long as it is open."""

import json
import os
import shutil
from pathlib import Path

import pytest

from memdir.hot.prompt import SAVE_IT, prompt_asks_to_remember
from tests.capture.test_capture_worker import Speaking, told
from tests.helpers.conversing import OSLO, Conversation
from tests.helpers.tables import toml_cases as cases
from tests.helpers.terminal import memdir

pytestmark = pytest.mark.usefixtures("project")

RULE = "From now on we squash before a merge."


def capture(talk: Conversation):
    return memdir("capture", "--transcript", str(talk.path), "--json").json


@pytest.fixture
def talk(tmp_path: Path) -> Conversation:
    return Conversation(tmp_path / "somewhere/5b1f0a22-1111.jsonl")


@pytest.fixture
def client(tmp_path: Path):
    client = Speaking(tmp_path)
    yield client
    client.wait()


@cases("capture")
def test_a_command_of_ours_leaves_no_draft_of_what_it_saved(talk, text):
    command = "<command-message>memdir:remember</command-message>\n"
    command += "<command-name>/memdir:remember</command-name>\n"
    talk.record("user", f"{command}<command-args>{text}</command-args>")
    answer = capture(talk)
    assert (answer["saved"], answer["held"], answer["received"]) == ([], [], 0)


def test_a_record_that_the_agent_saved_in_the_turn_is_not_held_too(talk, project):
    records = project / ".claude/memory/decisions"
    records.mkdir(parents=True)
    path = records / "squash.json"
    path.write_text(json.dumps({"title": "We squash before a merge", "content": {}}))
    talk.say(RULE).wrote(str(path))
    answer = capture(talk)
    assert (answer["saved"], answer["held"]) == ([], [])
    assert [item["reason"] for item in answer["refused"]] == [
        "the agent saved it itself (squash.json)"
    ]


@cases("capture")
def test_a_person_is_not_asked_about_what_stands_somewhere_already(talk, project, where):
    if where == "CLAUDE.md":
        (project / "CLAUDE.md").write_text(f"# Rules\n\n- {RULE}\n")
    elif where == "memory":
        memdir("remember", RULE, "--type", "feedback", "--name", "squash")
    else:
        other = Conversation(talk.path.with_name("other.jsonl")).say(RULE, "Yes.")
        assert len(capture(other)["held"]) == 1
    talk.say(RULE, "Yes.")
    answer = capture(talk)
    assert (answer["saved"], answer["held"]) == ([], [])
    assert "says it already" in answer["refused"][0]["reason"]


def test_the_drafts_of_a_session_are_settled_together(talk, store):
    other = Conversation(talk.path.with_name("77770000-2222.jsonl"))
    talk.say(RULE, "Yes.", "Never push on Fridays, the on-call is thin then.", "Yes.")
    other.say("Always ask Dana about invoices.", "Yes.")
    for conversation in (talk, other):
        capture(conversation)
    answer = memdir("review", "approve", "5b1f0a22", "--json").json
    assert [item["change"] for item in answer["held"]] == ["approved", "approved"]
    assert (answer["waiting"], len(list(store.glob("*.md")))) == (1, 3)
    assert memdir("review", "reject", "7777").code == 0
    assert memdir("review", "--json").json["held"] == []
    assert memdir("review", "approve", "5b1f").code == 1


def test_a_draft_expires_and_can_be_restored(talk, home):
    talk.say(RULE, "Yes.")
    id = capture(talk)["held"][0]["id"]
    (file,) = (home / ".local/state/memdir/stores").glob("*/held/*.json")
    old = file.stat().st_mtime - 31 * 86_400
    os.utime(file, (old, old))
    assert "nothing waits" in memdir("review").text
    assert id in memdir("review", "list", "--rejected").text
    assert memdir("review", "restore", id).code == 0
    assert id not in memdir("review", "list", "--rejected").text


# what hooks say


def test_the_line_about_held_drafts_names_them_and_is_gone_with_them(client):
    talk = client.talk().say(RULE, "Yes.", OSLO, "Yes.")
    client.hook("stop", talk)
    client.settle()
    lines = told(client.hook("session-start", client.talk("s3"))).splitlines()
    assert f'memdir: held for your review (memdir review): "{RULE}"' in lines
    client.settle()
    client.hook("session-end", client.talk("s4").say("Never mock the clock in tests.", "Yes."))
    client.settle()
    client.answer("review", "reject", "--all", "--yes")
    assert "held" not in told(client.hook("session-start", client.talk("s5")))


@cases("capture")
def test_a_prompt_that_asks_to_remember_gets_one_line_for_the_agent(client, prompt, asks):
    printed = client.hook("prompt", client.talk(), prompt=prompt)
    assert (SAVE_IT.encode()[:60] in printed) == asks
    assert prompt_asks_to_remember(prompt) == asks


def test_the_line_for_the_agent_is_never_taken_for_the_persons_words(talk):
    talk.say(f"How does it work?\n{SAVE_IT}", "Well.")
    assert capture(talk)["received"] == 0


def test_the_queue_holds_nothing_that_was_said(client):
    token = "ghp_" + "a1B2c3D4e5" * 4
    client.cache.mkdir(parents=True, exist_ok=True)
    (client.cache / "places").write_text("no worker starts: a file where a folder should be")
    client.hook("stop", client.talk().say("Hi."), last_assistant_message=f"It is {token}.")
    (line,) = client.queue()
    assert token not in json.dumps(line)


def test_forget_retires_only_what_has_every_word_that_tells_it_from_others(talk, store):
    memdir("remember", "We deploy on Fridays.", "--type", "project", "--name", "fridays")
    talk.say("Forget that we deploy on Tuesdays.", "Which?")
    answer = capture(talk)
    assert (answer["saved"], len(answer["held"])) == ([], 1)
    assert "it may mean: fridays.md" in answer["held"][0]["reason"]
    talk.say("Forget about the pelican cluster.", "There is none.")
    assert capture(talk)["refused"][0]["reason"] == "no memory says anything like it"
    # Of a memory that nobody could read, nobody knows whether it is meant.
    deep = store.joinpath(*["f"] * 40)
    deep.mkdir(parents=True)
    (deep / "deep.md").write_text("We run the otter cluster.")
    talk.say("Forget about the otter cluster.", "Which?")
    assert "cannot be read" in capture(talk)["held"][0]["reason"]
    shutil.rmtree(store / deep.relative_to(store).parts[0])
    talk.say("Forget that we deploy on Fridays.", "Done.")
    assert [item["name"] for item in capture(talk)["saved"]] == ["fridays"]
    assert not (store / "fridays.md").exists()
    memdir("remember", "The CI runner has only 4 GB of RAM.", "--type", "project", "--name", "ram")
    talk.say("forget that the CI runner has only 4 GB of RAM", "Done.")
    assert [item["name"] for item in capture(talk)["saved"]] == ["ram"]
    assert not (store / "ram.md").exists()
