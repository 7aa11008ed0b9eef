"""An agent in a fresh session: what it is given at its start, and for a prompt."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memdir.adapters.searches.scan import Scan
from memdir.app import App
from memdir.core.ports import Store
from memdir.flows import recalling

SCOPE = "project"


@dataclass(frozen=True)
class Answer:
    """What is injected for one prompt: paths of bodies and pointers, and the very text."""

    bodies: tuple[str, ...]
    pointers: tuple[str, ...]
    text: str

    @property
    def silent(self) -> bool:
        """True where the prompt gets nothing."""
        return not self.text


@dataclass(frozen=True)
class Agent:
    """Asks through the product's own flow; each prompt is the first of its session."""

    app: App
    standing: str  # the rules it is given when the session starts
    standing_paths: tuple[str, ...]

    def ask(self, prompt: str) -> Answer:
        """What the agent would be told; no index is loaded, nothing was told before."""
        injected = recalling.recall([(SCOPE, self.app)], prompt).injected
        return Answer(
            tuple(one.memory.path for one in injected.bodies),
            tuple(one.memory.path for one in injected.pointers),
            injected.text,
        )


def open_agent(app: App) -> Agent:
    """An agent on that store."""
    text, told = recalling.standing([(SCOPE, app)])
    return Agent(app, text, tuple(memory.path for _, memory in told))


def on_store(app: App, store: Store) -> App:
    """The same wiring on a store of a test set; the search keeps what it read, and no catalog."""
    return replace(app, store=store, search=Scan(store))
