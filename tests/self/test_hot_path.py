"""The hot path pays for the bare interpreter and a few C modules, nothing else."""

import json
import subprocess
import sys
import time
from functools import cache

import pytest

from memdir.hot.queue import Queue
from tests.helpers.conversing import TUESDAY, Conversation
from tests.helpers.hooked import EVENTS, SETTLED, Client
from tests.self.source import SRC

# All of `hot` but the files that clients run, and what of other packages a hook may need.
HOT = (
    *(
        f"memdir.hot.{path.stem}"
        for path in sorted((SRC / "memdir/hot").glob("*.py"))
        if not path.stem.startswith(("__", "start"))
    ),
    *("memdir.errors", "memdir.format.index", "memdir.format.pointer", "memdir.store.accepted"),
    *("memdir.records.fields", "memdir.records.hook", "memdir.records.denial"),
)
# C modules of the standard library that bring nothing else with them, under a millisecond each.
LIGHT = {
    *("_collections", "_json", "_random", "_sha2", "_sha256", "_stat", "_string", "_struct"),
    *("binascii", "errno", "fcntl", "itertools", "math", "pwd", "select", "time"),
    *("unicodedata", "zlib"),
}
# Allowed although it brings Python modules of its own (collections, functools): about 3 ms.
SQLITE = "_sqlite3"


@cache
def loaded(*names: str) -> set[str]:
    """What a bare interpreter holds after importing `names`."""
    code = "import sys; sys.path.insert(0, sys.argv[1])\n"
    code += "".join(f"import {name}\n" for name in names) + "print(*sys.modules)"
    command = [sys.executable, "-I", "-S", "-c", code, str(SRC)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return set(run.stdout.split())


def too_heavy(*names: str) -> list[str]:
    held = loaded(*names)
    allowed = loaded("os") | LIGHT | (loaded(SQLITE) if SQLITE in held else set())
    return sorted(name for name in held - allowed if name.split(".")[0] != "memdir")


def test_the_hot_path_imports_only_light_modules():
    assert too_heavy(*HOT) == []
    assert "functools" in too_heavy("functools")  # the check can fail


# Says what was loaded for one answer, as `start.py` gives it.
ANSWER = """
import sys; sys.path.insert(0, sys.argv[1])
from memdir.hot import run
run.END_SECONDS = 60  # on a busy machine it would go on where nobody sees it
run.main(sys.argv[2:])
print()
print(*sys.modules)
"""
NOT_FOR_A_HOOK = {
    *("collections", "functools", "json", "re", "sqlite3", "typing", "dataclasses"),
    *("memdir.config.config", "memdir.store.writer", "memdir.store.changes"),
}
SAYS = {"prompt": "pelican.md", "session-start": "in one sentence", "subagent-start": "with care"}
MAX_PROMPT_MODULES, MAX_WORKER_MODULES = 15, 95  # of ours


def run_hook(client: Client, *words: str, given: bytes = b"") -> tuple[str, set[str]]:
    """What it says, and what was loaded for that."""
    command = [sys.executable, "-I", "-S", "-c", ANSWER, str(SRC), *words]
    run = subprocess.run(command, input=given, capture_output=True, env=client.env)
    assert run.returncode == 0, run.stderr
    said, _, held = run.stdout.decode().strip().rpartition("\n")
    return said.strip(), set(held.split())


def ours(held: set[str]) -> list[str]:
    return sorted(name for name in held if name.split(".")[0] == "memdir")


@pytest.mark.parametrize("event", sorted(EVENTS))
def test_an_event_is_answered_without_heavy_modules(tmp_path, event):
    client = Client(tmp_path)
    client.write("pelican.md", "The pelican cluster is in Oslo.\n")
    client.write("rule.md", "---\ndescription: Answer in one sentence.\ntype: feedback\n---\n")
    explore = client.home / ".claude/agent-memory/Explore"
    client.write("MEMORY.md", "- [Care](care.md) — explore with care\n", explore)
    given = client.event(EVENTS[event], prompt="where is the pelican cluster?", session_id="")
    for _ in range(2):  # the first one decides on the place and makes the catalog
        time.sleep(SETTLED)
        said, held = run_hook(client, event, given=given)
    assert SAYS.get(event, "") in said
    assert bool(said) == (event in SAYS)
    assert ("_sqlite3" in held) == (event in ("prompt", "session-start", "subagent-start"))
    assert held & NOT_FOR_A_HOOK == set()
    assert event != "prompt" or len(ours(held)) <= MAX_PROMPT_MODULES, ours(held)
    client.wait()


def test_the_worker_loads_no_more_than_its_work_needs(tmp_path):
    client = Client(tmp_path)
    talk = Conversation(client.home / ".claude/projects/-project/s1.jsonl", str(client.project))
    talk.say(TUESDAY)
    line = {"event": "stop", "cwd": str(client.project), "time": time.time(), "tries": 0}
    line |= {"session": talk.session, "transcript": str(talk.path)}
    client.state.mkdir(parents=True)
    assert Queue(str(client.state)).add(json.dumps(line).encode())
    _, held = run_hook(client, "worker", str(client.project))
    assert "Tuesday" in (client.store / "MEMORY.md").read_text()  # it has captured
    assert len(ours(held)) <= MAX_WORKER_MODULES, ours(held)
