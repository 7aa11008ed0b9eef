"""The routes: each parses, calls one function of the database, and passes its answer on."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.parse import parse_qsl

from psycopg import errors
from starlette.types import ASGIApp, Receive, Scope, Send

from memdir.hot.safe import inert_line
from memdir.server.database import Database
from memdir.server.door import TOKEN, check_server_post, read_server_body, send_server_json
from memdir.server.intake import Refused, is_text, parse_server_json, read_space_push

OPENAPI = Path(__file__).with_name("openapi.json")
LARGE_PUSH_BYTES = 32_000
MAX_CHANGES, USUAL_CHANGES = 1_000, 100
MAX_VERSIONS = 100
MAX_FOUND, USUAL_FOUND = 50, 10
FOUND_LETTERS = 400  # of a memory in a list of what was found
MAX_QUERY = 1_000  # characters
DIGITS = re.compile("[0-9]{1,18}")  # fits into a bigint
MAX_CURSOR = 10**18 - 1
NOT_FOUND = "there is nothing here, or it is not yours to see"
SAME_NAME = (
    "a memory is there whose name differs only in case or accents: some systems take them for one",
    "rename yours and push again",
)
# What the database says without an answer of its own.
NOTHING = {
    401: ("this token is unknown, expired or revoked", "ask a maintainer for a new one"),
    403: ("your role in this space does not allow it", "ask a maintainer, or propose it"),
    404: (NOT_FOUND, "GET /v1/spaces lists your spaces"),
    410: ("the feed never was at this cursor", "start again with after=0"),
}


class Call:
    """One request: its path below the space, its parameters and its body."""

    def __init__(self, api: Api, scope: Scope, receive: Receive, space: str, rest: str) -> None:
        self.database = api.database
        self.token: bytes = scope[TOKEN]
        self.space = space
        self.rest = rest
        self._query = read_server_query(scope["query_string"])  # what nobody has taken yet
        self._scope = scope
        self._receive = receive

    async def ask(self, sql: str, *arguments: object) -> tuple[int, str]:
        for name in self._query:
            message = f"there is no parameter {inert_line(name, 40)}"
            raise Refused(422, message, "see /v1/openapi.json")
        try:
            status, answer = await self.database.call(sql, (self.token, *arguments))
        except errors.UniqueViolation:  # of the index that folds case and accents of paths
            raise Refused(422, *SAME_NAME) from None
        if status in (200, 409) and answer is not None:
            return status, answer
        raise Refused(status, *NOTHING[status])

    async def body(self) -> bytes:
        return await read_server_body(self._scope, self._receive)

    async def read_push(self) -> tuple[str, str]:
        """A large one in a thread: the search for secrets would hold up everybody else."""
        body = await self.body()
        if len(body) > LARGE_PUSH_BYTES:
            return await asyncio.to_thread(read_space_push, body)
        return read_space_push(body)

    def text(self, name: str) -> str:
        given = self._query.pop(name, "")
        if given.strip() and len(given) <= MAX_QUERY and is_text(given):
            return given
        message = f"{name} is not a text of up to {MAX_QUERY:,} characters"
        raise Refused(422, message, "see /v1/openapi.json")

    def number(self, name: str, usual: int, most: int, least: int = 0) -> int:
        given = self._query.pop(name, str(usual))
        if DIGITS.fullmatch(given) and least <= int(given) <= most:
            return int(given)
        raise Refused(422, f"{name} is not a number of {least:,} to {most:,}", "correct it")


def read_server_query(query: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=20)
    except ValueError:
        pairs = [("", ""), ("", "")]
    if len(pairs) > len(dict(pairs)):
        message = "a parameter is given twice, or there are too many"
        raise Refused(422, message, "see /v1/openapi.json")
    return dict(pairs)


async def list_spaces(call: Call) -> tuple[int, str]:
    return await call.ask("select status, answer from spaces(%s)")


async def list_space_changes(call: Call) -> tuple[int, str]:
    after = call.number("after", 0, MAX_CURSOR)
    most = call.number("limit", USUAL_CHANGES, MAX_CHANGES, 1)
    sql = "select status, answer from changes(%s, %s, %s, %s)"
    return await call.ask(sql, call.space, after, most)


async def get_space_memory(call: Call) -> tuple[int, str]:
    return await call.ask("select status, answer from get(%s, %s, %s)", call.space, call.rest)


async def list_space_versions(call: Call) -> tuple[int, str]:
    most = call.number("limit", MAX_VERSIONS, MAX_VERSIONS, 1)
    sql = "select status, answer from history(%s, %s, %s, %s)"
    return await call.ask(sql, call.space, call.rest, most)


async def search_space(call: Call) -> tuple[int, str]:
    query, most = call.text("q"), call.number("limit", USUAL_FOUND, MAX_FOUND, 1)
    sql = "select status, answer from search(%s, %s, %s, %s, %s)"
    return await call.ask(sql, [call.space], query, most, FOUND_LETTERS)


async def push_to_space(call: Call) -> tuple[int, str]:
    items, named = await call.read_push()
    sql = "select status, answer from push(%s, %s, %s::jsonb, %s)"
    return await call.ask(sql, call.space, items, named)


async def list_space_proposals(call: Call) -> tuple[int, str]:
    return await call.ask("select status, answer from proposals(%s, %s)", call.space)


async def propose_to_space(call: Call) -> tuple[int, str]:
    items, _ = await call.read_push()
    return await call.ask("select status, answer from propose(%s, %s, %s)", call.space, items)


async def decide_space_proposal(call: Call) -> tuple[int, str]:
    accepted = parse_server_json(await call.body()).get("accept")
    if type(accepted) is not bool:
        raise Refused(422, "accept is neither true nor false", "see /v1/openapi.json")
    if not DIGITS.fullmatch(call.rest):
        raise Refused(404, *NOTHING[404])
    sql = "select status, answer from decide(%s, %s, %s, %s)"
    return await call.ask(sql, call.space, int(call.rest), accepted)


Handler = Callable[[Call], Awaitable[tuple[int, str]]]
# Below /v1/spaces/{space}: the word, and whether something stands behind it.
ROUTES: dict[tuple[str, bool], dict[str, Handler]] = {
    ("changes", False): {"GET": list_space_changes},
    ("push", False): {"POST": push_to_space},
    ("memories", True): {"GET": get_space_memory},
    ("history", True): {"GET": list_space_versions},
    ("search", False): {"GET": search_space},
    ("proposals", False): {"GET": list_space_proposals, "POST": propose_to_space},
    ("proposals", True): {"POST": decide_space_proposal},
}


class Api:
    """Every route; what is not one of them is the 404 of a space that is not there."""

    def __init__(self, database: Database, mcp: ASGIApp, welcome: Callable[[bytes], None]) -> None:
        self.database = database
        self.mcp = mcp
        self.welcome = welcome
        self.openapi = OPENAPI.read_bytes()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, method = scope["path"], scope["method"]
        if path == "/healthz":
            allow(method, "GET")
            await self.database.call("select 200, null", ())
            return await send_server_json(send, 200, b'{"healthy":true}')
        if path == "/v1/openapi.json":
            allow(method, "GET")
            return await send_server_json(send, 200, self.openapi)
        if path == "/mcp":
            allow(method, "POST")
            check_server_post(scope)
            return await self._serve_mcp(scope, receive, send)
        handler, space, rest = find_server_route(path, method)
        status, answer = await handler(Call(self, scope, receive, space, rest))
        self.welcome(scope[TOKEN])
        await send_server_json(send, status, answer.encode())

    async def _serve_mcp(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The tools ask the database themselves; this keeps strangers away from the protocol."""
        status, _ = await self.database.call(
            "select status, answer from spaces(%s)", (scope[TOKEN],)
        )
        if status != 200:
            raise Refused(status, *NOTHING[status])
        self.welcome(scope[TOKEN])
        await self.mcp(scope, receive, send)


def find_server_route(path: str, method: str) -> tuple[Handler, str, str]:
    parts = path.split("/", 5)
    if path == "/v1/spaces":
        allow(method, "GET")
        return list_spaces, "", ""
    if len(parts) < 5 or parts[:3] != ["", "v1", "spaces"] or not parts[-1] or not is_text(path):
        raise Refused(404, *NOTHING[404])
    rest = parts[5] if len(parts) > 5 else ""
    handlers = ROUTES.get((parts[4], bool(rest)))
    if handlers is None:
        raise Refused(404, *NOTHING[404])
    allow(method, *handlers)
    return handlers[method], parts[3], rest


def allow(method: str, *methods: str) -> None:
    if method not in methods:
        hint = f"use {' or '.join(methods)}"
        raise Refused(405, f"{method} is not for this path", hint, allow=", ".join(methods))
