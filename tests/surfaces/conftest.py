"""A project to stand in, and its store."""

from pathlib import Path

import pytest

from memdir.config.config import read_config


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
def store(project: Path, home: Path) -> Path:
    """Where the project's memories lie; not there until something is saved."""
    return Path(read_config({"HOME": str(home)}, str(project)).store)
