"""Transcripts and models that are not what they should be: nothing is lost, nothing hangs."""

import json
import os
import subprocess

import pytest

from tests.capture.test_capture import Talking, names
from tests.helpers.conversing import OSLO, TUESDAY, Conversation
from tests.helpers.terminal import SCRIPT
from tests.self.source import SRC

SPARSE_BYTES, MEMORY_BYTES = 500 * 1024 * 1024, 400 * 1024 * 1024


@pytest.fixture
def opened(tmp_path):
    return Talking(tmp_path)


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
