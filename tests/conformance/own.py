"""Members of a user's own, one file each: the suites run over them as they do over ours.

Those of `examples/own`, and with MEMDIR_TEST_OWN=FOLDER (such as ~/.config/memdir) yours instead.
"""

import importlib.util
import os
from types import ModuleType

import pytest

from memdir.store import registry
from tests.self.source import ROOT

KEYS = {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}
needs_extra = pytest.mark.skipif(
    importlib.util.find_spec("pydantic_ai") is None,
    reason="pydantic-ai is not installed: pip install 'memdir[llm]'",
)
EXAMPLES = str(ROOT / "examples/own")
FOLDER = os.path.expanduser(os.environ.get("MEMDIR_TEST_OWN") or EXAMPLES)


def members(family: str) -> tuple[str, ...]:
    """Ours and the user's."""
    return registry.members(family, FOLDER)


def own(family: str) -> tuple[str, ...]:
    """The user's alone."""
    return registry.own_members(family, FOLDER)


def load(family: str, name: str) -> ModuleType:
    return registry.load(family, name, FOLDER)
