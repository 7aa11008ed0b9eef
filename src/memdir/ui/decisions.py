"""What waits for the user: held drafts, and memories that others wrote and nobody accepted."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from memdir.capture.inbox import Held, held_title, open_inbox, write_held_draft
from memdir.capture.signals import Origin
from memdir.clients.conversation import AGENT, PERSON, TOOL
from memdir.errors import Conflict, MemdirError, Missing
from memdir.format.draft import content_hash
from memdir.hot.memory import decode
from memdir.store.accept import Source, Waiting, find_source_in_store
from memdir.store.writer import App
from memdir.text.secrets import text_before_secrets
from memdir.ui.workspace import Census, state_of_files

DRAFT, MEMORY = "draft", "memory"
LOG = "log"  # client of drafts that come from a log


@dataclass(frozen=True)
class Item:
    """Something to decide on; `version` is what the page has shown of it."""

    id: str
    kind: str
    title: str
    type: str
    text: str
    origin: str  # in words
    quote: str
    said_by: str  # whose words the quote is
    reason: str
    time: float
    version: str


def list_items(app: App, census: Census, others: Sequence[Source]) -> tuple[list[Item], list[str]]:
    """Memories of others come first; also what could not be read."""
    inbox = open_inbox(app)

    def look() -> tuple[list[Item], list[str]]:
        held, findings = inbox.look()
        return [_of_draft(it) for it in held], [it.message for it in findings]

    drafts, broken = census.once("drafts", look, state_of_files(inbox.folder))
    return [_of_memory(it, source) for source in others for it in source.waiting] + drafts, broken


def find_item(items: Sequence[Item], id: str) -> Item:
    for item in items:
        if item.id == id:
            return item
    raise Missing("this was decided on already, or changed", next="look at what waits now")


def _of_draft(held: Held) -> Item:
    draft = held.catch.draft
    return Item(
        id=held.id,
        kind=DRAFT,
        title=held_title(held.catch),
        type=draft.type if draft else "forget",
        text=text_before_secrets(draft.body) if draft else "",
        origin=describe_origin(held.catch.origin, held.time),
        quote=held.catch.origin.quote,
        said_by="In your words" if held.catch.origin.who == PERSON else "In its words",
        reason=held.reason,
        time=held.time,
        version=content_hash(write_held_draft(held)),
    )


def _of_memory(item: Waiting, source: Source) -> Item:
    by = f"{item.author} wrote this" if item.author else "somebody else wrote this"
    return Item(
        id=item.id,
        kind=MEMORY,
        title=item.memory.description or item.memory.name,
        type=item.memory.type,
        text=decode(item.data),
        origin=f"{by} in {source.app.config.origin} ({item.memory.path})",
        quote="",
        said_by="",
        reason="no agent is told it before you accept it",
        time=item.memory.clock,
        version=item.id,
    )


def describe_origin(origin: Origin, time: float) -> str:
    """`You said this on 16 Nov to Claude Code`."""
    day = datetime.datetime.fromtimestamp(time)
    when = f"{day.day} {day:%b}"
    if origin.client == LOG:
        return f"a line of your log, {when}"
    tool = f"the tool {origin.tool} gave this back" if origin.tool else "a tool gave this back"
    says = {PERSON: "you said this", AGENT: "the agent said this", TOOL: tool}
    where = f" in {origin.client}" if origin.client else ""
    session = f", session {origin.session[:8]}" if origin.session else ""
    return f"{says.get(origin.who, 'nobody knows who said this')} on {when}{where}{session}"


def find_others(scopes: Sequence[tuple[str, Callable[[], App]]]) -> list[Source]:
    """Sources of the project's stores with something to accept."""
    found: dict[str, Source] = {}
    for scope, open_scope in scopes:
        with suppress(MemdirError):  # its own page says why
            app = open_scope()
            if app.config.origin and app.store.root not in found:
                source = find_source_in_store(scope, app)
                if source.waiting:
                    found[app.store.root] = source
    return list(found.values())


def read_held(app: App, id: str, version: str) -> Held:
    held = open_inbox(app).read(id)
    now = write_held_draft(held)
    if content_hash(now) != version:
        shown = held.catch.draft.body if held.catch.draft else held.catch.forget
        raise Conflict(
            "this draft was changed since the page was made; nothing was decided",
            path=id,
            next="look at it again",
            ours=b"",
            theirs=shown.encode("utf-8", "surrogateescape"),
        )
    return held


def find_memory_of_others(others: Sequence[Source], id: str) -> tuple[App, Waiting]:
    for source in others:
        for item in source.waiting:
            if item.id == id:
                return source.app, item
    raise Missing("this memory was decided on already, or changed", next="look at it again")
