"""What a case stands on: a sandbox, and one memory with a prompt that it fits."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.equipped import PLUGIN, SETTINGS, WAYS, Equipped, copy_checkout, copy_package
from tests.acceptance.sandbox import Sandbox
from tests.acceptance.scripted_api import Api
from tests.helpers.scripted_server import serve_script
from tests.helpers.searching import memory

CASES = Path(__file__).parent
PROGRAM = os.environ.get("ACCEPTANCE_CLIENT", "")
ABOUT = "restarting the staging cluster"
FACT = "The pelican job does it, never a hand."  # in the body alone: the client shows ABOUT itself
PROMPT = "how do we restart the staging cluster?"
RULE = "Always use a git worktree for a change of more than one file."
INDEX = "- [Worktree](worktree.md) — never on main\n- [Pelican](pelican.md) — who restarts staging"
MODEL = "anthropic:claude-haiku-4-5"
OFF = "CLAUDE_CODE_DISABLE_AUTO_MEMORY"  # the client's own memory
ALWAYS = "MEMDIR_HOOKS_ALWAYS"  # memdir works all the same


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(CASES):
            item.add_marker("acceptance")


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[Sandbox]:
    """A client without hooks and memories."""
    with serve_script(Api()) as api:
        yield Sandbox(tmp_path, PROGRAM, api)


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all cases that do not change it."""
    return copy_checkout(tmp_path_factory.mktemp("checkout"))


@pytest.fixture
def equipped(tmp_path: Path, checkout: Path) -> Iterator[Equipped]:
    """A client with memories and a checkout of memdir, which is not installed yet.

    In the end nothing may still run, and nothing of it may have had a connection.
    """
    with serve_script(Api()) as api:
        made = Equipped(tmp_path, PROGRAM, api)
        made.checkout = checkout
        made.write_memory("pelican.md", memory("Pelican", ABOUT, f"The staging cluster: {FACT}"))
        made.write_memory("worktree.md", memory("Rule", RULE, RULE, type="feedback"))
        made.write_memory("MEMORY.md", f"{INDEX}\n")
        yield made
        assert made.rest() == []


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory, checkout: Path) -> Iterator[Equipped]:
    """A home where the client has installed the plugin, as `test_install` does it each time."""
    top = tmp_path_factory.mktemp("template")
    with serve_script(Api()) as api:
        made = Equipped(top, PROGRAM, api)
        made.checkout = checkout
        made.install(PLUGIN)
        yield made


@pytest.fixture
def plugged(equipped: Equipped, template: Equipped) -> Equipped:
    """The same with the plugin installed from a marketplace."""
    equipped.copy_plugin(template)
    return equipped


@pytest.fixture(params=WAYS)
def installed(equipped: Equipped, template: Equipped, request: pytest.FixtureRequest) -> Equipped:
    """The same in each way in which memdir can be installed."""
    if request.param == PLUGIN:
        equipped.copy_plugin(template)
    else:
        equipped.install(request.param)
    return equipped


@pytest.fixture
def asking(equipped: Equipped, tmp_path: Path) -> Equipped:
    """memdir[llm] as pip installs it, hooks by setup, and the API as the model of capture."""
    equipped.checkout = copy_package(tmp_path / "package")
    equipped.install(SETTINGS)
    equipped.choose(model__name=MODEL, model__base_url=equipped.api.address)
    return equipped
