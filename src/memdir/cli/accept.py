"""The memories of a repository or a team in `memdir review`: what waits, and a yes or a no."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from memdir.cli.command import Session
from memdir.cli.output import Answer, Fields, more_lines, pick, pick_all
from memdir.errors import BadInput, MemdirError, Missing
from memdir.hot.acceptance import ACCEPTED, REJECTED
from memdir.store.accept import Source, Waiting, find_source, record_decision
from memdir.text.terminal import count, line, visible

SHOW, ACCEPT, REJECT = "show", "accept", "reject"
SHORTEST_ID = 4
ID_COLUMNS, TYPE_COLUMNS = 12, 10
ROWS = 50
SOURCE = "id scope from=app.config.origin store=app.store.root memories"
WAITING = "id path=memory.path type=memory.type description=memory.description author"


def find_sources(session: Session, *, rejected: bool = False) -> list[Source]:
    """Each repository or team that something waits of; of one scope where one was named."""
    asked, known = session.asked, session.config.scopes
    everywhere = asked.scope == "project" and asked.dir is None
    sources: dict[tuple[str, str], Source] = {}
    for name in known if everywhere else [str(session.config.scope)]:
        if everywhere and not os.path.isdir(known[name]):
            continue
        with suppress(MemdirError):  # a store that cannot be opened is reported elsewhere
            app = session.at(scope=name).app
            source = find_source(name, app, rejected=rejected) if app.config.origin else None
            if source and source.waiting:
                sources.setdefault((app.store.root, app.config.layout), source)
    return list(sources.values())


def answer(session: Session, action: str, ids: Sequence[str], every: bool) -> Answer | None:
    """What an action does to memories of others; None where it is about drafts."""
    if action not in (SHOW, ACCEPT, REJECT) or (action != ACCEPT and not ids):
        return None
    chosen = _choose(session, ids, every, action)
    if not chosen and action != ACCEPT:
        return None
    fields: Fields = {"held": [], "store": session.config.store, **source_fields(chosen)}
    if action == SHOW:
        return Answer(fields, [text for s in chosen for w in s.waiting for text in _whole(w)])
    decision, dry_run = ACCEPTED if action == ACCEPT else REJECTED, session.asked.dry_run
    would, lines = "would be " if dry_run else "", []
    for source in chosen:
        record_decision(source.app, source.waiting, decision)
        lines += [f"{would}{decision}: {line(item.memory.path)}" for item in source.waiting]
    fields |= {"decision": decision, "dry_run": dry_run}
    return Answer(fields, lines or ["nothing waits for a review"])


def _choose(session: Session, ids: Sequence[str], every: bool, action: str) -> list[Source]:
    """What these ids mean, each with its source; none where they are drafts."""
    if every and action == ACCEPT:
        return find_sources(session)
    if not ids and action == ACCEPT:
        raise BadInput("--all means everything that waits", next="memdir review accept --all --yes")
    known = find_sources(session)
    known += find_sources(session, rejected=True) if action != REJECT else []
    chosen: dict[int, list[Waiting]] = {}
    for id in ids:
        matches = [
            (number, item)
            for number, source in enumerate(known)
            for item in source.waiting
            if len(id) >= SHORTEST_ID and (item.id.startswith(id) or source.id.startswith(id))
        ]
        if not matches and action == ACCEPT:
            raise Missing(
                f"nothing of a repository or a team waits as {id[:40]!r}",
                next="memdir review shows what waits; an id changes with what it stands for",
            )
        if not matches and chosen:
            raise BadInput("decide on drafts and on memories of others one after the other")
        for number, item in matches:
            chosen.setdefault(number, []).append(item)
    return [replace(known[n], waiting=tuple(dict.fromkeys(some))) for n, some in chosen.items()]


def source_lines(session: Session, sources: Sequence[Source]) -> Iterator[str]:
    """Each source with the memories that wait, and how to decide."""
    screen = session.screen
    for number, source in enumerate(sources):
        yield from [""] if number else []
        many = count(len(source.waiting), "memory", "memories")
        root = session.short(source.app.store.root)
        text = f"{many} from {source.app.config.origin} ({root}) that no agent is told:"
        yield from screen.block(source.id, text, "", "bold")
        for item in source.waiting[:ROWS]:
            who = f"by {item.author}" if item.author else "author unknown"
            row = (item.id, item.memory.type, line(item.memory.path), who)
            yield from screen.table([row], (ID_COLUMNS, TYPE_COLUMNS))
            yield from screen.block("", item.memory.description, "    ")
        yield from more_lines(len(source.waiting), ROWS, "")
        steps = f"memdir review show ID, then accept ID or reject ID; {source.id} means all of them"
        yield from screen.block("Next:", screen.advise(steps), "")


def source_fields(sources: Sequence[Source]) -> Fields:
    """The same for a program."""
    fields = [pick(s, SOURCE, memories=pick_all(s.waiting, WAITING)) for s in sources]
    return {"sources": fields}


def _whole(item: Waiting) -> list[str]:
    text = visible(item.memory.head).strip("\n").split("\n")
    who = f" · by {line(item.author)}" if item.author else ""
    return [f"{item.id} · {item.scope} · {line(item.memory.path)}{who}", "", *text, ""]
