"""Our version of a memory where the same lines were changed elsewhere: it waits in the inbox."""

from __future__ import annotations

from memdir.capture.inbox import open_inbox
from memdir.capture.signals import Catch, Origin
from memdir.clients.conversation import PERSON
from memdir.errors import MemdirError
from memdir.format.draft import RESERVED_KEYS, Draft, check_draft
from memdir.hot.disk import digest_of
from memdir.hot.memory import decode, read_header, read_memory, stem
from memdir.hot.types import names
from memdir.store.ports import TRASH
from memdir.store.writer import App

HASH_CHARACTERS = 8
SOURCE = "sync"


def variant_name(path: str, data: bytes) -> str:
    """The same text has the same name on every machine, so it is never held twice."""
    return f"{stem(path)}-{digest_of(data)[:HASH_CHARACTERS]}".lower()


def hold_variant(app: App, path: str, data: bytes, author: str) -> str:
    """Where it waits. What no draft can hold is put on the shelf, whole."""
    name, who = variant_name(path, data), author or "another machine"
    reason = f"the same lines of {path} were changed here and by {who}; theirs stand"
    if app.dry_run:
        return name
    memory, document = read_memory(path, data, 0), read_header(decode(data))
    extra = [(key, value) for key, value in document.values.items() if key not in RESERVED_KEYS]
    draft = Draft(
        body=document.body.strip("\n"),
        type=memory.type if memory.type in names() else "unknown",
        name=name,
        description=document.get("description"),
        pinned=memory.pinned,
        source=SOURCE,
        extra=tuple(extra),
    )
    try:
        check_draft(draft, app.rules())
        return (
            open_inbox(app)
            .hold(Catch(Origin(SOURCE, message=name, who=PERSON), draft), reason, app.now())
            .id
        )
    except MemdirError:
        app.shelf.lay(TRASH, f"{name}.md", data, app.now())
        return f"trash: memdir restore {name}"
