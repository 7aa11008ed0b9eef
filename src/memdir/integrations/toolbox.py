"""What all adapters share: the tools of a store, and what is told before a prompt."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memdir.errors import BadInput
from memdir.library import Memdir
from memdir.mcp.calls import call_mcp_tool
from memdir.mcp.server import Stores
from memdir.mcp.tools import TOOLS, list_mcp_tools

if TYPE_CHECKING:
    from memdir.store.writer import App

ACTOR = "agent"
PREFIX = "memory_"  # of a tool's name: an agent may have a `save` of its own


@contextmanager
def needs(package: str) -> Iterator[None]:
    """Around the imports of a framework: without it the error says what to install."""
    try:
        yield
    except ImportError as error:
        hint = f"pip install -U {package}"
        message = f"this needs {package}, which is not here or too old ({error}). Next: {hint}"
        raise ModuleNotFoundError(message, name=error.name) from None


class AgentStores(Stores):
    """The stores of a `Memdir` for one call of a tool, so that several may run at once."""

    def __init__(self, memory: Memdir) -> None:
        self.memory, self.scope = memory, ""  # without a scope it is the one that is written
        self.remarks, self.opened = [], []

    def apps(self, scope: str = "") -> list[tuple[str, App]]:
        return [(it, self._open(it, "")) for it in ([scope] if scope else self.memory.scopes())]

    def _open(self, scope: str, client: str) -> App:
        app = self.memory.at(scope, f"{ACTOR}:{client}")
        return replace(app, tell=self.remarks.append)


@dataclass(frozen=True)
class AgentTool:
    """A tool for a model: `call` answers with text, also where it was refused."""

    name: str
    description: str
    schema: dict[str, Any]
    memory: Memdir
    framework: str

    def call(self, arguments: Mapping[str, object]) -> str:
        name = self.name.removeprefix(PREFIX)
        given = dict(arguments)
        return call_mcp_tool(AgentStores(self.memory), name, given, self.framework).text


def agent_tools(memory: Memdir, framework: str, only: Sequence[str] = ()) -> list[AgentTool]:
    """The tools of the MCP server, on this store; `only` names some: recall, save, read …"""
    if unknown := [name for name in only if name not in TOOLS]:
        raise BadInput(f"there is no tool {unknown[0]!r}", next=f"choose of {', '.join(TOOLS)}")
    return [
        AgentTool(PREFIX + str(it["name"]), str(it["description"]), schema, memory, framework)
        for it in list_mcp_tools()
        if it["name"] in (only or TOOLS) and isinstance(schema := it["inputSchema"], dict)
    ]


class Reminder:
    """What is recalled for the prompts of one session. An earlier prompt keeps its text.

    No memory is told twice in a session, so that text has to stay in the talk for the questions
    that follow.
    """

    def __init__(self, memory: Memdir, session: str = "") -> None:
        self.memory, self.session = memory, session or str(uuid.uuid4())
        self._told: dict[str, str] = {}
        self._lock = threading.Lock()

    def told(self, prompt: str) -> str:
        """The text for a prompt; empty where nothing fits."""
        with self._lock:
            if prompt not in self._told:
                self._told[prompt] = self.memory.recall(prompt, session=self.session).text
            return self._told[prompt]

    def before(self, prompt: str) -> str:
        """The prompt below its text; one that has it already stays as it is."""
        if any(text and prompt.startswith(text) for text in self._told.values()):
            return prompt
        text = self.told(prompt)
        return f"{text}\n\n{prompt}" if text else prompt
