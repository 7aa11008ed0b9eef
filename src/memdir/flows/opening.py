"""What a session starts with: index → references → files → staleness → one section of text."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from memdir.adapters.sessions import Sessions
from memdir.app import App
from memdir.core import frontmatter, injection
from memdir.core.frontmatter import utf16_units
from memdir.core.injection import Recalled
from memdir.core.memory import read_memory
from memdir.flows.acceptance import as_told, source_of
from memdir.flows.reading import read_all, survey_index
from memdir.flows.recalling import NONCE_BYTES, standing

SECTION_CHARACTERS = 60_000  # of the whole text, in UTF-16 units
INDEX_CHARACTERS = 30_000  # of an index: its own limit is 25,000
RESERVED = 4_000  # for the standing rules and the frame
NANOSECONDS = 1e9


def section(apps: Sequence[tuple[str, App]], *, session: str = "", full: bool = False) -> str:
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


def _framed(apps: Sequence[tuple[str, App]], full: bool) -> str:
    """Everything in one frame, within its limit; a memory that does not fit is its pointer."""
    apps = [(scope, as_told(app)) for scope, app in apps]
    parts: list[str] = []
    room = SECTION_CHARACTERS - RESERVED
    for _, app in apps:
        index = injection.listing(_path(app), _index(app), min(room, INDEX_CHARACTERS))
        parts.append(index)
        room -= utf16_units(index) + 2
    parts.append(standing(apps)[0])
    asked = apps if full else []
    bodies = [pair for scope, app in asked for pair in _bodies(scope, app, len(apps) > 1)]
    places = [(scope, app.store.root) for scope, app in asked]
    nonce = secrets.token_hex(NONCE_BYTES)
    above = "\n\n".join(filter(None, parts))
    return injection.frame(nonce, bodies, [], above, places, SECTION_CHARACTERS).text


def begin_anew(apps: Sequence[tuple[str, App]], session: str) -> None:
    """After a clear or a compact the session knows nothing any more."""
    if apps:
        Sessions(apps[0][1].config.state_dir).begin_anew(session)


def _path(app: App) -> str:
    return f"{app.store.root}/{app.store.index_path}"


def _index(app: App) -> str:
    return frontmatter.decode(app.store.index() or b"")


def _bodies(scope: str, app: App, scoped: bool) -> list[tuple[str, str]]:
    """What the index refers to, as recall would tell it: whole, and as a pointer."""
    files, findings = read_all(app, survey_index(app).pointers)
    for finding in findings:
        app.tell(f"{finding.message}; {finding.fix}")
    told, source = [], source_of(app)
    for path, data in files:
        facts = app.store.facts(path)
        memory = read_memory(path, data, facts[0] / NANOSECONDS if facts else app.now())
        one = Recalled(memory, scope, app.store.root, frontmatter.decode(data))
        one.giver = source(path) if source else ""
        now = app.now()
        told.append((injection.body(one, now), injection.pointer(one, now, scoped)))
    return told
