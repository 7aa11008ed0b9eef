"""What waits for the user: held drafts, and memories that others wrote and nobody accepted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from memdir.capture.inbox import Held, held_title, open_inbox, write_held_draft
from memdir.errors import Conflict, Missing
from memdir.format.draft import content_hash
from memdir.hot.memory import decode, encode
from memdir.store.accept import Source, Waiting
from memdir.store.writer import App
from memdir.text.secrets import text_before_secrets
from memdir.ui.workspace import Census, state_of_files

DRAFT, MEMORY = "draft", "memory"
Undecided = tuple[App, Held | Waiting]


def list_undecided(
    app: App, census: Census, others: Sequence[Source]
) -> tuple[list[Undecided], list[str]]:
    """Memories of others come first; also what could not be read."""
    inbox = open_inbox(app)
    held, findings = census.once("drafts", inbox.look, state_of_files(inbox.folder))
    foreign = [(source.app, it) for source in others for it in source.waiting]
    return [*foreign, *((app, it) for it in held)], [it.message for it in findings]


def find_undecided(undecided: Iterable[Undecided], id: str, version: str = "") -> Undecided:
    """As the page has shown it, if a version is given."""
    found = next((it for it in undecided if it[1].id == id), None)
    if found is None:
        hint = "look at what waits now"
        raise Missing("this was decided on already, or changed", next=hint)
    item = show_item(*found)
    if version not in ("", item["version"]):
        message = "this draft was changed since the page was made; nothing was decided"
        now = encode(item["text"] or item["title"])
        raise Conflict(message, path=id, next="look at it again", ours=b"", theirs=now)
    return found


def show_item(app: App, thing: Held | Waiting) -> dict[str, Any]:
    """For the templates, which word it; `version` is what the page has shown."""
    shown = {"app": app, "thing": thing, "id": thing.id, "kind": MEMORY, "version": thing.id}
    if isinstance(thing, Waiting):
        memory, text = thing.memory, decode(thing.data)
        title = memory.description or memory.name
        return shown | {"title": title, "type": memory.type, "text": text, "time": memory.clock}
    draft, title = thing.catch.draft, held_title(thing.catch)
    text, type = (text_before_secrets(draft.body), draft.type) if draft else ("", "forget")
    shown |= {"kind": DRAFT, "version": content_hash(write_held_draft(thing))}
    return shown | {"title": title, "type": type, "text": text, "time": thing.time}
