"""What every test stands on: a throw-away home, a fixed day, and ../shared if it is here."""

import os
import signal
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import settings

from memdir.config.config import read_config

# The same examples in every run, so that a red run is a change's fault; HYPOTHESIS_FRESH=1 looks
# for new ones.
settings.register_profile("same", derandomize=True, deadline=None, database=None)
settings.register_profile("fresh", deadline=None)
settings.load_profile("fresh" if os.environ.get("HYPOTHESIS_FRESH") else "same")

# Thousands of subprocesses would compile every module anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# In the background a shell has interrupts ignored, and whatever a test starts would inherit that.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parent.parent
EVERY = bool(os.environ.get("MEMDIR_TEST_EVERY"))  # everything, not only what stands for the rest
only_with_every = pytest.mark.skipif(not EVERY, reason="takes long: MEMDIR_TEST_EVERY=1 make test")
SHARED = ROOT.parent / "shared"

# Variables that lead to the real home, the real memories, or somebody's bill.
OUTSIDE = ("ANTHROPIC_", "CLAUDE", "CODEX_", "GEMINI_", "GIT_", "MEMDIR_", "OPENAI_", "XDG_")
XDG = {
    "XDG_CONFIG_HOME": ".config",
    "XDG_STATE_HOME": ".local/state",
    "XDG_CACHE_HOME": ".cache",
    "XDG_DATA_HOME": ".local/share",
}


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh home beside tmp_path; nothing of the real environment points out of it."""
    home = tmp_path_factory.mktemp("home")
    for name in [name for name in os.environ if name.startswith(OUTSIDE)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    for name, below in XDG.items():
        monkeypatch.setenv(name, str(home / below))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return home


@pytest.fixture
def clock() -> datetime:
    """Noon of a Monday; tests that need a now take this one."""
    return datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The material beside the repository; absent on a machine that has only the repository."""
    if not SHARED.is_dir():
        pytest.skip("../shared (corpus and hostile inputs, not part of the repository) is absent")
    return SHARED


@pytest.fixture
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


BEGUN = time.monotonic()


def pytest_runtest_setup(item):
    """`make quick` runs what fits into its seconds; `make test` runs everything."""
    seconds = float(os.environ.get("MEMDIR_QUICK_SECONDS", "inf"))
    if time.monotonic() - BEGUN > seconds:
        pytest.skip("no time left in make quick: make test runs it")
