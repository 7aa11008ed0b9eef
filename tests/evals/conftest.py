"""A place to stand, and a small corpus of two repositories."""

import json
from pathlib import Path

import pytest

from tests.helpers.made import QUERIES, STORES, write_store


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that is a git project, and the current one."""
    project = (tmp_path / "shop").resolve()
    (project / ".git").mkdir(parents=True)
    monkeypatch.chdir(project)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("COLUMNS", raising=False)
    return project


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Two repositories with labelled prompts."""
    data = tmp_path / "corpus"
    for repo, memories in STORES.items():
        write_store(data / repo.replace("/", "__") / ".claude/memory", memories)
    lines = [json.dumps({"root": ".claude/memory", **query}) + "\n" for query in QUERIES]
    (data / "queries.jsonl").write_text("".join(lines))
    return data
