"""The tools that change something: save, forget, undo; each through the one writer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memdir import flows
from memdir.core.draft import ANYWAY, SKIPPED, Change, Draft, Wishes
from memdir.core.errors import BadInput
from memdir.core.inert import inert_line
from memdir.core.matching import WILD
from memdir.core.memory import UNKNOWN
from memdir.core.naming import check_name
from memdir.core.scope import RECORDS
from memdir.surfaces.mcp import words
from memdir.surfaces.mcp.words import Told

if TYPE_CHECKING:
    from memdir.app import App, Done
    from memdir.surfaces.mcp.messages import Fields
    from memdir.surfaces.mcp.stores import Stores

SHORTEST_ID = 8  # characters that may stand for a change
SHORT_ID = 12
LOOKED_AT = 3  # newest changes of a memory
LINE_BYTES = 600


def save(stores: Stores, given: Fields, client: str) -> Told:
    """A new memory, or the next version of the one that has its name."""
    app = _markdown(stores, given, client)
    name = str(given.get("name", ""))
    draft = Draft(
        body=str(given["text"]),
        type=str(given.get("type", UNKNOWN)),
        name=check_name(name) if name else "",
        description=str(given.get("description", "")),
        why=str(given.get("why", "")),
        how=str(given.get("how", "")),
        source=app.actor,
        expected=str(given["if_hash"]) if given.get("if_hash") else None,
    )
    done = flows.save(app, draft, Wishes(bool(given.get("anyway")), offered=(ANYWAY,)))
    change = done.changes[0]
    remarks = list(done.remarks)
    if not app.config.enabled:
        by = app.config.enabled_by
        remarks.append(f"memory is switched off (by {by}); the client will not load this by itself")
    return _told(app, done, change, remarks)


def forget(stores: Stores, given: Fields, client: str) -> Told:
    """Into the trash, one memory at a time: a pattern might mean more than was read."""
    app, name = _markdown(stores, given, client), str(given["name"])
    if not name.strip():
        raise BadInput("name is empty", next="memdir list shows them")
    if any(mark in name for mark in WILD):
        raise BadInput("name holds a wildcard", next="name one memory")
    done = flows.retire(app, [name], reason=str(given.get("reason", "")))
    return _told(app, done, done.changes[0], [*done.remarks, _way_back(app, done.changes[0])])


def _way_back(app: App, change: Change) -> str:
    """What to call to have it again; in the log another change may already be the newest."""
    found = flows.log(app, change.path, LOOKED_AT)
    ours = [one for one in found if (one.cause.verb, one.cause.actor) == ("retire", app.actor)]
    id = f"change {ours[0].id[:SHORT_ID]}" if ours else "the id that history shows"
    return f"to bring it back, call undo with {id}"


def undo(stores: Stores, given: Fields, client: str) -> Told:
    """One change by its id: the newest may be somebody else's."""
    app, change = stores.app(str(given.get("scope", "")), client), str(given["change"]).strip()
    if len(change) < SHORTEST_ID or change.lower().strip("0123456789abcdef"):
        raise BadInput(
            f"change is an id of {SHORTEST_ID} or more of 0-9 and a-f", next="memdir log shows them"
        )
    done = flows.undo(app, change)
    lines = [f"undone: {one.path} {one.reason or 'is as it was before'}" for one in done.changes]
    lines = [inert_line(line, LINE_BYTES) for line in lines[:20]]
    paths = [inert_line(one.path, LINE_BYTES) for one in done.changes]
    fields: Fields = {"change": "undone", "paths": paths, "remarks": _plain(done.remarks)}
    nothing = ["The files are as before already; nothing was written."]
    return Told(words.remarked(lines or nothing, done.remarks), fields)


def _markdown(stores: Stores, given: Fields, client: str) -> App:
    app = stores.app(str(given.get("scope", "")), client)
    if app.config.layout == RECORDS:
        raise BadInput(
            f"the scope {RECORDS} holds records, which these tools only read",
            next="choose another scope, or let the user run memdir records",
        )
    return app


def _told(app: App, done: Done, change: Change, remarks: list[str]) -> Told:
    """What became of it; not done, although it was asked for, is an error."""
    refused = change.kind == SKIPPED and not change.hash
    where = inert_line(change.path or change.name, LINE_BYTES)
    reason = inert_line(words.step(change.reason), LINE_BYTES)
    text = f"{change.kind} {where}".rstrip() + f": {reason}" * bool(reason)
    text = f"not saved: {reason}" if refused else text
    # Some clients show these instead of the text: nothing of a memory comes in unquoted.
    fields: Fields = {"change": change.kind, "name": inert_line(change.name), "path": where}
    fields |= {"hash": change.hash, "reason": reason, "remarks": _plain(remarks)}
    return Told(words.remarked([text], remarks), None if refused else fields, refused)


def _plain(remarks: Sequence[str]) -> list[str]:
    return [inert_line(words.step(text), LINE_BYTES) for text in remarks]
