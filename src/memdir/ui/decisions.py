"""What waits for the user: held drafts, and memories that others wrote and nobody accepted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from memdir.capture.inbox import Held, held_title, write_held_draft
from memdir.errors import Conflict, Missing
from memdir.format.draft import content_hash
from memdir.hot.memory import decode, encode
from memdir.store.accept import Waiting
from memdir.store.writer import App
from memdir.text.secrets import text_before_secrets

Undecided = tuple[App, Held | Waiting]


def find_undecided(undecided: Iterable[Undecided], id: str, version: str = "") -> Undecided:
    """As the page has shown it, if a version is given."""
    found = next((it for it in undecided if it[1].id == id), None)
    if found is None:
        raise Missing("this was decided on already, or changed", next="look at what waits now")
    item = show_item(*found)
    if version not in ("", item["version"]):
        message = "this draft was changed since the page was made; nothing was decided"
        now = encode(item["text"] or item["title"])
        raise Conflict(message, path=id, next="look at it again", ours=b"", theirs=now)
    return found


def show_item(app: App, thing: Held | Waiting) -> dict[str, Any]:
    """For the templates, which word it; `version` is what the page has shown."""
    shown = {"app": app, "thing": thing, "id": thing.id, "kind": "memory", "version": thing.id}
    if isinstance(thing, Waiting):
        memory, text = thing.memory, decode(thing.data)
        title = memory.description or memory.name
        return shown | {"title": title, "type": memory.type, "text": text, "time": memory.clock}
    draft, title = thing.catch.draft, held_title(thing.catch)
    text, type = (text_before_secrets(draft.body), draft.type) if draft else ("", "forget")
    shown |= {"kind": "draft", "version": content_hash(write_held_draft(thing))}
    return shown | {"title": title, "type": type, "text": text, "time": thing.time}
