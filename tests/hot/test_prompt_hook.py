"""The prompt hook as the client runs it: a bare process, JSON in, JSON or nothing out."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.searching import memory
from tests.helpers.tables import cases
from tests.self.source import PACKAGE

pytestmark = pytest.mark.usefixtures("project")

HOOK = [sys.executable, "-I", "-S", str(PACKAGE / "hot/start.py"), "prompt"]
PROMPT = "how do we restart the staging cluster?"
FACT = "The pelican job restarts the staging cluster."


class Hook:
    """One project's hook; `text` is what the agent would be told."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.store = top / "memory"
        self.stores = [f"project={self.store}"]

    def run(self, stdin: bytes, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        given = arguments or (str(self.top / "state"), str(self.top / "cache"), *self.stores)
        done = subprocess.run([*HOOK, *given], input=stdin, capture_output=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, b"")
        return done

    def ask(self, prompt: str = PROMPT, session: str = "s", **more: Any) -> str:
        event = {"hook_event_name": "UserPromptSubmit", "prompt": prompt, "session_id": session}
        return self.text(self.run(json.dumps({**event, **more}).encode()))

    def text(self, done: subprocess.CompletedProcess[bytes]) -> str:
        assert done.stderr == b""
        if not done.stdout:
            return ""
        found = json.loads(done.stdout)["hookSpecificOutput"]
        assert found["hookEventName"] == "UserPromptSubmit"
        return found["additionalContext"]


@pytest.fixture
def hook(tmp_path: Path) -> Hook:
    hook = Hook(tmp_path)
    hook.store.mkdir()
    (hook.store / "pelican.md").write_text(memory("Pelican", FACT, f"{FACT} Never by hand."))
    return hook


def test_the_agent_is_told_once_in_a_session(hook):
    told = hook.ask()
    assert FACT in told
    assert told.startswith("<memdir-")
    assert hook.ask() == ""
    assert FACT in hook.ask(session="other")
    assert FACT in hook.ask(session="")
    assert FACT in hook.ask(session="")


def test_a_store_under_another_name_is_told_once_too(hook):
    (hook.top / "link").symlink_to(hook.store)
    assert FACT in hook.ask()
    for spelling in ("link", "./memory", "link/", "link/../memory"):
        hook.stores = [f"project={hook.top}/{spelling}"]
        assert hook.ask() == ""


def test_several_hooks_at_once_tell_a_memory_once(hook):
    hook.ask(session="")  # makes the catalog
    with ThreadPoolExecutor(6) as pool:
        told = list(pool.map(lambda _: hook.ask(), range(6)))
    assert sorted(map(bool, told)) == [False] * 5 + [True]


def test_it_leaves_a_catalog_and_a_session_and_nothing_in_the_store(hook):
    hook.ask()
    assert [path.name for path in hook.store.iterdir()] == ["pelican.md"]
    (catalog,) = (hook.top / "cache/stores").glob("*/catalog.sqlite")
    assert catalog.stat().st_size > 0
    assert [path.name for path in (hook.top / "state/sessions").iterdir()] == ["s"]


@cases("prompt")
def test_a_prompt_that_needs_no_memory_gets_no_answer(hook, prompt):
    assert hook.ask(prompt) == ""


@cases("prompt", ids=lambda prompt: ascii(prompt[:30]))
def test_an_odd_prompt_is_answered_too(hook, prompt):
    assert FACT in hook.ask(prompt)


@pytest.mark.parametrize("session", ["../../../x", "a\0b", "x" * 10_000, "\ud800", "/etc/x", "."])
def test_an_odd_session_stays_in_its_folder(hook, session):
    assert FACT in hook.ask(session=session)
    assert hook.ask(session=session) == ""
    (file,) = (hook.top / "state/sessions").iterdir()
    assert file.is_file()


@cases("stdin", ids=lambda stdin: ascii(stdin[:20]))
def test_whatever_comes_in_nothing_goes_out_and_the_session_goes_on(hook, stdin):
    assert hook.run(stdin).stdout == b""


def test_huge_input_is_answered_and_endless_input_ends(hook):
    assert FACT in hook.ask(padding="x" * 5_000_000)
    endless = json.dumps({"prompt": PROMPT, "padding": "x" * (17 * 1024 * 1024)}).encode()
    assert hook.run(endless).stdout == b""


def test_a_store_that_cannot_be_opened_hides_no_other(hook):
    (hook.top / "file").write_text("a file where a store should be")
    hook.stores.insert(0, f"user={hook.top}/file")
    assert FACT in hook.ask()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_a_store_that_may_not_be_read_is_no_trouble(hook):
    hook.store.chmod(0)
    try:
        assert hook.ask() == ""
    finally:
        hook.store.chmod(0o700)


@pytest.mark.parametrize("what", ["state", "cache"])
def test_folders_that_cannot_be_made_cost_no_answer(hook, what):
    (hook.top / what).write_text("a file where a folder should be")
    assert FACT in hook.ask()


def test_memories_that_are_no_utf_8_are_told_as_far_as_they_can_be_read(hook):
    (hook.store / "bytes.md").write_bytes(b"---\nname: b\xff\n---\nzebra deploys \xff\xfe friday\n")
    (hook.store / os.fsdecode(b"odd\xff.md")).write_text("the gnu deploys on monday")
    assert "zebra deploys" in hook.ask("when does the zebra deploy?")
    assert "gnu deploys" in hook.ask("when does the gnu deploy?", session="other")


@pytest.mark.parametrize("arguments", [("only-one",), ("a", "b"), ("a", "b", "no-equals")])
def test_wrong_arguments_are_no_reason_to_stop_a_session(hook, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    assert hook.run(json.dumps({"prompt": PROMPT}).encode(), *arguments).stdout == b""


def test_the_answer_is_utf_8_whatever_the_locale(hook):
    (hook.store / "uni.md").write_text(memory("Uni", "the zebra says grüße 日本 🧠"), "utf-8")
    event = json.dumps({"prompt": "what does the zebra say?", "session_id": "s"}).encode()
    given = (str(hook.top / "state"), str(hook.top / "cache"), *hook.stores)
    env = {"LC_ALL": "C", "LANG": "C", "PATH": os.environ["PATH"]}
    done = subprocess.run([*HOOK, *given], input=event, capture_output=True, env=env, timeout=60)
    assert "grüße 日本 🧠" in hook.text(done)
