"""Memories as documents: `memdir://SCOPE/PATH`, the index of a store among them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from memdir.errors import MemdirError
from memdir.hot.memory import read_memory
from memdir.hot.place import MAIN_SCOPES, RECORDS
from memdir.hot.safe import inert_line
from memdir.mcp import calls, rpc
from memdir.mcp.calls import NANOSECONDS, index_text
from memdir.mcp.rpc import Refused
from memdir.store import look
from memdir.store.accept import as_told

if TYPE_CHECKING:
    from memdir.mcp.calls import Stores
    from memdir.mcp.rpc import Fields
    from memdir.store.writer import App

SCHEME = "memdir://"
PAGE = 100
LONGEST = 4_000  # characters of an address
KIND = "text/markdown"
SCOPES = (*MAIN_SCOPES, RECORDS)
LINE_BYTES = 200
Key = tuple[int, str]  # the place of the scope, the path


def list_resources(stores: Stores, cursor: object) -> Fields:
    """A page of everything there is, in an order that stays; the cursor is the last one told."""
    after = _key(_parsed(cursor, rpc.PARAMS)) if cursor is not None else None
    found: dict[Key, Fields] = {}
    for scope, app in stores.apps():
        told = _told(as_told(app))
        found |= {_key((scope, path)): _entry(scope, path, about) for path, about in told}
    rest = sorted(key for key in found if after is None or key > after)
    fields: Fields = {"resources": [found[key] for key in rest[:PAGE]]}
    if len(rest) > PAGE:
        fields["nextCursor"] = found[rest[PAGE - 1]]["uri"]
    return fields


def read_resource(stores: Stores, uri: object) -> Fields:
    """One document."""
    scope, path = _parsed(uri, rpc.PARAMS)
    try:
        text = _text(as_told(stores.app(scope)), scope, path)
    except MemdirError as error:
        raise Refused(rpc.INTERNAL, calls.refusal(error).text, {"uri": uri}) from None
    if text is None:
        what = f"there is no resource {inert_line(str(uri), LINE_BYTES)}; resources/list names them"
        raise Refused(rpc.NO_RESOURCE, what, {"uri": uri})
    return {"contents": [{"uri": uri, "mimeType": KIND, "text": text}]}


def _told(app: App) -> list[tuple[str, str]]:
    """Paths of a store and what is said of each; the index first."""
    index = [(app.store.index_path, "index of the memories")] if app.store.index() else []
    return [*index, *((one.path, one.description) for one in app.store.scan().memories)]


def _entry(scope: str, path: str, about: str) -> Fields:
    uri = f"{SCHEME}{scope}/{quote(path, errors='surrogateescape')}"
    fields: Fields = {"uri": uri, "name": inert_line(path, LINE_BYTES), "mimeType": KIND}
    return {**fields, "description": inert_line(about, LINE_BYTES)} if about else fields


def _parsed(uri: object, code: int) -> tuple[str, str]:
    """Scope and path of an address; whether there is such a path, the store's own list says."""
    what = f"an address is {SCHEME}SCOPE/PATH, its scope one of {', '.join(SCOPES)}"
    if not isinstance(uri, str) or len(uri) > LONGEST or not uri.startswith(SCHEME):
        raise Refused(code, what)
    scope, slash, path = uri[len(SCHEME) :].partition("/")
    if scope not in SCOPES or not slash or not path:
        raise Refused(code, what)
    return scope, unquote(path, errors="surrogateescape")


def _key(parsed: tuple[str, str]) -> Key:
    scope, path = parsed
    return SCOPES.index(scope) if scope in SCOPES else len(SCOPES), path


def _text(app: App, scope: str, path: str) -> str | None:
    """Only what the store itself lists is opened: no path leads anywhere else."""
    if path == app.store.index_path:
        return index_text(app) or None
    if path not in app.store.files():
        return None
    found, data, document = look.show(app, path)
    facts = app.store.facts(found)
    moment = facts[0] / NANOSECONDS if facts else app.now()
    memory = read_memory(found, app.store.view(found, data), moment)
    return calls.framed(calls.whole(app, scope, memory, document.body))
