"""Ten prompts in one session over a store of the wild: what is told, and that nothing is twice."""

import json
import re
import shutil

import pytest

from tests.acceptance.cases.test_prompt import LIMIT, units
from tests.acceptance.sandbox import FRAME
from tests.conftest import SHARED

REPOSITORY = "penca-io/penca"  # 58 memories and an index
FOLDER = SHARED / "corpus" / REPOSITORY.replace("/", "__") / ".claude/memory"
PROMPTS = 10
LOADED_LINES, LOADED_BYTES = 200, 25_000  # of an index: what the client loads
BODY = re.compile(r"^Memory \(\w+\).*: (?:\S+/)?(\S+\.md)$", re.MULTILINE)
POINTER = re.compile(r"^- (?:\w+: )?(\S+\.md) \(", re.MULTILINE)
LINK = re.compile(r"\]\(([^)]+\.md)\)")


@pytest.fixture
def wild(plugged):
    """The plugin with those memories, in the client's own place."""
    if not FOLDER.is_dir():
        pytest.skip(f"{FOLDER} (a corpus, not part of the repository) is absent")
    shutil.rmtree(plugged.store())
    shutil.copytree(FOLDER, plugged.store())
    return plugged


def test_ten_prompts_over_a_real_store_are_told_nothing_twice(wild):
    queries = map(json.loads, (SHARED / "corpus/queries.jsonl").read_text("utf-8").splitlines())
    prompts = [query["prompt"] for query in queries if query["repo"] == REPOSITORY][:PROMPTS]
    assert len(prompts) == PROMPTS
    index = (FOLDER / "MEMORY.md").read_bytes()[:LOADED_BYTES].decode("utf-8", "ignore")
    listed = set(LINK.findall("\n".join(index.splitlines()[:LOADED_LINES])))
    assert len(list(FOLDER.rglob("*.md"))) > 50 and len(listed) > 50
    told: list[str] = []
    bodies: list[str] = []
    pointers: list[str] = []
    problems = []
    with wild.converse() as talk:
        for prompt in prompts:
            talk.say(prompt)
            frames = [match[0] for match in FRAME.finditer(wild.sent())]
            text = "\n".join(frame for frame in frames if frame not in told)
            told += [frame for frame in frames if frame not in told]
            now, pointed = BODY.findall(text), POINTER.findall(text)
            print(f"{units(text):6} characters, bodies {now}, pointers {pointed}: {prompt[:50]}")
            problems += [f"{path}: body again" for path in now if path in bodies]
            problems += [f"{path}: pointer again" for path in pointed if path in pointers]
            problems += [f"{path}: pointer after its body" for path in pointed if path in bodies]
            problems += [f"{path}: MEMORY.md shows it" for path in pointed if path in listed]
            problems += ["too long"] if units(text) > LIMIT else []
            bodies += now
            pointers += pointed
    assert problems == []
    assert bodies and len(wild.requests()) == PROMPTS and talk.err == ""
    assert [frame for frame in told if wild.sent().count(frame) != 1] == []
