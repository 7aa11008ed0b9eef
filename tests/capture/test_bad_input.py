"""Transcripts and models that are not what they should be: nothing is lost, nothing hangs."""

import importlib.util
import json
import os
import subprocess

import pytest

from memdir.capture import capture as capture_module
from memdir.capture.ask import NOBODY_SAID_IT
from memdir.capture.progress import HELD, REFUSED, SAVED
from tests.capture.test_capture import Talking, names
from tests.helpers.conversing import NOTICED, OSLO, TUESDAY, Conversation
from tests.helpers.scripted_server import Reply, serve
from tests.helpers.terminal import SCRIPT
from tests.self.source import SRC

SPARSE_BYTES, MEMORY_BYTES = 500 * 1024 * 1024, 400 * 1024 * 1024


@pytest.fixture
def opened(tmp_path):
    return Talking(tmp_path)


def test_a_torn_last_line_is_read_once_it_is_whole(opened):
    opened.say(TUESDAY, "Yes.", OSLO)
    whole = opened.talk.path.read_bytes()
    opened.talk.path.write_bytes(whole[:-40])
    assert names(opened.capture()) == ["we-deploy-only-on-tuesdays"]
    opened.talk.path.write_bytes(whole)
    assert names(opened.capture()) == ["staging-cluster-oslo"]


def test_a_transcript_of_a_later_version_is_read_as_far_as_it_is_known(opened):
    opened.talk.path.write_text('{"type": "hologram", "uuid": "h1", "beams": [1, 2]}\n')
    content = [{"type": "hologram"}, {"type": "text", "text": TUESDAY, "mood": 7}]
    opened.talk.record("user", content, version=99, timestamp="2999-01-01T00:00:00Z")
    assert names(opened.capture()) == ["we-deploy-only-on-tuesdays"]
    assert opened.capture(ends=True).decided == ()


def test_a_huge_transcript_is_read_from_where_it_was_left(opened):
    opened.say(TUESDAY, "Yes.")
    opened.capture()
    with opened.talk.path.open("r+b") as file:
        file.truncate(SPARSE_BYTES)
        file.seek(SPARSE_BYTES)
        file.write(b"\n")
    opened.say(OSLO, "Yes.")
    outcome = opened.capture()
    assert names(outcome) == ["staging-cluster-oslo"]
    assert opened.counts() == (2, 2, 0, 0, 0)


@pytest.mark.parametrize("filler", [b"\0", b"\n", b'{"type": "user", "uuid": 1}\n'])
def test_a_huge_transcript_that_is_new_takes_bounded_memory(tmp_path, filler):
    talk = Conversation(tmp_path / "talks/talk.jsonl", str(tmp_path)).say("Hello.", "Hello.")
    with talk.path.open("ab") as file:
        file.write(filler * (SPARSE_BYTES // 50 // len(filler)) if filler != b"\0" else b"")
        file.truncate(SPARSE_BYTES)
        file.seek(SPARSE_BYTES)
        file.write(b"\n")
    talk.say(OSLO, "Yes.")
    limited = ["sh", "-c", f'ulimit -v {MEMORY_BYTES // 1024}; exec "$0" "$@"', *SCRIPT]
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONPATH": str(SRC)}
    words = [*limited, "capture", "--transcript", str(talk.path), "--json"]
    done = subprocess.run(words, capture_output=True, env=env, cwd=tmp_path)
    assert [saved["name"] for saved in json.loads(done.stdout)["saved"]] == ["staging-cluster-oslo"]


@pytest.mark.parametrize("filler", ["x", "x ", "x. ", "remember that x. ", "\n", "「", "`", "<a>"])
def test_a_message_of_a_megabyte_saves_nothing_and_hides_no_other(opened, filler):
    opened.say(filler * (1_000_000 // len(filler)), "Oh.", TUESDAY, "Yes.")
    assert "we-deploy-only-on-tuesdays" in names(opened.capture())
    assert len(opened.memories()) == 1


# models, over the real protocol

needs_packages = pytest.mark.skipif(
    importlib.util.find_spec("pydantic_ai") is None,
    reason="pydantic-ai is not installed: pip install 'memdir[llm]'",
)
UNSAID = {"name": "tabs", "type": "feedback", "description": "Tabs", "body": "Use tabs."}


@needs_packages
@pytest.mark.parametrize(
    ("reply", "waiting"),
    [
        (Reply(raw=b"\x00\xff nonsense"), 0),
        (Reply(status=500), 1),
        (Reply(wait=9.0), 1),
        (Reply(data={"drafts": "five"}), 0),
        (Reply(data={"drafts": [{**UNSAID, "quote": "I like tabs"}]}), 0),
    ],
    ids=["nonsense", "error", "silence", "misfit", "unsaid"],
)
def test_a_model_that_fails_costs_no_request_and_no_rule(tmp_path, monkeypatch, reply, waiting):
    if reply.wait:
        monkeypatch.setattr(capture_module, "SECONDS", reply.wait / 9)
    with serve(reply) as server:
        opened = Talking(tmp_path, model="anthropic:m", model_base_url=server.address)
        opened.options["ANTHROPIC_API_KEY"] = "k"
        opened.say(OSLO, "Noted.", NOTICED, "Understood.")
        outcome = opened.capture()
    assert names(outcome) == ["staging-cluster-oslo"]
    assert outcome.waiting == waiting
    texts = json.dumps([str(item) for item in outcome.things.values()])
    assert "Use tabs" not in texts
    if not waiting:
        refused = [item.reason for item in outcome.of(REFUSED)]
        assert refused == [NOBODY_SAID_IT] or len(outcome.of(HELD)) == 1
    assert len(outcome.of(SAVED)) == 1
