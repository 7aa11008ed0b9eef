"""Memories as documents: `memdir://SCOPE/PATH`, the index of a store among them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from memdir.errors import MemdirError
from memdir.hot.place import MAIN_SCOPES, RECORDS
from memdir.hot.safe import inert_line
from memdir.mcp import rpc
from memdir.mcp.calls import index_text, memory_text, refusal
from memdir.mcp.rpc import Refused
from memdir.store.accept import hide_waiting

if TYPE_CHECKING:
    from memdir.mcp.rpc import Fields
    from memdir.mcp.server import Stores
    from memdir.store.writer import App

SCHEME = "memdir://"
PAGE = 100
URI_CHARACTERS = 4_000
KIND = "text/markdown"
SCOPES = (*MAIN_SCOPES, RECORDS)
LINE_BYTES = 200
Key = tuple[int, str]  # the place of the scope, the path


def list_resources(stores: Stores, cursor: object) -> Fields:
    """A page of everything there is, in an order that stays; the cursor is the last one told."""
    after = _key(_parsed(cursor)) if cursor is not None else None
    entries: dict[Key, Fields] = {}
    for scope, app in stores.apps():
        store = hide_waiting(app).store
        about = {store.index_path: "index of the memories"} if store.index() else {}
        about |= {memory.path: memory.description for memory in store.scan().memories}
        entries |= {_key((scope, path)): _entry(scope, path, about[path]) for path in about}
    rest = sorted(key for key in entries if after is None or key > after)
    fields: Fields = {"resources": [entries[key] for key in rest[:PAGE]]}
    if len(rest) > PAGE:
        fields["nextCursor"] = entries[rest[PAGE - 1]]["uri"]
    return fields


def read_resource(stores: Stores, uri: object) -> Fields:
    """One document."""
    scope, path = _parsed(uri)
    try:
        text = _text(hide_waiting(stores.app(scope)), scope, path)
    except MemdirError as error:
        raise Refused(rpc.INTERNAL, refusal(error), {"uri": uri}) from None
    if text is None:
        reason = (
            f"there is no resource {inert_line(str(uri), LINE_BYTES)}; resources/list names them"
        )
        raise Refused(rpc.NO_RESOURCE, reason, {"uri": uri})
    return {"contents": [{"uri": uri, "mimeType": KIND, "text": text}]}


def _entry(scope: str, path: str, about: str) -> Fields:
    uri = f"{SCHEME}{scope}/{quote(path, errors='surrogateescape')}"
    fields: Fields = {"uri": uri, "name": inert_line(path, LINE_BYTES), "mimeType": KIND}
    return {**fields, "description": inert_line(about, LINE_BYTES)} if about else fields


def _parsed(uri: object) -> tuple[str, str]:
    """Scope and path of an address; whether there is such a path, the store's own list says."""
    form = f"an address is {SCHEME}SCOPE/PATH, its scope one of {', '.join(SCOPES)}"
    if not isinstance(uri, str) or len(uri) > URI_CHARACTERS or not uri.startswith(SCHEME):
        raise Refused(rpc.PARAMS, form)
    scope, slash, path = uri[len(SCHEME) :].partition("/")
    if scope not in SCOPES or not slash or not path:
        raise Refused(rpc.PARAMS, form)
    return scope, unquote(path, errors="surrogateescape")


def _key(parsed: tuple[str, str]) -> Key:
    scope, path = parsed
    return SCOPES.index(scope) if scope in SCOPES else len(SCOPES), path


def _text(app: App, scope: str, path: str) -> str | None:
    """Only what the store itself lists is opened: no path leads anywhere else."""
    if path == app.store.index_path:
        return index_text(app) or None
    return memory_text(app, scope, path)[0] if path in app.store.files() else None
