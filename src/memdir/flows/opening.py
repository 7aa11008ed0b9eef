"""What a session starts with: index → references → files → staleness → one section of text."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from memdir.adapters.sessions import Sessions
from memdir.app import App
from memdir.core import frontmatter, injection
from memdir.core.injection import Recalled
from memdir.core.memory import read_memory
from memdir.flows.reading import read_all, survey_index
from memdir.flows.recalling import NONCE_BYTES, standing

SECTION_CHARACTERS = 30_000  # of an index: its own limit is 25,000
NANOSECONDS = 1e9


def section(apps: Sequence[tuple[str, App]], *, session: str = "", full: bool = False) -> str:
    """Indexes, standing rules, with `full` every memory that an index names, each with its age.

    A session gets the same text each time it asks, until it begins anew after a clear or compact.
    """
    sessions = Sessions(apps[0][1].config.state_dir) if apps and session else None
    kept = sessions.section(session) if sessions else ""
    if kept:
        return kept
    nonce = secrets.token_hex(NONCE_BYTES)
    parts = [
        injection.contents(_path(app), _index(app), nonce, SECTION_CHARACTERS) for _, app in apps
    ]
    parts.append(standing(apps)[0])
    if full:
        parts += [text for scope, app in apps for text in _bodies(scope, app)]
    text = "\n\n".join(filter(None, parts))
    if sessions and text:
        sessions.keep_section(session, text)
    return text


def begin_anew(apps: Sequence[tuple[str, App]], session: str) -> None:
    """After a clear or a compact the session knows nothing any more."""
    if apps:
        Sessions(apps[0][1].config.state_dir).begin_anew(session)


def _path(app: App) -> str:
    return f"{app.store.root}/{app.store.index_path}"


def _index(app: App) -> str:
    return frontmatter.decode(app.store.index() or b"")


def _bodies(scope: str, app: App) -> list[str]:
    """What the index refers to, as recall would tell it."""
    files, findings = read_all(app, survey_index(app).pointers)
    for finding in findings:
        app.tell(f"{finding.message}; {finding.fix}")
    told = []
    for path, data in files:
        facts = app.store.facts(path)
        memory = read_memory(path, data, facts[0] / NANOSECONDS if facts else app.now())
        one = Recalled(memory, scope, app.store.root, frontmatter.decode(data))
        told.append(injection.body(one, app.now()))
    return told
