"""The memories of a repository or a team in `memdir review`: what waits, and a yes or a no."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from memdir.cli.command import Session
from memdir.cli.output import Fields
from memdir.errors import BadInput, MemdirError, Missing
from memdir.hot.acceptance import ACCEPTED, REJECTED
from memdir.store.accept import Source, Waiting, find_source
from memdir.store.accept import decide as put_down
from memdir.text.terminal import count, line, visible

SHOW, ACCEPT, REJECT = "show", "accept", "reject"
SHORTEST_ID = 4
ID_COLUMNS, TYPE_COLUMNS = 12, 10
ROWS = 50


def sources(session: Session, *, rejected: bool = False) -> list[Source]:
    """Each repository or team that something waits of; of one scope where one was named."""
    asked, known = session.asked, session.config.scopes
    everywhere = asked.scope == "project" and asked.dir is None
    names = [*known] if everywhere else [str(session.config.scope)]
    found, seen = [], set[tuple[str, str]]()
    for name in names:
        if everywhere and not os.path.isdir(known[name]):
            continue
        with suppress(MemdirError):  # a store that cannot be opened is reported elsewhere
            app = Session(session.screen, replace(asked, scope=name), asked.config(name)).app
            key = (app.store.root, app.config.layout)
            source = find_source(name, app, rejected=rejected) if app.config.origin else None
            if source and source.waiting and key not in seen:
                seen.add(key)
                found.append(source)
    return found


def answer(session: Session, action: str, ids: Sequence[str], every: bool) -> int | None:
    """What an action does to memories of others; None where it is about drafts."""
    if action not in (SHOW, ACCEPT, REJECT) or (action != ACCEPT and not ids):
        return None
    chosen = _choose(session, ids, every, action)
    return _decide(session, chosen, action) if chosen or action == ACCEPT else None


def _choose(session: Session, ids: Sequence[str], every: bool, action: str) -> list[Source]:
    """What these ids mean, each with its source; none where they are drafts."""
    there = sources(session) + (sources(session, rejected=True) if action != REJECT else [])
    if every and action == ACCEPT:
        return sources(session)
    chosen: dict[int, list[Waiting]] = {}
    for id in ids:
        found = {
            (at, one.id): one
            for at, source in enumerate(there)
            for one in source.waiting
            if len(id) >= SHORTEST_ID and (one.id.startswith(id) or source.id.startswith(id))
        }
        if not found and action == ACCEPT:
            raise Missing(
                f"nothing of a repository or a team waits as {id[:40]!r}",
                next="memdir review shows what waits; an id changes with what it stands for",
            )
        if not found and chosen:
            raise BadInput("decide on drafts and on memories of others one after the other")
        for (at, _), one in found.items():
            chosen.setdefault(at, []).append(one)
    if not ids and action == ACCEPT:
        raise BadInput("--all means everything that waits", next="memdir review accept --all --yes")
    return [replace(there[at], waiting=tuple(dict.fromkeys(some))) for at, some in chosen.items()]


def _decide(session: Session, chosen: Sequence[Source], action: str) -> int:
    """Show it, or put the decision down."""
    fields: Fields = {"held": [], "store": session.config.store, **source_fields(chosen)}
    if action == SHOW:
        lines = [text for source in chosen for one in source.waiting for text in _whole(one)]
        session.screen.answer(fields, lines)
        return 0
    decision = ACCEPTED if action == ACCEPT else REJECTED
    dry_run, lines = session.asked.dry_run, []
    for source in chosen:
        put_down(source.app, source.waiting, decision)
        would = "would be " if dry_run else ""
        lines += [f"{would}{decision}: {line(one.memory.path)}" for one in source.waiting]
    fields |= {"decision": decision, "dry_run": dry_run}
    session.screen.answer(fields, lines or ["nothing waits for a review"])
    return 0


def source_lines(session: Session, found: Sequence[Source]) -> list[str]:
    """Each source with the memories that wait, and how to decide."""
    screen, lines = session.screen, list[str]()
    for source in found:
        lines += [""] if lines else []
        many = count(len(source.waiting), "memory", "memories")
        root = session.short(source.app.store.root)
        lines += screen.block(
            source.id,
            f"{many} from {source.app.config.origin} ({root}) that no agent is told:",
            "",
            "bold",
        )
        for one in source.waiting[:ROWS]:
            who = f"by {one.author}" if one.author else "author unknown"
            row = (one.id, one.memory.type, line(one.memory.path), who)
            lines += screen.table([row], (ID_COLUMNS, TYPE_COLUMNS))
            lines += screen.block("", one.memory.description, "    ")
        if len(source.waiting) > ROWS:
            lines += [f"  and {len(source.waiting) - ROWS:,} more"]
        steps = f"memdir review show ID, then accept ID or reject ID; {source.id} means all of them"
        lines += screen.block("Next:", screen.advise(steps), "")
    return lines


def source_fields(found: Sequence[Source]) -> Fields:
    """The same for a program."""
    return {
        "sources": [
            {
                "id": source.id,
                "scope": source.scope,
                "from": source.app.config.origin,
                "store": source.app.store.root,
                "memories": [
                    {
                        "id": one.id,
                        "path": one.memory.path,
                        "type": one.memory.type,
                        "description": one.memory.description,
                        "author": one.author,
                    }
                    for one in source.waiting
                ],
            }
            for source in found
        ]
    }


def _whole(one: Waiting) -> list[str]:
    text = visible(one.memory.head).strip("\n").split("\n")
    who = f" · by {line(one.author)}" if one.author else ""
    return [f"{one.id} · {one.scope} · {line(one.memory.path)}{who}", "", *text, ""]
