"""The prompt hook as the client runs it: a bare process, JSON in, JSON or nothing out."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.hooked import Client
from tests.helpers.searching import memory
from tests.helpers.tables import cases

pytestmark = pytest.mark.usefixtures("project")

PROMPT = "how do we restart the staging cluster?"
FACT = "The pelican job restarts the staging cluster."


class Hook(Client):
    def ask(self, prompt: str = PROMPT, session: str = "s", **more: Any) -> str:
        return self.fire("prompt", prompt=prompt, session_id=session, **more)


@pytest.fixture
def hook(tmp_path: Path) -> Hook:
    hook = Hook(tmp_path)
    hook.write("pelican.md", memory("Pelican", FACT, f"{FACT} Never by hand."))
    return hook


def test_the_agent_is_told_once_in_a_session(hook):
    told = hook.ask()
    assert FACT in told
    assert told.startswith("<memdir-")
    assert hook.ask() == ""
    assert FACT in hook.ask(session="other")
    assert FACT in hook.ask(session="")
    assert FACT in hook.ask(session="")


def test_several_hooks_at_once_tell_a_memory_once(hook):
    hook.ask(session="")  # makes the catalog
    with ThreadPoolExecutor(6) as pool:
        told = list(pool.map(lambda _: hook.ask(), range(6)))
    assert sorted(map(bool, told)) == [False] * 5 + [True]


@cases("prompt")
def test_a_prompt_that_needs_no_memory_gets_no_answer(hook, prompt):
    assert hook.ask(prompt) == ""


@cases("prompt", ids=lambda prompt: ascii(prompt[:30]))
def test_an_odd_prompt_is_answered_too(hook, prompt):
    assert FACT in hook.ask(prompt)


@pytest.mark.parametrize(
    "session", ["../../../x", "a\0b", "x" * 10_000, "\ud800", ".", " ", "日本"]
)
def test_an_odd_session_stays_in_its_folder(hook, session):
    assert FACT in hook.ask(session=session)
    assert hook.ask(session=session) == ""
    (file,) = (hook.state / "sessions").iterdir()
    assert file.is_file() and file.stat().st_mode & 0o777 == 0o600


@cases("stdin", ids=lambda stdin: ascii(stdin[:20]))
def test_whatever_comes_in_nothing_goes_out_and_the_session_goes_on(hook, stdin):
    assert hook.run("prompt", stdin) == b""


def test_huge_input_is_answered_and_endless_input_ends(hook):
    assert FACT in hook.ask(padding="x" * 5_000_000)
    endless = json.dumps({"prompt": PROMPT, "padding": "x" * (17 * 1024 * 1024)}).encode()
    assert hook.run("prompt", endless) == b""


def test_a_store_that_changes_meanwhile_is_answered(hook):
    def change(number: int) -> None:
        for turn in range(40):
            path = hook.write(f"m{number}.md", memory(f"M{number}", f"the staging {turn}"))
            path.unlink()

    with ThreadPoolExecutor(6) as pool:
        changes = [pool.submit(change, number) for number in range(2)]
        told = list(pool.map(lambda number: hook.ask(session=str(number)), range(8)))
    assert all(FACT in text for text in told) and not any(done.exception() for done in changes)
    assert hook.log() == ""


def test_a_store_that_cannot_be_opened_hides_no_other(hook):
    (hook.home / ".claude/memory").write_text("a file where a store should be")
    assert FACT in hook.ask()


@pytest.mark.parametrize("what", [".local", ".cache"])
def test_folders_that_cannot_be_made_cost_no_answer(hook, what):
    (hook.home / what).write_text("a file where a folder should be")
    assert FACT in hook.ask()


def test_memories_that_are_no_utf_8_are_told_as_far_as_they_can_be_read(hook):
    (hook.store / "bytes.md").write_bytes(b"---\nname: b\xff\n---\nzebra deploys \xff\xfe friday\n")
    (hook.store / os.fsdecode(b"odd\xff.md")).write_text("the gnu deploys on monday")
    assert "zebra deploys" in hook.ask("when does the zebra deploy?")
    assert "gnu deploys" in hook.ask("when does the gnu deploy?", session="other")


def test_the_answer_is_utf_8_whatever_the_locale(hook):
    hook.write("uni.md", memory("Uni", "the zebra says grüße 日本 🧠"))
    hook.env |= {"LC_ALL": "C", "LANG": "C"}
    assert "grüße 日本 🧠" in hook.ask("what does the zebra say?")
