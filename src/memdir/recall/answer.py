"""Answers to a prompt, the text at the start of a session, and the instructions for an agent."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memdir.errors import BadInput, Finding, MemdirError
from memdir.hot import inject, safe
from memdir.hot.memory import TEAM as FOLDER
from memdir.hot.memory import Memory, decode, utf16_units
from memdir.hot.place import is_below
from memdir.hot.recall import BODIES, POINTERS, Place, Recollection, why_prompt_gets_no_memory
from memdir.hot.recall import recall as choose
from memdir.hot.run import Sessions, SessionState, keep_told
from memdir.hot.verdicts import Verdicts, tell_dates
from memdir.store.accept import hide_unaccepted, stored_memory_source
from memdir.store.writer import App, store_cache_folder, store_state_folder

if TYPE_CHECKING:
    from memdir.recall.choose import Selected

NONCE_BYTES = 4
SECTION_CHARACTERS = 60_000  # UTF-16 units
INDEX_CHARACTERS = 30_000  # per index, which is limited to 25,000
RESERVED_CHARACTERS = 4_000  # for the standing rules and the frame
Named = Sequence[tuple[str, App]]
Ages = Callable[[App, Sequence[Memory]], tuple[dict[str, float], tuple[str, ...]]]


@dataclass(frozen=True)
class Why:
    """Why a memory was found; `sure` is comparable between prompts."""

    sure: float
    words: dict[str, float]  # what each word added to the score
    type: str
    age_days: int
    note: str


@dataclass(frozen=True)
class RecalledMemory:
    """A memory as an agent is told of it: `text` is framed where it is `shown` as a body."""

    path: str
    name: str
    type: str
    description: str
    scope: str
    store: str
    from_: str  # who else wrote it, and whether it is accepted; empty for the user's own
    score: float
    shown: str  # body or pointer
    text: str
    verdicts: tuple[str, ...]
    why: Why

    def __repr__(self) -> str:
        return f"<{self.scope}: {self.path}: {self.description}>"


def recalled_memory(item: inject.Recalled, now: float, whole: bool = False) -> RecalledMemory:
    render = inject.render_injected_body if whole else inject.render_injected_pointer
    memory, words = item.memory, {word: round(gain, 4) for word, gain in item.words.items()}
    age = safe.age_days(memory.clock, now)
    return RecalledMemory(
        path=memory.path,
        name=memory.name,
        type=memory.type,
        description=memory.description,
        scope=item.scope,
        store=item.root,
        from_=item.giver,
        score=round(item.score, 4),
        shown="body" if whole else "pointer",
        text=render(item, now),
        verdicts=item.verdicts,
        why=Why(round(item.sure, 4), words, memory.type, age, item.note),
    )


@dataclass(frozen=True)
class Recall:
    """What an agent would be told for a prompt, and why."""

    text: str  # exactly what the agent would read
    injected: inject.Injected
    chosen: tuple[inject.Recalled, ...]  # best first, as body or pointer
    found: Recollection
    milliseconds: float  # without the time for reading code
    searched: int
    findings: list[Finding]  # what could not be read
    selected_by: str = "local"  # or `model`
    selection: str = ""  # why a model did not choose although it was asked to
    now: float = 0.0

    def before(self, prompt: str) -> str:
        """The prompt with what was recalled above it, to be kept in the talk for later questions.

        Within a session no memory is told twice: what is not kept is not there for a follow-up.
        """
        return f"{self.text}\n\n{prompt}" if self.text else prompt

    @property
    def memories(self) -> tuple[RecalledMemory, ...]:
        """What was found, best first."""
        whole = {id(item) for item in self.injected.bodies}
        return tuple(recalled_memory(item, self.now, id(item) in whole) for item in self.chosen)

    @property
    def pointers(self) -> tuple[RecalledMemory, ...]:
        """What the agent is told of in one line each."""
        return tuple(recalled_memory(item, self.now) for item in self.injected.pointers)

    @property
    def near(self) -> tuple[RecalledMemory, ...]:
        """The closest where nothing fits."""
        return tuple(recalled_memory(item, self.now) for item in self.found.near)

    @property
    def characters(self) -> int:
        return len(self.text)

    @property
    def abstained(self) -> bool:
        """True where nothing is told because nothing fits, or nothing was wanted."""
        return self.found.abstained

    @property
    def reason(self) -> str:
        """Why there is nothing to tell; empty where there is something."""
        if self.text or self.found.reason:
            return "" if self.text else self.found.reason
        message = "everything that fits was told before"
        return message if self.searched else "there is no memory yet"

    def __repr__(self) -> str:
        paths = ", ".join(item.memory.path for item in self.chosen) or self.reason
        return f"<Recall: {paths}>"


def recall(
    apps: Named,
    prompt: str,
    *,
    session: str = "",
    limit: int = BODIES,
    pointers: int = POINTERS,
    abstain: bool = True,
    model: bool | None = False,
    verify: bool | None = False,
    waiting: bool = False,
    ages: Ages | None = None,
) -> Recall:
    """With `verify` the code is checked now, else kept verdicts are used; None: where none is kept.

    `model` None means as the settings say. `ages` tells since when a memory is as it is, else the
    worker has kept it. `waiting` adds memories of others that nobody has accepted yet, marked as
    such. With a session, the memories told are remembered.
    """
    start = time.perf_counter()
    apps = apps if waiting else [(scope, hide_unaccepted(app)) for scope, app in apps]
    places = [Place(scope, app.store, app.search, stored_memory_source(app)) for scope, app in apps]
    sessions = Sessions(apps[0][1].config.state_dir) if apps and session else None
    state = sessions.load(session) if sessions else SessionState()
    recollection = choose(places, prompt, state, limit=limit, pointers=pointers, abstain=abstain)
    selected: Selected | None = None
    if model is None and apps:
        options = apps[0][1].config.options
        model = bool(options.model) and options.recall_model in ("cli", "always")
    if model and apps and not why_prompt_gets_no_memory(prompt):
        from memdir.recall.choose import select_recalled_by_model

        selected, recollection = select_recalled_by_model(
            apps, places, prompt, state, recollection, session, limit=limit, pointers=pointers
        )
    for scope, app in apps:
        given = [
            item for item in (*recollection.bodies, *recollection.pointers) if item.scope == scope
        ]
        if ages and given:
            starts = ages(app, [item.memory for item in given])[0]
            for item in given:
                item.memory.dated = starts[item.memory.path]
        else:
            cloned = is_below(app.store.root, app.config.checkout)
            tell_dates(store_cache_folder(app.config), given, cloned)
    looked = _verify(apps, recollection, verify)
    now, nonce = apps[0][1].now() if apps else 0.0, os.urandom(NONCE_BYTES).hex()
    told = recollection.bodies, recollection.pointers
    if sessions is None:
        injected = inject.inject_memories(*told, SessionState(), now=now, nonce=nonce)
    else:
        injected = inject.inject_once(*told, sessions, session, state, now=now, nonce=nonce)
        _keep_told(apps, injected, session, prompt)
    chosen = tuple([*recollection.bodies, *recollection.pointers][:limit])
    taken = (time.perf_counter() - start - looked) * 1e3
    by = (selected.by, selected.reason) if selected else ("local", "")
    facts = recollection.searched, recollection.findings
    return Recall(injected.text, injected, chosen, recollection, taken, *facts, *by, now)


def _keep_told(apps: Named, injected: inject.Injected, session: str, prompt: str) -> None:
    config = apps[0][1].config
    if injected.text and config.options.told_log:
        told = injected.bodies, injected.pointers
        keep_told(store_state_folder(config), len(injected.text), *told, session, prompt)


def _verify(apps: Named, recollection: Recollection, anew: bool | None) -> float:
    """Sets the verdicts of each memory; returns the seconds spent reading code."""
    looked = 0.0
    for scope, app in apps:
        bodies = [item for item in recollection.bodies if item.scope == scope]
        if not bodies or not app.config.code:
            continue
        verdicts = Verdicts(store_cache_folder(app.config), app.config.code)
        outdated = verdicts.tell(bodies)
        if anew or (anew is None and outdated):
            from memdir.claims.verify import refresh_verdicts

            start = time.perf_counter()
            refresh_verdicts(app, [item.memory.path for item in bodies])
            looked += time.perf_counter() - start
            verdicts.tell(bodies)
    return looked


def recall_standing_rules(apps: Named) -> tuple[str, list[tuple[str, Memory]]]:
    from memdir.hot.standing import collect_standing_rules

    return collect_standing_rules([(scope, hide_unaccepted(app).store) for scope, app in apps])


def render_session_section(apps: Named, *, session: str = "", full: bool = False) -> str:
    """Indexes and standing rules; with `full` also every memory that an index names.

    A session gets the same text until a clear or compact.
    """
    sessions = Sessions(apps[0][1].config.state_dir) if apps and session else None
    kept = sessions.section(session) if sessions else ""
    if kept:
        return kept
    text = _framed([(scope, hide_unaccepted(app)) for scope, app in apps], full)
    if sessions and text:
        sessions.keep_section(session, text)
        return sessions.section(session) or text  # another process may have been faster
    return text


def _framed(apps: Named, full: bool) -> str:
    parts: list[str] = []
    room = SECTION_CHARACTERS - RESERVED_CHARACTERS
    for _, app in apps:
        path, text = f"{app.store.root}/{app.store.index_path}", decode(app.store.index() or b"")
        index = inject.list_index_to_inject(path, text, min(room, INDEX_CHARACTERS))
        parts.append(index)
        room -= utf16_units(index) + 2
    above = "\n\n".join(filter(None, (*parts, recall_standing_rules(apps)[0])))
    bodies = [pair for it in apps if full for pair in _bodies(*it, len(apps) > 1)]
    places = [(scope, app.store.root) for scope, app in apps if full]
    nonce = os.urandom(NONCE_BYTES).hex()
    return inject.render_hook_frame(nonce, bodies, [], above, places, SECTION_CHARACTERS).text


def _bodies(scope: str, app: App, scoped: bool) -> Iterator[tuple[str, str]]:
    """Each memory that the index names, with its age; and its pointer, where it does not fit."""
    from memdir.store.look import read_store_files, survey_index  # a prompt spares eight modules

    known = {memory.path: memory for memory in app.store.scan().memories}
    files, findings = read_store_files(app.store, survey_index(app).pointers)
    for finding in findings:
        app.tell(f"{finding.message}; {finding.fix}")
    source, now = stored_memory_source(app), app.now()
    for path, data in files:
        if path in known:
            item = inject.Recalled(
                known[path], scope, app.store.root, decode(app.store.view(path, data))
            )
            item.giver = source(path) if source else ""
            line = inject.render_injected_pointer(item, now, scoped)
            yield inject.render_injected_body(item, now), line


def begin_recall_session_anew(apps: Named, session: str) -> None:
    if apps:
        Sessions(apps[0][1].config.state_dir).begin_anew(session)


@dataclass(frozen=True)
class Prompt:
    """The text for the agent, its estimated tokens, and the mode that chose its words."""

    text: str = field(repr=False)
    tokens: int
    mode: str


def render_memory_prompt(apps: Named, mode: str = "", *, indexes: bool = True) -> Prompt:
    """Empty if memory is off. Agents are told to write to the first app's directory.

    Without a mode it is `log` if the setting `dream.logs` says so, else `team` with a team store.
    """
    from memdir.hot.behaviour import LOG, NORMAL, TEAM, Setting, agent_prompt
    from memdir.models.model import count_model_tokens
    from memdir.store.logs import open_daily_log

    (scope, first), *others = apps
    team = next((app for name, app in others if name == FOLDER), None)
    mode = mode or (LOG if first.config.options.dream_logs else TEAM if team else NORMAL)
    if mode == TEAM and team is None:
        raise BadInput(
            f"there is no team directory below scope {scope}",
            next="leave out --mode, or use --scope project",
        )
    if not first.config.enabled:
        return Prompt("", 0, mode)
    # The text says that the directories exist.
    for app in (first, team) if team and mode == TEAM else (first,):
        app.store.make()
    config = first.config
    logs = open_daily_log(config).folder
    setting = Setting(first.store.root, mode, config.options.index, config.shared, logs)
    read = _indexes([hide_unaccepted(app) for _, app in apps]) if indexes else None
    text = agent_prompt(setting, read, nonce=os.urandom(NONCE_BYTES).hex())
    return Prompt(text, count_model_tokens(text), mode)


def _indexes(apps: Sequence[App]) -> list[tuple[str, str]]:
    """Skips an index that cannot be read: it must not hide the others."""
    indexes = []
    for app in apps:
        path = f"{app.store.root}/{app.store.index_path}"
        try:
            indexes.append((path, decode(app.store.index() or b"")))
        except MemdirError as error:
            app.tell(f"{error.message}. Next: {error.next}")
    return indexes
