"""What a case stands on: a sandbox, and one memory with a prompt that it fits."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.sandbox import Sandbox
from tests.acceptance.scripted_api import serve_api
from tests.searching import memory

CASES = Path(__file__).parent
ABOUT = "restarting the staging cluster"
FACT = "The pelican job does it, never a hand."  # in the body alone: the client shows ABOUT itself
PROMPT = "how do we restart the staging cluster?"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(CASES):
            item.add_marker("acceptance")


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[Sandbox]:
    """A client without hooks and memories."""
    program = os.environ.get("ACCEPTANCE_CLIENT", "")
    with serve_api(tmp_path / "requests.jsonl") as api:
        yield Sandbox(tmp_path, program, api)


@pytest.fixture
def remembering(sandbox: Sandbox) -> Sandbox:
    """One with memdir's hook for prompts and the memory that fits PROMPT."""
    sandbox.write_memory("pelican.md", memory("Pelican", ABOUT, f"The staging cluster: {FACT}"))
    sandbox.prompt_hook()
    return sandbox
