"""What comes back for a prompt, what a session starts with, and how an agent is told of it."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memdir.errors import BadInput, MemdirError
from memdir.hot import inject as inject_module
from memdir.hot.behaviour import NORMAL, TEAM, Setting, instruct
from memdir.hot.inject import Injected, Recalled, Sessions, SessionState, inject, inject_once
from memdir.hot.memory import TEAM as FOLDER
from memdir.hot.memory import Memory, decode, read_memory, utf16_units
from memdir.hot.recall import BODIES, POINTERS, Place, Recollection, wants_nothing
from memdir.hot.recall import recall as choose
from memdir.hot.standing import remind
from memdir.hot.verdicts import Verdicts
from memdir.store.accept import as_told, source_of
from memdir.store.writer import App, cache_folder

if TYPE_CHECKING:
    from memdir.recall.choose import Selected

NONCE_BYTES = 4
SECTION_CHARACTERS = 60_000  # of the whole text, in UTF-16 units
INDEX_CHARACTERS = 30_000  # of an index: its own limit is 25,000
RESERVED_CHARACTERS = 4_000  # for the standing rules and the frame
NANOSECONDS = 1e9
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
        from memdir.recall.choose import select_by_model

        selected, found = select_by_model(
            apps, places, prompt, state, found, session, limit=limit, pointers=pointers
        )
    looked = _verify(apps, found, verify)
    now, nonce = apps[0][1].now() if apps else 0.0, os.urandom(NONCE_BYTES).hex()
    told = found.bodies, found.pointers
    if sessions is None:
        injected = inject(*told, SessionState(), now=now, nonce=nonce)
    else:
        injected = inject_once(*told, sessions, session, now=now, nonce=nonce)
    chosen = tuple([*found.bodies, *found.pointers][:limit])
    taken = (time.perf_counter() - start - looked) * 1e3
    return Recall(injected, chosen, found, taken, selected)


def _verify(apps: Named, found: Recollection, anew: bool) -> float:
    """Let the memories say which claims hold; the seconds that a look at the code took."""
    looked = 0.0
    for scope, app in apps:
        bodies = [item for item in found.bodies if item.scope == scope]
        if bodies and anew and app.config.code:
            from memdir.claims.verify import refresh_verdicts

            start = time.perf_counter()
            refresh_verdicts(app, [item.memory.path for item in bodies])
            looked += time.perf_counter() - start
        if app.config.code:
            Verdicts(cache_folder(app.config), app.config.code).tell(bodies)
    return looked


def standing(apps: Named) -> tuple[str, list[tuple[str, Memory]]]:
    """The rules that hold whatever the prompt is: their text, and the memories they come from."""
    return remind([(scope, as_told(app).store) for scope, app in apps])


def section(apps: Named, *, session: str = "", full: bool = False) -> str:
    """Indexes, standing rules, with `full` every memory that an index names, each with its age.

    A session gets the same text each time it asks, until it begins anew after a clear or compact.
    """
    sessions = Sessions(apps[0][1].config.state_dir) if apps and session else None
    kept = sessions.section(session) if sessions else ""
    if kept:
        return kept
    text = _framed(apps, full)
    if sessions and text:
        sessions.keep_section(session, text)
        return sessions.section(session) or text  # another start may have been faster
    return text


def _framed(apps: Named, full: bool) -> str:
    """Everything in one frame, within its limit; a memory that does not fit is its pointer."""
    apps = [(scope, as_told(app)) for scope, app in apps]
    parts: list[str] = []
    room = SECTION_CHARACTERS - RESERVED_CHARACTERS
    for _, app in apps:
        path, text = f"{app.store.root}/{app.store.index_path}", decode(app.store.index() or b"")
        index = inject_module.listing(path, text, min(room, INDEX_CHARACTERS))
        parts.append(index)
        room -= utf16_units(index) + 2
    parts.append(standing(apps)[0])
    asked = apps if full else []
    bodies = [pair for scope, app in asked for pair in _bodies(scope, app, len(apps) > 1)]
    places = [(scope, app.store.root) for scope, app in asked]
    nonce = os.urandom(NONCE_BYTES).hex()
    above = "\n\n".join(filter(None, parts))
    return inject_module.frame(nonce, bodies, [], above, places, SECTION_CHARACTERS).text


def begin_anew(apps: Named, session: str) -> None:
    """After a clear or a compact the session knows nothing any more."""
    if apps:
        Sessions(apps[0][1].config.state_dir).begin_anew(session)


def _bodies(scope: str, app: App, scoped: bool) -> list[tuple[str, str]]:
    """What the index refers to, as recall would tell it: whole, and as a pointer."""
    from memdir.store.look import (
        read_all,
        survey_index,
    )  # not for a recall: it takes long to import

    files, findings = read_all(app, survey_index(app).pointers)
    for finding in findings:
        app.tell(f"{finding.message}; {finding.fix}")
    result, source, now = [], source_of(app), app.now()
    for path, data in files:
        facts = app.store.facts(path)
        memory = read_memory(path, data, facts[0] / NANOSECONDS if facts else now)
        item = Recalled(memory, scope, app.store.root, decode(data))
        item.giver = source(path) if source else ""
        result.append((inject_module.body(item, now), inject_module.pointer(item, now, scoped)))
    return result


@dataclass(frozen=True)
class Prompt:
    """The text for the agent, its estimated tokens, and the mode that chose its words."""

    text: str
    tokens: int
    mode: str


def prompt(apps: Named, mode: str = "", *, indexes: bool = True, limit: int = 0) -> Prompt:
    """directories → words by mode → indexes; no text at all where memory is off.

    The first app's directory is the one that is written to. Without a mode, a team's store among
    the others makes it `team`.
    """
    (scope, first), *others = apps
    team = next((app for name, app in others if name == FOLDER), None)
    mode = mode or (TEAM if team else NORMAL)
    if mode == TEAM and team is None:
        raise BadInput(
            f"there is no team directory below scope {scope}",
            next="leave out --mode, or use --scope project",
        )
    if not first.config.enabled:
        return Prompt("", 0, mode)
    # The words say that they exist, so they do.
    for app in (first, team) if team and mode == TEAM else (first,):
        app.store.make()
    config = first.config
    from memdir.store.logs import open_log

    logs = open_log(config).folder
    setting = Setting(first.store.root, mode, config.options.index, config.shared, logs)
    read = _indexes([as_told(app) for _, app in apps]) if indexes else None
    text = instruct(setting, read, nonce=os.urandom(NONCE_BYTES).hex(), limit=limit)
    from memdir.models.model import tokens_of

    return Prompt(text, tokens_of(text), mode)


def _indexes(apps: Sequence[App]) -> list[tuple[str, str]]:
    """Path and text of each index that can be read; one that cannot must not hide the rest."""
    found = []
    for app in apps:
        path = f"{app.store.root}/{app.store.index_path}"
        try:
            found.append((path, decode(app.store.index() or b"")))
        except MemdirError as error:
            app.tell(f"{error.message}. Next: {error.next}")
    return found
