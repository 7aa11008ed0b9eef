"""`memdir review`: what waits is listed, shown with its origin, approved, edited or rejected."""

import json
import os
import time
from pathlib import Path

import pytest

from memdir.capture.inbox import Held, open_inbox
from memdir.capture.signals import Catch, Origin
from memdir.config.config import read_config
from memdir.format.draft import Draft
from memdir.store.writer import open_app
from tests.helpers.hooked import EVENTS, RECORDED, Client
from tests.helpers.terminal import memdir

pytestmark = pytest.mark.usefixtures("project")

BODY = "The pelican job restarts the staging cluster every morning."
ORIGIN = Origin(
    "claude-code", "5b1f0a22-aaaa", "msg-7", "tool", "WebFetch", "the pelican job \x1b[31m restarts"
)


def hold(
    body: str = BODY,
    environ: dict[str, str] | None = None,
    cwd: str = "",
    origin: Origin = ORIGIN,
    reason: str = "it comes from a tool",
    **more,
) -> Held:
    config = read_config(environ or dict(os.environ), cwd or os.getcwd())
    app = open_app(config, now=time.time, tell=print)
    draft = Draft(body, type="project", **more)
    return open_inbox(app).hold(Catch(origin, draft), reason, time.time())


def test_nothing_of_a_draft_can_command_the_terminal():
    held = hold("Text \x1b]0;title\x07 \u202e and more.")
    for words in ((), ("show", held.id), ("reject", held.id)):
        text = memdir("review", *words).text
        assert not {"\x1b", "\x07", "\u202e"} & set(text)


def test_approved_it_is_a_memory_that_says_where_it_comes_from(store):
    held = hold()
    answer = memdir("review", "approve", held.id, "--json").json
    assert [(one["id"], one["change"]) for one in answer["held"]] == [(held.id, "approved")]
    assert answer["changes"][0]["change"] == "created" and answer["waiting"] == 0
    shown = memdir("show", answer["changes"][0]["name"], "--json").json
    assert shown["metadata"]["source"] == "capture" and shown["metadata"]["said_by"]
    said = "captured: said by tool WebFetch (claude-code, session 5b1f0a22-aaaa)"
    assert said in memdir("show", answer["changes"][0]["name"]).text
    answer = memdir("undo")
    assert answer.code == 0 and f"{held.id} waits for a review again" in answer.text
    assert not list(store.glob("*pelican*"))
    assert held.id in memdir("review").text


DIFF = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"


def test_what_is_refused_still_waits_and_the_command_says_why():
    held = hold(DIFF)
    answer = memdir("review", "approve", held.id)
    assert answer.code == 1 and "still waits" in answer.text and "a diff" in answer.text
    assert memdir("review", "approve", held.id, "--json").json["held"][0]["change"] == "held"


@pytest.mark.parametrize("action", ["approve", "reject"])
def test_all_of_them_are_decided_on_only_with_a_yes(action):
    hold(), hold("Another thing to know.")
    answer = memdir("review", action, "--all")
    assert answer.code == 1 and f"memdir review {action} --all --yes" in answer.stderr
    assert len(memdir("review", "--json").json["held"]) == 2
    assert memdir("review", action, "--all", "--dry-run").code == 0
    assert len(memdir("review", "--json").json["held"]) == 2
    assert memdir("review", action, "--all", "--yes").code == 0
    assert memdir("review", "--json").json["held"] == []
    assert memdir("review", action, "--all").text == "nothing waits for a review\n"


def test_no_hook_ever_tells_an_agent_what_is_held(tmp_path: Path):
    client = Client(tmp_path / "client")
    text = "Herons are quiet in the morning"
    about = f"---\nname: other\ndescription: {text}\ntype: user\n---\n\n{text}.\n"
    client.write("other.md", about)
    client.write("MEMORY.md", "- [other](other.md) — Herons\n")
    hold(environ=client.env, cwd=str(client.project))
    told = b""
    for event, recorded in EVENTS.items():
        given = {**RECORDED[recorded], "cwd": str(client.project), "session_id": "s"}
        given["prompt"] = "how does the pelican job restart the staging cluster? are herons quiet?"
        told += client.run(event, json.dumps(given).encode())
    assert b"pelican" not in told
    assert b"Herons are quiet in the morning." in told
