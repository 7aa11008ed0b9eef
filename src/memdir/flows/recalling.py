"""What comes back for a prompt: recall → verify → inject; waits for no writer of memories."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass

from memdir.adapters.sessions import Sessions
from memdir.app import App
from memdir.core.asking import wants_nothing
from memdir.core.injection import Recalled
from memdir.core.memory import Memory
from memdir.core.selection import Selected
from memdir.core.session_state import SessionState
from memdir.flows.acceptance import as_told, source_of
from memdir.flows.selecting import select_by_model
from memdir.flows.verdicts import kept_verdicts, refresh_verdicts
from memdir.steps.inject import Injected, inject, inject_once
from memdir.steps.recall import BODIES, POINTERS, Place, Recollection
from memdir.steps.recall import recall as choose
from memdir.steps.remind import remind

NONCE_BYTES = 4
Named = Sequence[tuple[str, App]]


@dataclass(frozen=True)
class Recall:
    """What an agent would be told for a prompt, and why."""

    injected: Injected
    chosen: tuple[Recalled, ...]  # the best, in their order, whole or not
    found: Recollection
    milliseconds: float  # without a look at the code
    selected: Selected | None = None  # who chose, where a model was asked

    @property
    def text(self) -> str:
        """Exactly what the agent would read."""
        return self.injected.text

    @property
    def abstained(self) -> bool:
        """True where nothing is told because nothing fits, or nothing was wanted."""
        return self.found.abstained

    @property
    def reason(self) -> str:
        """Why there is nothing to tell; empty where there is something."""
        if self.text or self.found.reason:
            return "" if self.text else self.found.reason
        told = "everything that fits was told before"
        return told if self.found.searched else "there is no memory yet"


def recall(
    apps: Named,
    prompt: str,
    *,
    session: str = "",
    limit: int = BODIES,
    pointers: int = POINTERS,
    abstain: bool = True,
    model: bool = False,
    verify: bool = False,
    waiting: bool = False,
) -> Recall:
    """recall → (select) → verify → inject; with a session, what it was told is remembered

    Without `verify` a memory says what was left behind of its last look at the code, confirmed by
    a glance; with it, the code is looked at now. With `waiting`, for a person, what
    others wrote and nobody has accepted comes along, and says so.
    """
    start = time.perf_counter()
    apps = apps if waiting else [(scope, as_told(app)) for scope, app in apps]
    places = [Place(scope, app.store, app.search, source_of(app)) for scope, app in apps]
    sessions = Sessions(apps[0][1].config.state_dir) if apps and session else None
    state = sessions.load(session) if sessions else SessionState()
    found = choose(places, prompt, state, limit=limit, pointers=pointers, abstain=abstain)
    selected = None
    if model and apps and not wants_nothing(prompt):
        selected, found = select_by_model(
            apps, places, prompt, state, found, session, limit=limit, pointers=pointers
        )
    looked = _verify(apps, found, verify)
    now = apps[0][1].now() if apps else 0.0
    injected = _tell(found, sessions, session, now)
    chosen = tuple([*found.bodies, *found.pointers][:limit])
    taken = (time.perf_counter() - start - looked) * 1e3
    return Recall(injected, chosen, found, taken, selected)


def _verify(apps: Named, found: Recollection, anew: bool) -> float:
    """Let the memories say which claims hold; the seconds that a look at the code took."""
    looked = 0.0
    for scope, app in apps:
        bodies = [one for one in found.bodies if one.scope == scope]
        if bodies and anew:
            start = time.perf_counter()
            refresh_verdicts(app, [one.memory.path for one in bodies])
            looked += time.perf_counter() - start
        if app.config.code:
            kept_verdicts(app).tell(bodies)
    return looked


def _tell(found: Recollection, sessions: Sessions | None, session: str, now: float) -> Injected:
    nonce = secrets.token_hex(NONCE_BYTES)
    if sessions is None:
        return inject(found.bodies, found.pointers, SessionState(), now=now, nonce=nonce)
    return inject_once(found.bodies, found.pointers, sessions, session, now=now, nonce=nonce)


def standing(apps: Named) -> tuple[str, list[tuple[str, Memory]]]:
    """The rules that hold whatever the prompt is: their text, and the memories they come from."""
    return remind([(scope, as_told(app).store) for scope, app in apps])
